"""Reductions: sums, means, extremes and norms."""

import builtins
import math
from collections import namedtuple

import numpy as np

from .absent import EXPLANATION
from .arguments import Number
from .comparing import maximum, minimum
from .elementwise import Formula, alias, floating, masked, record_formula, set_name
from .gathering import accept_scalars, scatter
from .joining import cat, narrow
from .memory import arrange, contiguous
from .messages import refuse, warn_once
from .operands import refuse_type
from .rearranging import flip
from .shapes import check_dims, reshape, unsqueeze
from .tape import recording, rename_node, transforming
from .tensor import Tensor, axis, record, record_many


def axes_of(dim, ndim, keepdim=False):
    """Return the named axes, counted from the front; all if none is named. dim: ... if it was left out."""
    refuse(not isinstance(keepdim, bool), "keepdim must be bool", kind=TypeError)
    refuse(dim is ... and keepdim, "keepdim needs dim", kind=TypeError)
    if dim is None or dim is ... or isinstance(dim, (tuple, list)) and not dim:
        return tuple(range(ndim))
    named = check_dims(dim, ndim)
    return tuple(named) if ndim else ()


def kept_shape(shape, axes):
    """Return a shape in which the axes have length 1."""
    return tuple(1 if dim in axes else n for dim, n in enumerate(shape))


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


def sum(input, dim=..., keepdim: bool = False, *, dtype=None):
    """Return the sum of all numbers, or along axes."""
    x = cast(input, dtype)
    axes, shape = axes_of(dim, x.ndim, keepdim), x._array.shape
    array = total(x._array, axes, keepdim, None if dtype is not None else np.int64)
    name = "Sum" if dim is ... else "Sum.1"
    return record(array, name, (x,), lambda g: g.reshape(kept_shape(shape, axes)).expand(shape))


def nansum(input, dim=None, keepdim: bool = False, *, dtype=None):
    refuse_type("nansum", input)
    is_nan = np.isnan(input._array)
    out = sum(masked(input, is_nan) if is_nan.any() else input, dim, keepdim, dtype=dtype)
    return rename_node(out, "Nansum", input)


def mean(input, dim=..., keepdim: bool = False, *, dtype=None):
    """Return the mean of all numbers, or along axes."""
    x = input if dtype is None else input.to(dtype)
    refuse_type("mean", x)
    axes, shape = axes_of(dim, x.ndim, keepdim), x._array.shape
    count = math.prod([shape[i] for i in axes])
    with np.errstate(all="ignore"):
        array = total(x._array, axes, keepdim) / np.asarray(count, x._array.dtype)
    name = "Mean" if dim is ... else "Mean.1"
    return record(array, name, (x,), lambda g: g.reshape(kept_shape(shape, axes)).expand(shape) / count)


def var(input, dim=None, unbiased=True, keepdim: bool = False, *, correction: Number = None):
    """Return the variance; its divisor is the count minus `correction`, which is 1 by default."""
    return variance("var", input, dim, unbiased, keepdim, correction)[0]


def variance(name, input, dim, unbiased, keepdim, correction):
    """Return the variance as a tensor, and as an array of float64, in which torch computes it."""
    if isinstance(dim, bool):
        dim, unbiased = None, dim
    refuse_type("var", input)
    axes, x = axes_of(dim, input.ndim, keepdim), input._array
    count = math.prod([x.shape[i] for i in axes])
    ddof = correction if correction is not None else int(unbiased)
    if count <= ddof:
        reason = "Correction should be strictly less than the reduction factor (input numel divided by output numel)."
        warn_once(f"{name}(): degrees of freedom is <= 0. {reason}")
    x = x.astype(np.result_type(x, np.float64 if x.size < 4096 else np.float32), copy=False)  # torch's type, or faster
    with np.errstate(all="ignore"):
        deviations = np.abs(x - total(x, axes, True) / np.asarray(count, x.dtype))
        array = total(deviations * deviations, axes, keepdim) / deviations.dtype.type(builtins.max(count - ddof, 0))
    slope, kept = 2 / (count - ddof) if count != ddof else math.inf, kept_shape(x.shape, axes)
    rule = lambda g: g.reshape(kept) * slope * (input - mean(input, axes, True))  # noqa: E731
    return record(array.astype(input._array.real.dtype), "Var", (input,), rule, [input]), array


def std(input, dim=None, unbiased=True, keepdim: bool = False, *, correction: Number = None):
    """Return the standard deviation. If all numbers are equal, its gradient is zero."""
    square, array = variance("std", input, dim, unbiased, keepdim, correction)
    return record_formula(STD, np.sqrt(array).astype(square._array.dtype), square)


STD = Formula("Std", lambda g, y: masked(g / (2 * y), y == 0))


def prod(input, dim: int = None, keepdim: bool = False, *, dtype=None):
    """Return the product of all numbers, or along an axis."""
    refuse(dim is None and keepdim, "keepdim needs dim", kind=TypeError)
    x = cast(input, dtype)
    axes = axes_of(dim if dim is None else axis(dim, x.ndim), x.ndim, keepdim)
    kept = kept_shape(x._array.shape, axes)

    def way(g, a, y):
        if a._array.all() and not (transforming[0] and a._array.size):
            return g.reshape(kept) * (y.reshape(kept) / a) if a.ndim else g
        # the products of all other numbers, not quotients: numbers are zero
        rows, at = (a.reshape(-1), 0) if len(axes) != 1 else (a, axes[0])
        before = shift(rows, at).cumprod(at)
        after = flip(shift(flip(rows, at), at).cumprod(at), at)
        return g.reshape(kept) * (before * after).reshape(a.shape)

    product_type = np.int64 if x._array.dtype.kind in "biu" and dtype is None else x._array.dtype
    array = contiguous(np.prod(x._array, axes, dtype=product_type, keepdims=keepdim))
    return record_formula(Formula("Prod" if dim is None else "Prod.1", way, on_arrays=False), array, x)


def shift(input, at):
    """Shift numbers by one place along an axis, with ones at the first."""
    first = Tensor(np.ones_like(input._array.take([0], at)))
    return cat([first, narrow(input, at, 0, input._array.shape[at] - 1)], at)


def share(g, is_extreme, axes=None):
    """Share a gradient equally among the extremes along axes."""
    shares = is_extreme.astype(g._array.dtype)
    return g * Tensor(shares / shares.sum(axes, keepdims=True))


def extreme_values(name, function):
    """Make `amax` or `amin`, which share the gradient among equal extremes."""

    def operation(input, dim=(), keepdim: bool = False):
        refuse_type(name, input)
        axes = axes_of(dim, input.ndim, keepdim)
        if not input.numel():
            refuse(dim in ((), None), "no dim", name)
            for at in axes:
                check_not_empty(name, input, at)
        kept = kept_shape(input._array.shape, axes)
        way = lambda g, a, y: share(g.reshape(kept), a._array == y._array.reshape(kept), axes)  # noqa: E731
        array = contiguous(function(input._array, axes, keepdims=keepdim))
        return record_formula(Formula(name.title(), way, on_arrays=False), array, input)

    return set_name(name, operation)


amax, amin = extreme_values("amax", np.max), extreme_values("amin", np.min)


def aminmax(input, *, dim=None, keepdim: bool = False):
    refuse_type("aminmax", input)
    refuse(dim is None and not input.numel(), "no dim", "aminmax")
    low, high = amin(input, dim, keepdim), amax(input, dim, keepdim)
    for out, other in ((low, high), (high, low)):  # torch's single operation keeps both
        rename_node(out, "Aminmax", alias(other))
    return return_type("aminmax", ("min", "max"))(low, high)


def return_type(name, fields):
    """Make a named tuple that prints like torch's."""

    def show(self):
        shown = ",".join(f"\n{field}={value!r}" for field, value in zip(fields, self))
        return f"torch.return_types.{name}({shown})"

    def lookup(self, attribute):
        text = f"'torch.return_types.{name}' object has no attribute {attribute!r}"
        raise AttributeError(text, name=attribute, obj=self)

    return type(name, (namedtuple(name, fields),), {"__slots__": (), "__repr__": show, "__getattr__": lookup})


MAX, MIN = return_type("max", ("values", "indices")), return_type("min", ("values", "indices"))


def record_picked(input, indices, at, keepdim, kind, name, like=None):
    """Return the numbers at the indices along an axis, and the indices, as a named tuple of type `kind`.

    like: an array whose order in memory the results have; without it, they lie row by row.
    """
    axes_of(at, input.ndim, keepdim)
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

    @accept_scalars
    def extreme_along(input, dim, keepdim):
        at = axis(dim, input.ndim)
        refuse_type(name, input)
        check_not_empty(name, input, at)
        indices = np.expand_dims(find_index(input._array, at), at)
        return record_picked(input, indices, at, keepdim, kind, name.title())

    def operation(input, dim=None, keepdim: bool = False, *, other=None):
        if isinstance(dim, Tensor) or other is not None:
            return of_two(input, dim if other is None else other)
        if dim is not None:
            return extreme_along(input, dim, keepdim)
        refuse(keepdim, f"{name}() received an invalid combination of arguments", kind=TypeError)
        refuse_type(f"{name}_all", input)
        refuse(not input.numel(), "no dim", name)
        return record_extreme(input, np.asarray(reduce_all(input._array)), f"{name.title()}.1")

    return set_name(name, operation)


max, min = extreme("max", np.max, np.argmax, maximum, MAX), extreme("min", np.min, np.argmin, minimum, MIN)


def record_extreme(input, array, name):
    """Return one of the numbers, `array`, as a tensor; equal numbers share its gradient."""

    def way(g, a, y):
        return share(g, np.isnan(a._array) if np.isnan(y._array) else a._array == y._array)

    return record_formula(Formula(name, way, on_arrays=False), array, input)


def index_of_extreme(name, function):
    """Make `argmax` or `argmin`: of equal numbers the first counts."""

    def operation(input, dim: int = None, keepdim: bool = False):
        refuse_type(name, input)
        axes_of(dim, input.ndim, keepdim)
        at = dim if dim is None else axis(dim, input.ndim)
        if not input.numel():
            text = "{}(): Expected reduction dim to be specified for input.numel() == 0."
            refuse(dim is None, text, name, kind=IndexError)
            check_not_empty(name, input, at)
        return Tensor(contiguous(np.asarray(function(input._array, at, keepdims=keepdim), np.int64)))

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
    if p == "fro" and isinstance(dim, (tuple, list)) and len(dim) > 2:
        raise RuntimeError(f"linalg.matrix_norm: dim must be a 2-tuple. Got {' '.join(map(str, dim))}")
    refuse_type("vector_norm", input)
    x, p = input if dtype is None else input.to(dtype), 2 if p in ("fro", None) else p
    axes, size = axes_of(dim, x.ndim, keepdim), np.abs(x._array)
    kept = kept_shape(x._array.shape, axes)
    refuse((p < 0 or p == math.inf) and not math.prod([x._array.shape[i] for i in axes]), "norm of nothing", p)
    if p == 1 or builtins.abs(p) == math.inf:
        reduction = sum if p == 1 else amax if p > 0 else amin
        out = reduction(x.abs(), axes, keepdim)
        return rename_node(out, "LinalgVectorNorm", alias(out))
    with np.errstate(all="ignore"):
        wide = size.astype(np.float32) if size.dtype == np.float16 else size
        if p == 0:
            array = total((size != 0).astype(wide.dtype), axes, keepdim)
        else:
            array = total(wide * wide if p == 2 else wide**p, axes, keepdim)
            array = np.sqrt(array) if p == 2 else array ** (1 / p)

    def way(g, a, y):
        refuse(p == 0, "The gradient of norm with p = 0 {}", EXPLANATION)
        g, length = g.reshape(kept), y.reshape(kept)
        share = masked(g / length ** (p - 1), length._array == 0)  # 0 where all numbers are 0
        return share * (a if p == 2 else masked(a.sgn() * a.abs() ** (p - 1), a._array == 0))

    formula = Formula("LinalgVectorNorm", way, conjugate=False, on_arrays=False)
    return record_formula(formula, array.astype(size.dtype), x)


def corrcoef(input):
    """Return the matrix of correlations between rows."""
    refuse(input.ndim > 2, "two axes", "corrcoef", input.ndim)
    covariance = cov(input)
    if not covariance.ndim:
        return covariance / covariance
    deviations = covariance.diagonal().sqrt()
    out = covariance / deviations[:, None] / deviations[None, :]
    return out if out.is_complex() else out.clamp(-1, 1)


def cov(input, *, correction=1):
    """Return the matrix of covariances between rows."""
    refuse(input.ndim > 2, "two axes", "cov", input.ndim)
    refuse(input._array.dtype == bool, "cov(): bool dtype is not supported for input")
    rows = floating(input)
    rows = rows if rows.ndim == 2 else reshape(rows, 1, -1)
    deviations = rows - mean(rows, -1, True)
    return (deviations @ deviations.t().conj() / builtins.max(rows._array.shape[1] - correction, 0)).squeeze()
