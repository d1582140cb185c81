"""Elementwise functions of one number, and their derivatives: rows of a table (see `elementwise`)."""

import math

import numpy as np

from .elementwise import Formula, apply, binary, masked, record_formula, unary, zeros
from .tensor import Tensor, record


def stable_sigmoid(x):
    """Return σ(x), without overflow."""
    half = x.dtype.type(0.5)
    return half * (np.tanh(half * x) + x.dtype.type(1)) if x.dtype.kind == "c" else real_sigmoid(x)


def real_sigmoid(x):
    """Return σ(x) of real numbers."""
    e = np.exp(-np.abs(x))  # never overflows
    return np.where(x >= 0, 1, e) / (1 + e)


def error_function(x):
    """Return erf(x)."""
    return _erf(x).astype(x.dtype) if getattr(x, "ndim", 0) else np.asarray(math.erf(x), x.dtype)


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
asin = unary("asin", np.arcsin, lambda g, a: g * (1 - a * a) ** -0.5)
acos = unary("acos", np.arccos, lambda g, a: -g * (1 - a * a) ** -0.5)
atan = unary("atan", np.arctan, lambda g, a: g / (a * a + 1))
atanh = unary("atanh", np.arctanh, lambda g, a: g / (1 - a * a))
sigmoid = unary("sigmoid", stable_sigmoid, lambda g, y: g * ((1 - y) * y))
erf = unary("erf", error_function, lambda g, a: g * (apply(exp, -a * a) * (2 / math.sqrt(math.pi))))
relu = unary("relu", lambda x: np.maximum(x, 0), lambda g, y: masked(g, y <= 0), convert=False)
floor = unary("floor", np.floor, zeros, convert=False)
ceil = unary("ceil", np.ceil, zeros, convert=False)
trunc = unary("trunc", np.trunc, zeros, convert=False)
atan2 = binary(
    "atan2", np.arctan2, lambda g, a, b: g * b / (a * a + b * b), lambda g, a, b: -g * a / (a * a + b * b), convert=True
)


def softplus_array(x):
    """Return log(1 + eˣ), without overflow."""
    return np.log1p(np.exp(-np.abs(x))) + np.maximum(x, 0)


logsigmoid = unary(
    "logsigmoid", lambda x: -softplus_array(-x), lambda g, a: g * apply(sigmoid, -a), title="LogSigmoid", convert=False
)

ROUND = Formula("Round", zeros)


def round(input, *, decimals=0):
    return record_formula(ROUND, np.round(input._array, decimals), input)


def nan_to_num(input, nan=0.0, posinf=None, neginf=None):
    finite = Tensor(np.isfinite(input._array).astype(input._array.dtype))
    return record(
        np.nan_to_num(input._array, nan=nan, posinf=posinf, neginf=neginf), "NanToNum", (input,), lambda g: g * finite
    )
