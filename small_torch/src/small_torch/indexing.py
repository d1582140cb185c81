"""What stands at an index, and what is put there."""

import builtins

import numpy as np

from .shapes import unsqueeze
from .tape import fit
from .tensor import Tensor, record, view_of


def plain_index(index, shape):
    """An index as numpy wants it: tensors as arrays, checked as torch checks them."""
    index = index if isinstance(index, tuple) else (index,)
    found, place = [], 0
    used = sum(
        one.ndim if isinstance(one, Tensor) and one._array.dtype == bool else one is not None and one is not Ellipsis
        for one in index
    )
    if used > len(shape):
        raise IndexError(f"too many indices for tensor of dimension {len(shape)}")
    for one in index:
        if one is Ellipsis:
            place += len(shape) - used
            found.append(one)
            continue
        if one is None or isinstance(one, (bool, np.bool_)):
            found.append(one)
            continue
        if isinstance(one, Tensor):
            one = one._array
            if one.dtype.kind in "fc":
                raise IndexError("tensors used as indices must be long, int, byte or bool tensors")
            one = one.copy() if one.dtype == bool else one  # the mask may be changed before the way back
        elif isinstance(one, (list, range, np.ndarray)):
            one = np.asarray(one) if len(one) else np.zeros(0, np.int64)
        if isinstance(one, np.ndarray) and one.dtype == bool:
            for at, n in enumerate(one.shape):
                if n != shape[place + at]:
                    raise IndexError(
                        f"The shape of the mask {list(one.shape)} at index {at} does not match the shape of the indexed"
                        f" tensor {list(shape)} at index {place + at}"
                    )
            found.append(one)
            place += one.ndim
            continue
        n = shape[place]
        if isinstance(one, slice):
            if one.step is not None and one.step <= 0:
                raise ValueError("step must be greater than zero")
            for part in (one.start, one.stop, one.step):
                if part is not None and not hasattr(part, "__index__"):
                    raise TypeError("slice indices must be integers or None or have an __index__ method")
            one = slice(*(None if part is None else int(part) for part in (one.start, one.stop, one.step)))
        elif isinstance(one, np.ndarray) and one.ndim:
            if one.size and (one.min() < -n or one.max() >= n):
                wrong = one[(one < -n) | (one >= n)].flat[0]
                raise IndexError(f"index {wrong} is out of bounds for dimension {place} with size {n}")
        else:
            tensor = isinstance(one, np.ndarray)
            if isinstance(one, str):
                raise TypeError("new(): invalid data type 'str'")
            if not tensor and not hasattr(one, "__index__"):
                raise (IndexError if isinstance(one, float) else TypeError)(
                    "only integers, slices (`:`), ellipsis (`...`), None and long or byte Variables are valid indices"
                    f" (got {type(one).__name__})"
                )
            one = int(one)
            if not -n <= one < n:
                raise IndexError(f"index {one} is out of bounds for dimension {place} with size {n}")
            if tensor:
                one = np.asarray(one)
        found.append(one)
        place += 1
    return tuple(found)


def getitem(input, index):
    """What stands at an index: a view, unless the index has tensors or lists."""
    shape = input._array.shape
    plain = plain_index(index, shape)
    advanced = any(
        isinstance(one, np.ndarray) and (one.ndim or one.dtype == bool) or isinstance(one, (bool, np.bool_))
        for one in plain
    )
    if advanced:
        array = input._array[plain]
        return record(array, "Index", (input,), lambda g: put_sum(g, shape, plain), numbers_of(index))
    plain = tuple(int(one) if isinstance(one, np.ndarray) else one for one in plain)
    array = input._array[plain if Ellipsis in plain else (*plain, Ellipsis)]
    return view_of(
        input, array, title_of(plain, shape),
        lambda g: put_view(g, shape, plain), lambda base: getitem(base, plain),
    )  # fmt: skip


def title_of(index, shape):
    """What torch calls the last of the steps in which it takes an index."""
    title, place = "Alias", 0
    for one in index:
        if one is Ellipsis:
            place += len(shape) - sum(other is not None for other in index) + 1
            continue
        if one is None:
            title = "Unsqueeze"
            continue
        if isinstance(one, int):
            title = "Select"
        elif len(range(*one.indices(shape[place]))) < shape[place]:
            title = "Slice"
        place += 1
    return title


def numbers_of(index):
    """The tensors of an index that the way back needs unchanged."""
    return [
        one
        for one in (index if isinstance(index, tuple) else (index,))
        if isinstance(one, Tensor) and one._array.dtype != bool
    ]


def put_view(g, shape, index):
    """Zeros, with g at the index."""
    out = np.zeros(shape, g._array.dtype)
    out[index] = g._array
    return record(out, "SliceBackward", (g,), lambda h: getitem(h, index))


def put_sum(g, shape, index):
    """Zeros, to which g is added at the index: what is named twice gets both."""
    out = np.zeros(shape, g._array.dtype)
    if len(index) == 1 and index[0].dtype != bool:
        add_rows(out, index[0], g._array)
    else:
        np.add.at(out, index, g._array)
    return record(out, "IndexBackward", (g,), lambda h: Tensor.__getitem__(h, tuple(
        Tensor(one) if isinstance(one, np.ndarray) else one for one in index
    )))  # fmt: skip


def add_rows(out, index, rows):
    """Add each row at its place along the first axis, in their order. Sorted, all rows of a place are summed at
    once."""
    index = np.where(index < 0, index + len(out), index).reshape(-1)
    if not index.size:
        return
    rows = rows.reshape(len(index), -1)
    if not len(index) or not rows.shape[1]:
        return
    order = np.argsort(index, kind="stable")
    places, begins = np.unique(index[order], return_index=True)
    out.reshape(len(out), -1)[places] += np.add.reduceat(rows[order], begins, axis=0)


def put(array, index, value, accumulate=False):
    try:
        if accumulate:
            np.add.at(array, index, value._array)
        else:
            array[index] = value._array
    except ValueError:
        there = array[index].shape
        raise RuntimeError(
            f"shape mismatch: value tensor of shape {list(value.shape)} cannot be broadcast to indexing result of shape"
            f" {list(there)}"
            if any(isinstance(one, np.ndarray) for one in index)
            else (
                f"The expanded size of the tensor ({there[-1] if there else 1}) must match the existing size"
                f" ({value.shape[-1] if value.ndim else 1}) at non-singleton dimension"
                f" {builtins.max(len(there) - 1, 0)}.  Target sizes: {list(there)}.  Tensor sizes: {list(value.shape)}"
            )
        ) from None


def index_put(input, indices, values, accumulate=False):
    """A copy with other values at an index."""
    plain = plain_index(indices, input._array.shape)
    array = input._array.copy()
    put(array, plain, values, accumulate)
    again = tuple(Tensor(one) if isinstance(one, np.ndarray) else one for one in plain)
    value_shape = values._array.shape

    def rule(g):
        kept = g
        if not accumulate:
            hole = np.ones(array.shape, g._array.dtype)
            hole[plain] = 0
            kept = g * Tensor(hole)
        at = getitem(g, again)
        while at.ndim < len(value_shape):
            at = unsqueeze(at, 0)
        return kept, fit(at, value_shape)

    return record(array, "IndexPut", (input, values), rule, numbers_of(indices))
