"""Elementwise comparisons, and selection between numbers."""

import operator

import numpy as np

from . import dtypes
from .arguments import Operand
from .elementwise import Formula, binary, compute, floating, masked, record_formula, set_name
from .messages import refuse
from .operands import (
    broadcast_error,
    fill_tensor,
    operands,
    refuse_type,
    refused_kinds,
    tensor_from_number,
)
from .tensor import Tensor, wrap


def clamp(input, min: Operand = None, max: Operand = None):
    """Limit numbers to the range from min to max: numbers or tensors."""
    refuse(min is None and max is None, "torch.clamp: At least one of 'min' or 'max' must not be None")
    for bound in (min, max):
        input, _ = operands(input, input if bound is None else bound)
    refuse_type("clamp", input)
    numbers = [not isinstance(bound, Tensor) for bound in (min, max) if bound is not None]
    wrong = input._array.dtype == bool and numbers != [False]
    refuse(wrong, "\"clamp_scalar_cpu\" not implemented for 'Bool'", kind=NotImplementedError)
    dtype, limits = input._array.dtype, (-np.inf, np.inf)
    if dtype.kind in "biu":
        limits = (False, True) if dtype.kind == "b" else (np.iinfo(dtype).min, np.iinfo(dtype).max)
    low, high = (operands(input, limit if bound is None else bound)[1] for limit, bound in zip(limits, (min, max)))
    return record_formula(CLAMP, compute(clamp_array, input, low, high), input, low, high)


def clamp_array(a, b, c):
    return np.minimum(np.maximum(a, b), c)


CLAMP = Formula(
    "Clamp.1",
    lambda g, a, b, c: masked(g, ~((a >= b) & (a <= c))),
    lambda g, a, b, c: masked(g, ~((a < b) & (b < c))),
    lambda g, a, b, c: masked(g, ~((a > c) | (b > c))),
)
clip = clamp


def clamp_min(input, min):
    return clamp(input, min=min)


def clamp_max(input, max):
    return clamp(input, max=max)


def extreme(name, function, is_worse):
    """Make `maximum` or `minimum`. Equal numbers share the gradient."""
    return binary(
        name,
        function,
        lambda g, a, b: masked(g / (1 + (a == b)), is_worse(a, b)),
        lambda g, a, b: masked(g / (1 + (a == b)), is_worse(b, a)),
        numbers=False,
    )


maximum, minimum = extreme("maximum", np.maximum, operator.lt), extreme("minimum", np.minimum, operator.gt)


def comparison(name, function=None, numbers=True):
    """Make an operation on two tensors, or a tensor and a number, from numpy's function of this name or another one."""
    function, refused = getattr(np, function or name), refused_kinds(name)

    def operation(input, other):
        if not numbers and not isinstance(other, Tensor):
            raise TypeError("two tensors are needed")
        a, b = operands(input, other)
        if a._array.dtype.kind in refused:
            refuse_type(name, a, b)
        return wrap(compute(function, a, b))

    operation.__annotations__["other"] = Operand if numbers else Tensor
    return set_name(name, operation)


eq, ne, lt, gt = map(comparison, ("eq", "ne", "lt", "gt"), ("equal", "not_equal", "less", "greater"))
le, ge = comparison("le", "less_equal"), comparison("ge", "greater_equal")
lshift, rshift = comparison("lshift", "left_shift"), comparison("rshift", "right_shift")
bitwise_and, bitwise_or, bitwise_xor = map(comparison, ("bitwise_and", "bitwise_or", "bitwise_xor"))
logical_and, logical_or, logical_xor = (comparison(f"logical_{name}", numbers=False) for name in ("and", "or", "xor"))


def predicate(name):
    """Make a bool-valued operation of one tensor from numpy's function of this name."""
    function = getattr(np, name)
    return set_name(name, lambda input: wrap(function(input._array)))


isnan, isinf, isfinite, logical_not = map(predicate, ("isnan", "isinf", "isfinite", "logical_not"))


def isclose(input, other: Tensor, rtol=1e-05, atol=1e-08, equal_nan=False):
    refuse(input.dtype is not other.dtype, "{} did not match {}", input.dtype.title, other.dtype.title)
    a, b = floating(input), floating(other)
    return wrap(compute(lambda x, y: np.isclose(x, y, rtol, atol, equal_nan), a, b))


def allclose(input, other: Tensor, rtol=1e-05, atol=1e-08, equal_nan=False):
    return bool(isclose(input, other, rtol, atol, equal_nan)._array.all())


def equal(input, other: Tensor):
    """Return True if shapes and numbers are equal."""
    return input._array.shape == other._array.shape and bool((input._array == other._array).all())


def where(condition: Tensor, input: Operand = None, other: Operand = None):
    """Return input where the condition holds, and other elsewhere; without them, the indices where it holds."""
    if input is None:
        return condition.nonzero(as_tuple=True)
    refuse(condition._array.dtype not in (bool, np.uint8), "condition type", condition.dtype.title)
    if not isinstance(input, Tensor) and not isinstance(other, Tensor):
        input = tensor_from_number(input)
    a, b = operands(input, other)
    condition = condition if condition._array.dtype == bool else condition.to(dtypes.bool_)
    return record_formula(WHERE, compute(np.where, condition, a, b), a, b, condition)


WHERE = Formula("Where", lambda g, c: masked(g, ~c), lambda g, c: masked(g, c))
MASKED_FILL = Formula("MaskedFill", lambda g, c: masked(g, c), lambda g, c: masked(g, ~c))


def masked_fill(input, mask: Tensor, value: Operand):
    """Return input with value where the mask is set."""
    if mask.dtype is not dtypes.bool_:
        raise RuntimeError(f"masked_fill_ only supports boolean masks, but got mask with dtype {mask.dtype.c_name}")
    value = fill_tensor(value, input.dtype, "masked_fill_")
    try:
        array = np.where(mask._array, value._array.astype(input._array.dtype), input._array)
    except ValueError:
        raise broadcast_error(input, mask) from None
    return record_formula(MASKED_FILL, np.asarray(array, order="C"), input, value, mask)


def bitwise_not(input):
    if input.dtype.kind > 1:
        raise TypeError("~ (operator.invert) is only implemented on integer and Boolean-type tensors")
    return Tensor(~input._array)
