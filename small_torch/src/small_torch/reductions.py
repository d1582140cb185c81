"""Reductions: sums, means, extremes and norms."""

import builtins
import math
from collections import namedtuple

import numpy as np

from .arguments import Number
from .arithmetic import conj
from .comparing import maximum, minimum
from .elementwise import Formula, alias, floating, masked, record_formula, set_name
from .gathering import accept_scalars, scatter
from .joining import cat, narrow
from .memory import arrange, contiguous
from .messages import error, refuse, warn_once
from .operands import refuse_type
from .rearranging import flip
from .shapes import check_dims, reshape, unsqueeze
from .tape import recording, rename_node
from .tensor import Tensor, axis, record, record_many


def axes_of(dim, ndim, keepdim=False):
    """Return the named axes, counted from the front; all if none is named."""
    refuse(not isinstance(keepdim, bool), "keepdim must be bool", kind=TypeError)
    if dim is None or isinstance(dim, (tuple, list)) and not dim:
        return tuple(range(ndim))
    named = check_dims(dim, ndim)
    return tuple(named) if ndim else ()


def restore_axes(g, axes, keepdim):
    """Insert into a gradient the axes that the reduction removed."""
    if not keepdim:
        for dim in sorted(axes):
            g = unsqueeze(g, dim)
    return g


def check_not_empty(name, input, at):
    """Raise IndexError if an axis has length 0."""
    refuse(not input._array.shape[at], f"{name}(): Expected reduction dim {at} to have non-zero size.", kind=IndexError)


def cast(input, dtype):
    """Return the input in the type that a reduction was asked for."""
    if dtype is None:
        return input
    out = input.to(dtype)
    if out.dtype.kind < 2 and input._requires_grad and recording[0]:
        raise RuntimeError(f"Autograd not support dtype: {out.dtype.title}")
    return out


def total(x, axes, keepdim=False, integers=None):
    """Return sums over axes; those of float16 are added in float32.

    integers: the type of sums of integers, by default their own.
    """
    wide = np.float32 if x.dtype == np.float16 else integers if x.dtype.kind in "biu" else None
    out = x.sum(axes, dtype=wide or x.dtype, keepdims=keepdim)
    return contiguous(out if wide is not np.float32 else out.astype(x.dtype))


def sum(input, dim=None, keepdim: bool = False, *, dtype=None):
    """Return the sum of all numbers, or along axes."""
    x = cast(input, dtype)
    axes, shape = axes_of(dim, x.ndim, keepdim), x._array.shape
    array = total(x._array, axes, keepdim, None if dtype is not None else np.int64)
    return record(
        array, "Sum" if dim is None else "Sum.1", (x,), lambda g: restore_axes(g, axes, keepdim).expand(shape)
    )


def nansum(input, dim=None, keepdim: bool = False, *, dtype=None):
    refuse_type("nansum", input)
    is_nan = np.isnan(input._array)
    out = rename_node(sum(masked(input, is_nan) if is_nan.any() else input, dim, keepdim, dtype=dtype), "Nansum")
    if out._grad_fn is not None:
        out._grad_fn.saved = [(input, input._changes[0])]
    return out


def mean(input, dim=None, keepdim: bool = False, *, dtype=None):
    """Return the mean of all numbers, or along axes."""
    x = input if dtype is None else input.to(dtype)
    if dtype is not None and x.dtype.kind < 2:
        raise error("mean type", x.dtype.title)
    refuse_type("mean", x)
    axes, shape = axes_of(dim, x.ndim, keepdim), x._array.shape
    count = math.prod([shape[i] for i in axes])
    with np.errstate(all="ignore"):
        array = total(x._array, axes, keepdim) / np.asarray(count, x._array.dtype)
    return record(
        array, "Mean" if dim is None else "Mean.1", (x,),
        lambda g: restore_axes(g, axes, keepdim).expand(shape) / count,
    )  # fmt: skip


FREEDOM = (
    "{}(): degrees of freedom is <= 0. Correction should be strictly less than the reduction factor (input numel"
    " divided by output numel)."
)


def var(input, dim=None, unbiased=True, keepdim: bool = False, *, correction: Number = None):
    """Return the variance; its divisor is the count minus `correction`, which is 1 by default."""
    return variance("var", input, dim, unbiased, keepdim, correction)


def variance(name, input, dim, unbiased, keepdim, correction):
    if isinstance(dim, bool):
        dim, unbiased = None, dim
    refuse_type("var", input)
    axes, x = axes_of(dim, input.ndim, keepdim), input._array
    count = math.prod([x.shape[i] for i in axes])
    ddof = correction if correction is not None else int(unbiased)
    if count <= ddof:
        warn_once(FREEDOM.format(name))
    x = x.astype(np.float32) if x.dtype == np.float16 else x
    with np.errstate(all="ignore"):
        deviations = np.abs(x - total(x, axes, True) / np.asarray(count, x.dtype))
        array = total(deviations * deviations, axes, keepdim) / deviations.dtype.type(builtins.max(count - ddof, 0))
    array = array.astype(input._array.real.dtype)
    slope = 2 / (count - ddof) if count != ddof else math.inf
    return record(
        array, "Var", (input,),
        lambda g: restore_axes(g, axes, keepdim) * slope * (input - mean(input, axes, True)), [input],
    )  # fmt: skip


def std(input, dim=None, unbiased=True, keepdim: bool = False, *, correction: Number = None):
    """Return the standard deviation. If all numbers are equal, its gradient is zero."""
    square = variance("std", input, dim, unbiased, keepdim, correction)
    return record_formula(STD, np.sqrt(square._array), square)


STD = Formula("Std", lambda g, y: masked(g / (2 * y), y == 0))


def prod(input, dim=None, keepdim: bool = False, *, dtype=None):
    """Return the product of all numbers, or along an axis."""
    input = cast(input, dtype)
    x = input._array
    product_type = np.int64 if x.dtype.kind in "biu" and dtype is None else x.dtype
    if not input.ndim:
        axis(dim or 0, 0)
        name = "Prod" if dim is None else "Prod.1"
        return record(x.astype(product_type), name, (input,), lambda g: g, [input])
    if dim is None:
        out = prod(reshape(input, -1), 0, dtype=dtype)
        return rename_node(out if input.ndim == 1 else reshape(out, ()), "Prod")
    at = axis(dim, input.ndim)
    n = x.shape[at]

    def rule(g):
        if not n:
            return Tensor(np.zeros(x.shape, x.dtype))
        g = g if keepdim else unsqueeze(g, at)
        if x.all():
            return g * conj(prod(input, at, True) / input)
        # the product of all other numbers, not a quotient: numbers are zero
        product_before = shift(input, at, n).cumprod(at)
        product_after = flip(shift(flip(input, at), at, n).cumprod(at), at)
        return g * conj(product_before * product_after)

    array = contiguous(np.prod(x, at, dtype=product_type, keepdims=keepdim))
    return record(array, "Prod.1", (input,), rule, [input])


def shift(input, at, n):
    """Shift numbers by one place along an axis, with ones at the first."""
    first = Tensor(np.ones_like(input._array.take([0], at)))
    return cat([first, narrow(input, at, 0, n - 1)], at)


def extreme_values(name, function):
    """Make `amax` or `amin`, which share the gradient among equal extremes."""

    def operation(input, dim=(), keepdim: bool = False):
        refuse_type(name, input)
        if not input.numel():
            refuse(dim in ((), None), "no dim", name)
            for d in (dim,) if isinstance(dim, int) else dim:
                axis(d, input.ndim)
                check_not_empty(name, input, d)
        axes = axes_of(dim, input.ndim, keepdim)
        extremes = np.asarray(function(input._array, axes, keepdims=True))

        def rule(g):
            is_extreme = (input._array == extremes).astype(g._array.dtype)
            return restore_axes(g, axes, keepdim) * Tensor(is_extreme / is_extreme.sum(axes, keepdims=True))

        array = contiguous(extremes if keepdim else extremes.squeeze(axes))
        return record(array, name.title(), (input,), rule, [input])

    return set_name(name, operation)


amax, amin = extreme_values("amax", np.max), extreme_values("amin", np.min)


def aminmax(input, *, dim=None, keepdim: bool = False):
    refuse_type("aminmax", input)
    refuse(dim is None and not input.numel(), "aminmax of nothing")
    return return_type("aminmax", ("min", "max"))(amin(input, dim, keepdim), amax(input, dim, keepdim))


def return_type(name, fields):
    """Make a named tuple that prints like torch's."""

    class Pair(namedtuple(name, fields)):
        __slots__ = ()

        def __getattr__(self, attribute):
            text = f"'torch.return_types.{name}' object has no attribute {attribute!r}"
            raise AttributeError(text, name=attribute, obj=self)

        def __repr__(self):
            return (
                f"torch.return_types.{name}("
                + ",".join(f"\n{field}={value!r}" for field, value in zip(fields, self))
                + ")"
            )

    Pair.__name__ = Pair.__qualname__ = name
    return Pair


MAX, MIN = return_type("max", ("values", "indices")), return_type("min", ("values", "indices"))


def record_picked(input, indices, at, keepdim, kind, name, like=None):
    """Return the numbers at the indices along an axis, and the indices, as a named tuple of type `kind`.

    like: an array whose order in memory the results have; without it, they lie row by row.
    """
    shape = input._array.shape
    results = [np.take_along_axis(input._array, indices, at), indices]

    def rule(g, _):
        g = g if keepdim else unsqueeze(g, at)
        return scatter(Tensor(np.zeros(shape, g._array.dtype)), at, Tensor(indices), g)

    results = results if keepdim else [array.squeeze(at) for array in results]
    results = [contiguous(array) if like is None else arrange(array, like.strides) for array in results]
    values, places = record_many(results, name, (input,), rule)
    if values._grad_fn is not None:
        values._grad_fn.saved = [(places, 0)]
    return kind(values, places)


def extreme(name, reduce_all, find_index, of_two, kind):
    """Make `max` or `min`: of all numbers, along an axis with the indices, or of two tensors."""

    def operation(input, dim=None, keepdim: bool = False, *, other=None):
        if isinstance(dim, Tensor) or other is not None:
            return of_two(input, dim if other is None else other)
        if dim is None:
            refuse(
                keepdim, f"{name}() received an invalid combination of arguments - got (keepdim=bool, )", kind=TypeError
            )
            refuse_type(f"{name}_all", input)
            refuse(not input.numel(), "no dim", name)
            return record_extreme(input, np.asarray(reduce_all(input._array)), f"{name.title()}.1")
        return accept_scalars(extreme_along)(input, dim, keepdim, find_index, kind, name.title())

    return set_name(name, operation)


max, min = extreme("max", np.max, np.argmax, maximum, MAX), extreme("min", np.min, np.argmin, minimum, MIN)


def extreme_along(input, dim, keepdim, find_index, kind, name):
    """Return the extremes along an axis, and their indices."""
    at = axis(dim, input.ndim)
    refuse_type(name.lower(), input)
    check_not_empty(name.lower(), input, at)
    indices = np.expand_dims(find_index(input._array, at), at)
    return record_picked(input, indices, at, keepdim, kind, name)


def record_extreme(input, array, name):
    """Return one of the numbers, `array`, as a tensor; equal numbers share its gradient."""
    is_extreme = np.isnan(input._array) if np.isnan(array) else input._array == array
    share = Tensor(is_extreme / is_extreme.sum(dtype=input._array.dtype)) if input.dtype.kind > 1 else None
    return record(array, name, (input,), lambda g: g * share, [input])


def index_of_extreme(name, function):
    """Make `argmax` or `argmin`: of equal numbers the first counts."""

    def operation(input, dim: int = None, keepdim: bool = False):
        refuse_type(name, input)
        if not input.numel():
            refuse(
                dim is None,
                f"{name}(): Expected reduction dim to be specified for input.numel() == 0.",
                kind=IndexError,
            )
            check_not_empty(name, input, axis(dim, input.ndim))
        if dim is None:
            return Tensor(np.asarray(function(input._array), np.int64).reshape((1,) * input.ndim if keepdim else ()))
        array = function(input._array, axis(dim, input.ndim), keepdims=keepdim)
        return Tensor(contiguous(np.asarray(array, np.int64)))

    return set_name(name, operation)


argmax, argmin = index_of_extreme("argmax", np.argmax), index_of_extreme("argmin", np.argmin)


def boolean_reduction(name, function):
    """Make `any` or `all`."""

    def operation(input, dim=None, keepdim: bool = False):
        axes = () if isinstance(dim, (tuple, list)) and not dim else axes_of(dim, input.ndim, keepdim)
        result = function(input._array, axes, keepdims=keepdim)
        return Tensor(contiguous(np.asarray(result, np.uint8 if input._array.dtype == np.uint8 else bool)))

    return set_name(name, operation)


any, all = boolean_reduction("any", np.any), boolean_reduction("all", np.all)


def count_nonzero(input, dim=None):
    return Tensor(contiguous(np.asarray(np.count_nonzero(input._array, axes_of(dim, input.ndim)), np.int64)))


def norm(input, p="fro", dim=None, keepdim=False, *, dtype=None):
    """Return (Σ |x|ᵖ)^(1/p)."""
    refuse(isinstance(p, str) and p != "fro", f"linalg.matrix_norm: Order {p} not supported.")
    refuse_type("vector_norm", input)
    x, p = input if dtype is None else input.to(dtype), 2 if p in ("fro", None) else p
    axes, size = axes_of(dim, x.ndim, keepdim), np.abs(x._array)
    if (p < 0 or p == math.inf) and not np.prod([x._array.shape[i] for i in axes]):
        where = "an empty tensor because" if dim is None else f"the dimension {dim}because this dimension is empty and"
        raise error("norm of nothing", p, where)
    if builtins.abs(p) == math.inf:
        return rename_node((amax if p > 0 else amin)(x.abs(), axes, keepdim), "LinalgVectorNorm")
    if p == 0:
        array = contiguous(np.sum(x._array != 0, axes, size.dtype, keepdims=keepdim))
        return record(array, "LinalgVectorNorm", (x,), lambda g: None)
    if p == 1:
        return rename_node(sum(x.abs(), axes, keepdim), "LinalgVectorNorm")
    with np.errstate(all="ignore"):
        wide = size.astype(np.float32) if size.dtype == np.float16 else size
        array = total(wide * wide if p == 2 else wide**p, axes, keepdim)
        array = (np.sqrt(array) if p == 2 else array ** (1 / p)).astype(size.dtype)

    def rule(g):
        length = restore_axes(norm(x, p, axes, keepdim), axes, keepdim)
        share = masked(
            restore_axes(g, axes, keepdim) / length ** (p - 1), length._array == 0
        )  # 0 where all numbers are 0
        return share * (x if p == 2 else masked(x.sgn() * x.abs() ** (p - 1), x._array == 0))

    out = record(array, "LinalgVectorNorm", (x,), rule, [x])
    if out._grad_fn is not None:  # torch needs the result, too
        result = alias(out)
        result._made_by = "LinalgVectorNorm"
        out._grad_fn.saved.append((result, 0))
    return out


def check_two_dims(name, input):
    """Raise torch's RuntimeError for more than two axes."""
    refuse(input.ndim > 2, "two axes", name, input.ndim)


def corrcoef(input):
    """Return the matrix of correlations between rows."""
    check_two_dims("corrcoef", input)
    covariance = cov(input)
    if not covariance.ndim:
        return covariance / covariance
    deviations = covariance.diagonal().sqrt()
    out = covariance / deviations[:, None] / deviations[None, :]
    return out if out.is_complex() else out.clamp(-1, 1)


def cov(input, *, correction=1):
    """Return the matrix of covariances between rows."""
    check_two_dims("cov", input)
    refuse(input._array.dtype == bool, "cov(): bool dtype is not supported for input")
    rows = floating(input)
    rows = rows if rows.ndim == 2 else reshape(rows, 1, -1)
    deviations = rows - mean(rows, -1, True)
    return (deviations @ deviations.t().conj() / builtins.max(rows._array.shape[1] - correction, 0)).squeeze()
