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
    if isinstance(data, (bool, int, float, complex)):
        return dtypes.from_number(data)
    refuse(isinstance(data, str), "new(): invalid data type 'str'", kind=TypeError)
    refuse(not isinstance(data, (list, tuple, range)), "Could not infer dtype of {}", type(data).__name__)
    types = {type(item) for item in data}
    if types <= PLAIN:
        kinds = [dtypes.from_number(kind()) for kind in types]
    else:
        kinds = dict.fromkeys(dtype_in(item) for item in data)
    return functools.reduce(dtypes.promote, kinds) if kinds else dtypes.default[0]


def nested_array(data, dtype):
    """Return nested lists as an array; raise torch's errors where lengths or numbers do not fit."""
    if type(data) is list and data and {*map(type, data)} == {float} and (dtype is None or dtype.kind > 1):
        return np.asarray(data).astype((dtype or dtypes.default[0]).np)
    shape, first = [], data
    while is_nested(first):
        shape.append(len(first))
        if not shape[-1]:
            break
        first = first[0]
    refuse(isinstance(first, str) and shape, "too many dimensions 'str'", kind=ValueError)
    dtype, data = dtype or dtype_in(data), parse_nested(data, shape, 0)
    try:
        array = np.asarray(data)
        if array.dtype == object:  # integers of more than 64 bits
            array = np.asarray(data, dtype.np)
    except OverflowError:
        raise (ValueError if shape else RuntimeError)("Overflow when unpacking long long") from None
    refuse(array.dtype == np.uint64 and dtype.kind == 1, "Overflow when unpacking long long", kind=ValueError)
    check_range(array, dtype, dtype.name)
    if array.dtype.kind == "c" and dtype.kind < 3 and dtype.kind:
        raise TypeError("must be real number, not complex")
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
        if is_tensor(data):
            refuse(data.numel() != 1, "only one element tensors can be converted to Python scalars", kind=ValueError)
            return data.item()
        return data
    refuse(not is_nested(data), "not a sequence", kind=TypeError)
    if len(data) != shape[dim]:
        raise ValueError(f"expected sequence of length {shape[dim]} at dim {dim} (got {len(data)})")
    if isinstance(data, np.ndarray) or dim + 1 == len(shape) and {type(item) for item in data} <= PLAIN:
        return data
    return [parse_nested(item, shape, dim + 1) for item in data]


def check_range(array, dtype, type_name):
    """Raise torch's RuntimeError for numbers that an integer type cannot hold. Negative ones may wrap around."""
    if dtype.kind == 1 and array.size and array.dtype.kind in "iuf":
        limits = np.iinfo(dtype.np)
        low = limits.min if limits.min else -limits.max
        if not (array.min() >= low and array.max() <= limits.max):
            raise RuntimeError(f"value cannot be converted to type {type_name} without overflow")


def legacy_array(data, sizes):
    """Return the array of `torch.Tensor(data, *sizes)`: zeros of these sizes, or a list's numbers as floats."""
    if isinstance(data, np.generic):
        return np.asarray(data)
    if sizes or type(data) in (int, dtypes.Size):
        return np.zeros((data, *sizes) if type(data) is int else data, dtypes.default[0].np)
    if is_tensor(data):
        return data._array
    if isinstance(data, (float, complex, bool)):
        raise TypeError(f"new(): data must be a sequence (got {type(data).__name__})")
    return nested_array(data, dtypes.default[0])
