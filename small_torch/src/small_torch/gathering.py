"""Gather, scatter, add and replace rows and single numbers by index along an axis."""

import functools

import numpy as np

from . import dtypes
from .creation import zeros_like
from .indexing import check_bounds, put, put_sum, take
from .memory import contiguous
from .messages import error, refuse
from .operands import check_fill, refuse_type, scalar_array
from .rearranging import clone
from .shapes import broadcast_tensors, expand, flatten, reshape, unsqueeze
from .tape import recording, rename_node
from .tensor import Tensor, axis, record


def accept_scalars(operation):
    """Decorate an operation on rows so that tensors without axes count as rows of one number."""

    def as_row(x):
        return reshape(x, 1) if isinstance(x, Tensor) and not x.ndim else x

    def as_scalar(x):
        x = reshape(x, ())
        x._base = x._replay = None  # torch's is no view
        return x

    @functools.wraps(operation)
    def call(input, *arguments, **options):
        if input.ndim:
            return operation(input, *arguments, **options)
        out = operation(as_row(input), *map(as_row, arguments), **{name: as_row(x) for name, x in options.items()})
        return as_scalar(out) if isinstance(out, Tensor) else type(out)(*map(as_scalar, out))

    return call


def as_scalar(x):
    """Return a tensor of one number without axes, which is no view."""
    out = reshape(x, ())
    out._base = None
    return out


def rows_at(dim, index):
    """Return numpy's index of rows along an axis."""
    return (slice(None),) * dim + (index._array.reshape(-1),)


def index_select(input, dim: int, index: Tensor):
    """Return the rows (or slices along another axis) with these indices."""
    dim = axis(dim, input.ndim)
    refuse(index.ndim > 1, "index_select(): Index is supposed to be a vector", kind=IndexError)
    refuse(index.dtype not in (dtypes.int64, dtypes.int32), "index_select(): Expected dtype int32 or int64 for index")
    if not input.ndim and index.numel() != 1:
        raise RuntimeError(f"index_select(): Index to scalar can have only 1 value, got {index.numel()} value(s)")
    n = input._array.shape[dim] if input.ndim else 1
    refuse(not n and index.numel() and input.ndim > 1, "index_select(): self indexing axis dim should be positive")
    outside = index._array[(index._array >= n) | (index._array < 0)]
    if outside.size and (
        dim == 1 or not input.numel() and input.ndim > 1
    ):  # torch has a program of its own for this dimension
        raise RuntimeError(f"INDICES element is out of DATA bounds, id={outside.flat[0]} axis_dim={n}")
    refuse(outside.size, "index out of range in self", kind=IndexError)
    if not input.ndim:
        return rename_node(clone(input), "IndexSelect")
    places, shape = rows_at(dim, index), input._array.shape
    array = contiguous(np.take(input._array, places[-1], dim))
    return record(array, "IndexSelect", (input,), lambda g: put_sum(g, shape, places), [index])


def index_add(input, dim: int, index: Tensor, source: Tensor, *, alpha=1):
    """Return a copy to which rows are added at these indices."""
    dim = axis(dim, input.ndim)
    refuse(source.dtype is not input.dtype, "rows type", input.dtype.title, source.dtype.title)
    if not source.ndim and index.numel() != 1:
        axis(0, 0, wrap_scalar=False)
    wrong = not input.ndim and source.ndim and index.numel() == source._array.shape[dim]
    refuse(wrong, "rows shape", list(input.shape), list(source.shape))
    return add_rows_at(input, dim, index, source, alpha)


@accept_scalars
def add_rows_at(input, dim, index, source, alpha):
    refuse(index.ndim > 1, "rows index", index.ndim, index.dtype.title, list(index.shape))
    if index.numel() != (source._array.shape[dim] if source.ndim else 1):
        raise error("rows count", index.numel(), source._array.shape[dim] if source.ndim else 1, dim)
    if source.ndim != input.ndim or slice_shape(input, dim) != slice_shape(source, dim):
        raise error("rows shape", list(input.shape), list(source.shape))
    if not input.numel():
        return unchanged(input, source, "IndexAdd")
    if input.ndim == 1 and ((index._array < 0) | (index._array >= input.numel())).any():
        raise IndexError("index out of range in self")
    check_rows(RuntimeError, "", index, dim, input)
    source = source if alpha == 1 else source * np.asarray(alpha).astype(source._array.dtype).item()
    return put(input, rows_at(dim, index), source, "IndexAdd", True, [index], keep_order=False)


def unchanged(input, values, name):
    """Return a copy of the input, to be recorded as one in which none of the values stands."""
    return record(input._array.copy(), name, (input, values), lambda g: (g, zeros_like(values)))


def check_rows(error, name, index, dim, input):
    """Raise an error if an index is negative or too large."""
    n = input._array.shape[dim]
    wrong = index._array[(index._array < 0) | (index._array >= n)]
    if wrong.size:
        raise error(f"{name}index {wrong.flat[0]} is out of bounds for dimension {dim} with size {n}")


def slice_shape(input, dim):
    """Return the shape without one axis."""
    return [*input.shape[:dim], *input.shape[dim + 1 :]]


def index_copy(input, dim: int, index: Tensor, source: Tensor):
    """Return a copy in which the rows at these indices are replaced."""
    dim = axis(dim, input.ndim)
    refuse(index.ndim > 1, "index_copy_(): Index should have dimension 1 or 0 (got {})", index.ndim, kind=IndexError)
    refuse(source.ndim and input.ndim and source.ndim != input.ndim, "copied rows axes", source.ndim, input.ndim)
    refuse(not source.ndim and index.numel() != 1, "copied number", index.numel())
    refuse(source.dtype is not input.dtype, "copied rows type", input.dtype.title, source.dtype.title)
    return copy_rows(input, dim, index, source)


@accept_scalars
def copy_rows(input, dim, index, source):
    if slice_shape(input, dim) != slice_shape(source, dim):
        destination_shape, source_shape = (" ".join(map(str, slice_shape(x, dim))) for x in (input, source))
        raise error("copied rows shape", destination_shape, dim, source_shape)
    if source.ndim and index.numel() != source._array.shape[dim]:
        raise error("copied rows count", index.numel(), source._array.shape[dim])
    if not input.numel():
        return unchanged(input, source, "IndexCopy")
    check_rows(IndexError, "index_copy_(): ", index, dim, input)
    return put(input, rows_at(dim, index), source, "IndexCopy", saved=[index], keep_order=False)


def index_fill(input, dim: int, index: Tensor, value):
    """Return a copy in which the rows at these indices are filled with a number."""
    if isinstance(value, Tensor) and value.ndim:
        raise error("fill axes", "index_fill_", value.ndim)
    is_complex = value.is_complex() if isinstance(value, Tensor) else isinstance(value, complex)
    if is_complex and input.dtype.kind < 3:
        raise RuntimeError("index_fill_(): Converting complex Scalar to non-complex type is not supported")
    refuse(index.ndim > 1, "Index has to be a vector/scalar")
    if isinstance(value, Tensor) and value.requires_grad and input.dtype.kind < 2 and recording[0]:
        raise RuntimeError(f"Autograd not support dtype: {input.dtype.title}")
    if not isinstance(value, Tensor):
        value = Tensor(np.asarray(check_fill(value, input.dtype), input._array.dtype))
    value = value.to(input.dtype)
    return fill_rows(input, dim, index, value)


@accept_scalars
def fill_rows(input, dim, index, value):
    dim = axis(dim, input.ndim)
    n = input._array.shape[dim]
    if not input.numel() and n:
        return unchanged(input, value, "IndexFill")
    for item in index._array.reshape(-1):
        check_bounds(item, dim, n)
    return put(input, rows_at(dim, index), reshape(value, ()), "IndexFill", saved=[index])


def index_grid(index, dim):
    """Return a numpy index that takes `index` along the axis dim and each place of the other axes."""
    grid = list(np.indices(index._array.shape, sparse=True))
    grid[dim] = index._array
    return tuple(grid)


def checked_axis(name, input, dim, index, src=None):
    """Check the arguments of gather or scatter; return the axis, counted from the front."""
    dim = axis(dim, input.ndim)
    refuse(index.dtype not in (dtypes.int64, dtypes.int32), f"{name}(): Expected dtype int32/int64 for index")
    if isinstance(src, Tensor) and src.dtype is not input.dtype:
        raise RuntimeError(f"{name}(): Expected self.dtype to be equal to src.dtype")
    if not index.numel():
        return dim
    if (index.ndim or 1) != (input.ndim or 1):
        raise RuntimeError(
            f"Index tensor must have the same number of dimensions as {'input' if name == 'gather' else 'self'} tensor"
        )
    if isinstance(src, Tensor) and (index.ndim or 1) != (src.ndim or 1):
        raise RuntimeError("Index tensor must have the same number of dimensions as src tensor")
    a, b, c = (list(x.shape) for x in (index, input, index if not isinstance(src, Tensor) else src))
    if any(m > n for at, (m, n) in enumerate(zip(a, b)) if at != dim) or any(m > n for m, n in zip(a or [1], c or [1])):
        raise RuntimeError(
            f"Size does not match at dimension {next(at for at, (m, n) in enumerate(zip(a, b)) if at != dim and m > n)}"
            f" expected index {a} to be no larger than self {b} apart from dimension {dim}"
            if name == "gather"
            else f"Expected index {a} to be no larger than self {b} apart from dimension {dim}"
            + (f" and to be no larger size than src {c}" if isinstance(src, Tensor) else "")
        )
    n = input._array.shape[dim] if input.ndim else 1
    wrong = index._array[(index._array >= n) | (index._array < 0)]
    if wrong.size:
        raise RuntimeError(f"index {wrong.flat[0]} is out of bounds for dimension {dim} with size {n}")
    return dim


def gather(input, dim: int, index: Tensor):
    """Return out with out[i][j] = input[index[i][j]][j] (for dim 0), and so on."""
    dim, shape = checked_axis("gather", input, dim, index), input._array.shape
    if not shape or not index.ndim or not index.numel():
        picked = take(reshape(input, -1), (index._array.reshape(-1),), saved=[index])
        return rename_node(reshape(picked, index.shape), "Gather")
    place = index_grid(index, dim)
    array = contiguous(input._array[place])
    return record(array, "Gather", (input,), lambda g: put_sum(g, shape, place), [input, index])


def scatter(input, dim: int, index: Tensor, src=None, *, value=None, reduce=None):
    """Return a copy in which src's numbers stand at the indices: the opposite of gather."""
    src = value if src is None else src
    dim = checked_axis("scatter", input, dim, index, src)
    refuse(reduce is not None, "small_torch has no scatter with reduce", kind=NotImplementedError)
    from_tensor = isinstance(src, Tensor)
    if not from_tensor:
        src = Tensor(scalar_array(check_fill(src, input.dtype), input.dtype))
    return put_grid(input, dim, index, src, "Scatter" if from_tensor else "Scatter.1")


def scatter_add(input, dim: int, index: Tensor, src: Tensor):
    """Return a copy to which src's numbers are added at the indices."""
    dim = checked_axis("scatter", input, dim, index, src)
    return put_grid(input, dim, index, src, "ScatterAdd", accumulate=True)


def put_grid(input, dim, index, src, name, accumulate=False):
    """Put numbers of `src` at the indices: as many of each axis as the index has."""
    if not index.numel():
        return unchanged(input, src, name)
    if not input.ndim:
        return reshape(put_grid(reshape(input, 1), dim, index, src, name, accumulate), ())
    lengths = index._array.shape or (1,)
    place = index_grid(index if index.ndim else reshape(index, 1), dim)
    part = Tensor(src._array[tuple(slice(n) for n in lengths)]) if src.ndim else src
    return put(input, place, part, name, accumulate, [index], src if src.ndim else None, keep_order=False)


def masked_select(input, mask: Tensor):
    """Return the numbers where a mask is set, in one row."""
    refuse(mask.dtype is not dtypes.bool_, "masked_select: expected BoolTensor for mask")
    input, mask = (reshape(x, 1) if not x.ndim else x for x in broadcast_tensors(mask, input)[::-1])
    return rename_node(take(input, np.nonzero(mask._array), saved=[mask]), "MaskedSelect")


def nonzero(input, *, as_tuple: bool = False):
    """Return the indices of all numbers that are not zero, a row each."""
    if as_tuple:
        return tuple(Tensor(contiguous(indices)) for indices in np.nonzero(np.atleast_1d(input._array)))
    return Tensor(np.argwhere(input._array))


def repeat_interleave(input, repeats=None, dim=None, *, output_size=None):
    """Repeat each element, with the copies side by side."""
    counts = input if repeats is None else repeats
    if isinstance(counts, Tensor):
        refuse_type("repeat_interleave", counts)
    if repeats is None:  # of counts alone, torch makes indices
        refuse(input.ndim != 1, "repeat_interleave only accept 1D vector as repeat")
        return Tensor(np.repeat(np.arange(input.numel()), input._array))
    if dim is None:
        input, dim = flatten(input), 0
    at = axis(dim, input.ndim, wrap_scalar=not isinstance(repeats, Tensor))
    if isinstance(repeats, (int, np.integer)):
        refuse(repeats < 0, "Repeats must be non-negative")
        shape = input._array.shape
        copies = expand(
            unsqueeze(input, at + 1 if shape else axis(1, 0)), (*shape[: at + 1], repeats, *shape[at + 1 :])
        )
        return flatten(clone(copies, memory_format="torch.contiguous_format"), at, at + 1)
    counts, n = repeats._array, input._array.shape[at]
    refuse(counts.ndim > 1, "repeats must be 0-dim or 1-dim tensor")
    refuse(counts.size not in (1, n), "repeats count", counts.size, dim, n)
    refuse((counts < 0).any(), "repeats can not be negative")
    return index_select(input, at, Tensor(np.repeat(np.arange(n), counts.astype(np.intp))))
