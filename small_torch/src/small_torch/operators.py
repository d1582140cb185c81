"""Python's operators on tensors, and numpy's functions of tensors."""

import numpy as np

from . import arithmetic, comparing, matrices
from .arguments import NUMBERS
from .tensor import Tensor

# Operators, and the operations that they call.
OPERATORS = """
    add sub mul floordiv:floor_divide truediv:div mod:remainder pow and:bitwise_and or:bitwise_or xor:bitwise_xor lshift
    rshift
"""
TYPES = (Tensor, *NUMBERS)


def operator(operation, types=TYPES, swapped=False):
    """Return the operator of an operation, which leaves other types to their own operators."""

    def call(self, other):
        if not isinstance(other, types):
            return NotImplemented
        return operation(other, self) if swapped else operation(self, other)

    return call


def eq(self, other):
    """Compare with a tensor, a number, or (unlike the other operators) numpy's array."""
    if isinstance(other, np.ndarray):
        other = Tensor(other)
    return comparing.eq(self, other) if isinstance(other, TYPES) else NotImplemented


def wrap_numpy(self, array):
    """Return the result of a function of numpy as a tensor: bools as numbers, as torch does."""
    return Tensor(array.astype(np.uint8) if array.dtype == bool else array)


def add_operators(change_in_place):
    """Give operators to Tensor. change_in_place: returns an operation's variant with a trailing underscore."""
    for entry in OPERATORS.split():
        name, _, title = entry.partition(":")
        operation = getattr(arithmetic, title or name, None) or getattr(comparing, title or name)
        setattr(Tensor, f"__{name}__", operator(operation))
        setattr(Tensor, f"__r{name}__", operator(operation, swapped=True))
        setattr(Tensor, f"__i{name}__", operator(change_in_place(operation)))
    for name in "ne", "lt", "le", "gt", "ge":
        setattr(Tensor, f"__{name}__", operator(getattr(comparing, name)))
    Tensor.__eq__ = eq
    Tensor.__matmul__ = operator(matrices.matmul, Tensor)
    Tensor.__rsub__ = operator(arithmetic.rsub)
    del Tensor.rsub  # torch has only the function
    Tensor.__rtruediv__ = operator(lambda self, other: arithmetic.reciprocal(self) * other, (*TYPES, np.ndarray))
    Tensor.__pos__, Tensor.__neg__, Tensor.__abs__ = arithmetic.positive, arithmetic.neg, arithmetic.abs
    Tensor.__invert__ = comparing.bitwise_not
    Tensor.__array_wrap__ = wrap_numpy
