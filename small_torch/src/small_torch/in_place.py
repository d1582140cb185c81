"""Changes in place: a tensor takes another one's numbers and memory."""

import numpy as np

from .indexing import index_put, plain_index, put
from .operands import broadcast_error
from .tape import Node, recording
from .tensor import Tensor


def become(tensor, new):
    """Take another tensor's numbers and memory: what every operation with an underscore does."""
    tensor._may_change()
    if tensor._array.size and any(n > 1 and not step for n, step in zip(tensor._array.shape, tensor._array.strides)):
        raise RuntimeError(
            "unsupported operation: more than one element of the written-to tensor refers to a single memory"
            " location. Please clone() the tensor before performing the operation."
        )
    if new.shape != tensor.shape:
        try:
            both = np.broadcast_shapes(new.shape, tensor.shape)
        except ValueError:
            raise broadcast_error(tensor, new) from None
        if both != tuple(tensor.shape):
            raise RuntimeError(f"output with shape {list(tensor.shape)} doesn't match the broadcast shape {list(both)}")
        new = new.expand(tensor.shape)
    if new.dtype.kind > tensor.dtype.kind:
        raise RuntimeError(
            f"result type {new.dtype.title} can't be cast to the desired output type {tensor.dtype.title}"
        )
    # its memory first: a rule that looks at this tensor's own numbers may be one of those that come before
    remembers = recording[0] and (new.requires_grad or tensor.requires_grad)
    tensor._array[...] = new._array
    tensor._version[0] += 1
    if remembers:
        tensor._remember(new)
    return tensor


def may_change(tensor):
    if tensor._requires_grad and recording[0]:
        one, kind = tensor, "a leaf" if tensor._base is None else "a view of a leaf"
        while one is not None:
            if one._requires_grad and one.grad_fn is None:
                raise RuntimeError(f"{kind} Variable that requires grad is being used in an in-place operation.")
            one = one._base


def remember(tensor, new):
    """From now on this tensor is what `new` is; and the tensor that it is a view of is so in this place."""
    if new.dtype is not tensor.dtype:
        new = new.to(tensor.dtype)
    base = tensor._base
    if base is not None:
        replay = tensor._replay
        outside = Tensor(np.ones(base._array.shape, base._array.dtype))
        replay(outside)._array[...] = 0
        place = Tensor(base._array)
        node = Node("CopySlices", (base, new), lambda g: (g * outside, replay(g)))
        place._grad_fn, place._requires_grad = node, True
        base._remember(place)
        tensor._seen = tensor._version[0]
        new = replay(base)
        new._grad_fn.title = "AsStrided"
    tensor._grad_fn, tensor._output, tensor._requires_grad = new._grad_fn, new._output, new._requires_grad
    tensor._written = tensor._version[0]


def setitem(tensor, index, value):
    value = value if isinstance(value, Tensor) else Tensor(np.asarray(value, tensor._array.dtype))
    if tensor._requires_grad and recording[0] and tensor.grad_fn is None:
        raise RuntimeError("a view of a leaf Variable that requires grad is being used in an in-place operation.")
    tensor._may_change()
    if recording[0] and (tensor._requires_grad or value._requires_grad):
        new = index_put(tensor, index, value.to(tensor.dtype))
        if not any(isinstance(one, (Tensor, list)) for one in (index if isinstance(index, tuple) else (index,))):
            new._grad_fn.title = "CopySlices"
        tensor._array[...] = new._array
        tensor._version[0] += 1
        tensor._remember(new)
    else:
        put(tensor._array, plain_index(index, tensor._array.shape), value)
        tensor._version[0] += 1
