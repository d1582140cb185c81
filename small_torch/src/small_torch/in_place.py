"""Changes in place: a tensor takes the numbers and graph of another tensor."""

import numpy as np

from .arguments import type_name
from .elementwise import FormulaNode, quiet, zeros
from .indexing import as_tuple, check_source, index_tensors, put, shrink, split_index, write
from .memory import check_memory, has_repeats
from .messages import refuse
from .operands import KINDS, broadcast_error, cannot_broadcast, check_fill, scalar_array, tensor_type
from .tape import recording
from .tensor import Tensor, record, wrap
from .views import check_may_change, take_graph

KEEPING = {"abs", "ceil", "floor", "neg", "round", "sign", "trunc"}  # operations that write no other type than theirs


def assign(tensor, new, may_repeat=False):
    """Give a tensor the numbers and graph of another one, for operations with a trailing underscore.

    may_repeat: whether several places of the tensor may be the same place in memory.
    """
    if tensor._base is not None or tensor._requires_grad:
        check_may_change(tensor, new)
    if 0 in tensor._array.strides and not may_repeat:
        check_memory(tensor._array)
    if new._array.shape != tensor._array.shape:
        if cannot_broadcast(tensor, new):
            raise broadcast_error(tensor, new)
        broadcast = np.broadcast_shapes(new.shape, tensor.shape)
        refuse(broadcast != tensor.shape, "broadcast result", list(tensor.shape), list(broadcast))
        new = new.expand(tensor.shape)
    if new._array.dtype != tensor._array.dtype:
        refuse(new.dtype.kind > tensor.dtype.kind, "cast", new.dtype.title, tensor.dtype.title)
    has_graph = recording[0] and (new._requires_grad or tensor._requires_grad)
    differs = new._array != tensor._array if may_repeat and has_repeats(tensor._array) else True
    quiet.run(np.copyto, tensor._array, new._array, "unsafe", differs)
    tensor._changes[0] += 1
    if has_graph:
        if not new._requires_grad:  # its own gradient is zero
            new = record(new._array, "Copy", (clone_graph(tensor, tensor._array),), zeros)
        elif isinstance(new._grad_fn, FormulaNode) and new._array.dtype == tensor._array.dtype:
            new._grad_fn.move_result(tensor)
        take_graph(tensor, new)
    return tensor


def clone_graph(tensor, array):
    """Return an array as a tensor with the present graph of one that is being changed."""
    before = wrap(array)
    before._grad_fn, before._requires_grad, before._output = tensor.grad_fn, tensor._requires_grad, tensor._output
    return before


def setitem(tensor, index, value):
    """Assign to `tensor[index]`: copy into a view, or put numbers at the index's arrays."""
    basic, places, name = split_index(index, tensor._array.shape)
    if not isinstance(value, Tensor):
        if not isinstance(value, (*KINDS, np.generic)):
            raise TypeError(f"can't assign a {type_name(value)} to a {tensor_type(tensor)}")
        fits = tensor._array.dtype == np.float16 and not isinstance(value, complex)  # inf, if it is too large
        value = Tensor(scalar_array(value if fits else check_fill(value, tensor.dtype), tensor.dtype))
    elif places is not None:
        value = check_source(tensor._array[basic], value, as_tuple(index))
    target, view, puts = tensor._array[basic], None, places is not None
    fills = not value.ndim and not puts and target.ndim  # with a number; torch records it always
    learns = value._requires_grad and (puts or fills or tensor._array.dtype.kind in "fc")
    if recording[0] and (tensor._requires_grad or learns):
        view = tensor if puts and name == "Alias" else tensor[basic]
        check_may_change(view, value)
    integers = puts and tensor._array.dtype.kind in "biu"
    if integers and (shared := [x._array for x in index_tensors(index) if x._changes is tensor._changes]):
        check_memory(target, *shared, whole=True, may_repeat=True)
    if value._changes is tensor._changes or not puts and has_repeats(tensor._array):
        source = value._array
        if not puts:
            write(target.copy(), None, value)  # raises an error if the shapes differ
            source = source if source.ndim > target.ndim else np.broadcast_to(source, target.shape)
        check_memory(target, source, whole=puts, may_repeat=puts)
    if view is None:
        write(target, places, value)
        tensor._changes[0] += 1
        return
    if puts:
        new = put(view, places, value, "IndexPut", saved=index_tensors(index))
    else:
        array, shape = target.copy(), value._array.shape
        write(array, None, value)
        new = record(array, "Copy", (value,), lambda g: shrink(g, shape))
    view._array[...] = new._array
    tensor._changes[0] += 1
    take_graph(view, new)


EXACT = "abs ceil clamp floor nan_to_num neg round sgn sign trunc"  # take no `out` of another type


def give_to(out, result, name):
    """Give a result to the tensor `out`, which takes the result's shape, as one change in place."""
    refuse(result.requires_grad or out.requires_grad, "gradient of out", name)
    wrong = result.dtype is not out.dtype and name in EXACT.split() and not out.is_complex()
    refuse(wrong, "Found dtype {} but expected {}", out.dtype.title, result.dtype.title)
    refuse(result.dtype.kind > out.dtype.kind, "cast", result.dtype.title, out.dtype.title)
    differ = name in KEEPING and out.dtype is not result.dtype
    refuse(differ, "Found dtype {} but expected {}", out.dtype.title, result.dtype.title)
    if out.shape != result.shape:
        n, memory = result.numel(), out._array.reshape(-1)
        if memory.size < n or not out._array.flags.c_contiguous:
            memory = np.empty(n, memory.dtype)
        out._array = memory[:n].reshape(result.shape)
    return assign(out, result)
