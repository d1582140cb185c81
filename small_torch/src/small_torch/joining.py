"""Split and join tensors."""

import builtins

import numpy as np

from . import dtypes
from .indexing import getitem
from .tensor import Tensor, axis, record, record_many


def require_axes(input, message):
    """Raise RuntimeError for a tensor without axes."""
    if not input.ndim:
        raise RuntimeError(message)


def select(input, dim, index):
    """Return the slice at one index of an axis."""
    return getitem(input, (slice(None),) * axis(dim, input.ndim) + (int(index),))


def narrow(input, dim, start, length):
    """Return the slice of an axis from start on, of this length."""
    require_axes(input, "narrow() cannot be applied to a 0-dim tensor.")
    dim = axis(dim, input.ndim)
    n = input._array.shape[dim]
    if not -n <= start <= n:
        raise IndexError(f"start out of range (expected to be in range of [{-n}, {n}], but got {int(start)})")
    start = int(start) if start >= 0 else n + int(start)
    if start + length > n:
        raise RuntimeError(f"start ({start}) + length ({length}) exceeds dimension size ({n}).")
    return getitem(input, (slice(None),) * dim + (slice(start, start + int(length)),))


def unbind(input, dim=0):
    """Return all slices along an axis, as a tuple."""
    dim = axis(dim, input.ndim)
    index = (slice(None),) * dim
    return record_views(
        input, [(*index, i) for i in range(input._array.shape[dim])], "Unbind", lambda gs: stack(gs, dim)
    )


def split(input, split_size_or_sections, dim=0):
    """Split an axis into pieces of one length (the last may be shorter) or of the given lengths."""
    require_axes(input, "split expects at least a 1-dimensional tensor")
    dim = axis(dim, input.ndim)
    n, sizes = input._array.shape[dim], split_size_or_sections
    equal = isinstance(sizes, (int, np.integer))
    if equal:
        sizes = [builtins.min(sizes, n - at) for at in range(0, builtins.max(n, 1), builtins.max(sizes, 1))]
    elif sum(sizes) != n:
        raise RuntimeError(
            f"split_with_sizes expects split_sizes to sum exactly to {n} (input tensor's size at dimension {dim}), but"
            f" got split_sizes={list(sizes)}"
        )
    ends = np.cumsum(sizes).tolist()
    pieces = [(slice(None),) * dim + (slice(end - size, end),) for size, end in zip(sizes, ends)]
    return record_views(input, pieces, "Split" if equal else "SplitWithSizes", lambda gs: cat(gs, dim))


def record_views(input, indices, name, rule):
    """Record several views of a tensor, whose gradients come back together."""
    arrays = [input._array[(*index, Ellipsis)] for index in indices]
    outs = record_many(arrays, name, (input,), lambda *gs: rule(list(gs))) if arrays else []
    for out, index in zip(outs, indices):
        out._changes, out._base, out._seen = input._changes, input, input._changes[0]
        out._replay = lambda base, index=index: getitem(base, index)
    return tuple(outs)


def chunk(input, chunks, dim=0):
    """Split an axis into this many pieces."""
    require_axes(input, "chunk expects at least a 1-dimensional tensor")
    n = input._array.shape[axis(dim, input.ndim)]
    return split(input, -(-n // chunks) or [0] * chunks, dim)


def promote_all(tensors):
    """Return the tensors in their common type."""
    dtype = tensors[0].dtype
    if all(tensor._array.dtype == tensors[0]._array.dtype for tensor in tensors):
        return list(tensors)
    for tensor in tensors:
        dtype = dtypes.promote(dtype, tensor.dtype)
    return [tensor.to(dtype) for tensor in tensors]


def check_list(tensors, name):
    """Return tensors as a list; raise TypeError for a single tensor."""
    if isinstance(tensors, Tensor):
        raise TypeError(f"{name}(): argument 'tensors' (position 1) must be tuple of Tensors, not Tensor")
    return list(tensors)


def cat(tensors, dim=0):
    """Concatenate tensors along an axis that they have."""
    tensors = check_list(tensors, "cat")
    if not tensors:
        raise ValueError("torch.cat(): expected a non-empty list of Tensors")
    for number, tensor in enumerate(tensors):
        if not isinstance(tensor, Tensor):
            raise TypeError(f"expected Tensor as element {number} in argument 0, but got {type(tensor).__name__}")
    for number, tensor in enumerate(tensors):
        if not tensor.ndim:
            raise RuntimeError(f"zero-dimensional tensor (at position {number}) cannot be concatenated")
    tensors = promote_all(tensors)
    tensors = [tensor for tensor in tensors if tensor._array.shape != (0,)] or tensors[:1]
    first = tensors[0]
    at = axis(dim, first.ndim)
    for number, tensor in enumerate(tensors):
        if tensor.ndim != first.ndim:
            raise RuntimeError(f"Tensors must have same number of dimensions: got {first.ndim} and {tensor.ndim}")
        for i, (a, b) in enumerate(zip(first._array.shape, tensor._array.shape)):
            if i != at and a != b:
                raise RuntimeError(
                    f"Sizes of tensors must match except in dimension {at}. Expected size {a} but got size {b} for"
                    f" tensor number {number} in the list."
                )
    sizes = [tensor._array.shape[at] for tensor in tensors]
    return record(
        np.concatenate([tensor._array for tensor in tensors], at),
        "Cat",
        tensors,
        lambda g: split(g, sizes, at) if len(sizes) > 1 else (g,),
    )


concat = concatenate = cat


def stack(tensors, dim=0):
    """Join tensors of one shape along a new axis."""
    tensors = check_list(tensors, "stack")
    if not tensors:
        raise RuntimeError("stack expects a non-empty TensorList")
    for number, tensor in enumerate(tensors):
        if not isinstance(tensor, Tensor):
            raise TypeError(f"expected Tensor as element {number} in argument 0, but got {type(tensor).__name__}")
        if tensor._array.shape != tensors[0]._array.shape:
            raise RuntimeError(
                f"stack expects each tensor to be equal size, but got {list(tensors[0].shape)} at entry 0 and"
                f" {list(tensor.shape)} at entry {number}"
            )
    tensors = promote_all(tensors)
    at = axis(dim, tensors[0].ndim + 1)
    return record(np.stack([tensor._array for tensor in tensors], at), "Stack", tensors, lambda g: unbind(g, at))


def hstack(tensors):
    tensors = [tensor if tensor.ndim else tensor.reshape(1) for tensor in tensors]
    return cat(tensors, 0 if tensors[0].ndim == 1 else 1)


def vstack(tensors):
    return cat([tensor if tensor.ndim > 1 else tensor.reshape(1, -1) for tensor in tensors], 0)
