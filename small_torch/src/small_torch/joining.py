"""Split and join tensors."""

import operator

import numpy as np

from . import dtypes
from .arguments import Sizes, Tensors, check_argument, check_elements
from .indexing import VIEWS, getitem
from .memory import contiguous
from .messages import error, refuse
from .tensor import axis, record
from .views import record_views


def require_axes(input, message):
    """Raise RuntimeError for a tensor without axes."""
    refuse(not input.ndim, message)


def select(input, dim: int, index: int):
    """Return the slice at one index of an axis."""
    refuse(not input.ndim, "select() cannot be applied to a 0-dim tensor.", kind=IndexError)
    dim, index = axis(dim, input.ndim), operator.index(index)
    if not -input._array.shape[dim] <= index < input._array.shape[dim]:
        raise error("selected index", index, list(input.shape), dim)
    return VIEWS["Select"](input, (*(slice(None),) * dim, index, ...))


def narrow(input, dim: int, start, length: int):
    """Return the slice of an axis from start on, of this length."""
    require_axes(input, "narrow() cannot be applied to a 0-dim tensor.")
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
    if isinstance(size, (int, np.integer)):
        require_axes(input, "split expects at least a 1-dimensional tensor")
        n = input._array.shape[axis(dim, input.ndim)]
        refuse(size < 0, f"split expects split_size be non-negative, but got split_size={size}")
        refuse(not size and n, f"split_size can only be 0 if dimension size is 0, but got dimension size of {n}")
        sizes = [min(size, n - at) for at in range(0, max(n, 1), max(size, 1))]
        return split_sizes(input, sizes, dim, "Split")
    check_argument("split_with_sizes", "split_sizes", size, Sizes, 2)
    return split_sizes(input, size, dim, "SplitWithSizes")


def split_sizes(input, sizes, dim, name):
    """Split an axis into pieces of these lengths."""
    require_axes(input, "split expects at least a 1-dimensional tensor")
    dim = axis(dim, input.ndim)
    n = input._array.shape[dim]
    refuse(any(size < 0 for size in sizes), "negative sections", list(sizes))
    refuse(sum(sizes) != n, "sum of sections", n, dim, list(sizes))
    front, ends = (slice(None),) * dim, np.cumsum(sizes).tolist()
    indices = [(*front, slice(end - size, end), ...) for size, end in zip(sizes, ends)]
    return pieces(input, indices, name, lambda *gs: cat(gs, dim))


def pieces(input, indices, name, rule):
    """Record several views of a tensor."""
    return record_views(
        input,
        [input._array[index] for index in indices],
        name,
        rule,
        lambda base, number: getitem(base, indices[number]),
    )


def chunk(input, chunks: int, dim: int = 0):
    """Split an axis into this many pieces."""
    require_axes(input, "chunk expects at least a 1-dimensional tensor")
    refuse(chunks <= 0, f"chunk expects `chunks` to be greater than 0, got: {chunks}")
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
    """Return tensors as a list; raise TypeError for anything else."""
    check_argument(name, "tensors", tensors, Tensors, 1)
    check_elements(tensors)
    return list(tensors)


def cat(tensors: Tensors, dim: int = 0):
    """Concatenate tensors along an axis that they have."""
    tensors = check_list(tensors, "cat")
    refuse(not tensors, "torch.cat(): expected a non-empty list of Tensors", kind=ValueError)
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
    tensors = check_list(tensors, "stack")
    refuse(not tensors, "stack expects a non-empty TensorList")
    for number, tensor in enumerate(tensors):
        if tensor._array.shape != tensors[0]._array.shape:
            raise error("stacked shapes", list(tensors[0].shape), list(tensor.shape), number)
    tensors = promote_all(tensors)
    at = axis(dim, tensors[0].ndim + 1)
    array = contiguous(np.stack([tensor._array for tensor in tensors], at))
    return record(array, "Stack", tensors, lambda g: unbind(g, at))


def hstack(tensors: Tensors):
    tensors = [tensor if tensor.ndim else tensor.reshape(1) for tensor in check_stacked("hstack", tensors)]
    return cat(tensors, 0 if tensors[0].ndim == 1 else 1)


def vstack(tensors: Tensors):
    return cat([x if x.ndim > 1 else x.reshape(1, -1) for x in check_stacked("vstack", tensors)], 0)


def check_stacked(name, tensors):
    """Return a list of tensors; raise torch's error if it is empty."""
    tensors = check_list(tensors, name)
    refuse(not tensors, f"{name} expects a non-empty TensorList")
    return tensors
