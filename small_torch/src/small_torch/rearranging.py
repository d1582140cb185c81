"""Copies of tensors whose numbers are repeated, reordered, or placed among zeros."""

import builtins

import numpy as np

from .elementwise import set_name
from .memory import arrange, copy_array
from .memory import contiguous as as_rows
from .messages import refuse
from .shapes import check_dims, diagonal, diagonal_array, diagonals, reshape, takes_sizes
from .tensor import axis, record


@takes_sizes
def repeat(input, repeats):
    """Repeat a tensor along each axis: a copy."""
    few = len(repeats) < input.ndim
    refuse(few, "Number of dimensions of repeat dims can not be smaller than number of dimensions of tensor")
    shape = (1,) * (len(repeats) - input.ndim) + input._array.shape
    refuse(min(repeats, default=0) < 0, "Trying to create tensor with negative dimension: {}", list(repeats))

    def rule(g):
        copies = reshape(g, tuple(size for pair in zip(repeats, shape) for size in pair))
        return reshape(copies.sum(tuple(range(0, 2 * len(repeats), 2))) if repeats else copies, input._array.shape)

    return record(as_rows(np.tile(input._array, repeats)), "Repeat", (input,), rule)


@takes_sizes
def tile(input, dims):
    """Repeat a tensor along its last axes."""
    return repeat(input, (1,) * (input.ndim - len(dims)) + dims) if input.ndim or dims else clone(input)


def contiguous(input, memory_format=None):
    """Return a tensor whose numbers lie in row-major order: itself, or a copy."""
    return input if input._array.flags.c_contiguous else clone(input, memory_format="torch.contiguous_format")


def ravel(input):
    """Return all numbers in one row: a view if they lie in one, else a copy."""
    return reshape(contiguous(input), -1)


def clone(input, *, memory_format=None):
    """Return a copy through which gradients flow."""
    array = input._array.copy() if memory_format == "torch.contiguous_format" else copy_array(input._array)
    out = record(array, "Clone", (input,), lambda g: g)
    out.device = input.device
    return out


def diag(input, diagonal=0):
    """Return a matrix's diagonal; or, for a vector, the matrix with this diagonal."""
    refuse(input.ndim not in (1, 2), f"diag(): Supports 1D or 2D tensors. Got {input.ndim}D")
    if input.ndim == 1:
        return diag_embed(input, diagonal)
    return clone(diagonals(input, diagonal, 0, 1), memory_format="torch.contiguous_format")


def diag_embed(input, offset=0, dim1=-2, dim2=-1):
    """Return matrices whose diagonals are the last axis."""
    at = axis(dim1, input.ndim + 1), axis(dim2, input.ndim + 1)
    refuse(at[0] == at[1], f"diagonal dimensions cannot be identical {dim1}, {dim2}")
    n = input._array.shape[-1] + builtins.abs(offset)
    shape = [*input._array.shape[:-1]]
    for place in sorted(at):
        shape.insert(place, n)
    out = np.zeros(shape, input._array.dtype)
    diagonal_array(out, offset, *at)[...] = input._array
    return record(out, "DiagEmbed", (input,), lambda g: diagonal(g, offset, *at))


@takes_sizes
def flip(input, dims):
    """Reverse axes: a copy."""
    axes = tuple(check_dims(dims, input.ndim)) if input.ndim else check_dims(dims, 0) and ()
    array = arrange(np.flip(input._array, axes).copy(), input._array.strides)
    return record(array, "Flip", (input,), lambda g: flip(g, axes))


def roll(input, shifts, dims=None):
    """Shift axes cyclically."""
    shifts, dims = (one if isinstance(one, (tuple, list)) else () if one is None else (one,) for one in (shifts, dims))
    refuse(len(shifts) != (len(dims) or 1), "shifts and dimensions must align")
    if input._array.size:
        dims = [axis(dim, input.ndim, wrap_scalar=False) for dim in dims]
        array = np.roll(input._array, shifts, dims or None)
    else:
        array = input._array.copy()
    return record(as_rows(array), "Roll", (input,), lambda g: roll(g, [-shift for shift in shifts], dims or None))


def triangle(name, function):
    """Make `tril` or `triu`."""

    def operation(input, diagonal=0):
        refuse(input.ndim < 2, f"{name}: input tensor must have at least 2 dimensions")
        array = as_rows(function(input._array, diagonal))
        return record(array, name.title(), (input,), lambda g: operation(g, diagonal))

    return set_name(name, operation)


tril, triu = triangle("tril", np.tril), triangle("triu", np.triu)
