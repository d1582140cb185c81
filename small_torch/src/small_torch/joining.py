"""Tensors taken apart and joined."""

import builtins

import numpy as np

from . import dtypes
from .indexing import getitem
from .tensor import Tensor, axis, record, record_many


def has_axes(input, otherwise):
    if not input.ndim:
        raise RuntimeError(otherwise)


def select(input, dim, index):
    """What stands at one place of an axis."""
    return getitem(input, (slice(None),) * axis(dim, input.ndim) + (int(index),))


def narrow(input, dim, start, length):
    """A piece of an axis."""
    has_axes(input, "narrow() cannot be applied to a 0-dim tensor.")
    dim = axis(dim, input.ndim)
    n = input._array.shape[dim]
    if not -n <= start <= n:
        raise IndexError(f"start out of range (expected to be in range of [{-n}, {n}], but got {int(start)})")
    start = int(start) if start >= 0 else n + int(start)
    if start + length > n:
        raise RuntimeError(f"start ({start}) + length ({length}) exceeds dimension size ({n}).")
    return getitem(input, (slice(None),) * dim + (slice(start, start + int(length)),))


def unbind(input, dim=0):
    """All that stands along an axis, one by one."""
    dim = axis(dim, input.ndim)
    index = (slice(None),) * dim
    return several(input, [(*index, i) for i in range(input._array.shape[dim])], "Unbind", lambda gs: stack(gs, dim))


def split(input, split_size_or_sections, dim=0):
    """An axis in pieces: of one length, the last one maybe shorter, or of the lengths given."""
    has_axes(input, "split expects at least a 1-dimensional tensor")
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
    return several(input, pieces, "Split" if equal else "SplitWithSizes", lambda gs: cat(gs, dim))


def several(input, indices, name, rule):
    """Several views at once. Their gradients come back together."""
    arrays = [input._array[(*index, Ellipsis)] for index in indices]
    outs = record_many(arrays, name, (input,), lambda *gs: rule(list(gs))) if arrays else []
    for out, index in zip(outs, indices):
        out._version, out._base, out._seen = input._version, input, input._version[0]
        out._replay = lambda base, index=index: getitem(base, index)
    return tuple(outs)


def chunk(input, chunks, dim=0):
    """An axis in so many pieces."""
    has_axes(input, "chunk expects at least a 1-dimensional tensor")
    n = input._array.shape[axis(dim, input.ndim)]
    return split(input, -(-n // chunks) or [0] * chunks, dim)


def common(tensors):
    dtype = tensors[0].dtype
    if all(one._array.dtype == tensors[0]._array.dtype for one in tensors):
        return list(tensors)
    for one in tensors:
        dtype = dtypes.promoted(dtype, one.dtype)
    return [one.to(dtype) for one in tensors]


def several_of(tensors, name):
    """A list of them, not a tensor of which one would take the rows."""
    if isinstance(tensors, Tensor):
        raise TypeError(f"{name}(): argument 'tensors' (position 1) must be tuple of Tensors, not Tensor")
    return list(tensors)


def cat(tensors, dim=0):
    """Tensors one after the other along an axis that they have."""
    tensors = several_of(tensors, "cat")
    if not tensors:
        raise ValueError("torch.cat(): expected a non-empty list of Tensors")
    if any(not isinstance(one, Tensor) for one in tensors):
        number, wrong = next((i, one) for i, one in enumerate(tensors) if not isinstance(one, Tensor))
        raise TypeError(f"expected Tensor as element {number} in argument 0, but got {type(wrong).__name__}")
    if any(not one.ndim for one in tensors):
        number = next(i for i, one in enumerate(tensors) if not one.ndim)
        raise RuntimeError(f"zero-dimensional tensor (at position {number}) cannot be concatenated")
    tensors = common(tensors)
    given = [one for one in tensors if one._array.shape != (0,)] or tensors[:1]
    at = axis(dim, given[0].ndim)
    for number, one in enumerate(given):
        if one.ndim != given[0].ndim:
            raise RuntimeError(f"Tensors must have same number of dimensions: got {given[0].ndim} and {one.ndim}")
        for i, (a, b) in enumerate(zip(given[0]._array.shape, one._array.shape)):
            if i != at and a != b:
                raise RuntimeError(
                    f"Sizes of tensors must match except in dimension {at}. Expected size {a} but got size {b} for"
                    f" tensor number {number} in the list."
                )
    sizes = [one._array.shape[at] for one in given]
    return record(
        np.concatenate([one._array for one in given], at),
        "Cat",
        given,
        lambda g: split(g, sizes, at) if len(sizes) > 1 else (g,),
    )


concat = concatenate = cat


def stack(tensors, dim=0):
    """Tensors of one shape along a new axis."""
    tensors = several_of(tensors, "stack")
    if not tensors:
        raise RuntimeError("stack expects a non-empty TensorList")
    for number, one in enumerate(tensors):
        if not isinstance(one, Tensor):
            raise TypeError(f"expected Tensor as element {number} in argument 0, but got {type(one).__name__}")
        if one._array.shape != tensors[0]._array.shape:
            raise RuntimeError(
                f"stack expects each tensor to be equal size, but got {list(tensors[0].shape)} at entry 0 and"
                f" {list(one.shape)} at entry {number}"
            )
    tensors = common(tensors)
    at = axis(dim, tensors[0].ndim + 1)
    return record(np.stack([one._array for one in tensors], at), "Stack", tensors, lambda g: unbind(g, at))


def hstack(tensors):
    tensors = [one if one.ndim else one.reshape(1) for one in tensors]
    return cat(tensors, 0 if tensors[0].ndim == 1 else 1)


def vstack(tensors):
    return cat([one if one.ndim > 1 else one.reshape(1, -1) for one in tensors], 0)
