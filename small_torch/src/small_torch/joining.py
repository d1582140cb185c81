"""Split and join tensors."""

import functools
import operator

import numpy as np

from . import dtypes
from .arguments import Sizes, Tensors, check_argument, check_elements
from .indexing import getitem
from .memory import contiguous
from .messages import error, refuse
from .tensor import axis, record
from .views import record_views


def select(input, dim: int, index: int):
    """Return the slice at one index of an axis."""
    return getitem(input, (*(slice(None),) * axis(dim, input.ndim), operator.index(index)))


def narrow(input, dim: int, start, length: int):
    """Return the slice of an axis from start on, of this length."""
    refuse(not input.ndim, "narrow() cannot be applied to a 0-dim tensor.")
    dim, start, length = axis(dim, input.ndim), int(start), int(length)
    n = input._array.shape[dim]
    refuse(length < 0, "narrow(): length must be non-negative.")
    if not -n <= start <= n:
        raise IndexError(f"start out of range (expected to be in range of [{-n}, {n}], but got {start})")
    start = start if start >= 0 else n + start
    refuse(start + length > n, f"start ({start}) + length ({length}) exceeds dimension size ({n}).")
    return getitem(input, (slice(None),) * dim + (slice(start, start + length),))


def unbind(input, dim: int = 0):
    """Return all slices along an axis, as a tuple."""
    dim = axis(axis(dim, input.ndim), input.ndim, wrap_scalar=False)
    indices = [(*(slice(None),) * dim, i, ...) for i in range(input._array.shape[dim])]
    return pieces(input, indices, "Unbind", lambda *gs: stack(gs, dim))


def split(input, split_size_or_sections, dim: int = 0):
    """Split an axis into pieces of one length (the last may be shorter) or of the given lengths."""
    size = split_size_or_sections
    if not isinstance(size, (int, np.integer)):
        check_argument("split_with_sizes", "split_sizes", size, Sizes, 2)
        return split_sizes(input, size, dim, "SplitWithSizes")
    n = input.size(dim) if input.ndim else 0
    refuse(size < 0, f"split expects split_size be non-negative, but got split_size={size}")
    refuse(not size and n, f"split_size can only be 0 if dimension size is 0, but got dimension size of {n}")
    sizes = [min(size, n - at) for at in range(0, max(n, 1), max(size, 1))]
    return split_sizes(input, sizes, dim, "Split")


def split_sizes(input, sizes, dim, name):
    """Split an axis into pieces of these lengths."""
    refuse(not input.ndim, "split expects at least a 1-dimensional tensor")
    dim = axis(dim, input.ndim)
    n = input._array.shape[dim]
    if min(sizes, default=0) < 0 or sum(sizes) != n:
        raise error("sum of sections", n, dim, list(sizes))
    front, ends = (slice(None),) * dim, np.cumsum(sizes).tolist()
    indices = [(*front, slice(end - size, end), ...) for size, end in zip(sizes, ends)]
    return pieces(input, indices, name, lambda *gs: cat(gs, dim))


def pieces(input, indices, name, rule):
    """Record several views of a tensor."""
    arrays = [input._array[index] for index in indices]
    return record_views(input, arrays, name, rule, lambda base, number: getitem(base, indices[number]))


def chunk(input, chunks: int, dim: int = 0):
    """Split an axis into this many pieces."""
    refuse(not input.ndim, "chunk expects at least a 1-dimensional tensor")
    refuse(chunks <= 0, f"chunk expects `chunks` to be greater than 0, got: {chunks}")
    n = input.size(dim)
    return split(input, -(-n // chunks) or [0] * chunks, dim)


def promote_all(tensors):
    """Return the tensors in their common type."""
    if len({tensor._array.dtype for tensor in tensors}) == 1:
        return tensors
    dtype = functools.reduce(dtypes.promote, [tensor.dtype for tensor in tensors])
    return [tensor.to(dtype) for tensor in tensors]


def check_list(name, tensors, empty="{} expects a non-empty TensorList", kind=RuntimeError):
    """Return tensors as a list; raise torch's error, with the text `empty`, if it is empty."""
    check_argument(name, "tensors", tensors, Tensors, 1)
    check_elements(tensors)
    refuse(not tensors, empty, name, kind=kind)
    return list(tensors)


def cat(tensors: Tensors, dim: int = 0):
    """Concatenate tensors along an axis that they have."""
    tensors = check_list("cat", tensors, "torch.cat(): expected a non-empty list of Tensors", ValueError)
    for number, tensor in enumerate(tensors):
        refuse(not tensor.ndim, "zero-dimensional tensor (at position {}) cannot be concatenated", number)
    tensors = promote_all(tensors)
    full = [tensor for tensor in tensors if tensor._array.shape != (0,)]
    first = (full or tensors)[0]
    at = axis(dim, first.ndim) if full else 0
    for number, tensor in enumerate(full):
        if tensor.ndim != first.ndim:
            raise RuntimeError(f"Tensors must have same number of dimensions: got {first.ndim} and {tensor.ndim}")
        for i, (a, b) in enumerate(zip(first._array.shape, tensor._array.shape)):
            refuse(i != at and a != b, "joined shapes", at, a, b, number)
    sizes = [0 if tensor._array.shape == (0,) else tensor._array.shape[at] for tensor in tensors]

    def rule(g):
        parts = split_sizes(g, sizes, at, "SplitWithSizes")
        return [part.reshape(0) if tensor._array.shape == (0,) else part for tensor, part in zip(tensors, parts)]

    array = contiguous(np.concatenate([tensor._array for tensor in full or tensors[:1]], at))
    return record(array, "Cat", tensors, rule)


concat = concatenate = cat


def stack(tensors: Tensors, dim: int = 0):
    """Join tensors of one shape along a new axis."""
    tensors = check_list("stack", tensors)
    for number, tensor in enumerate(tensors):
        if tensor._array.shape != tensors[0]._array.shape:
            raise error("stacked shapes", list(tensors[0].shape), list(tensor.shape), number)
    tensors = promote_all(tensors)
    at = axis(dim, tensors[0].ndim + 1)
    array = contiguous(np.stack([tensor._array for tensor in tensors], at))
    return record(array, "Stack", tensors, lambda g: unbind(g, at))


def hstack(tensors: Tensors):
    tensors = [tensor if tensor.ndim else tensor.reshape(1) for tensor in check_list("hstack", tensors)]
    return cat(tensors, 0 if tensors[0].ndim == 1 else 1)


def vstack(tensors: Tensors):
    return cat([x if x.ndim > 1 else x.reshape(1, -1) for x in check_list("vstack", tensors)], 0)
