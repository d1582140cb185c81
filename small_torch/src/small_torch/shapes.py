"""Change the shape or the order of the axes: mostly views."""

import builtins
import math
import operator

import numpy as np

from . import dtypes
from .operands import broadcast_error, cannot_broadcast
from .tape import fit
from .tensor import Tensor, axis, record, record_view


def parse_sizes(sizes):
    """Return sizes from torch's forms: `f(2, 3)`, `f((2, 3))`, `f(torch.Size([2, 3]))`."""
    if len(sizes) == 1 and isinstance(sizes[0], (tuple, list)):
        sizes = sizes[0]
    try:
        return tuple(map(operator.index, sizes))
    except (TypeError, ValueError, RuntimeError):  # a float, or a tensor of several numbers
        kinds = ", ".join(type(size).__name__ for size in sizes)
        raise TypeError(f"argument 'size' (position 1) must be tuple of ints, not ({kinds})") from None


def infer_shape(shape, array, function="view"):
    """Replace −1 in a shape by the length that fits; raise torch's error if none does."""
    if shape.count(-1) > 1:
        raise RuntimeError("only one dimension can be inferred")
    product = math.prod([n for n in shape if n != -1])
    error = RuntimeError(f"shape '{list(shape)}' is invalid for input of size {array.size}")
    if -1 in shape:
        if product == 0:
            raise RuntimeError(
                f"cannot reshape tensor of 0 elements into shape {list(shape)} because the unspecified dimension size"
                " -1 can be any value and is ambiguous"
            )
        if array.size % product:
            raise error
        shape = tuple(array.size // product if n == -1 else n for n in shape)
    elif product != array.size:
        raise error
    return shape


def as_view(array, shape):
    """Return the numpy view of another shape, or None if it would have to be copied."""
    out = array.reshape(shape)
    return out if not array.size or np.may_share_memory(out, array) else None


def view(input, *shape, dtype=None):
    """Return a view of another shape; raise RuntimeError where the numbers would have to be copied."""
    if len(shape) == 1 and isinstance(shape[0], dtypes.dtype):
        return Tensor(input._array.view(shape[0].np))
    shape = infer_shape(parse_sizes(shape), input._array)
    out = as_view(input._array, shape)
    if out is None:
        raise RuntimeError(
            "view size is not compatible with input tensor's size and stride (at least one dimension spans across two"
            " contiguous subspaces). Use .reshape(...) instead."
        )
    return record_reshape(input, out, shape, "View")


def reshape(input, *shape):
    """Return the same numbers in another shape: a view where possible."""
    shape = infer_shape(parse_sizes(shape), input._array)
    out = input._array.reshape(shape)
    if not input._array.size or np.may_share_memory(out, input._array):
        return record_reshape(input, out, shape, "View")
    before = input._array.shape
    return record(out, "UnsafeView", (input,), lambda g: reshape(g, before))


def record_reshape(input, array, shape, name):
    """Record a view of another shape."""
    before = input._array.shape
    return record_view(input, array, name, lambda g: reshape(g, before), lambda base: reshape(base, shape))


def view_as(input, other):
    return view(input, other.shape)


def flatten(input, start_dim=0, end_dim=-1):
    """Merge the axes from start_dim to end_dim into one."""
    if not input.ndim:
        return reshape(input, 1)
    first, last = axis(start_dim, input.ndim), axis(end_dim, input.ndim)
    if first > last:
        raise RuntimeError("flatten() has invalid args: start_dim cannot come after end_dim")
    shape = input._array.shape
    if first == last:
        return input
    return reshape(input, *shape[:first], int(np.prod(shape[first : last + 1], dtype=np.int64)), *shape[last + 1 :])


def ravel(input):
    return reshape(input, -1)


def unflatten(input, dim, sizes):
    """Split one axis into several."""
    dim, shape = axis(dim, input.ndim), input._array.shape
    sizes = tuple(sizes)
    product = int(np.prod([n for n in sizes if n != -1], dtype=np.int64))
    if -1 in sizes and product and shape[dim] % product == 0:
        sizes = tuple(shape[dim] // product if n == -1 else n for n in sizes)
    if int(np.prod(sizes, dtype=np.int64)) != shape[dim]:
        raise RuntimeError(
            f"unflatten: Provided sizes {list(sizes)} don't multiply up to the size of dim {dim} ({shape[dim]}) in the"
            " input tensor"
        )
    return view(input, *shape[:dim], *sizes, *shape[dim + 1 :])


def transpose(input, dim0, dim1):
    """Exchange two axes."""
    dim0, dim1 = axis(dim0, input.ndim), axis(dim1, input.ndim)
    if not input.ndim:
        return record_view(input, input._array[...], "Transpose", lambda g: g, lambda base: base)
    return record_view(
        input, np.swapaxes(input._array, dim0, dim1), "Transpose",
        lambda g: transpose(g, dim0, dim1), lambda base: transpose(base, dim0, dim1),
    )  # fmt: skip


swapaxes = transpose


def t(input):
    """Transpose a matrix."""
    if input.ndim > 2:
        raise RuntimeError(f"t() expects a tensor with <= 2 dimensions, but self is {input.ndim}D")
    if input.ndim < 2:
        return record_view(input, input._array[...], "T", lambda g: g, lambda base: base[...])
    return record_view(input, input._array.T, "T", t, t)


def permute(input, *dims_):
    """Reorder the axes."""
    order = parse_sizes(dims_)
    order = tuple(axis(i, input.ndim) for i in order) if len(order) == input.ndim else order
    if sorted(order) != list(range(input.ndim)):
        if len(set(order)) < len(order) == input.ndim:
            raise RuntimeError("permute(): duplicate dims are not allowed.")
        raise RuntimeError(
            "permute(sparse_coo): number of dimensions in the tensor input does not match the length of the desired"
            f" ordering of dimensions i.e. input.dim() = {input.ndim} is not equal to len(dims) = {len(order)}"
        )
    inverse = tuple(int(i) for i in np.argsort(order))
    return record_view(
        input,
        input._array.transpose(order),
        "Permute",
        lambda g: permute(g, inverse),
        lambda base: permute(base, order),
    )


def movedim(input, source, destination):
    """Move axes to other places."""
    source = [source] if isinstance(source, int) else list(source)
    destination = [destination] if isinstance(destination, int) else list(destination)
    source = [axis(dim, input.ndim) for dim in source]
    destination = [axis(dim, input.ndim) for dim in destination]
    rest = iter(dim for dim in range(input.ndim) if dim not in source)
    return permute(input, [source[destination.index(i)] if i in destination else next(rest) for i in range(input.ndim)])


def squeeze(input, dim=None):
    """Remove axes of length 1: all, or those named."""
    shape = input._array.shape
    removable = (
        range(input.ndim) if dim is None else [axis(d, input.ndim) for d in ((dim,) if isinstance(dim, int) else dim)]
    )
    new_shape = tuple(n for i, n in enumerate(shape) if not (i in removable and n == 1))
    return record_view(
        input,
        input._array.reshape(new_shape),
        f"Squeeze.{0 if dim is None else 1 if isinstance(dim, int) else 2}",
        lambda g: reshape(g, shape),
        lambda base: squeeze(base, dim),
    )


def unsqueeze(input, dim):
    """Insert an axis of length 1."""
    dim = axis(dim, input.ndim + 1)
    return record_view(
        input,
        np.expand_dims(input._array, dim),
        "Unsqueeze",
        lambda g: squeeze(g, dim),
        lambda base: unsqueeze(base, dim),
    )


def expand(input, *sizes):
    """Repeat axes of length 1, without a copy."""
    before, sizes = input._array.shape, parse_sizes(sizes)
    front = len(sizes) - len(before)
    if front < 0:
        raise RuntimeError(
            f"expand(torch.{input.dtype.title}Tensor{{{list(before)}}}, size={list(sizes)}): the number of sizes"
            f" provided ({len(sizes)}) must be greater or equal to the number of dimensions in the tensor"
            f" ({len(before)})"
        )
    shape = tuple(before[i - front] if size == -1 else size for i, size in enumerate(sizes))
    for i, (old, new) in enumerate(zip(before, shape[front:])):
        if old not in (1, new):
            raise RuntimeError(
                f"The expanded size of the tensor ({new}) must match the existing size ({old}) at non-singleton"
                f" dimension {i + front}.  Target sizes: {list(shape)}.  Tensor sizes: {list(before)}"
            )
    array = np.broadcast_to(input._array, shape)
    array.flags.writeable = input._array.flags.writeable
    return record_view(input, array, "Expand", lambda g: fit(g, before), lambda base: expand(base, shape))


def expand_as(input, other):
    return expand(input, other.shape)


def broadcast_to(input, size):
    return expand(input, size)


def broadcast_tensors(*tensors):
    try:
        shape = np.broadcast_shapes(*(tensor._array.shape for tensor in tensors))
    except ValueError:
        raise broadcast_error(*next((a, b) for a in tensors for b in tensors if cannot_broadcast(a, b))) from None
    return tuple(expand(tensor, shape) for tensor in tensors)


def repeat(input, *sizes):
    """Repeat a tensor along each axis: a copy."""
    sizes = parse_sizes(sizes)
    if len(sizes) < input.ndim:
        raise RuntimeError("Number of dimensions of repeat dims can not be smaller than number of dimensions of tensor")
    shape = (1,) * (len(sizes) - input.ndim) + input._array.shape

    def rule(g):
        copies = reshape(g, *(size for pair in zip(sizes, shape) for size in pair))
        return reshape(copies.sum(tuple(range(0, 2 * len(sizes), 2))) if sizes else copies, input._array.shape)

    return record(np.tile(input._array, sizes), "Repeat", (input,), rule)


def tile(input, *sizes):
    sizes = parse_sizes(sizes)
    return repeat(input, (1,) * (input.ndim - len(sizes)) + sizes)


def contiguous(input, memory_format=None):
    """Return a tensor whose numbers lie in row-major order: itself, or a copy."""
    return input if input._array.flags.c_contiguous else clone(input, memory_format="contiguous")


def clone(input, *, memory_format=None):
    """Return a copy through which gradients flow."""
    array = input._array.copy(order="K" if memory_format is None else "C")
    if 0 in input._array.strides and input._array.size > 1 and memory_format is None:
        array = np.ascontiguousarray(array)
    out = record(array, "Clone", (input,), lambda g: g)
    out.device = input.device
    return out


def alias(input):
    return record_view(input, input._array[...], "Alias", lambda g: g, alias)


def diagonal(input, offset=0, dim1=0, dim2=1):
    """Return the diagonals of matrices, as the last axis."""
    shape = input._array.shape
    array = np.diagonal(input._array, offset, dim1, dim2)
    array.flags.writeable = input._array.flags.writeable

    def rule(g):
        out = np.zeros(shape, g._array.dtype)
        diagonal_of_out = np.diagonal(out, offset, dim1, dim2)
        diagonal_of_out.flags.writeable = True
        diagonal_of_out[...] = g._array
        return record(out, "Diag", (g,), lambda h: diagonal(h, offset, dim1, dim2))

    return record_view(input, array, "Diagonal", rule, lambda base: diagonal(base, offset, dim1, dim2))


def diag(input, diagonal_=0):
    """Return a matrix's diagonal; or, for a vector, the matrix with this diagonal."""
    if input.ndim == 2:
        return diagonal(input, diagonal_)
    return diag_embed(input, diagonal_)


def diag_embed(input, offset=0):
    n = input._array.shape[-1] + builtins.abs(offset)
    out = np.zeros((*input._array.shape[:-1], n, n), input._array.dtype)
    diagonal_of_out = np.diagonal(out, offset, -2, -1)
    diagonal_of_out.flags.writeable = True
    diagonal_of_out[...] = input._array
    return record(out, "DiagEmbed", (input,), lambda g: diagonal(g, offset, -2, -1))


def unfold(input, dimension, size, step):
    """Return all windows of one axis, as a new last axis."""
    dim, shape = axis(dimension, input.ndim), input._array.shape
    if size > (shape[dim] if shape else 1):
        raise RuntimeError(f"maximum size for tensor at dimension {dim} is {shape[dim]} but size is {size}")
    windows = np.lib.stride_tricks.sliding_window_view(input._array, size, dim, writeable=True)
    array = windows[(slice(None),) * dim + (slice(None, None, step),)]

    def rule(g):
        out = Tensor(np.zeros(shape, g._array.dtype))
        target = np.moveaxis(out._array, dim, 0)
        starts = np.arange(array.shape[dim]) * step
        rows = np.moveaxis(g._array, dim, 0)
        for offset in range(size):
            np.add.at(target, starts + offset, rows[..., offset])
        return record(out._array, "UnfoldBackward", (g,), lambda h: unfold(h, dim, size, step))

    return record_view(input, array, "Unfold", rule, lambda base: unfold(base, dimension, size, step))


def flip(input, *dims_):
    """Reverse axes: a copy."""
    axes = tuple(axis(dim, input.ndim) for dim in parse_sizes(dims_))
    return record(np.flip(input._array, axes if input.ndim else ()).copy(), "Flip", (input,), lambda g: flip(g, axes))


def roll(input, shifts, dims=None):
    """Shift axes cyclically."""
    if dims is not None:
        dims = [axis(dim, input.ndim) for dim in (dims if isinstance(dims, (tuple, list)) else (dims,))]
    back = tuple(-shift for shift in shifts) if isinstance(shifts, (tuple, list)) else -shifts
    return record(np.roll(input._array, shifts, dims), "Roll", (input,), lambda g: roll(g, back, dims))


def triangle(name, function, input, diagonal):
    """Apply np.tril or np.triu; torch's error for fewer than two axes."""
    if input.ndim < 2:
        raise RuntimeError(f"{name}: input tensor must have at least 2 dimensions")

    def rule(g):
        return triangle(name, function, g, diagonal)

    return record(function(input._array, diagonal), name.title(), (input,), rule)


def tril(input, diagonal=0):
    """Return the lower triangle, zeros above."""
    return triangle("tril", np.tril, input, diagonal)


def triu(input, diagonal=0):
    """Return the upper triangle, zeros below."""
    return triangle("triu", np.triu, input, diagonal)


def numel(input):
    return input._array.size
