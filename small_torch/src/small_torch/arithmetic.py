"""Elementwise operations: sums, products and powers. Each has its value and its gradient rule.

`g` is the gradient of the result. A rule that needs the result computes it again: if it held the result, whose node
holds the rule, neither would be freed.
"""

import math
import sys

import numpy as np

from . import dtypes
from .memory import arrange
from .operands import broadcast_error, cannot_broadcast, operands
from .tape import fit, rename_node
from .tensor import Tensor, record


def floating(x):
    """Return a tensor in a floating-point or complex type."""
    if not isinstance(x, Tensor):
        raise TypeError(
            f"{sys._getframe(1).f_code.co_name}(): argument 'input' (position 1) must be Tensor, not {type(x).__name__}"
        )
    return x if x.dtype.kind > 1 else x.to(dtypes.default[0])


def compute(function, first, second):
    """Apply numpy's function to two tensors; raise torch's error if their shapes do not broadcast."""
    try:
        with np.errstate(all="ignore"):
            array = function(first._array, second._array)
        if first._array.flags.c_contiguous or array.ndim < 2:
            return array
        return arrange(array, *(np.broadcast_to(x._array, array.shape).strides for x in (first, second)))
    except ValueError:
        raise broadcast_error(first, second) from None


def add(input, other, *, alpha=1):
    """Return input + alpha · other."""
    a, b = operands(input, other)
    if alpha != 1:
        b = mul(b, alpha)
    if a._array.dtype == bool:
        return Tensor(compute(np.logical_or, a, b))
    sa, sb = a._array.shape, b._array.shape
    return record(compute(np.add, a, b), "Add", (a, b), lambda g: (fit(g, sa), fit(g, sb)))


NO_BOOL = (
    "Subtraction, the `-` operator, with a bool tensor is not supported. If you are trying to invert a mask, use the"
    " `~` or `logical_not()` operator instead."
)


def sub(input, other, *, alpha=1):
    """Return input − alpha · other."""
    bool_count = sum(
        getattr(operand, "dtype", None) is dtypes.bool_ or isinstance(operand, bool) for operand in (input, other)
    )
    if bool_count:
        raise RuntimeError(
            "Subtraction, the `-` operator, with two bool tensors is not supported. Use the `^` or `logical_xor()`"
            " operator instead."
            if bool_count == 2
            else NO_BOOL
        )
    a, b = operands(input, other)
    if alpha != 1:
        b = mul(b, alpha)
    sa, sb = a._array.shape, b._array.shape
    return record(compute(np.subtract, a, b), "Sub", (a, b), lambda g: (fit(g, sa), fit(-g, sb)))


def rsub(input, other, *, alpha=1):
    if bool in (input._array.dtype, getattr(getattr(other, "_array", None), "dtype", None)) or isinstance(other, bool):
        raise RuntimeError(NO_BOOL)
    return rename_node(sub(other, input, alpha=alpha), "Rsub" if isinstance(other, Tensor) else "Rsub.1")


def mul(input, other):
    """Return input · other."""
    a, b = operands(input, other)
    sa, sb = a._array.shape, b._array.shape

    def rule(g):
        return fit(g * conj(b), sa) if a._requires_grad else None, fit(g * conj(a), sb) if b._requires_grad else None

    saved = [factor for factor, other in ((b, a), (a, b)) if other._requires_grad]
    return record(compute(np.multiply, a, b), "Mul", (a, b), rule, saved)


def check_divisor(a, b):
    """Raise RuntimeError for an integer division by zero."""
    if a.dtype.kind < 2 and a._array.size and (b._array == 0).any():
        raise RuntimeError("ZeroDivisionError")


def div(input, other, *, rounding_mode=None):
    """Return input / other."""
    a, b = operands(input, other)
    if rounding_mode is not None:
        check_divisor(a, b)
        function = (
            np.floor_divide
            if rounding_mode == "floor"
            else lambda x, y: (np.trunc(np.true_divide(x, y))).astype(x.dtype)
        )

        def zero_rule(g):
            return (fit(zeros(g), a._array.shape), fit(zeros(g), b._array.shape))

        return record(compute(function, a, b), "Div", (a, b), zero_rule)
    a, b = floating(a), floating(b)
    sa, sb = a._array.shape, b._array.shape

    def rule(g):
        ga = fit(g / conj(b), sa) if a._requires_grad else None
        return ga, fit(-g * conj(a / b / b), sb) if b._requires_grad else None

    saved = [b] if a._requires_grad and not b._requires_grad else [a, b] if b._requires_grad else []
    return record(compute(np.true_divide, a, b), "Div", (a, b), rule, saved)


def floor_divide(input, other):
    """Return ⌊input / other⌋. Its gradient rule raises torch's error."""
    a, b = operands(input, other)
    check_divisor(a, b)

    def rule(g):
        raise RuntimeError("derivative for aten::floor_divide is not implemented")

    return record(compute(np.floor_divide, a, b), "NotImplemented", (a, b), rule)


def remainder(input, other):
    """Return input − other · ⌊input / other⌋, with the sign of other."""
    a, b = operands(input, other)
    check_divisor(a, b)
    sa = a._array.shape
    quotient = np.floor_divide
    return record(
        compute(np.remainder, a, b), "Remainder", (a, b),
        lambda g: (fit(g, sa), fit(-g * Tensor(compute(quotient, a, b)), b._array.shape)),
    )  # fmt: skip


def pow(input, exponent):
    """Return input ** exponent."""
    if isinstance(exponent, Tensor) or not isinstance(input, Tensor):
        a, b = operands(input, exponent)

        def rule(g):
            ga = fit(g * b * pow(a, b - 1), a._array.shape) if a._requires_grad else None
            if not b._requires_grad:
                return ga, None
            safe = Tensor(np.ones((), a._array.dtype)).where((a == 0) & (b >= 0), a)
            return ga, fit(g * pow(a, b) * safe.log(), b._array.shape)

        power = np.power if a.dtype.kind > 1 else integer_power
        return record(compute(power, a, b), "Pow.1" if isinstance(input, Tensor) else "Pow.2", (a, b), rule, [a, b])
    if input.dtype.kind < 2 and isinstance(exponent, float):
        input = floating(input)
    if input._array.dtype == bool:
        input = input.to(dtypes.int64)
    if input.dtype.kind < 2 and exponent < 0:
        raise RuntimeError("Integers to negative integer powers are not allowed.")
    with np.errstate(all="ignore"):
        array = (
            np.square(input._array)
            if exponent == 2
            else (
                np.sqrt(input._array)
                if exponent == 0.5
                else (input._array ** np.asarray(exponent).astype(input._array.dtype))
            )
        )
    return record(
        array, "Pow", (input,),
        lambda g: g * (pow(input, exponent - 1) * exponent) if exponent else zeros(g), [input],
    )  # fmt: skip


def integer_power(a, b):
    """Return powers of integers; negative powers are truncated to 1, -1 or 0."""
    with np.errstate(all="ignore"):
        inverse = np.where(np.abs(a) == 1, np.where(b % 2 == 0, 1, a), 0)
        return np.where(b < 0, inverse, a ** np.maximum(b, 0)).astype(np.result_type(a, b))


def square(input):
    return pow(input, 2)


def neg(input):
    if input._array.dtype == bool:
        raise RuntimeError(
            "Negation, the `-` operator, on a bool tensor is not supported. If you are trying to invert a mask, use the"
            " `~` or `logical_not()` operator instead."
        )
    return record(-input._array, "Neg", (input,), lambda g: -g)


def abs(input):
    return record(np.abs(input._array), "Abs", (input,), lambda g: g * sgn(input), [input])


def sgn(input):
    if not input.is_complex():
        return sign(input)
    size = np.abs(input._array)
    return Tensor(np.where(size == 0, 0, input._array / np.where(size == 0, 1, size)))


def sign(input):
    x = input._array
    array = x.copy() if x.dtype == bool else np.where(np.isnan(x), x.dtype.type(0), np.sign(x))
    return record(array, "Sign", (input,), zeros)


def zeros(g):
    return Tensor(np.zeros_like(g._array))


def conj(input):
    if input._array.dtype.kind != "c":
        return input
    return record(np.conj(input._array), "Conj", (input,), conj)


def real(input):
    if not input.is_complex():
        return input
    return record(input._array.real, "Real", (input,), lambda g: g.to(g.dtype.to_complex()))


def imag(input):
    if not input.is_complex():
        raise RuntimeError("imag is not implemented for tensors with non-complex dtypes.")
    return record(input._array.imag, "Imag", (input,), lambda g: g * 1j)


def angle(input):
    if not input.is_complex():
        x = floating(input)
        array = np.where(x._array < 0, math.pi, x._array * 0 + 0).astype(x._array.dtype)
        return record(array, "Angle", (x,), zeros)
    return imag(input).atan2(real(input))


def reciprocal(input):
    return record(1 / floating(input)._array, "Reciprocal", (input,), lambda g: -g / input / input, [input])


def lerp(input, end, weight):
    """Return input + weight · (end − input)."""
    for x, name in ((end, "end"), (weight, "weight")):
        if isinstance(x, Tensor) and x.dtype is not input.dtype:
            raise RuntimeError(f"expected dtype {input.dtype.c_name} for `{name}` but got dtype {x.dtype.c_name}")
    if input.dtype.kind < 2:
        raise NotImplementedError(f'"lerp_kernel_scalar" not implemented for {input.dtype.title!r}')
    if cannot_broadcast(input, end):
        raise broadcast_error(input, end)
    weight = weight if isinstance(weight, Tensor) else Tensor(np.asarray(weight, input._array.dtype))
    a, b, w = input._array, end._array, weight._array
    with np.errstate(all="ignore"):
        array = np.where(np.abs(w) < 0.5, a + w * (b - a), b - (b - a) * (1 - w)).astype(a.dtype)

    def rule(g):
        return fit(g * (1 - weight), a.shape), fit(g * weight, b.shape), fit(g * (end - input), w.shape)

    return record(array, "Lerp", (input, end, weight), rule, [weight, input, end])


def addcmul(input, tensor1, tensor2, *, value=1):
    """Return input + value · tensor1 · tensor2."""
    return rename_node(
        add(input, mul(tensor1, tensor2) if value == 1 else mul(mul(tensor1, tensor2), value)), "Addcmul"
    )


def set_name(name, operation):
    """Set the name of an operation that a function has made."""
    operation.__name__ = operation.__qualname__ = name
    return operation
