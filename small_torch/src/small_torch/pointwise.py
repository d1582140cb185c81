"""Operations number by number: functions of one number, and their derivatives."""

import math
import weakref

import numpy as np

from .arithmetic import called, compute, conj, floating, zeros
from .comparing import masked
from .operands import operands
from .tape import fit
from .tensor import Tensor, record


def of_one(name, function, slope):
    """An operation number by number: its value by numpy, and its derivative by operations on tensors."""

    def operation(input):
        x = floating(input)
        with np.errstate(all="ignore"):
            array = function(x._array)
        return record(array, name.title(), (x,), lambda g: g * conj(slope(x)), (x,))

    return called(name, operation)


def of_result(name, function, slope):
    """The same, if the derivative is most easily said of the result: which is then what must not be changed in
    place."""

    def operation(input):
        x = floating(input)
        with np.errstate(all="ignore"):
            out = record(function(x._array), name.title(), (x,), None)
        node = out._grad_fn
        if node is not None:
            kept, version, itself = out._array, out._version, weakref.ref(node)

            def result():
                y = Tensor(kept)
                y._grad_fn, y._requires_grad, y._version = itself(), True, version
                return y

            node.rule = lambda g: g * conj(slope(result()))
            node.saved = [(Kept(out, name.title()), 0)]
        return out

    return called(name, operation)


class Kept:
    """What a node says of the result that it needs unchanged, without holding on to it."""

    _output = 0

    def __init__(self, out, made_by):
        self._version, self.dtype, self.shape, self._made_by = out._version, out.dtype, out.shape, made_by


def logistic(x):
    half = x.dtype.type(0.5)
    return half * (np.tanh(half * x) + x.dtype.type(1)) if x.dtype.kind == "c" else exact_logistic(x)


def exact_logistic(x):
    e = np.exp(-np.abs(x))  # never overflows
    return np.where(x >= 0, 1, e) / (1 + e)


exp = of_result("exp", np.exp, lambda y: y)

expm1 = of_result("expm1", np.expm1, lambda y: y + 1)

tanh = of_result("tanh", np.tanh, lambda y: 1 - y * y)

sigmoid = of_result("sigmoid", logistic, lambda y: (1 - y) * y)

sqrt = of_result("sqrt", np.sqrt, lambda y: 0.5 / y)

rsqrt = of_result("rsqrt", lambda x: 1 / np.sqrt(x), lambda y: -0.5 * y**3)


def relu(input):
    """What is above zero, and zero."""
    array = np.maximum(input._array, 0)
    return record(array, "Relu", (input,), lambda g: masked(g, array <= 0))


log = of_one("log", np.log, lambda x: 1 / x)

log2 = of_one("log2", np.log2, lambda x: 1 / (x * math.log(2)))

log10 = of_one("log10", np.log10, lambda x: 1 / (x * math.log(10)))

log1p = of_one("log1p", np.log1p, lambda x: 1 / (x + 1))

exp2 = of_one("exp2", np.exp2, lambda x: exp2(x) * math.log(2))

sin = of_one("sin", np.sin, lambda x: cos(x))

cos = of_one("cos", np.cos, lambda x: -sin(x))

tan = of_one("tan", np.tan, lambda x: 1 + tan(x) ** 2)

sinh = of_one("sinh", np.sinh, lambda x: cosh(x))

cosh = of_one("cosh", np.cosh, lambda x: sinh(x))

asin = of_one("asin", np.arcsin, lambda x: rsqrt(1 - x * x))

acos = of_one("acos", np.arccos, lambda x: -rsqrt(1 - x * x))

atan = of_one("atan", np.arctan, lambda x: 1 / (x * x + 1))

atanh = of_one("atanh", np.arctanh, lambda x: 1 / (1 - x * x))

_erf = np.frompyfunc(math.erf, 1, 1)

erf = of_one(
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
    """A function that is flat nearly everywhere."""

    def operation(input):
        return record(function(input._array), name.title(), (input,), zeros)

    return called(name, operation)


floor, ceil, trunc = (step_function(name, getattr(np, name)) for name in ("floor", "ceil", "trunc"))


def round(input, *, decimals=0):
    return record(np.round(input._array, decimals), "Round", (input,), zeros)


def nan_to_num(input, nan=0.0, posinf=None, neginf=None):
    good = Tensor(np.isfinite(input._array).astype(input._array.dtype))
    return record(
        np.nan_to_num(input._array, nan=nan, posinf=posinf, neginf=neginf), "NanToNum", (input,), lambda g: g * good
    )


def softplus_of(x):
    return np.log1p(np.exp(-np.abs(x))) + np.maximum(x, 0)


def logsigmoid(input):
    """log σ(x)"""
    with np.errstate(all="ignore"):
        array = -softplus_of(-input._array)
    return record(array, "LogSigmoid", (input,), lambda g: g * sigmoid(-input), [input])
