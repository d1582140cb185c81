"""Operations number by number. Each is its value, and the rule by which a gradient comes back through it.

`g` is the gradient of the result. A rule that needs the result itself computes it again: the way back must not hold on
to what holds on to the way back.
"""

import math
import sys
import weakref

import numpy as np

from . import dtypes
from .autograd import record, titled
from .tensor import Tensor, as_tensor_of, broadcast_error, operands

PI = math.pi


def fit(g, shape):
    """A gradient summed over what broadcasting had repeated."""
    if g._array.shape == shape:
        return g
    front = g.ndim - len(shape)
    axes = [*range(front), *(front + i for i, n in enumerate(shape) if n == 1 and g._array.shape[front + i] != 1)]
    g = g.sum(axes, keepdim=True) if axes else g
    return g.reshape(shape) if front else g


def floating(x):
    """In a type that has fractions."""
    if not isinstance(x, Tensor):
        raise TypeError(
            f"{sys._getframe(1).f_code.co_name}(): argument 'input' (position 1) must be Tensor, not {type(x).__name__}"
        )
    return x if x.dtype.kind > 1 else x.to(dtypes.default[0])


def compute(function, first, second):
    try:
        with np.errstate(all="ignore"):
            return function(first._array, second._array)
    except ValueError:
        raise broadcast_error(first, second) from None


# Arithmetic


def add(input, other, *, alpha=1):
    """input + alpha · other"""
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
    """input − alpha · other"""
    said = sum(getattr(one, "dtype", None) is dtypes.bool_ or isinstance(one, bool) for one in (input, other))
    if said:
        raise RuntimeError(
            "Subtraction, the `-` operator, with two bool tensors is not supported. Use the `^` or `logical_xor()`"
            " operator instead."
            if said == 2
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
    return titled(sub(other, input, alpha=alpha), "Rsub" if isinstance(other, Tensor) else "Rsub.1")


def mul(input, other):
    """input · other"""
    a, b = operands(input, other)
    sa, sb = a._array.shape, b._array.shape

    def rule(g):
        return fit(g * conj(b), sa) if a._requires_grad else None, fit(g * conj(a), sb) if b._requires_grad else None

    saved = [one for one, other in ((b, a), (a, b)) if other._requires_grad]
    return record(compute(np.multiply, a, b), "Mul", (a, b), rule, saved)


def not_by_zero(a, b):
    """What has no fractions has no infinity either."""
    if a.dtype.kind < 2 and a._array.size and (b._array == 0).any():
        raise RuntimeError("ZeroDivisionError")


def div(input, other, *, rounding_mode=None):
    """input / other"""
    a, b = operands(input, other)
    if rounding_mode is not None:
        not_by_zero(a, b)
        function = (
            np.floor_divide
            if rounding_mode == "floor"
            else lambda x, y: (np.trunc(np.true_divide(x, y))).astype(x.dtype)
        )

        def flat(g):
            return (fit(zeros(g), a._array.shape), fit(zeros(g), b._array.shape))

        return record(compute(function, a, b), "Div", (a, b), flat)
    a, b = floating(a), floating(b)
    sa, sb = a._array.shape, b._array.shape

    def rule(g):
        ga = fit(g / conj(b), sa) if a._requires_grad else None
        return ga, fit(-g * conj(a / b / b), sb) if b._requires_grad else None

    saved = [b] if a._requires_grad and not b._requires_grad else [a, b] if b._requires_grad else []
    return record(compute(np.true_divide, a, b), "Div", (a, b), rule, saved)


def floor_divide(input, other):
    """⌊input / other⌋. It has no gradient, and says so if it is asked for one."""
    a, b = operands(input, other)
    not_by_zero(a, b)

    def rule(g):
        raise RuntimeError("derivative for aten::floor_divide is not implemented")

    return record(compute(np.floor_divide, a, b), "NotImplemented", (a, b), rule)


def remainder(input, other):
    """input − other · ⌊input / other⌋, with the sign of other."""
    a, b = operands(input, other)
    not_by_zero(a, b)
    sa = a._array.shape
    whole = np.floor_divide
    return record(
        compute(np.remainder, a, b), "Remainder", (a, b),
        lambda g: (fit(g, sa), fit(-g * Tensor(compute(whole, a, b)), b._array.shape)),
    )  # fmt: skip


def pow(input, exponent):
    """input ** exponent"""
    if isinstance(exponent, Tensor) or not isinstance(input, Tensor):
        a, b = operands(input, exponent)

        def both(g):
            ga = fit(g * b * pow(a, b - 1), a._array.shape) if a._requires_grad else None
            if not b._requires_grad:
                return ga, None
            safe = where((a == 0) & (b >= 0), Tensor(np.ones((), a._array.dtype)), a)
            return ga, fit(g * pow(a, b) * log(safe), b._array.shape)

        power = np.power if a.dtype.kind > 1 else whole_power
        return record(compute(power, a, b), "Pow.1" if isinstance(input, Tensor) else "Pow.2", (a, b), both, [a, b])
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


def whole_power(a, b):
    """Powers of whole numbers; negative ones are cut to whole numbers, too: 1, -1, or 0."""
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
        array = np.where(x._array < 0, PI, x._array * 0 + 0).astype(x._array.dtype)
        return record(array, "Angle", (x,), zeros)
    return atan2(imag(input), real(input))


def reciprocal(input):
    return record(1 / floating(input)._array, "Reciprocal", (input,), lambda g: -g / input / input, [input])


def called(name, operation):
    """The operation under a name of its own."""
    operation.__name__ = operation.__qualname__ = name
    return operation


# Functions of one number


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
    lambda x: exp(-x * x) * (2 / math.sqrt(PI)),
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


# Comparing and choosing


def clamp(input, min=None, max=None):
    """Between min and max: numbers or tensors."""
    if min is None and max is None:
        raise RuntimeError("torch.clamp: At least one of 'min' or 'max' must not be None")
    out = input
    if isinstance(min, Tensor) or isinstance(max, Tensor):
        out = out if min is None else maximum(out, as_tensor_of(min))
        return titled(out if max is None else minimum(out, as_tensor_of(max)), "Clamp")
    for bound in (min, max):
        if bound is not None:
            input, _ = operands(input, bound)
    array = input._array
    low = -math.inf if min is None else min
    high = math.inf if max is None else max
    kept = array if min is None else np.maximum(array, np.asarray(min).astype(array.dtype))
    kept = kept if max is None else np.minimum(kept, np.asarray(max).astype(array.dtype))
    return record(
        kept,
        "Clamp.1",
        (input,),
        lambda g: g * Tensor(((array >= low) & (array <= high)).astype(g._array.dtype)),
        [input],
    )


clip = clamp


def clamp_min(input, min):
    return clamp(input, min=min)


def clamp_max(input, max):
    return clamp(input, max=max)


def extreme(name, function, first_wins):
    def operation(input, other):
        a, b = operands(input, other)

        def rule(g):
            half = (a == b).to(g.dtype) / 2  # where both are the same, each gets half
            wins = Tensor(first_wins(a._array, b._array).astype(g._array.dtype))
            loses = Tensor(first_wins(b._array, a._array).astype(g._array.dtype))
            return fit(g * (wins + half), a._array.shape), fit(g * (loses + half), b._array.shape)

        return record(compute(function, a, b), name.title(), (a, b), rule, [a, b])

    return called(name, operation)


maximum, minimum = extreme("maximum", np.maximum, np.greater), extreme("minimum", np.minimum, np.less)


def comparison(name, function):
    def operation(input, other):
        if not isinstance(input, Tensor) or not isinstance(
            other, (Tensor, bool, int, float, complex, np.number, np.bool_)
        ):
            return NotImplemented
        if isinstance(other, float) and input.dtype.kind == 2:
            other = Tensor(np.asarray(other, input._array.dtype))
        a, b = operands(input, other)
        return Tensor(compute(function, a, b))

    return called(name, operation)


eq, ne, lt, le, gt, ge = (
    comparison(name, function)
    for name, function in (
        ("eq", np.equal), ("ne", np.not_equal), ("lt", np.less), ("le", np.less_equal), ("gt", np.greater), ("ge",
        np.greater_equal),
    )
)  # fmt: skip


def yes_or_no(name):
    """numpy's function of this name, of one tensor or of two."""
    function = getattr(np, name)

    def of_one(input):
        return Tensor(function(input._array))

    def of_two(input, other):
        return Tensor(compute(function, input, other))

    return called(name, of_one if function.nin == 1 else of_two)


isnan, isinf, isfinite, logical_not = map(yes_or_no, ("isnan", "isinf", "isfinite", "logical_not"))
logical_and, logical_or, logical_xor = map(yes_or_no, ("logical_and", "logical_or", "logical_xor"))


def isclose(input, other, rtol=1e-05, atol=1e-08, equal_nan=False):
    if input.dtype is not other.dtype:
        raise RuntimeError(f"{input.dtype.title} did not match {other.dtype.title}")
    if fails(input, other):
        raise broadcast_error(input, other)
    a, b = (one if one.dtype.kind in "fc" else one.astype(np.int64) for one in (input._array, other._array))
    with np.errstate(all="ignore"):
        near = np.abs(a - b) <= atol + rtol * np.abs(b)
        near = (near & np.isfinite(a) & np.isfinite(b)) | (a == b)
    return Tensor(near | (np.isnan(a) & np.isnan(b)) if equal_nan else near)


def allclose(input, other, rtol=1e-05, atol=1e-08, equal_nan=False):
    return bool(isclose(input, other, rtol, atol, equal_nan)._array.all())


def equal(input, other):
    """Whether all is the same: shape and numbers."""
    return input._array.shape == other._array.shape and bool((input._array == other._array).all())


def where(condition, input=None, other=None):
    """input where the condition holds, other elsewhere; without them the indices where it holds."""
    if input is None:
        return condition.nonzero(as_tuple=True)
    if condition._array.dtype not in (bool, np.uint8):
        raise RuntimeError(
            f"where expected condition to be a boolean tensor, but got a tensor with dtype {condition.dtype.title}"
        )
    if not isinstance(input, Tensor) and not isinstance(other, Tensor):
        dtype = dtypes.promoted(dtypes.of_number(input), dtypes.of_number(other))
        a, b = (Tensor(np.asarray(one, dtype.np)) for one in (input, other))
    else:
        a, b = operands(input, other)
    chosen = condition._array.astype(bool, copy=False)

    def rule(g):
        return fit(masked(g, ~chosen), a._array.shape), fit(masked(g, chosen), b._array.shape)

    try:
        return record(np.where(chosen, a._array, b._array), "Where", (a, b), rule, [condition])
    except ValueError:
        raise broadcast_error(
            *((a, condition) if fails(a, condition) else (b, condition) if fails(b, condition) else (a, b))
        ) from None


def fails(a, b):
    try:
        np.broadcast_shapes(a._array.shape, b._array.shape)
    except ValueError:
        return True


def masked(g, mask):
    """A gradient with zeros where the mask is set: also where it is not finite."""
    return record(np.where(mask, g._array.dtype.type(0), g._array), "MaskedFill", (g,), lambda h: masked(h, mask))


def masked_fill(input, mask, value):
    """value where the mask is set."""
    if mask.dtype is not dtypes.bool_:
        raise RuntimeError(f"masked_fill_ only supports boolean masks, but got mask with dtype {mask.dtype.in_c}")
    value = as_tensor_of(value)
    shape, there = input._array.shape, mask._array
    try:
        array = np.where(there, value._array.astype(input._array.dtype), input._array)
    except ValueError:
        raise broadcast_error(input, mask) from None
    return record(
        array, "MaskedFill", (input, value),
        lambda g: (fit(masked(g, there), shape), fit(masked(g, ~there), value._array.shape)), [mask],
    )  # fmt: skip


def lerp(input, end, weight):
    """input + weight · (end − input)"""
    for one, name in ((end, "end"), (weight, "weight")):
        if isinstance(one, Tensor) and one.dtype is not input.dtype:
            raise RuntimeError(f"expected dtype {input.dtype.in_c} for `{name}` but got dtype {one.dtype.in_c}")
    if input.dtype.kind < 2:
        raise NotImplementedError(f'"lerp_kernel_scalar" not implemented for {input.dtype.title!r}')
    if fails(input, end):
        raise broadcast_error(input, end)
    weight = weight if isinstance(weight, Tensor) else Tensor(np.asarray(weight, input._array.dtype))
    a, b, w = input._array, end._array, weight._array
    with np.errstate(all="ignore"):
        array = np.where(np.abs(w) < 0.5, a + w * (b - a), b - (b - a) * (1 - w)).astype(a.dtype)

    def rule(g):
        return fit(g * (1 - weight), a.shape), fit(g * weight, b.shape), fit(g * (end - input), w.shape)

    return record(array, "Lerp", (input, end, weight), rule, [weight, input, end])


def addcmul(input, tensor1, tensor2, *, value=1):
    """input + value · tensor1 · tensor2"""
    return titled(add(input, mul(tensor1, tensor2) if value == 1 else mul(mul(tensor1, tensor2), value)), "Addcmul")


def softplus_of(x):
    return np.log1p(np.exp(-np.abs(x))) + np.maximum(x, 0)
