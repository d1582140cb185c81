"""Changes in place: a tensor takes the numbers and graph of another tensor."""

import numpy as np

from .elementwise import FormulaNode, quiet, zeros
from .indexing import index_put, plain_index, put
from .operands import broadcast_error
from .tape import Node, recording
from .tensor import Tensor, record, wrap


def assign(tensor, new):
    """Give a tensor the numbers and graph of another one, for operations with a trailing underscore."""
    tensor._check_may_change()
    if tensor._array.size and any(n > 1 and not step for n, step in zip(tensor._array.shape, tensor._array.strides)):
        raise RuntimeError(
            "unsupported operation: more than one element of the written-to tensor refers to a single memory"
            " location. Please clone() the tensor before performing the operation."
        )
    if new._array.shape != tensor._array.shape:
        try:
            broadcast = np.broadcast_shapes(new.shape, tensor.shape)
        except ValueError:
            raise broadcast_error(tensor, new) from None
        if broadcast != tuple(tensor.shape):
            raise RuntimeError(
                f"output with shape {list(tensor.shape)} doesn't match the broadcast shape {list(broadcast)}"
            )
        new = new.expand(tensor.shape)
    if new.dtype.kind > tensor.dtype.kind:
        raise RuntimeError(
            f"result type {new.dtype.title} can't be cast to the desired output type {tensor.dtype.title}"
        )
    has_graph = recording[0] and (new.requires_grad or tensor.requires_grad)
    quiet.run(np.copyto, tensor._array, new._array, "unsafe")
    tensor._changes[0] += 1
    if has_graph:
        if not new.requires_grad:  # its own gradient is zero
            new = record(new._array, "Copy", (clone_graph(tensor),), zeros)
        elif isinstance(new._grad_fn, FormulaNode) and new.dtype is tensor.dtype:
            new._grad_fn.move_result(tensor)
        tensor._take_graph(new)
    return tensor


def clone_graph(tensor):
    """Return a tensor with the present graph of one that is being changed."""
    before = wrap(tensor._array)
    before._grad_fn, before._requires_grad, before._output = tensor.grad_fn, tensor._requires_grad, tensor._output
    return before


def check_may_change(tensor):
    """Raise RuntimeError for a leaf, or a view of one, that requires a gradient."""
    if tensor._requires_grad and recording[0]:
        current, kind = tensor, "a leaf" if tensor._base is None else "a view of a leaf"
        while current is not None:
            if current._requires_grad and current.grad_fn is None:
                raise RuntimeError(f"{kind} Variable that requires grad is being used in an in-place operation.")
            current = current._base


def take_graph(tensor, new):
    """Make `new` the origin of this tensor, and of this part of its base if it is a view."""
    if new.dtype is not tensor.dtype:
        new = new.to(tensor.dtype)
    base = tensor._base
    if base is not None:
        replay = tensor._replay
        outside = Tensor(np.ones(base._array.shape, base._array.dtype))
        replay(outside)._array[...] = 0
        changed_base = Tensor(base._array)
        node = Node("CopySlices", (base, new), lambda g: (g * outside, replay(g)))
        changed_base._grad_fn, changed_base._requires_grad = node, True
        base._take_graph(changed_base)
        tensor._seen = tensor._changes[0]
        new = replay(base)
        new._grad_fn.title = "AsStrided"
    tensor._grad_fn, tensor._output, tensor._requires_grad = new._grad_fn, new._output, new._requires_grad
    tensor._written = tensor._changes[0]


def setitem(tensor, index, value):
    """Assign to `tensor[index]`, with a node if one of the two requires a gradient."""
    value = value if isinstance(value, Tensor) else Tensor(np.asarray(value, tensor._array.dtype))
    if tensor._requires_grad and recording[0] and tensor.grad_fn is None:
        raise RuntimeError("a view of a leaf Variable that requires grad is being used in an in-place operation.")
    tensor._check_may_change()
    if recording[0] and (tensor._requires_grad or value._requires_grad):
        new = index_put(tensor, index, value.to(tensor.dtype))
        if not any(isinstance(i, (Tensor, list)) for i in (index if isinstance(index, tuple) else (index,))):
            new._grad_fn.title = "CopySlices"
        tensor._array[...] = new._array
        tensor._changes[0] += 1
        tensor._take_graph(new)
    else:
        put(tensor._array, plain_index(index, tensor._array.shape), value)
        tensor._changes[0] += 1
