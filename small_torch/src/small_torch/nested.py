"""Numbers from nested lists, which may contain arrays and tensors."""

import functools

import numpy as np

from . import dtypes
from .dtypes import cast_array
from .messages import refuse

PLAIN = {bool, int, float, complex}


def dtype_in(data):
    """Return the dtype that holds all numbers in nested lists; raise torch's errors for what is not a number."""
    if is_tensor(data):
        return data.dtype
    if isinstance(data, (np.ndarray, np.generic)):
        return dtypes.from_array(data)
    if isinstance(data, tuple(PLAIN)):
        return dtypes.from_number(data)
    refuse(isinstance(data, str), "new(): invalid data type 'str'", kind=TypeError)
    refuse(not isinstance(data, (list, tuple, range)), "Could not infer dtype of {}", type(data).__name__)
    types = {type(item) for item in data}
    kinds = [dtypes.from_number(kind()) for kind in types] if types <= PLAIN else map(dtype_in, data)
    return functools.reduce(dtypes.promote, kinds) if data else dtypes.default[0]


def nested_array(data, dtype):
    """Return nested lists as an array; raise torch's errors where lengths or numbers do not fit."""
    if type(data) is list and {*map(type, data)} == {float} and (dtype is None or dtype.kind > 1):  # the usual case
        return np.asarray(data).astype((dtype or dtypes.default[0]).np)
    shape, first = [], data
    while is_nested(first):
        shape.append(len(first))
        if not shape[-1]:
            break
        first = first[0]
    refuse(isinstance(first, str) and shape, "too many dimensions 'str'", kind=ValueError)
    dtype, data = dtype or dtype_in(data), parse_nested(data, shape, 0)
    overflow, kind = "Overflow when unpacking long long", ValueError if shape else RuntimeError
    try:
        array = np.asarray(data)
        if array.dtype == object:  # integers of more than 64 bits
            array = np.asarray(data, dtype.np)
    except OverflowError:
        raise kind(overflow) from None
    refuse(array.dtype == np.uint64 and dtype.kind == 1, overflow, kind=ValueError)
    check_range(array, dtype, dtype.name)
    refuse(array.dtype.kind == "c" and 0 < dtype.kind < 3, "must be real number, not complex", kind=TypeError)
    return cast_array(array, dtype)


def is_tensor(data):
    """Return True for a tensor. Its class is not imported, since it imports this module."""
    return hasattr(data, "_array")


def is_nested(data):
    return isinstance(data, (list, tuple, range)) or isinstance(data, np.ndarray) and data.ndim


def parse_nested(data, shape, dim):
    """Return nested lists with numbers in place of tensors; raise torch's errors where lengths differ from `shape`."""
    if dim == len(shape):
        refuse(is_nested(data), "'list' object cannot be interpreted as an integer", kind=TypeError)
        if not is_tensor(data):
            return data
        refuse(data.numel() != 1, "only one element tensors can be converted to Python scalars", kind=ValueError)
        return data.item()
    refuse(not is_nested(data), "not a sequence", kind=TypeError)
    text = "expected sequence of length {} at dim {} (got {})"
    refuse(len(data) != shape[dim], text, shape[dim], dim, len(data), kind=ValueError)
    if isinstance(data, np.ndarray) or dim + 1 == len(shape) and {type(item) for item in data} <= PLAIN:
        return data
    return [parse_nested(item, shape, dim + 1) for item in data]


def check_range(array, dtype, type_name):
    """Raise torch's RuntimeError for numbers that an integer type cannot hold. Negative integers may wrap around."""
    if dtype.kind == 1 and array.size and array.dtype.kind in "iuf":
        limits = np.iinfo(dtype.np)
        fits = array.min() >= (limits.min or -limits.max * (array.dtype.kind != "f")) and array.max() <= limits.max
        refuse(not fits, "value cannot be converted to type {} without overflow", type_name)


def legacy_array(data, sizes):
    """Return the array of `torch.Tensor(data, *sizes)`: zeros of these sizes, or a list's numbers as floats."""
    if isinstance(data, np.generic):
        return np.asarray(data)
    if sizes or type(data) in (int, dtypes.Size):
        return np.zeros((data, *sizes) if type(data) is int else data, dtypes.default[0].np)
    if is_tensor(data):
        return data._array
    wrong = isinstance(data, (float, complex, bool))
    refuse(wrong, "new(): data must be a sequence (got {})", type(data).__name__, kind=TypeError)
    return nested_array(data, dtypes.default[0])
