"""Gather, scatter, add and replace rows and single numbers by index along an axis."""

import functools

import numpy as np

from . import dtypes
from .indexing import getitem, index_put
from .shapes import broadcast_tensors, flatten, reshape
from .tape import rename_node
from .tensor import Tensor, axis, record


def index_select(input, dim, index):
    """Return the rows (or slices along another axis) with these indices."""
    dim = axis(dim, input.ndim)
    if index.ndim > 1:
        raise IndexError("index_select(): Index is supposed to be a vector")
    if index.dtype not in (dtypes.int64, dtypes.int32):
        raise RuntimeError("index_select(): Expected dtype int32 or int64 for index")
    n = input._array.shape[dim]
    outside = index._array[(index._array >= n) | (index._array < 0)]
    if outside.size and dim == 1:  # torch has a program of its own for this dimension
        raise RuntimeError(f"INDICES element is out of DATA bounds, id={outside.flat[0]} axis_dim={n}")
    if outside.size:
        raise IndexError("index out of range in self")
    return rename_node(getitem(input, (slice(None),) * dim + (index.reshape(-1),)), "IndexSelect")


def index_add(input, dim, index, source, *, alpha=1):
    """Return a copy to which rows are added at these indices."""
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
    if source.ndim != input.ndim or slice_shape(input, dim) != slice_shape(source, dim):
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


def slice_shape(input, dim):
    """Return the shape without one axis."""
    return [*input.shape[:dim], *input.shape[dim + 1 :]]


def index_copy(input, dim, index, source):
    """Return a copy in which the rows at these indices are replaced."""
    dim = axis(dim, input.ndim)
    if source.ndim and input.ndim and source.ndim != input.ndim:
        raise IndexError(
            "index_copy_(): When source and destination are not scalars, their dimensionality must match. Source"
            f" dimensionality ({source.ndim}), destination dimensionality ({input.ndim})"
        )
    if source.ndim and slice_shape(input, dim) != slice_shape(source, dim):
        destination_shape, source_shape = (" ".join(map(str, slice_shape(x, dim))) for x in (input, source))
        raise RuntimeError(
            f"index_copy_(): Source/destination tensor must have same slice shapes. Destination slice shape:"
            f" {destination_shape} at dimension {dim} and source slice shape: {source_shape} at dimension 0."
        )
    if source.ndim and index.numel() != source._array.shape[dim]:
        raise IndexError(
            f"index_copy_(): Number of indices ({index.numel()}) should be equal to source.size(dim) "
            f"({source._array.shape[dim]})"
        )
    return rename_node(index_put(input, (slice(None),) * dim + (index,), source), "IndexCopy")


def index_fill(input, dim, index, value):
    dim = axis(dim, input.ndim)
    return rename_node(
        index_put(input, (slice(None),) * dim + (index,), Tensor(np.asarray(value, input._array.dtype))), "IndexFill"
    )


def accept_scalars(operation):
    """Decorate an operation on rows so that tensors without axes count as rows of one number."""

    def as_row(x):
        return reshape(x, 1) if isinstance(x, Tensor) and not x.ndim else x

    @functools.wraps(operation)
    def call(input, *arguments, **options):
        out = operation(as_row(input), *map(as_row, arguments), **{name: as_row(x) for name, x in options.items()})
        if input.ndim:
            return out
        return reshape(out, ()) if isinstance(out, Tensor) else type(out)(*(reshape(x, ()) for x in out))

    return call


def index_grid(index, dim):
    """Return a numpy index that takes `index` along the axis dim and each place of the other axes."""
    grid = list(np.indices(index._array.shape, sparse=True))
    grid[dim] = index._array
    return tuple(grid)


def checked_axis(name, input, dim, index, src=None):
    """Check the arguments of gather or scatter; return the axis, counted from the front."""
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
    a, b, c = (list(x.shape) for x in (index, input, index if not isinstance(src, Tensor) else src))
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
    """Return out with out[i][j] = input[index[i][j]][j] (for dim 0), and so on."""
    dim = checked_axis("gather", input, dim, index)
    shape = input._array.shape
    if not shape or not index.ndim or not index.numel():
        return rename_node(reshape(getitem(reshape(input, -1), reshape(index, -1)), index.shape), "Gather")
    return record(
        input._array[index_grid(index, dim)], "Gather", (input,),
        lambda g: scatter_add(Tensor(np.zeros(shape, g._array.dtype)), dim, index, g), [index],
    )  # fmt: skip


@accept_scalars
def scatter(input, dim, index, src=None, *, value=None, reduce=None):
    """Return a copy in which src's numbers stand at the indices: the opposite of gather."""
    src = value if src is None else src
    dim = checked_axis("scatter", input, dim, index, src)
    from_tensor = isinstance(src, Tensor)
    if not from_tensor:
        src = Tensor(np.full(index._array.shape, src, input._array.dtype))
    if reduce is not None:
        raise NotImplementedError("small_torch has no scatter with reduce")
    array = input._array.copy()
    numbers = src._array[tuple(slice(n) for n in index._array.shape)]
    place = index_grid(index, dim)
    array[place] = numbers

    def rule(g):
        outside = np.ones(array.shape, g._array.dtype)
        outside[place] = 0
        return g * Tensor(outside), gather(g, dim, index)

    return record(array, "Scatter" if from_tensor else "Scatter.1", (input, src), rule, [index])


@accept_scalars
def scatter_add(input, dim, index, src):
    """Return a copy to which src's numbers are added at the indices."""
    dim = checked_axis("scatter", input, dim, index, src)
    array = input._array.copy()
    np.add.at(array, index_grid(index, dim), src._array[tuple(slice(n) for n in index._array.shape)])
    return record(array, "ScatterAdd", (input, src), lambda g: (g, gather(g, dim, index)), [index])


def masked_select(input, mask):
    out = getitem(broadcast_tensors(input, mask)[0], mask.expand(np.broadcast_shapes(input.shape, mask.shape)))
    return rename_node(out, "MaskedSelect")


def nonzero(input, *, as_tuple=False):
    """Return the indices of all numbers that are not zero, a row each."""
    if as_tuple:
        return tuple(Tensor(indices) for indices in np.nonzero(np.atleast_1d(input._array)))
    return Tensor(np.argwhere(input._array))


def repeat_interleave(input, repeats, dim=None):
    """Repeat each element, with the copies side by side."""
    if dim is None:
        input, dim = flatten(input), 0
    counts, n = repeats._array.astype(np.intp) if isinstance(repeats, Tensor) else repeats, input._array.shape[dim]
    if np.size(counts) not in (1, n):
        raise RuntimeError(
            f"repeats must have the same size as input along dim, but got repeats.size(0) = {np.size(counts)} and"
            f" input.size({dim}) = {n}"
        )
    index = np.repeat(np.arange(n), counts)
    out = index_select(input, dim, Tensor(index))
    return out if isinstance(repeats, Tensor) else rename_node(out, "View")
