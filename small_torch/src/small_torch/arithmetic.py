"""Sums, products and powers. Each is a row: its value, and the way back for each input (see `elementwise`)."""

import functools
import math

import numpy as np

from . import dtypes
from .elementwise import Formula, apply, binary, compute, floating, masked, quiet, record_formula, unary, zeros
from .operands import broadcast_error, cannot_broadcast, operands
from .tape import rename_node
from .tensor import Tensor, record

_add = binary("add", np.add, lambda g: g, lambda g: g)
_sub = binary("sub", np.subtract, lambda g: g, lambda g: -g)
mul = binary("mul", np.multiply, lambda g, b: g * b, lambda g, a: g * a)
_div = binary("div", np.true_divide, lambda g, b: g / b, lambda g, a, b: -g * (a / b / b), convert=True)


def add(input, other, *, alpha=1):
    """Return input + alpha · other."""
    return _add(*(input, other) if alpha == 1 else scale(input, other, alpha))


def scale(input, other, alpha):
    """Return the operands of a sum, the second one times alpha."""
    a, b = operands(input, other)
    if isinstance(alpha, bool) and a._array.dtype != bool:
        raise RuntimeError("Boolean alpha only supported for Boolean results.")
    if isinstance(alpha, float) and a.dtype.kind < 2:
        raise RuntimeError("For integral input tensors, argument alpha must not be a floating point number.")
    return a, mul(b, bool(alpha) if a._array.dtype == bool else alpha)


NO_BOOL = (
    "Subtraction, the `-` operator, with a bool tensor is not supported. If you are trying to invert a mask, use the"
    " `~` or `logical_not()` operator instead."
)


def sub(input, other, *, alpha=1):
    """Return input − alpha · other."""
    bool_count = is_bool(input) + is_bool(other)
    if bool_count:
        raise RuntimeError(
            "Subtraction, the `-` operator, with two bool tensors is not supported. Use the `^` or `logical_xor()`"
            " operator instead."
            if bool_count == 2
            else NO_BOOL
        )
    return _sub(*(input, other) if alpha == 1 else scale(input, other, alpha))


def is_bool(operand):
    """Return whether a tensor or a number is of type bool."""
    return operand._array.dtype == bool if isinstance(operand, Tensor) else isinstance(operand, bool)


def rsub(input, other, *, alpha=1):
    if is_bool(input) or is_bool(other):
        raise RuntimeError(NO_BOOL)
    return rename_node(sub(other, input, alpha=alpha), "Rsub" if isinstance(other, Tensor) else "Rsub.1")


def divide_to_zero(x, y):
    """Return a quotient without its fraction."""
    return np.trunc(np.true_divide(x, y)).astype(x.dtype)


DIVISIONS = {
    "floor": binary("div", np.floor_divide, zeros, zeros),
    "trunc": binary("div", divide_to_zero, zeros, zeros),
}


def refuse_gradient(g):
    raise RuntimeError("derivative for aten::floor_divide is not implemented")


_floor_divide = binary("floor_divide", np.floor_divide, refuse_gradient, refuse_gradient, title="NotImplemented")
_remainder = binary("remainder", np.remainder, lambda g: g, lambda g, a, b: -g * apply(DIVISIONS["floor"], a, b))


def check_divisor(input, other):
    """Raise RuntimeError for an integer division by zero."""
    a, b = operands(input, other)
    if a.dtype.kind < 2 and a._array.size and (b._array == 0).any():
        raise RuntimeError("ZeroDivisionError")


def div(input, other, *, rounding_mode=None):
    """Return input / other."""
    if rounding_mode is None:
        return _div(input, other)
    check_divisor(input, other)
    return DIVISIONS[rounding_mode](input, other)


def floor_divide(input, other):
    """Return ⌊input / other⌋. Its gradient rule raises torch's error."""
    check_divisor(input, other)
    return _floor_divide(input, other)


def remainder(input, other):
    """Return input − other · ⌊input / other⌋, with the sign of other."""
    check_divisor(input, other)
    return _remainder(input, other)


def power(a, b):
    """Return powers of numpy's arrays; negative powers of integers are truncated to 1, -1 or 0."""
    if a.dtype.kind in "fc":
        return np.power(a, b)
    inverse = np.where(np.abs(a) == 1, np.where(b % 2 == 0, 1, a), 0)
    return np.where(b < 0, inverse, a ** np.maximum(b, 0)).astype(np.result_type(a, b))


def log_of(x):
    return x.log() if isinstance(x, Tensor) else np.log(x)


POWER_WAYS = (
    lambda g, a, b: masked(g * (b * a ** (b - 1)), b == 0),
    lambda g, a, b, y: masked(g * (y * log_of(a)), (a == 0) & (b >= 0)),
)
_pow = binary("pow", power, *POWER_WAYS, title="Pow.1")
_rpow = binary("pow", power, *POWER_WAYS, title="Pow.2")
SPECIAL_POWERS = {2: np.square, 0.5: np.sqrt, 3: lambda x: x * x * x, -2: lambda x: 1 / (x * x)}


@functools.lru_cache
def power_formula(exponent):
    """Return the formula of a power with a number as exponent."""
    return Formula("Pow", (lambda g, a: g * (a ** (exponent - 1) * exponent)) if exponent else zeros)


def pow(input, exponent):
    """Return input ** exponent."""
    if isinstance(exponent, Tensor):
        return (_pow if isinstance(input, Tensor) else _rpow)(input, exponent)
    if input.dtype.kind < 2:
        if isinstance(exponent, float):
            input = floating(input)
        elif exponent < 0:
            raise RuntimeError("Integers to negative integer powers are not allowed.")
        elif input._array.dtype == bool and not isinstance(exponent, bool):
            input = input.to(dtypes.int64)
    x = input._array
    function = SPECIAL_POWERS.get(exponent) if x.dtype.kind == "f" else None
    array = quiet.run(function, x) if function else quiet.run(np.power, x, np.asarray(exponent).astype(x.dtype))
    return record_formula(power_formula(exponent), array, input)


def square(input):
    return pow(input, 2)


_neg = unary("neg", np.negative, lambda g: -g, convert=False)


def neg(input):
    if is_bool(input):
        raise RuntimeError(
            "Negation, the `-` operator, on a bool tensor is not supported. If you are trying to invert a mask, use the"
            " `~` or `logical_not()` operator instead."
        )
    return _neg(input)


def sign_array(x):
    """Return signs of numbers: x / |x| of complex numbers, 0 for NaN."""
    if x.dtype.kind == "c":
        size = np.abs(x)
        return np.where(size == 0, 0, x / np.where(size == 0, 1, size))
    return x.copy() if x.dtype == bool else np.where(np.isnan(x), x.dtype.type(0), np.sign(x))


sign = unary("sign", sign_array, zeros, convert=False)
sgn = unary("sgn", sign_array, zeros, convert=False)
ABS = Formula("Abs", lambda g, a: g * apply(sgn, a), conjugate=False)


def abs(input):
    return record_formula(ABS, np.abs(input._array), input)


_conj = unary("conj", np.conj, lambda g: g.conj(), convert=False)
reciprocal = unary("reciprocal", np.reciprocal, lambda g, y: -g * (y * y))


def conj(input):
    return _conj(input) if input._array.dtype.kind == "c" else input


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
        x = floating(input, "angle")
        array = np.where(x._array < 0, math.pi, x._array * 0 + 0).astype(x._array.dtype)
        return record(array, "Angle", (x,), zeros)
    return imag(input).atan2(real(input))


LERP = Formula("Lerp", lambda g, c: g * (1 - c), lambda g, c: g * c, lambda g, a, b: g * (b - a))


def lerp_array(a, b, w):
    """Return a + w · (b − a), from the nearer end."""
    return np.where(np.abs(w) < 0.5, a + w * (b - a), b - (b - a) * (1 - w)).astype(a.dtype)


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
    return record_formula(LERP, compute(lerp_array, input, end, weight), input, end, weight)


def addcmul(input, tensor1, tensor2, *, value=1):
    """Return input + value · tensor1 · tensor2."""
    product = mul(tensor1, tensor2)
    return rename_node(add(input, product if value == 1 else mul(product, value)), "Addcmul")
