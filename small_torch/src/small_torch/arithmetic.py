"""Sums, products and powers. Each is a row: its value, and the way back for each input (see `elementwise`)."""

import functools
import math

import numpy as np

from . import dtypes
from .arguments import Operand
from .elementwise import Formula, apply, binary, compute, floating, masked, quiet, record_formula, unary, zeros
from .messages import refuse
from .operands import NO_BOOL, check_fill, check_number, operands, refuse_type, result_type
from .pointwise import log
from .tape import rename_node
from .tensor import Tensor, record

# torch multiplies the second number by alpha, even by 1: a complex one with an infinite part gets NaN
_add = binary("add", np.add, lambda g: g, lambda g: g, on_complex=lambda x, y: x + y * 1)
_sub = binary("sub", np.subtract, lambda g: g, lambda g: -g, on_complex=lambda x, y: x - y * 1)
mul = binary("mul", np.multiply, lambda g, b: g * b, lambda g, a: g * a)


def add(input, other: Operand, *, alpha=1):
    """Return input + alpha · other."""
    return _add(*scale(input, other, alpha))


def scale(input, other, alpha):
    """Return the operands of a sum, the second one times alpha."""
    if alpha == 1 and alpha is not True:
        return input, other
    a, b = operands(input, other)
    refuse(isinstance(alpha, bool) and a.dtype.kind, "Boolean alpha only supported for Boolean results.")
    fits = a.dtype.kind >= (3 if isinstance(alpha, complex) else 2 if isinstance(alpha, float) else 0)
    a.dtype.kind > 1 and check_fill(alpha, a.dtype)
    refuse(not fits, "For integral input tensors, argument alpha must not be a floating point number.")
    return a, mul(b, alpha if a.dtype.kind else bool(alpha))


def sub(input, other: Operand, *, alpha=1):
    """Return input − alpha · other."""
    refuse(is_bool(input) and is_bool(other), "subtraction of bools")
    refuse(is_bool(input) or is_bool(other), NO_BOOL.format("Subtraction", "with"))
    return _sub(*scale(input, other, alpha))


def is_bool(operand):
    """Return whether a tensor or a number is of type bool."""
    return operand._array.dtype == bool if isinstance(operand, Tensor) else isinstance(operand, bool)


def rsub(input, other: Operand, *, alpha=1):
    return rename_node(sub(other, input, alpha=alpha), "Rsub" if isinstance(other, Tensor) else "Rsub.1")


def divide_to_zero(x, y):
    """Return a quotient without its fraction."""
    return np.trunc(np.true_divide(x, y)).astype(x.dtype)


def whole(function):
    """Return numpy's division of whole numbers, with torch's error for zero divisors."""

    def divide(x, y):
        refuse(x.dtype.kind in "iu" and x.size and not np.all(y), "ZeroDivisionError")
        return function(x, y)

    return divide


def refuse_gradient(name, text="derivative for aten::{} is not implemented", kind=RuntimeError):
    def way(g):
        raise kind(text.format(name))

    return way


ZERO_WAYS = lambda g, b: zeros(g), lambda g, a, b: zeros(g)
NO_WAYS = refuse_gradient("floor_divide"), refuse_gradient("floor_divide")
DIVISIONS = {
    None: binary("div", np.true_divide, lambda g, b: g / b, lambda g, a, b: -g * (a / b / b), convert=True),
    "floor": binary("div_floor", whole(np.floor_divide), *ZERO_WAYS, title="Div"),
    "trunc": binary("div_trunc", whole(divide_to_zero), *ZERO_WAYS, title="Div"),
}
floor_divide = binary("floor_divide", whole(np.floor_divide), *NO_WAYS, title="NotImplemented")
REMAINDERS = {  # by whether the dividend is a tensor
    True: binary("remainder", whole(np.remainder), lambda g: g, lambda g, a, b: -g * apply(DIVISIONS["floor"], a, b)),
    False: binary("remainder", whole(np.remainder), lambda g: g, refuse_gradient("remainder")),
}


def div(input, other: Operand, *, rounding_mode=None):
    """Return input / other."""
    refuse(rounding_mode not in DIVISIONS, "rounding mode")
    return DIVISIONS[rounding_mode](input, other)


def true_divide(input, other: Operand):
    return DIVISIONS[None](input, other)


def remainder(input: Operand, other: Operand):
    """Return input − other · ⌊input / other⌋, with the sign of other."""
    return REMAINDERS[isinstance(input, Tensor)](input, other)


def power(a, b):
    """Return powers of numpy's arrays; negative powers of integers are truncated to 1, -1 or 0."""
    if a.dtype.kind == "c":  # numpy's powers of zero differ
        inverse = np.where((a == 0) & (b.real < 0), complex(math.inf, math.nan), np.power(a, b))
        return np.where((a == 0) & (b == 0) & (b.ndim > 0), complex(math.nan, math.nan), inverse).astype(a.dtype)
    if a.dtype.kind == "f":
        return np.power(a, b)
    inverse = np.where(np.abs(a) == 1, np.where(b % 2 == 0, 1, a), 0)
    return np.where(b < 0, inverse, a ** np.maximum(b, 0)).astype(np.result_type(a, b))


POWER_WAYS = (
    lambda g, a, b: masked(g * (b * a ** (b - 1)), b == 0),
    lambda g, a, b, y: masked(g * (y * apply(log, a)), (a == 0) & (b >= 0)),
)
_pow = binary("pow", power, *POWER_WAYS, title="Pow.1")
_rpow = binary("pow", lambda a, b: np.asarray(power(a, b), order="C"), *POWER_WAYS, title="Pow.2")
SPECIAL_POWERS = {2: np.square, 0.5: np.sqrt, 3: lambda x: x * x * x, -2: lambda x: 1 / (x * x)}


@functools.lru_cache
def power_formula(exponent):
    """Return the formula of a power with a number as exponent."""
    return Formula("Pow", (lambda g, a: g * (a ** (exponent - 1) * exponent)) if exponent else lambda g, a: zeros(g))


def pow(input: Operand, exponent: Operand):
    """Return input ** exponent."""
    if isinstance(exponent, Tensor):
        return _pow(input, exponent) if isinstance(input, Tensor) else _rpow(input, exponent)
    exponent = check_number(exponent)
    if isinstance(exponent, complex):
        return _pow(input, exponent)
    if input.dtype.kind < 2 and isinstance(exponent, float):
        input = floating(input)
    elif input.dtype.kind < 2:
        refuse(exponent < 0, "Integers to negative integer powers are not allowed.")
        if is_bool(input):
            out = pow(input.to(dtypes.int64), int(exponent))
            return out.to(dtypes.bool_) if isinstance(exponent, bool) else out
    x = input._array
    function = SPECIAL_POWERS.get(exponent) if x.dtype.kind == "f" or exponent == 0.5 else None
    raise_ = power if x.dtype.kind == "c" else np.power
    array = quiet.run(function, x) if function else quiet.run(raise_, x, np.asarray(exponent).astype(x.dtype))
    return record_formula(power_formula(exponent), array, input)


def square(input):
    return pow(input, 2)


neg = unary("neg", np.negative, lambda g: -g, convert=False)


def positive(input):
    refuse_type("positive", input)
    return input


def sign_array(x):
    """Return signs of numbers: x / |x| of complex numbers, 0 for NaN."""
    if x.dtype.kind == "c":
        size = np.abs(x)
        return np.where(size == 0, 0, x / np.where(size == 0, 1, size))
    return np.copy(x, "K") if x.dtype == bool else np.where(np.isnan(x), x.dtype.type(0), np.sign(x))


def is_complex(x):
    return getattr(x, "_array", x).dtype.kind == "c"


def sgn_way(g, a, y):
    if not is_complex(a):
        return zeros(g)
    return masked((g - (g * y).real * y.conj()) / apply(abs, a), a == 0)


def angle_array(x):
    """Return the angles of complex numbers; 0, π or NaN of real ones."""
    if x.dtype.kind == "c":
        return np.asarray(np.angle(x), order="C")
    return np.where(np.isnan(x), x, np.where(x < 0, math.pi, 0)).astype(x.dtype)


def angle_way(g, a):
    return masked(g * a.conj() * 1j / (a.real**2 + a.imag**2), a == 0) if is_complex(a) else zeros(g)


def reciprocal_array(x):
    return 1 / x if x.dtype.kind == "c" else np.reciprocal(x)


sign = unary("sign", sign_array, zeros, convert=False)
sgn = unary("sgn", sign_array, sgn_way, convert=False)
abs = unary("abs", np.abs, lambda g, a: g * apply(sgn, a), convert=False, conjugate=False)
angle = unary("angle", angle_array, angle_way)
_conj = unary("conj", np.conj, lambda g: g.conj(), convert=False)
reciprocal = unary("reciprocal", reciprocal_array, lambda g, y: -g * (y * y))


def conj(input):
    return _conj(input) if input._array.dtype.kind == "c" else input


def real(input):
    if not input.is_complex():
        return input
    return record(input._array.real, "Real", (input,), lambda g: g.to(g.dtype.to_complex()))


def imag(input):
    refuse(not input.is_complex(), "imag is not implemented for tensors with non-complex dtypes.")
    return record(input._array.imag, "Imag", (input,), lambda g: g * 1j)


LERP = Formula("Lerp", lambda g, c: g * (1 - c), lambda g, c: g * c, lambda g, a, b: g * (b - a))


def lerp_array(a, b, w):
    """Return a + w · (b − a), from the nearer end."""
    return np.where(np.abs(w) < 0.5, a + w * (b - a), b - (b - a) * (1 - w)).astype(a.dtype)


def lerp(input, end: Tensor, weight: Operand):
    """Return input + weight · (end − input)."""
    check_type(input, end, "end")
    if isinstance(weight, Tensor) and not weight.ndim:  # counts as a number
        (input, weight), (end, _) = operands(input, weight), operands(end, weight)
    refuse_type("lerp", input)
    if isinstance(weight, Tensor):
        check_type(input, weight, "weight")
        return record_formula(LERP, compute(lerp_array, input, end, weight), input, end, weight)
    array = compute(lambda a, b: lerp_array(a, b, a.dtype.type(weight)), input, end)
    return record_formula(Formula("Lerp", lambda g: g * (1 - weight), lambda g: g * weight), array, input, end)


def check_type(input, x, name):
    """Raise torch's error if an argument of `lerp` is a tensor of another type."""
    if x.dtype is not input.dtype:
        raise RuntimeError(f"expected dtype {input.dtype.c_name} for `{name}` but got dtype {x.dtype.c_name}")


def check_factor(value, dtype):
    """Return a number as torch multiplies numbers of this type by it; raise RuntimeError if the type is too narrow."""
    if value == 1:
        return value
    value = check_fill(value, dtypes.float32 if dtype is dtypes.float16 else dtype)
    return value if dtype.kind > 1 else int(value)


def addcmul(input, tensor1: Tensor, tensor2: Tensor, *, value=1):
    """Return input + value · tensor1 · tensor2."""
    if is_bool(tensor1) and is_bool(tensor2):
        refuse_type("addcmul", input)
    product = mul(tensor1, tensor2)
    dtype = result_type(input, product)
    value = check_factor(value, dtype)
    return rename_node(add(input, product if value == 1 else mul(product, value)), "Addcmul")
