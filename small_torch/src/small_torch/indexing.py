"""Reading and writing at an index.

torch takes integers, slices and None one after the other: they make a view. Then it takes all arrays at once. numpy
counts integers among the arrays if there are any, which changes the order of axes.
"""

import operator
import warnings

import numpy as np

from .arguments import Tensors, check_argument, check_elements
from .dtypes import BY_NUMPY_TYPE
from .elementwise import masked
from .memory import arrange, contiguous, copy_array
from .messages import error, refuse
from .operands import check_fill
from .tape import fit
from .tensor import Tensor, record
from .views import view_row

AS_TUPLE = (
    "Using a non-tuple sequence for multidimensional indexing is deprecated; use x[tuple(seq)] instead of x[seq]."
)
WHOLE = slice(None)


def split_index(index, shape):
    """Split an index; return (basic, places, name).

    basic: an index of integers, slices and None, for a view. places: an index of arrays for this view, or None. name:
    that of torch's last step to the view; "Alias" if the view is the whole tensor.
    """
    index = as_tuple(index)
    used = sum(map(count_axes, index))
    if not shape and len(index) == 1:
        refuse(type(index[0]) is int, "index of number")
        refuse(type(index[0]) is slice, "slice() cannot be applied to a 0-dim tensor.", kind=IndexError)
    refuse(used > len(shape), f"too many indices for tensor of dimension {len(shape)}", kind=IndexError)
    pairs, sizes, dim, name = [], [], 0, "Alias"  # pairs: of parts of `basic` and `places`; None at integers
    for item in index:
        if item is None:
            pairs.append((None, WHOLE))
            name = "Unsqueeze"
        elif item is Ellipsis:
            rest = len(shape) - used if dim < len(shape) else 0
            pairs += [(WHOLE, WHOLE)] * rest
            dim, used = dim + rest, len(shape)
        elif isinstance(item, slice):
            start, stop, step = item.indices(shape[dim])
            refuse(step < 0, "step must be greater than zero", kind=ValueError)
            pairs.append((slice(start, stop, step), WHOLE))
            if len(index) == 1 or len(range(start, stop, step)) < shape[dim]:
                name = "Slice"
            dim += 1
        elif isinstance(item := as_place(item), int):
            pairs.append((check_bounds(item, dim, shape[dim]), None))
            name = "Select"
            dim += 1
        elif item.dtype == bool:
            for at, size in enumerate(item.shape, dim):
                refuse(size != shape[at], "mask shape", list(item.shape), at - dim, list(shape), at)
            pairs += [(WHOLE if item.ndim else None, place) for place in np.atleast_1d(item).nonzero()]
            sizes += item.shape or (1,)
            name = name if item.ndim else "Unsqueeze"
            dim += item.ndim
        else:
            pairs.append((WHOLE, item))
            sizes.append(shape[dim])
            dim += 1
    basic = (*(item for item, _ in pairs), ...)
    if not sizes:
        return basic, None, name
    places = tuple(place for _, place in pairs if place is not None)
    if 0 in shape and 0 not in sizes:  # torch takes any index where there are no numbers
        places = tuple(place if isinstance(place, slice) else np.zeros_like(place) for place in places)
    check_arrays([place for place in places if not isinstance(place, slice)], sizes)
    return basic, places, name


def as_tuple(index):
    """Return an index as a tuple; torch takes a list that holds more than numbers as one, too."""
    if isinstance(index, tuple):
        return index
    nested = Tensor, list, tuple, slice, type(None), type(...)
    if isinstance(index, list) and any(isinstance(item, nested) for item in index):
        warnings.warn(AS_TUPLE, stacklevel=3)
        return tuple(index)
    return (index,)


def count_axes(item):
    """Return how many axes an item of an index takes."""
    array = getattr(item, "_array", item)
    if isinstance(array, np.ndarray) and array.dtype in (bool, np.uint8):
        return array.ndim
    return not (item is None or item is Ellipsis or isinstance(item, bool))


def as_place(item):
    """Return an item of an index as an integer or an array; masks are copies, in case they change."""
    if isinstance(item, (int, np.integer)) and not isinstance(item, bool):
        return int(item)
    if isinstance(item, Tensor):
        array = item._array
        if array.dtype.kind in "fc":
            raise IndexError("tensors used as indices must be long, int, byte or bool tensors")
    elif isinstance(item, (list, tuple, range, np.ndarray, bool, str)):
        array = np.asarray(item)
        refuse(array.dtype.kind == "U", "new(): invalid data type 'str'", kind=TypeError)
        if array.dtype.kind == "f":
            array = array.astype(np.int64)
    else:
        raise error("kind of index", type(item).__name__)
    if array.dtype in (bool, np.uint8):
        return array.astype(bool)
    return array if array.ndim else int(array)


def check_bounds(item, dim, size):
    """Return an integer; raise IndexError if the axis has no such place."""
    if not -size <= item < size:
        raise IndexError(f"index {item} is out of bounds for dimension {dim} with size {size}")
    return item


def check_arrays(arrays, sizes):
    """Raise IndexError if arrays do not broadcast, or hold an index that is out of bounds."""
    try:
        if len(arrays) > 1:
            np.broadcast_shapes(*(array.shape for array in arrays))
    except ValueError:
        raise error("index shapes", ", ".join(str([*array.shape]) for array in arrays)) from None
    for dim, (array, size) in enumerate(zip(arrays, sizes)):
        if array.size and (array.min() < -size or array.max() >= size):
            check_bounds(array[(array < -size) | (array >= size)].flat[0], dim, size)


VIEWS = {name: view_row(name, operator.getitem) for name in ("Select", "Slice", "Unsqueeze", "Alias")}


def getitem(input, index):
    """Return the numbers at an index: a view, unless the index has arrays."""
    array = input._array
    if type(index) is int and array.ndim and -len(array) <= index < len(array):
        return VIEWS["Select"](input, (index, ...))
    basic, places, name = split_index(index, array.shape)
    if places is None:
        return VIEWS[name](input, basic)
    view = input if name == "Alias" else VIEWS[name](input, basic)
    return take(view, places, saved=index_tensors(index))


PLACES = [Tensor(np.zeros(0))]  # stands for places that are no tensors, but that the graph frees as if they were


def index_tensors(index):
    """Return the tensors of an index that the backward pass needs unchanged."""
    items = index if isinstance(index, (tuple, list)) else (index,)
    return [item for item in items if isinstance(item, Tensor) and item._array.dtype != bool]


def take(input, places, name="Index", saved=()):
    """Return the numbers at an index of arrays and whole slices: a copy."""
    shape = input._array.shape
    array = take_array(input._array, places)
    return record(array, name, (input,), lambda g: put_sum(g, shape, places), saved or PLACES)


def take_array(array, places):
    """Return the numbers at an index of arrays and whole slices, in torch's order in memory."""
    out = array[places]
    if out.ndim < 2 or not out.size or len(places) == 1 and array.flags.c_contiguous:
        return contiguous(out)
    at = [k for k, place in enumerate(places) if not isinstance(place, slice)]
    shape = np.broadcast_shapes(*(places[k].shape for k in at))
    first = at[0] if at[-1] - at[0] == len(at) - 1 else 0  # where the axes of the arrays come
    rest = [step for k, step in enumerate(array.strides) if k not in at]
    before, after = (0,) * first, (0,) * (len(rest) - first)
    steps = [(*before, *np.broadcast_to(places[k], shape).strides, *after) for k in at]
    return arrange(out, (*rest[:first], *(0,) * len(shape), *rest[first:]), *steps)


def put_sum(g, shape, places):
    """Return zeros to which g is added at the index; repeated indices add up."""
    out = np.zeros(shape, g._array.dtype)
    if len(places) == 1:
        add_rows(out, places[0], g._array)
    else:
        np.add.at(out, places, g._array)
    return record(out, "IndexBackward", (g,), lambda h: take(h, places))


def add_rows(out, index, rows):
    """Add each row at its index along the first axis; sorted first, which is faster than np.add.at."""
    index = np.where(index < 0, index + len(out), index).reshape(-1)
    if not index.size or not rows.size:
        return
    rows = rows.reshape(len(index), -1)
    order = np.argsort(index, kind="stable")
    rows_of_out, starts = np.unique(index[order], return_index=True)
    out.reshape(len(out), -1)[rows_of_out] += np.add.reduceat(rows[order], starts, axis=0)


def write(array, places, value, accumulate=False):
    """Set an array, or its numbers at the places, to a tensor's numbers; raise torch's error if the shapes differ."""
    try:
        if accumulate:
            np.add.at(array, places, value._array)
        else:
            array[... if places is None else places] = value._array
    except ValueError:
        if places is None:
            value.expand(array.shape)  # raises torch's error
        raise error("indexed values", list(value.shape), list(array[places].shape)) from None


def put(input, places, values, name, accumulate=False, saved=(), source=None, keep_order=True):
    """Return a copy with other values at the places, or with values added there.

    places: None if there are none. source: the tensor that the values are a part of, if they are not a tensor of their
    own. keep_order: whether the copy's axes lie in memory as the input's.
    """
    array = copy_array(input._array) if keep_order else input._array.copy()
    if places is not None:
        write(array, places, values, accumulate)
    shape = values._array.shape
    inputs = input, values if source is None else source

    def rule(g):
        if places is None:
            return g, Tensor(np.zeros_like(inputs[1]._array))
        outside = g
        if not accumulate:
            inside = np.zeros(array.shape, bool)
            inside[places] = True
            outside = masked(g, inside)
        return outside, shrink(take(g, places), shape) if source is None else take(g, places)

    adds = name in ("IndexAdd", "ScatterAdd") and not inputs[1]._requires_grad  # then the rule needs no places
    return record(array, name, inputs, rule, () if adds else saved or PLACES)


def shrink(g, shape):
    """Return the gradient of values of this shape, which may begin with superfluous axes of length 1."""
    return fit(g, shape[max(0, len(shape) - g.ndim) :]).reshape(shape)


def index_put(input, indices, values: Tensor, accumulate: bool = False):
    """Return a copy with other values at an index of tensors."""
    check_argument("index_put", "indices", indices, Tensors, 1)
    check_elements(indices)
    if len(indices) > input.ndim:
        raise IndexError(f"too many indices for tensor of dimension {input.ndim} (got {len(indices)})")
    index = tuple(Tensor(np.atleast_1d(item._array)) for item in indices)
    _, places, _ = split_index(index, input._array.shape)
    values = check_source(input._array, values, index)
    return put(input, places, values, "IndexPut", accumulate, index_tensors(tuple(indices)))


def check_source(array, values, index):
    """Return values for an array; raise RuntimeError if they are of another type. One number fits a mask in any."""
    if values._array.dtype == array.dtype:
        return values
    dtype, arrays = BY_NUMPY_TYPE[array.dtype], [item for item in index if isinstance(item, (Tensor, list, np.ndarray))]
    mask = as_place(arrays[0]) if values._array.size == 1 and len(arrays) == 1 else None
    if np.ndim(mask) and mask.dtype == bool:
        check_fill(values.item(), dtype)
        return record(values._array.astype(array.dtype), "ToCopy", (values,), lambda g: g)
    raise error("index put types", dtype.title, values.dtype.title)
