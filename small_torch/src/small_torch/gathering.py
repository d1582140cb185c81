"""Gather, scatter, add and replace rows and single numbers by index along an axis."""

import functools

import numpy as np

from . import dtypes
from .indexing import check_arrays, put, put_sum, take
from .memory import contiguous
from .messages import refuse
from .operands import fill_tensor, refuse_type
from .rearranging import clone
from .shapes import broadcast_tensors, expand, flatten, reshape, unsqueeze
from .tape import rename_node
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


def check_index_type(name, index, types=(dtypes.int64, dtypes.int32), kind=RuntimeError):
    """Raise an error if an index is of another type."""
    refuse(index.dtype not in types, "{}(): Expected dtype int32/int64 for index", name, kind=kind)


def check_rows(index, dim, size, kind=RuntimeError):
    """Raise an error if an index is negative or too large."""
    wrong = index._array[(index._array < 0) | (index._array >= size)]
    if wrong.size:
        raise kind(f"index {wrong.flat[0]} is out of bounds for dimension {dim} with size {size}")


def rows_at(dim, index):
    """Return numpy's index of rows along an axis."""
    return (slice(None),) * dim + (index._array.reshape(-1),)


def index_select(input, dim: int, index: Tensor):
    """Return the rows (or slices along another axis) with these indices."""
    dim = axis(dim, input.ndim)
    refuse(index.ndim > 1, "index_select(): Index is supposed to be a vector", kind=IndexError)
    check_index_type("index_select", index)
    if not input.ndim and index.numel() != 1:
        raise RuntimeError(f"index_select(): Index to scalar can have only 1 value, got {index.numel()} value(s)")
    n = input._array.shape[dim] if input.ndim else 1
    outside = index._array[(index._array >= n) | (index._array < 0)]
    if outside.size and (dim == 1 or not input.numel() and input.ndim > 1):  # torch has a program of its own for these
        raise RuntimeError(f"INDICES element is out of DATA bounds, id={outside.flat[0]} axis_dim={n}")
    refuse(outside.size, "index out of range in self", kind=IndexError)
    if not input.ndim:
        return rename_node(clone(input), "IndexSelect")
    places, shape = rows_at(dim, index), input._array.shape
    array = contiguous(np.take(input._array, places[-1].astype(np.intp, copy=False), dim))
    return record(array, "IndexSelect", (input,), lambda g: put_sum(g, shape, places), [index])


def index_add(input, dim: int, index: Tensor, source: Tensor, *, alpha=1):
    """Return a copy to which rows are added at these indices."""
    check_index_type("index_add_", index)
    refuse(source.dtype is not input.dtype, "rows type", input.dtype.title, source.dtype.title)
    many = not source.ndim and index.numel() != 1
    refuse(many, "Dimension specified as 0 but tensor has no dimensions", kind=IndexError)
    refuse(source.ndim != input.ndim, "rows shape", list(input.shape), list(source.shape))
    source = source if alpha == 1 else source * np.asarray(alpha).astype(source._array.dtype).item()
    return put_rows(input, dim, index, source, "index_add_")


def index_copy(input, dim: int, index: Tensor, source: Tensor):
    """Return a copy in which the rows at these indices are replaced."""
    check_index_type("index_copy_", index, [dtypes.int64])
    differ = source.ndim and input.ndim and source.ndim != input.ndim
    refuse(differ, "index_copy_(): source and self must have the same number of dimensions", kind=IndexError)
    many = not source.ndim and index.numel() != 1
    refuse(many, f"index_copy_(): a source without axes needs one index, not {index.numel()}", kind=IndexError)
    refuse(source.dtype is not input.dtype, "copied rows type", input.dtype.title, source.dtype.title)
    return put_rows(input, dim, index, source, "index_copy_")


@accept_scalars
def put_rows(input, dim, index, source, name):
    """Return a copy in which rows are replaced, or to which they are added."""
    dim, adds = axis(dim, input.ndim), name == "index_add_"
    kind, title = (RuntimeError, "IndexAdd") if adds else (IndexError, "IndexCopy")
    refuse(index.ndim > 1, f"{name}(): Index should have dimension 1 or 0 (got {index.ndim})", kind=IndexError)
    shapes = [[*x.shape[:dim], *x.shape[dim + 1 :]] for x in (input, source)]
    refuse(shapes[0] != shapes[1], "rows shape", list(input.shape), list(source.shape))
    n, count = index.numel(), source._array.shape[dim] if source.ndim else 1
    size = f"source.size(dim): ({count}), for dim: {dim}" if adds else f"source.size(dim) ({count})"
    refuse(n != count, f"{name}(): Number of indices ({n}) should be equal to {size}", kind=kind)
    if not input.numel():
        return put(input, None, source, title, adds, [index], keep_order=False)
    check_rows(index, dim, input._array.shape[dim], IndexError if input.ndim == 1 else kind)
    return put(input, rows_at(dim, index), source, title, adds, [index], keep_order=False)


def index_fill(input, dim: int, index: Tensor, value):
    """Return a copy in which the rows at these indices are filled with a number."""
    check_index_type("index_fill_", index, [dtypes.int64], IndexError)
    refuse(index.ndim > 1, "Index has to be a vector/scalar")
    if isinstance(value, complex) and input.dtype.kind < 3:
        raise RuntimeError("index_fill_(): Converting complex Scalar to non-complex type is not supported")
    return fill_rows(input, dim, index, fill_tensor(value, input.dtype, "index_fill_").to(input.dtype))


@accept_scalars
def fill_rows(input, dim, index, value):
    dim = axis(dim, input.ndim)
    n = input._array.shape[dim]
    if not input.numel() and n:
        return put(input, None, value, "IndexFill", saved=[index])
    check_arrays([index._array], [n])
    return put(input, rows_at(dim, index), reshape(value, ()), "IndexFill", saved=[index])


def index_grid(index, dim):
    """Return a numpy index that takes `index` along the axis dim and each place of the other axes."""
    grid = list(np.indices(index._array.shape, sparse=True))
    grid[dim] = index._array
    return tuple(grid)


def checked_axis(name, input, dim, index, src=None):
    """Check the arguments of gather or scatter; return the axis, counted from the front."""
    dim = axis(dim, input.ndim)
    check_index_type(name, index)
    if src is not None and src.dtype is not input.dtype:
        raise RuntimeError(f"{name}(): Expected self.dtype to be equal to src.dtype")
    if not index.numel():
        return dim
    a, b = list(index.shape), list(input.shape)
    too_large = any(m > n for at, (m, n) in enumerate(zip(a, b)) if at != dim)
    for title, other in {"input" if name == "gather" else "self": input, "src": src}.items():
        differ = other is not None and (index.ndim or 1) != (other.ndim or 1)
        fits = differ and title == "src" and not too_large and all(m <= n for m, n in zip(a, other.shape))
        kind = IndexError if fits and 0 < other.ndim < len(a) else RuntimeError  # torch looks for an axis of src
        refuse(differ, "Index tensor must have the same number of dimensions as {} tensor", title, kind=kind)
    text = f"Expected index {a} to be no larger than self {b} apart from dimension {dim}"
    if src is not None:
        too_large = too_large or any(m > n for m, n in zip(a or [1], src.shape or [1]))
        text += f" and to be no larger size than src {list(src.shape)}"
    refuse(too_large, text)
    check_rows(index, dim, input._array.shape[dim] if input.ndim else 1)
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


def scatter(input, dim: int, index: Tensor, src=None, *, value=None):
    """Return a copy in which src's numbers, or a value, stand at the indices: the opposite of gather."""
    refuse((src is None) == (value is None), "scatter() takes either src or value", kind=TypeError)
    src = value if src is None else src
    if isinstance(src, Tensor):
        return put_grid(input, checked_axis("scatter", input, dim, index, src), index, src, "Scatter")
    dim = checked_axis("scatter", input, dim, index)
    return put_grid(input, dim, index, fill_tensor(src, input.dtype, "scatter"), "Scatter.1")


def scatter_add(input, dim: int, index: Tensor, src: Tensor):
    """Return a copy to which src's numbers are added at the indices."""
    dim = checked_axis("scatter", input, dim, index, src)
    return put_grid(input, dim, index, src, "ScatterAdd", accumulate=True)


@accept_scalars
def put_grid(input, dim, index, src, name, accumulate=False):
    """Put numbers of `src` at the indices: as many of each axis as the index has."""
    if not index.numel():
        return put(input, None, src, name, saved=[index], keep_order=False)
    if not index.ndim:
        index = reshape(index, 1)
    part = Tensor(src._array[tuple(slice(n) for n in index._array.shape)]) if src.ndim else src
    source = src if src.ndim else None
    return put(input, index_grid(index, dim), part, name, accumulate, [index], source, keep_order=False)


def masked_select(input, mask: Tensor):
    """Return the numbers where a mask is set, in one row."""
    refuse(mask.dtype is not dtypes.bool_, "masked_select: expected BoolTensor for mask")
    input, mask = (reshape(x, 1) if not x.ndim else x for x in broadcast_tensors(mask, input)[::-1])
    return rename_node(take(input, np.nonzero(mask._array), saved=[mask]), "MaskedSelect")


def nonzero(input, *, as_tuple: bool = False):
    """Return the indices of all numbers that are not zero, a row each."""
    if as_tuple:
        return tuple(Tensor(indices.copy()) for indices in np.nonzero(np.atleast_1d(input._array)))
    return Tensor(np.argwhere(input._array))


def repeat_interleave(input, repeats=None, dim=None):
    """Repeat each element, with the copies side by side; without `repeats`, the indices of so many elements."""
    if repeats is None:
        return Tensor(repeated_indices(input, input.numel()))
    if dim is None:
        input, dim = flatten(input), 0
    if isinstance(repeats, Tensor):
        at = axis(dim, input.ndim, wrap_scalar=False)
        return index_select(input, at, Tensor(repeated_indices(repeats, input._array.shape[at], dim)))
    at, shape = axis(dim, input.ndim), input._array.shape
    refuse(repeats < 0, "Repeats must be non-negative")
    after = at + 1 if shape else axis(1, 0)
    copies = expand(unsqueeze(input, after), (*shape[: at + 1], repeats, *shape[at + 1 :]))
    return flatten(clone(copies, memory_format="torch.contiguous_format"), at, at + 1)


def repeated_indices(repeats, n, dim=0):
    """Return the indices along an axis of length n, each repeated as often as a tensor says."""
    refuse_type("repeat_interleave", repeats)
    counts = repeats._array
    refuse(counts.ndim > 1 or counts.size not in (1, n), "repeats count", counts.size, dim, n)
    refuse((counts < 0).any(), "repeats can not be negative")
    return np.repeat(np.arange(n), counts.astype(np.intp))
