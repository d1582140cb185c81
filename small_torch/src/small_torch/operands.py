"""Prepare the operands of an operation, and raise torch's errors where they do not fit."""

import numpy as np

from . import dtypes
from .tensor import Tensor

KINDS = (bool, int, float, complex)


def refuse_keywords(name, keywords):
    """Raise torch's TypeError if `keywords`, a dict of unknown keyword arguments, is not empty."""
    for keyword in keywords:
        raise TypeError(f"{name}() got an unexpected keyword argument {keyword!r}")


def operands(first, second):
    """Return two tensors of one type from an operator's operands: tensors or Python numbers."""
    if isinstance(first, Tensor) and isinstance(second, Tensor):
        if first._array.dtype == second._array.dtype:
            return first, second
        dtype = result_type(first, second)
        return first.to(dtype), second.to(dtype)
    if isinstance(first, Tensor) and isinstance(second, np.ndarray):
        common = np.result_type(first._array, second)  # numpy decides, as it does in torch
        return first.to(dtypes.BY_NUMPY_TYPE[common]), Tensor(second.astype(common))
    if isinstance(first, Tensor):
        dtype = first.dtype
        number_type = dtypes.from_number(second)
        if number_type.kind > dtype.kind:
            dtype = number_type if number_type.kind < 3 or dtype.kind < 2 else dtype.to_complex()
            first = first.to(dtype)
        return first, Tensor(scalar_array(check_number(second), dtype))
    if isinstance(second, Tensor):
        return operands(second, first)[::-1]
    return tensor_from_number(first), tensor_from_number(second)


def scalar_array(value, dtype):
    """Return a number as an array without axes; one that overflows its type wraps around."""
    return np.asarray(value).astype(dtype.np)


def check_number(value):
    """Return a number; raise torch's TypeError for anything else."""
    if isinstance(value, (KINDS, np.number, np.bool_)):
        return value
    raise TypeError(f"unsupported operand type(s): 'Tensor' and '{type(value).__name__}'")


def tensor_from_number(value):
    """Return a number as a tensor without axes; a tensor stays as it is."""
    return value if isinstance(value, Tensor) else Tensor(np.asarray(check_number(value), dtypes.from_number(value).np))


def result_type(first, second):
    """Return the dtype of an operation's result.

    Operands with axes decide, unless another is of a higher category.
    """

    def rank(operand):
        if isinstance(operand, Tensor):
            return operand.dtype, 0 if operand.ndim else 1
        return dtypes.from_number(operand), 2

    (a, rank_a), (b, rank_b) = rank(first), rank(second)
    if rank_a == rank_b:
        return dtypes.promote(a, b)
    if rank_a > rank_b:
        a, b = b, a  # a counts, b only by its category
    if b.kind <= a.kind:
        return a
    return b if b.kind < 3 or a.kind < 2 else a.to_complex()


def refuse(wrong, text, error=RuntimeError):
    """Raise an error with this text if something is wrong."""
    if wrong:
        raise error(text)


def refuse_types(tensor, kinds, text, error=NotImplementedError):
    """Raise an error for tensors of some types. kinds: numpy's letters; text: may name the type."""
    if tensor._array.dtype.kind in kinds:
        raise error(text.format(tensor.dtype.title))


def type_name(tensor):
    """Return the name of a tensor's type in torch's errors."""
    title = tensor.dtype.title
    return f"CPU{title}Type" if title == "Bool" or tensor.is_complex() else f"torch.{title}Tensor"


def broadcast_error(first, second):
    """Return torch's error for two shapes that do not broadcast."""
    a, b = first._array.shape, second._array.shape
    for offset in range(1, min(len(a), len(b)) + 1):
        if a[-offset] != b[-offset] and 1 not in (a[-offset], b[-offset]):
            dim = max(len(a), len(b)) - offset
            return RuntimeError(
                f"The size of tensor a ({a[-offset]}) must match the size of tensor b ({b[-offset]}) at non-singleton "
                f"dimension {dim}"
            )
    return RuntimeError(f"shapes {list(a)} and {list(b)} do not fit")


def cannot_broadcast(a, b):
    """Return True if the shapes of two tensors do not broadcast."""
    try:
        np.broadcast_shapes(a._array.shape, b._array.shape)
    except ValueError:
        return True
