"""Elementwise functions of one number, and their derivatives."""

import math
import weakref

import numpy as np

from .arithmetic import compute, conj, floating, set_name, zeros
from .comparing import masked
from .operands import operands
from .tape import fit
from .tensor import Tensor, record


def from_input(name, function, slope):
    """Make an elementwise operation from numpy's function and its derivative, a function of the input."""

    def operation(input):
        x = floating(input)
        with np.errstate(all="ignore"):
            array = function(x._array)
        return record(array, name.title(), (x,), lambda g: g * conj(slope(x)), (x,))

    return set_name(name, operation)


def from_result(name, function, slope):
    """Make an elementwise operation whose derivative is a function of the result.

    The rule must not hold the result (it would never be freed): it holds its array, and its node weakly.
    """

    def operation(input):
        x = floating(input)
        with np.errstate(all="ignore"):
            out = record(function(x._array), name.title(), (x,), None)
        node = out._grad_fn
        if node is not None:
            array, version, node_reference = out._array, out._version, weakref.ref(node)

            def result():
                y = Tensor(array)
                y._grad_fn, y._requires_grad, y._version = node_reference(), True, version
                return y

            node.rule = lambda g: g * conj(slope(result()))
            node.saved = [(SavedResult(out, name.title()), 0)]
        return out

    return set_name(name, operation)


class SavedResult:
    """The type, shape and version of a saved result: what an error needs, without holding the tensor."""

    _output = 0

    def __init__(self, out, made_by):
        self._version, self.dtype, self.shape, self._made_by = out._version, out.dtype, out.shape, made_by


def stable_sigmoid(x):
    """Return σ(x), without overflow."""
    half = x.dtype.type(0.5)
    return half * (np.tanh(half * x) + x.dtype.type(1)) if x.dtype.kind == "c" else real_sigmoid(x)


def real_sigmoid(x):
    """Return σ(x) of real numbers."""
    e = np.exp(-np.abs(x))  # never overflows
    return np.where(x >= 0, 1, e) / (1 + e)


exp = from_result("exp", np.exp, lambda y: y)

expm1 = from_result("expm1", np.expm1, lambda y: y + 1)

tanh = from_result("tanh", np.tanh, lambda y: 1 - y * y)

sigmoid = from_result("sigmoid", stable_sigmoid, lambda y: (1 - y) * y)

sqrt = from_result("sqrt", np.sqrt, lambda y: 0.5 / y)

rsqrt = from_result("rsqrt", lambda x: 1 / np.sqrt(x), lambda y: -0.5 * y**3)


def relu(input):
    """Return max(0, x)."""
    array = np.maximum(input._array, 0)
    return record(array, "Relu", (input,), lambda g: masked(g, array <= 0))


log = from_input("log", np.log, lambda x: 1 / x)

log2 = from_input("log2", np.log2, lambda x: 1 / (x * math.log(2)))

log10 = from_input("log10", np.log10, lambda x: 1 / (x * math.log(10)))

log1p = from_input("log1p", np.log1p, lambda x: 1 / (x + 1))

exp2 = from_input("exp2", np.exp2, lambda x: exp2(x) * math.log(2))

sin = from_input("sin", np.sin, lambda x: cos(x))

cos = from_input("cos", np.cos, lambda x: -sin(x))

tan = from_input("tan", np.tan, lambda x: 1 + tan(x) ** 2)

sinh = from_input("sinh", np.sinh, lambda x: cosh(x))

cosh = from_input("cosh", np.cosh, lambda x: sinh(x))

asin = from_input("asin", np.arcsin, lambda x: rsqrt(1 - x * x))

acos = from_input("acos", np.arccos, lambda x: -rsqrt(1 - x * x))

atan = from_input("atan", np.arctan, lambda x: 1 / (x * x + 1))

atanh = from_input("atanh", np.arctanh, lambda x: 1 / (1 - x * x))

_erf = np.frompyfunc(math.erf, 1, 1)

erf = from_input(
    "erf",
    lambda x: _erf(x).astype(x.dtype) if x.ndim else np.asarray(math.erf(x), x.dtype),
    lambda x: exp(-x * x) * (2 / math.sqrt(math.pi)),
)


def atan2(input, other):
    a, b = map(floating, operands(input, other))
    return record(
        compute(np.arctan2, a, b), "Atan2", (a, b),
        lambda g: (fit(g * b / (a * a + b * b), a._array.shape), fit(-g * a / (a * a + b * b), b._array.shape)), [a, b],
    )  # fmt: skip


def step_function(name, function):
    """Make an operation that is constant almost everywhere."""

    def operation(input):
        return record(function(input._array), name.title(), (input,), zeros)

    return set_name(name, operation)


floor, ceil, trunc = (step_function(name, getattr(np, name)) for name in ("floor", "ceil", "trunc"))


def round(input, *, decimals=0):
    return record(np.round(input._array, decimals), "Round", (input,), zeros)


def nan_to_num(input, nan=0.0, posinf=None, neginf=None):
    finite = Tensor(np.isfinite(input._array).astype(input._array.dtype))
    return record(
        np.nan_to_num(input._array, nan=nan, posinf=posinf, neginf=neginf), "NanToNum", (input,), lambda g: g * finite
    )


def softplus_array(x):
    """Return log(1 + eˣ), without overflow."""
    return np.log1p(np.exp(-np.abs(x))) + np.maximum(x, 0)


def logsigmoid(input):
    """Return log σ(x)."""
    with np.errstate(all="ignore"):
        array = -softplus_array(-input._array)
    return record(array, "LogSigmoid", (input,), lambda g: g * sigmoid(-input), [input])
