"""Reading and writing at an index."""

import builtins

import numpy as np

from .shapes import unsqueeze
from .tape import fit
from .tensor import Tensor, record, record_view


def plain_index(index, shape):
    """Return an index for numpy: tensors as arrays, checked as torch checks them."""
    index = index if isinstance(index, tuple) else (index,)
    items, dim = [], 0
    used = sum(
        item.ndim
        if isinstance(item, Tensor) and item._array.dtype == bool
        else item is not None and item is not Ellipsis
        for item in index
    )
    if used > len(shape):
        raise IndexError(f"too many indices for tensor of dimension {len(shape)}")
    for item in index:
        if item is Ellipsis:
            dim += len(shape) - used
            items.append(item)
            continue
        if item is None or isinstance(item, (bool, np.bool_)):
            items.append(item)
            continue
        if isinstance(item, Tensor):
            item = item._array
            if item.dtype.kind in "fc":
                raise IndexError("tensors used as indices must be long, int, byte or bool tensors")
            item = item.copy() if item.dtype == bool else item  # in case the mask changes before the backward pass
        elif isinstance(item, (list, range, np.ndarray)):
            item = np.asarray(item) if len(item) else np.zeros(0, np.int64)
        if isinstance(item, np.ndarray) and item.dtype == bool:
            for at, size in enumerate(item.shape):
                if size != shape[dim + at]:
                    raise IndexError(
                        f"The shape of the mask {list(item.shape)} at index {at} does not match the shape of the"
                        f" indexed tensor {list(shape)} at index {dim + at}"
                    )
            items.append(item)
            dim += item.ndim
            continue
        size = shape[dim]
        if isinstance(item, slice):
            if item.step is not None and item.step <= 0:
                raise ValueError("step must be greater than zero")
            for bound in (item.start, item.stop, item.step):
                if bound is not None and not hasattr(bound, "__index__"):
                    raise TypeError("slice indices must be integers or None or have an __index__ method")
            item = slice(*(None if bound is None else int(bound) for bound in (item.start, item.stop, item.step)))
        elif isinstance(item, np.ndarray) and item.ndim:
            if item.size and (item.min() < -size or item.max() >= size):
                wrong = item[(item < -size) | (item >= size)].flat[0]
                raise IndexError(f"index {wrong} is out of bounds for dimension {dim} with size {size}")
        else:
            tensor = isinstance(item, np.ndarray)
            if isinstance(item, str):
                raise TypeError("new(): invalid data type 'str'")
            if not tensor and not hasattr(item, "__index__"):
                raise (IndexError if isinstance(item, float) else TypeError)(
                    "only integers, slices (`:`), ellipsis (`...`), None and long or byte Variables are valid indices"
                    f" (got {type(item).__name__})"
                )
            item = int(item)
            if not -size <= item < size:
                raise IndexError(f"index {item} is out of bounds for dimension {dim} with size {size}")
            if tensor:
                item = np.asarray(item)
        items.append(item)
        dim += 1
    return tuple(items)


def getitem(input, index):
    """Return the numbers at an index: a view, unless the index has tensors or lists."""
    shape = input._array.shape
    plain = plain_index(index, shape)
    advanced = any(
        isinstance(item, np.ndarray) and (item.ndim or item.dtype == bool) or isinstance(item, (bool, np.bool_))
        for item in plain
    )
    if advanced:
        array = input._array[plain]
        return record(array, "Index", (input,), lambda g: put_sum(g, shape, plain), index_tensors(index))
    plain = tuple(int(item) if isinstance(item, np.ndarray) else item for item in plain)
    array = input._array[plain if Ellipsis in plain else (*plain, Ellipsis)]
    return record_view(
        input, array, node_name(plain, shape),
        lambda g: put_view(g, shape, plain), lambda base: getitem(base, plain),
    )  # fmt: skip


def node_name(index, shape):
    """Return the name that torch gives the last of the steps in which it takes an index."""
    name, dim = "Alias", 0
    for item in index:
        if item is Ellipsis:
            dim += len(shape) - sum(other is not None for other in index) + 1
            continue
        if item is None:
            name = "Unsqueeze"
            continue
        if isinstance(item, int):
            name = "Select"
        elif len(range(*item.indices(shape[dim]))) < shape[dim]:
            name = "Slice"
        dim += 1
    return name


def index_tensors(index):
    """Return the tensors of an index that the backward pass needs unchanged."""
    items = index if isinstance(index, tuple) else (index,)
    return [item for item in items if isinstance(item, Tensor) and item._array.dtype != bool]


def put_view(g, shape, index):
    """Return zeros with g at the index."""
    out = np.zeros(shape, g._array.dtype)
    out[index] = g._array
    return record(out, "SliceBackward", (g,), lambda h: getitem(h, index))


def put_sum(g, shape, index):
    """Return zeros to which g is added at the index; repeated indices add up."""
    out = np.zeros(shape, g._array.dtype)
    if len(index) == 1 and index[0].dtype != bool:
        add_rows(out, index[0], g._array)
    else:
        np.add.at(out, index, g._array)
    return record(out, "IndexBackward", (g,), lambda h: Tensor.__getitem__(h, tuple(
        Tensor(item) if isinstance(item, np.ndarray) else item for item in index
    )))  # fmt: skip


def add_rows(out, index, rows):
    """Add each row at its index along the first axis; sorted first, which is faster than np.add.at."""
    index = np.where(index < 0, index + len(out), index).reshape(-1)
    if not index.size:
        return
    rows = rows.reshape(len(index), -1)
    if not len(index) or not rows.shape[1]:
        return
    order = np.argsort(index, kind="stable")
    rows_of_out, starts = np.unique(index[order], return_index=True)
    out.reshape(len(out), -1)[rows_of_out] += np.add.reduceat(rows[order], starts, axis=0)


def put(array, index, value, accumulate=False):
    """Set `array[index]` to a tensor's numbers, or add them; raise torch's error if the shapes differ."""
    try:
        if accumulate:
            np.add.at(array, index, value._array)
        else:
            array[index] = value._array
    except ValueError:
        shape = array[index].shape
        raise RuntimeError(
            f"shape mismatch: value tensor of shape {list(value.shape)} cannot be broadcast to indexing result of shape"
            f" {list(shape)}"
            if any(isinstance(item, np.ndarray) for item in index)
            else (
                f"The expanded size of the tensor ({shape[-1] if shape else 1}) must match the existing size"
                f" ({value.shape[-1] if value.ndim else 1}) at non-singleton dimension"
                f" {builtins.max(len(shape) - 1, 0)}.  Target sizes: {list(shape)}.  Tensor sizes: {list(value.shape)}"
            )
        ) from None


def index_put(input, indices, values, accumulate=False):
    """Return a copy with other values at an index."""
    plain = plain_index(indices, input._array.shape)
    array = input._array.copy()
    put(array, plain, values, accumulate)
    tensor_index = tuple(Tensor(item) if isinstance(item, np.ndarray) else item for item in plain)
    value_shape = values._array.shape

    def rule(g):
        input_gradient = g
        if not accumulate:
            outside = np.ones(array.shape, g._array.dtype)
            outside[plain] = 0
            input_gradient = g * Tensor(outside)
        value_gradient = getitem(g, tensor_index)
        while value_gradient.ndim < len(value_shape):
            value_gradient = unsqueeze(value_gradient, 0)
        return input_gradient, fit(value_gradient, value_shape)

    return record(array, "IndexPut", (input, values), rule, index_tensors(indices))
