"""Elementwise comparisons, and selection between numbers."""

import numpy as np

from . import dtypes
from .elementwise import Formula, binary, compute, masked, record_formula, set_name
from .operands import broadcast_error, cannot_broadcast, operands, tensor_from_number
from .tape import rename_node
from .tensor import Tensor


def clamp(input, min=None, max=None):
    """Limit numbers to the range from min to max: numbers or tensors."""
    if min is None and max is None:
        raise RuntimeError("torch.clamp: At least one of 'min' or 'max' must not be None")
    out = input
    if isinstance(min, Tensor) or isinstance(max, Tensor):
        out = out if min is None else maximum(out, tensor_from_number(min))
        return rename_node(out if max is None else minimum(out, tensor_from_number(max)), "Clamp")
    for bound in (min, max):
        if bound is not None:
            input, _ = operands(input, bound)
    array = input._array
    low, high = (bound if bound is None else np.asarray(bound).astype(array.dtype) for bound in (min, max))
    limited = array if low is None else np.maximum(array, low)
    limited = limited if high is None else np.minimum(limited, high)

    def outside(a):
        a = getattr(a, "_array", a)
        return ~((True if low is None else a >= low) & (True if high is None else a <= high))

    return record_formula(Formula("Clamp.1", lambda g, a: masked(g, outside(a))), limited, input)


clip = clamp


def clamp_min(input, min):
    return clamp(input, min=min)


def clamp_max(input, max):
    return clamp(input, max=max)


maximum = binary(  # equal numbers share the gradient
    "maximum",
    np.maximum,
    lambda g, a, b: masked(g / (1 + (a == b)), a < b),
    lambda g, a, b: masked(g / (1 + (a == b)), a > b),
)
minimum = binary(
    "minimum",
    np.minimum,
    lambda g, a, b: masked(g / (1 + (a == b)), a > b),
    lambda g, a, b: masked(g / (1 + (a == b)), a < b),
)


def comparison(name, function):
    """Make a comparison, such as `eq`."""

    def operation(input, other):
        if not isinstance(input, Tensor) or not isinstance(
            other, (Tensor, bool, int, float, complex, np.number, np.bool_)
        ):
            return NotImplemented
        if isinstance(other, float) and input.dtype.kind == 2:
            other = Tensor(np.asarray(other, input._array.dtype))
        a, b = operands(input, other)
        return Tensor(compute(function, a, b))

    return set_name(name, operation)


eq, ne, lt, le, gt, ge = (
    comparison(name, function)
    for name, function in (
        ("eq", np.equal), ("ne", np.not_equal), ("lt", np.less), ("le", np.less_equal), ("gt", np.greater), ("ge",
        np.greater_equal),
    )
)  # fmt: skip


def numpy_predicate(name):
    """Make a bool-valued operation from numpy's function of this name, of one tensor or two."""
    function = getattr(np, name)

    def unary(input):
        return Tensor(function(input._array))

    def binary(input, other):
        return Tensor(compute(function, input, other))

    return set_name(name, unary if function.nin == 1 else binary)


isnan, isinf, isfinite, logical_not = map(numpy_predicate, ("isnan", "isinf", "isfinite", "logical_not"))

logical_and, logical_or, logical_xor = map(numpy_predicate, ("logical_and", "logical_or", "logical_xor"))


def isclose(input, other, rtol=1e-05, atol=1e-08, equal_nan=False):
    if input.dtype is not other.dtype:
        raise RuntimeError(f"{input.dtype.title} did not match {other.dtype.title}")
    if cannot_broadcast(input, other):
        raise broadcast_error(input, other)
    a, b = (array if array.dtype.kind in "fc" else array.astype(np.int64) for array in (input._array, other._array))
    with np.errstate(all="ignore"):
        near = np.abs(a - b) <= atol + rtol * np.abs(b)
        near = (near & np.isfinite(a) & np.isfinite(b)) | (a == b)
    return Tensor(near | (np.isnan(a) & np.isnan(b)) if equal_nan else near)


def allclose(input, other, rtol=1e-05, atol=1e-08, equal_nan=False):
    return bool(isclose(input, other, rtol, atol, equal_nan)._array.all())


def equal(input, other):
    """Return True if shapes and numbers are equal."""
    return input._array.shape == other._array.shape and bool((input._array == other._array).all())


def where(condition, input=None, other=None):
    """Return input where the condition holds, and other elsewhere; without them, the indices where it holds."""
    if input is None:
        return condition.nonzero(as_tuple=True)
    if condition._array.dtype not in (bool, np.uint8):
        raise RuntimeError(
            f"where expected condition to be a boolean tensor, but got a tensor with dtype {condition.dtype.title}"
        )
    if not isinstance(input, Tensor) and not isinstance(other, Tensor):
        dtype = dtypes.promote(dtypes.from_number(input), dtypes.from_number(other))
        a, b = (Tensor(np.asarray(number, dtype.np)) for number in (input, other))
    else:
        a, b = operands(input, other)
    condition = condition if condition._array.dtype == bool else condition.to(dtypes.bool_)
    try:
        return record_formula(WHERE, np.where(condition._array, a._array, b._array), a, b, condition)
    except ValueError:
        raise broadcast_error(
            *(
                (a, condition)
                if cannot_broadcast(a, condition)
                else (b, condition)
                if cannot_broadcast(b, condition)
                else (a, b)
            )
        ) from None


WHERE = Formula("Where", lambda g, c: masked(g, ~c), lambda g, c: masked(g, c))
MASKED_FILL = Formula("MaskedFill", lambda g, c: masked(g, c), lambda g, c: masked(g, ~c))


def masked_fill(input, mask, value):
    """Return input with value where the mask is set."""
    if mask.dtype is not dtypes.bool_:
        raise RuntimeError(f"masked_fill_ only supports boolean masks, but got mask with dtype {mask.dtype.c_name}")
    value = tensor_from_number(value)
    try:
        array = np.where(mask._array, value._array.astype(input._array.dtype), input._array)
    except ValueError:
        raise broadcast_error(input, mask) from None
    return record_formula(MASKED_FILL, array, input, value, mask)


def bitwise(function):
    """Make an operator on integers or bools."""

    def operator(self, other):
        a, b = operands(self, other)
        if a.dtype.kind > 1:
            raise NotImplementedError(f'"{function.__name__}_cpu" not implemented for {a.dtype.title!r}')
        try:
            return Tensor(function(a._array, b._array))
        except ValueError:
            raise broadcast_error(a, b) from None

    return operator


bitwise_and, bitwise_or, bitwise_xor = map(bitwise, (np.bitwise_and, np.bitwise_or, np.bitwise_xor))


def bitwise_not(input):
    if input.dtype.kind > 1:
        raise TypeError("~ (operator.invert) is only implemented on integer and Boolean-type tensors")
    return Tensor(~input._array)
