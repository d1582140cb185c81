"""Rows and single numbers by their places along an axis: taken, added, replaced."""

import functools

import numpy as np

from . import dtypes
from .indexing import getitem, index_put
from .shapes import broadcast_tensors, flatten, reshape
from .tape import titled
from .tensor import Tensor, axis, record


def index_select(input, dim, index):
    """Rows (or whatever stands along an axis) by number."""
    dim = axis(dim, input.ndim)
    if index.ndim > 1:
        raise IndexError("index_select(): Index is supposed to be a vector")
    if index.dtype not in (dtypes.int64, dtypes.int32):
        raise RuntimeError("index_select(): Expected dtype int32 or int64 for index")
    n = input._array.shape[dim]
    if index.numel() and (index._array.max() >= n or index._array.min() < 0):
        raise IndexError("index out of range in self")
    return titled(getitem(input, (slice(None),) * dim + (index.reshape(-1),)), "IndexSelect")


def index_add(input, dim, index, source, *, alpha=1):
    """A copy to which rows are added by number."""
    dim = axis(dim, input.ndim)
    if index.ndim > 1:
        raise IndexError(
            f"index_add_(): Index is supposed to be a vector, but got dim: {index.ndim} with type: {index.dtype.title}"
            f" and size: {list(index.shape)}"
        )
    if source.ndim and index.numel() != source._array.shape[dim]:
        raise RuntimeError(
            f"index_add_(): Number of indices ({index.numel()}) should be equal to source.size(dim): "
            f"({source._array.shape[dim]}), for dim: {dim}"
        )
    if source.dtype is not input.dtype:
        raise RuntimeError(
            f"index_add_(): self ({input.dtype.title}) and source ({source.dtype.title}) must have the same scalar type"
        )
    if source.ndim != input.ndim or slices(input, dim) != slices(source, dim):
        raise RuntimeError(
            "source tensor shape must match self tensor shape, excluding the specified dimension. Got self.shape = "
            f"{list(input.shape)} source.shape = {list(source.shape)}"
        )
    if index.numel() and (index._array.max() >= input._array.shape[dim] or index._array.min() < 0):
        raise IndexError("index out of range in self")
    array = input._array.copy()
    np.add.at(
        np.moveaxis(array, dim, 0),
        index._array,
        np.moveaxis(source._array, dim, 0) * np.asarray(alpha, source._array.dtype),
    )
    return record(array, "IndexAdd", (input, source), lambda g: (g, index_select(g, dim, index) * alpha), [index])


def slices(input, dim):
    """The shape of what stands at one place of an axis."""
    return [*input.shape[:dim], *input.shape[dim + 1 :]]


def index_copy(input, dim, index, source):
    """A copy in which rows are replaced by number."""
    dim = axis(dim, input.ndim)
    if source.ndim and input.ndim and source.ndim != input.ndim:
        raise IndexError(
            "index_copy_(): When source and destination are not scalars, their dimensionality must match. Source"
            f" dimensionality ({source.ndim}), destination dimensionality ({input.ndim})"
        )
    if source.ndim and slices(input, dim) != slices(source, dim):
        there, here = (" ".join(map(str, slices(one, dim))) for one in (input, source))
        raise RuntimeError(
            f"index_copy_(): Source/destination tensor must have same slice shapes. Destination slice shape: {there} at"
            f" dimension {dim} and source slice shape: {here} at dimension 0."
        )
    if source.ndim and index.numel() != source._array.shape[dim]:
        raise IndexError(
            f"index_copy_(): Number of indices ({index.numel()}) should be equal to source.size(dim) "
            f"({source._array.shape[dim]})"
        )
    return titled(index_put(input, (slice(None),) * dim + (index,), source), "IndexCopy")


def index_fill(input, dim, index, value):
    dim = axis(dim, input.ndim)
    return titled(
        index_put(input, (slice(None),) * dim + (index,), Tensor(np.asarray(value, input._array.dtype))), "IndexFill"
    )


def of_rows(operation):
    """An operation for which single numbers are rows of one, whether they are changed, or indices, or sent there."""

    def row(one):
        return reshape(one, 1) if isinstance(one, Tensor) and not one.ndim else one

    @functools.wraps(operation)
    def call(input, *given, **named):
        out = operation(row(input), *map(row, given), **{name: row(one) for name, one in named.items()})
        if input.ndim:
            return out
        return reshape(out, ()) if isinstance(out, Tensor) else type(out)(*(reshape(one, ()) for one in out))

    return call


def along(index, dim):
    grid = list(np.indices(index._array.shape, sparse=True))
    grid[dim] = index._array
    return tuple(grid)


def checked(name, input, dim, index, src=None):
    """The axis of an operation that takes numbers by index along it; negative indices are refused, as by torch."""
    dim = axis(dim, input.ndim)
    if index.dtype not in (dtypes.int64, dtypes.int32):
        raise RuntimeError(f"{name}(): Expected dtype int32/int64 for index")
    if not index.numel():
        return dim
    if (index.ndim or 1) != (input.ndim or 1):
        raise RuntimeError(
            f"Index tensor must have the same number of dimensions as {'input' if name == 'gather' else 'self'} tensor"
        )
    if isinstance(src, Tensor):
        if src.dtype is not input.dtype:
            raise RuntimeError(f"{name}(): Expected self.dtype to be equal to src.dtype")
        if (index.ndim or 1) != (src.ndim or 1):
            raise RuntimeError("Index tensor must have the same number of dimensions as src tensor")
    a, b, c = (list(one.shape) for one in (index, input, index if not isinstance(src, Tensor) else src))
    if any(m > n for at, (m, n) in enumerate(zip(a, b)) if at != dim) or any(m > n for m, n in zip(a, c)):
        raise RuntimeError(
            f"Size does not match at dimension {next(at for at, (m, n) in enumerate(zip(a, b)) if at != dim and m > n)}"
            f" expected index {a} to be no larger than self {b} apart from dimension {dim}"
            if name == "gather"
            else f"Expected index {a} to be no larger than self {b} apart from dimension {dim}"
            + (f" and to be no larger size than src {c}" if isinstance(src, Tensor) else "")
        )
    n = input._array.shape[dim] if input.ndim else 1
    if index._array.max() >= n or index._array.min() < 0:
        wrong = index._array[(index._array >= n) | (index._array < 0)].flat[0]
        raise RuntimeError(f"index {wrong} is out of bounds for dimension {dim} with size {n}")
    return dim


def gather(input, dim, index):
    """out[i][j] = input[index[i][j]][j] (for dim 0), and so on."""
    dim = checked("gather", input, dim, index)
    shape = input._array.shape
    if not shape or not index.ndim or not index.numel():
        return titled(reshape(getitem(reshape(input, -1), reshape(index, -1)), index.shape), "Gather")
    return record(
        input._array[along(index, dim)], "Gather", (input,),
        lambda g: scatter_add(Tensor(np.zeros(shape, g._array.dtype)), dim, index, g), [index],
    )  # fmt: skip


@of_rows
def scatter(input, dim, index, src=None, *, value=None, reduce=None):
    """The opposite of gather: a copy in which src's numbers stand where the index says."""
    src = value if src is None else src
    dim = checked("scatter", input, dim, index, src)
    given = isinstance(src, Tensor)
    if not given:
        src = Tensor(np.full(index._array.shape, src, input._array.dtype))
    if reduce is not None:
        raise NotImplementedError("small_torch has no scatter with reduce")
    array = input._array.copy()
    src_here = src._array[tuple(slice(n) for n in index._array.shape)]
    place = along(index, dim)
    array[place] = src_here

    def rule(g):
        hole = np.ones(array.shape, g._array.dtype)
        hole[place] = 0
        return g * Tensor(hole), gather(g, dim, index)

    return record(array, "Scatter" if given else "Scatter.1", (input, src), rule, [index])


@of_rows
def scatter_add(input, dim, index, src):
    """A copy to which src's numbers are added where the index says."""
    dim = checked("scatter", input, dim, index, src)
    array = input._array.copy()
    np.add.at(array, along(index, dim), src._array[tuple(slice(n) for n in index._array.shape)])
    return record(array, "ScatterAdd", (input, src), lambda g: (g, gather(g, dim, index)), [index])


def masked_select(input, mask):
    out = getitem(broadcast_tensors(input, mask)[0], mask.expand(np.broadcast_shapes(input.shape, mask.shape)))
    return titled(out, "MaskedSelect")


def nonzero(input, *, as_tuple=False):
    """The indices of what is not zero, a row each."""
    if as_tuple:
        return tuple(Tensor(one) for one in np.nonzero(np.atleast_1d(input._array)))
    return Tensor(np.argwhere(input._array))


def repeat_interleave(input, repeats, dim=None):
    """Each element repeated, where it stands."""
    if dim is None:
        input, dim = flatten(input), 0
    times, n = repeats._array.astype(np.intp) if isinstance(repeats, Tensor) else repeats, input._array.shape[dim]
    if np.size(times) not in (1, n):
        raise RuntimeError(
            f"repeats must have the same size as input along dim, but got repeats.size(0) = {np.size(times)} and"
            f" input.size({dim}) = {n}"
        )
    index = np.repeat(np.arange(n), times)
    out = index_select(input, dim, Tensor(index))
    return out if isinstance(repeats, Tensor) else titled(out, "View")
