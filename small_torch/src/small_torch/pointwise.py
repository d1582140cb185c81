"""Elementwise functions of one number, and their derivatives: rows of a table (see `elementwise`)."""

import math

import numpy as np

from .elementwise import Formula, apply, binary, compute, masked, record_formula, unary, zeros
from .memory import contiguous, copy_array
from .messages import refuse
from .operands import refuse_type
from .tape import recording


def sigmoid_array(x):
    """Return σ(x), as torch computes it: eˣ may overflow, and 1 / inf is 0."""
    if x.dtype == np.float16:
        return sigmoid_array(x.astype(np.float32)).astype(np.float16)
    e = np.exp(-x)
    e += 1
    return np.reciprocal(e)


def error_function(x):
    """Return erf(x)."""
    return _erf(x).astype(x.dtype) if getattr(x, "ndim", 0) else np.asarray(math.erf(x), x.dtype)


def of_fractions(function):
    """Return a function that copies whole numbers, as numpy's does not before version 2.1, which browsers have."""
    return lambda x: function(x) if x.dtype.kind in "fc" else x.copy("K")


_erf = np.frompyfunc(math.erf, 1, 1)

exp = unary("exp", np.exp, lambda g, y: g * y)
expm1 = unary("expm1", np.expm1, lambda g, y: g * (y + 1))
exp2 = unary("exp2", np.exp2, lambda g, y: g * (y * math.log(2)))
log = unary("log", np.log, lambda g, a: g / a)
log2 = unary("log2", np.log2, lambda g, a: g / (a * math.log(2)))
log10 = unary("log10", np.log10, lambda g, a: g / (a * math.log(10)))
log1p = unary("log1p", np.log1p, lambda g, a: g / (a + 1))
sqrt = unary("sqrt", np.sqrt, lambda g, y: g / (2 * y))
rsqrt = unary("rsqrt", lambda x: 1 / np.sqrt(x), lambda g, y: g * (-0.5 * y**3))
sin = unary("sin", np.sin, lambda g, a: g * apply(cos, a))
cos = unary("cos", np.cos, lambda g, a: -g * apply(sin, a))
tan = unary("tan", np.tan, lambda g, y: g * (1 + y * y))
sinh = unary("sinh", np.sinh, lambda g, a: g * apply(cosh, a))
cosh = unary("cosh", np.cosh, lambda g, a: g * apply(sinh, a))
tanh = unary("tanh", np.tanh, lambda g, y: g * (1 - y * y))
asin = unary("asin", np.arcsin, lambda g, a: g * apply(rsqrt, 1 - a * a))
acos = unary("acos", np.arccos, lambda g, a: -g * apply(rsqrt, 1 - a * a))
atan = unary("atan", np.arctan, lambda g, a: g / (a * a + 1))
atanh = unary("atanh", np.arctanh, lambda g, a: g / (1 - a * a))
sigmoid = unary("sigmoid", sigmoid_array, lambda g, y: g * ((1 - y) * y))
erf = unary("erf", error_function, lambda g, a: g * (apply(exp, -a * a) * (2 / math.sqrt(math.pi))))
relu = unary("relu", lambda x: np.maximum(x, 0), lambda g, y: masked(g, y <= 0), convert=False)
floor = unary("floor", of_fractions(np.floor), zeros, convert=False)
ceil = unary("ceil", of_fractions(np.ceil), zeros, convert=False)
trunc = unary("trunc", of_fractions(np.trunc), zeros, convert=False)


def atan2_slope(g, x, a, b):
    """Return g x / (a² + b²), and 0 where a and b are 0."""
    square = a * a + b * b
    return masked(g * x / square, square == 0)


ATAN2_WAYS = lambda g, a, b: atan2_slope(g, b, a, b), lambda g, a, b: atan2_slope(-g, a, a, b)
atan2 = binary("atan2", np.arctan2, *ATAN2_WAYS, convert=True, numbers=False)


def softplus_array(x):
    """Return log(1 + eˣ), without overflow."""
    return np.log1p(np.exp(-np.abs(x))) + np.maximum(x, 0)


def logsigmoid_array(x):
    return contiguous(-softplus_array(-x))


logsigmoid = unary(
    "logsigmoid", logsigmoid_array, lambda g, a: g * apply(sigmoid, -a), title="LogSigmoid", convert=False
)
ROUND = Formula("Round", zeros)
NAN_TO_NUM = Formula("NanToNum", lambda g, a: masked(g, a - a != 0))  # infinities and NaN


def round(input, *, decimals=0):
    refuse_type("round_decimals" if decimals else "round", input)

    def rounded(x):
        is_half = decimals and x.dtype == np.float16
        return np.round(x.astype(np.float32), decimals).astype(x.dtype) if is_half else np.round(x, decimals)

    return record_formula(ROUND, compute(of_fractions(rounded), input), input)


def nan_to_num(input, nan: float = None, posinf: float = None, neginf: float = None):
    text = "nan_to_num does not support automatic differentiation for outputs with complex dtype."
    refuse(input.is_complex() and input._requires_grad and recording[0], text)
    x = copy_array(input._array)
    return record_formula(NAN_TO_NUM, np.nan_to_num(x, False, float(nan or 0), posinf, neginf), input)
