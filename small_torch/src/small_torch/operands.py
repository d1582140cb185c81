"""What operations are given: two tensors of one type, what of them fits, and what torch says if something does not."""

import numpy as np

from . import dtypes
from .tensor import Tensor

KINDS = (bool, int, float, complex)


def refuse_keywords(name, given):
    """Raise torch's TypeError if an operation was given keywords that it does not have. given: a dict of these."""
    for keyword in given:
        raise TypeError(f"{name}() got an unexpected keyword argument {keyword!r}")


def operands(first, second):
    """Two tensors of one type from what an operator is given: tensors or Python numbers."""
    if isinstance(first, Tensor) and isinstance(second, Tensor):
        if first._array.dtype == second._array.dtype:
            return first, second
        dtype = result_type(first, second)
        return first.to(dtype), second.to(dtype)
    if isinstance(first, Tensor) and isinstance(second, np.ndarray):
        both = np.result_type(first._array, second)  # numpy decides: it would be numpy's product in torch, too
        return first.to(dtypes.BY_ARRAY[both]), Tensor(second.astype(both))
    if isinstance(first, Tensor):
        dtype = first.dtype
        kind = dtypes.of_number(second)
        if kind.kind > dtype.kind:
            dtype = kind if kind.kind < 3 or dtype.kind < 2 else dtype.to_complex()
            first = first.to(dtype)
        return first, Tensor(array_of(number(second), dtype))
    if isinstance(second, Tensor):
        return operands(second, first)[::-1]
    return as_tensor_of(first), as_tensor_of(second)


def array_of(value, dtype):
    """A number as an array without axes. One that is too small or too large for its type begins again at the other
    end."""
    return np.asarray(value).astype(dtype.np)


def number(value):
    if isinstance(value, (KINDS, np.number, np.bool_)):
        return value
    raise TypeError(f"unsupported operand type(s): 'Tensor' and '{type(value).__name__}'")


def as_tensor_of(value):
    return value if isinstance(value, Tensor) else Tensor(np.asarray(number(value), dtypes.of_number(value).np))


def result_type(first, second):
    """The type of an operation's result: what has axes decides, unless the other is of a higher category."""

    def rank(one):
        if isinstance(one, Tensor):
            return one.dtype, 0 if one.ndim else 1
        return dtypes.of_number(one), 2

    (a, low), (b, lower) = rank(first), rank(second)
    if low == lower:
        return dtypes.promoted(a, b)
    if low > lower:
        a, b = b, a  # a counts, b only by its category
    if b.kind <= a.kind:
        return a
    return b if b.kind < 3 or a.kind < 2 else a.to_complex()


def broadcast_error(first, second):
    """What torch says of two shapes that do not fit."""
    a, b = first._array.shape, second._array.shape
    for back in range(1, min(len(a), len(b)) + 1):
        if a[-back] != b[-back] and 1 not in (a[-back], b[-back]):
            place = max(len(a), len(b)) - back
            return RuntimeError(
                f"The size of tensor a ({a[-back]}) must match the size of tensor b ({b[-back]}) at non-singleton "
                f"dimension {place}"
            )
    return RuntimeError(f"shapes {list(a)} and {list(b)} do not fit")


def fails(a, b):
    try:
        np.broadcast_shapes(a._array.shape, b._array.shape)
    except ValueError:
        return True
