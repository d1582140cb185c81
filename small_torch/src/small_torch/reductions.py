"""Many numbers become one: sums, means, extremes; and what is summed up along the way, sorted or counted."""

import builtins
import math
from collections import namedtuple

import numpy as np

from .autograd import record, record_many, titled
from .pointwise import called, exp, floating, log, masked, maximum, minimum, zeros
from .shapes import flip, of_rows, reshape, scatter, unsqueeze
from .tensor import Tensor, axis, refuse_keywords


def axes_of(dim, ndim):
    """Named axes, counted from the front; all if none is named."""
    if dim is None or isinstance(dim, (tuple, list)) and not dim:
        return tuple(range(ndim))
    named = [axis(one, ndim) for one in ((dim,) if isinstance(dim, (int, np.integer)) else dim)]
    for one in named:
        if named.count(one) > 1:
            raise RuntimeError(f"dim {one} appears multiple times in the list of dims")
    return tuple(named) if ndim else ()


def back(g, axes, keepdim):
    """A gradient with the axes again that were summed."""
    if not keepdim:
        for one in sorted(axes):
            g = unsqueeze(g, one)
    return g


def not_empty(name, input, at):
    """An axis has something on it, or IndexError."""
    if not input._array.shape[at]:
        raise IndexError(f"{name}(): Expected reduction dim {at} to have non-zero size.")


def fractions_only(name, input):
    if input.dtype.kind < 2:
        raise RuntimeError(
            f"{name} floating point or complex {'dtype but got' if '()' in name else 'tensor as input. Got'}"
            f" {input.dtype.title}"
        )


def sum(input, dim=None, keepdim=False, *, dtype=None):
    """The sum of all numbers, or along axes."""
    if dtype is not None:
        input = input.to(dtype)
    x, shape, axes = input._array, input._array.shape, axes_of(dim, input.ndim)
    keep = np.int64 if x.dtype.kind in "biu" and dtype is None else x.dtype
    array = x.sum(axes, dtype=keep, keepdims=keepdim) if axes or not x.ndim else x.sum((), dtype=keep)
    return record(array, "Sum" if dim is None else "Sum.1", (input,), lambda g: back(g, axes, keepdim).expand(shape))


def nansum(input, dim=None, keepdim=False):
    good = record(np.where(np.isnan(input._array), 0, input._array).astype(input._array.dtype), "Where", (input,),
                  lambda g: masked(g, np.isnan(input._array)))  # fmt: skip
    return titled(sum(good, dim, keepdim), "Nansum")


def mean(input, dim=None, keepdim=False, *, dtype=None):
    """The mean of all numbers, or along axes."""
    if dtype is not None:
        input = input.to(dtype)
    if input.dtype.kind < 2:
        raise RuntimeError(
            "mean(): could not infer output dtype. Input dtype must be either a floating point or complex dtype. Got: "
            f"{input.dtype.title}"
        )
    x, shape, axes = input._array, input._array.shape, axes_of(dim, input.ndim)
    count = int(np.prod([shape[i] for i in axes], dtype=np.int64))
    with np.errstate(all="ignore"):
        array = x.sum(axes, keepdims=keepdim) / np.asarray(count, x.dtype)
    return record(
        array, "Mean" if dim is None else "Mean.1", (input,), lambda g: back(g, axes, keepdim).expand(shape) / count
    )


def var(input, dim=None, unbiased=True, keepdim=False, *, correction=None):
    """The variance, divided by one less than how many there are (or by as many less as `correction` says)."""
    if isinstance(dim, bool):
        dim, unbiased = None, dim
    if input.dtype.kind < 2:
        raise RuntimeError("std and var only support floating point and complex dtypes")
    axes = axes_of(dim, input.ndim)
    count = int(np.prod([input._array.shape[i] for i in axes], dtype=np.int64))
    less = correction if correction is not None else int(unbiased)
    away = input - mean(input, axes, True)
    with np.errstate(all="ignore"):
        array = (away._array * away._array).sum(axes, keepdims=keepdim) / np.asarray(
            builtins.max(count - less, 0), input._array.dtype
        )
    slope = 2 / (count - less) if count != less else math.inf
    return record(
        array, "Var", (input,), lambda g: back(g, axes, keepdim) * slope * (input - mean(input, axes, True)), [input]
    )


def std(input, dim=None, unbiased=True, keepdim=False, *, correction=None):
    """The square root of the variance. Where all are equal, its gradient is zero."""
    square = var(input, dim, unbiased, keepdim, correction=correction)
    array = np.sqrt(square._array)
    return record(array, "Std", (square,), lambda g: masked(g / (2 * square.sqrt()), array == 0), [square])


def prod(input, dim=None, keepdim=False, *, dtype=None):
    """The product of all numbers, or along an axis."""
    input = input if dtype is None else input.to(dtype)
    x = input._array
    keep = np.int64 if x.dtype.kind in "biu" and dtype is None else x.dtype
    if dim is None:
        flat = reshape(input, -1)
        return titled(
            reshape(prod(flat, 0, dtype=dtype), ()) if input.ndim != 1 else prod(flat, 0, dtype=dtype), "Prod"
        )
    if not input.ndim:
        return titled(prod(reshape(input, 1), dim, dtype=dtype), "Prod.1")
    at = axis(dim, input.ndim)
    n = x.shape[at]

    def rule(g):
        if not n:
            return Tensor(np.zeros(x.shape, x.dtype))
        g = g if keepdim else unsqueeze(g, at)
        # of each number: the product of all others, so that zeros do no harm
        before = cumprod(shifted(input, at, n), at)
        after = flip(cumprod(shifted(flip(input, at), at, n), at), at)
        return g * before * after

    return record(np.prod(x, at, dtype=keep, keepdims=keepdim), "Prod.1", (input,), rule, [input])


def shifted(input, at, n):
    """One place further, with a one at the first."""
    from .shapes import cat, narrow

    first = Tensor(np.ones_like(input._array.take([0], at)))
    return cat([first, narrow(input, at, 0, n - 1)], at)


def shared_extreme(name, function):
    """The largest or the smallest numbers. Of equal ones each gets its share of the gradient."""

    def operation(input, dim=(), keepdim=False):
        axes = axes_of(dim, input.ndim)
        if not input.numel():
            if len(axes) == input.ndim > 1:
                raise no_dim(name)
            for named in (dim,) if isinstance(dim, int) else dim or axes:
                not_empty(name, input, named)
        kept = function(input._array, axes, keepdims=True) if input.ndim else input._array

        def rule(g):
            there = (input._array == kept).astype(g._array.dtype)
            return back(g, axes, keepdim) * Tensor(there / there.sum(axes, keepdims=True))

        return record(kept if keepdim else kept.squeeze(axes), name.title(), (input,), rule, [input])

    return called(name, operation)


def no_dim(name):
    return RuntimeError(
        f"{name}(): Expected reduction dim to be specified for input.numel() == 0. Specify the reduction dim with the"
        " 'dim' argument."
    )


amax, amin = shared_extreme("amax", np.max), shared_extreme("amin", np.min)


def aminmax(input, *, dim=None, keepdim=False):
    return pair("aminmax", ("min", "max"))(amin(input, dim, keepdim), amax(input, dim, keepdim))


def pair(name, fields):
    """A named tuple that prints as torch's."""

    class Pair(namedtuple(name, fields)):
        __slots__ = ()

        def __repr__(self):
            return (
                f"torch.return_types.{name}("
                + ",".join(f"\n{field}={value!r}" for field, value in zip(fields, self))
                + ")"
            )

    Pair.__name__ = Pair.__qualname__ = name
    return Pair


MAX, MIN, SORT, TOPK, MEDIAN, MODE, CUMMAX = (
    pair(name, ("values", "indices")) for name in ("max", "min", "sort", "topk", "median", "mode", "cummax")
)


def picked(input, indices, at, keepdim, kind, name):
    """What stands at an index along an axis, and the index: gradients go there and nowhere else."""
    shape = input._array.shape
    array = np.take_along_axis(input._array, indices, at)

    def rule(g, _):
        g = g if keepdim else unsqueeze(g, at)
        return scatter(Tensor(np.zeros(shape, g._array.dtype)), at, Tensor(indices), g)

    results = [array, indices] if keepdim else [array.squeeze(at), indices.squeeze(at)]
    return kind(*record_many(results, name, (input,), rule))


def most(name, whole, where, of_two, kind):
    """The largest or the smallest number; along an axis with its index; of two tensors that of each place."""

    def operation(input, dim=None, keepdim=False):
        if isinstance(dim, Tensor):
            return of_two(input, dim)
        if dim is None:
            if not input.numel():
                raise no_dim(name)
            return shared(input, np.asarray(whole(input._array)), f"{name.title()}.1")
        return of_rows(most_along)(input, dim, keepdim, where, kind, name.title())

    return called(name, operation)


max, min = most("max", np.max, np.argmax, maximum, MAX), most("min", np.min, np.argmin, minimum, MIN)


def most_along(input, dim, keepdim, where, kind, name):
    at = axis(dim, input.ndim)
    not_empty(name.lower(), input, at)
    indices = np.expand_dims(where(input._array, at), at)
    return picked(input, indices, at, keepdim, kind, name)


def shared(input, array, name):
    """One of the numbers. Of equal ones each gets its share of the gradient."""
    there = np.isnan(input._array) if np.isnan(array) else input._array == array
    share = Tensor(there / there.sum(dtype=input._array.dtype)) if input.dtype.kind > 1 else None
    return record(array, name, (input,), lambda g: g * share)


def place_of(name, function):
    """The index of the largest or the smallest number: the first one of equal ones."""

    def operation(input, dim=None, keepdim=False):
        if input._array.dtype == bool:
            raise RuntimeError(f"{name}(): does not support bool input")
        if not input.numel():
            if dim is None:
                raise IndexError(f"{name}(): Expected reduction dim to be specified for input.numel() == 0.")
            not_empty(name, input, axis(dim, input.ndim))
        if dim is None:
            return Tensor(np.asarray(function(input._array), np.int64))
        return Tensor(np.asarray(function(input._array, axis(dim, input.ndim), keepdims=keepdim), np.int64))

    return called(name, operation)


argmax, argmin = place_of("argmax", np.argmax), place_of("argmin", np.argmin)


def yes_or_no(name, function):
    """Whether something holds anywhere, or everywhere."""

    def operation(input, dim=None, keepdim=False):
        found = function(input._array, axes_of(dim, input.ndim), keepdims=keepdim)
        return Tensor(np.asarray(found, np.uint8 if input._array.dtype == np.uint8 else bool))

    return called(name, operation)


any, all = yes_or_no("any", np.any), yes_or_no("all", np.all)


def count_nonzero(input, dim=None):
    return Tensor(np.asarray(np.count_nonzero(input._array, axes_of(dim, input.ndim)), np.int64))


def norm(input, p="fro", dim=None, keepdim=False, *, dtype=None):
    """(Σ |x|ᵖ)^(1/p)"""
    x = input if dtype is None else input.to(dtype)
    fractions_only("linalg.vector_norm: Expected a", x)
    p = 2 if p in ("fro", None) else p
    axes = axes_of(dim, x.ndim)
    if builtins.abs(p) == math.inf:
        if not np.prod([x._array.shape[one] for one in axes]):
            where = (
                "an empty tensor because" if dim is None else f"the dimension {dim}because this dimension is empty and"
            )
            raise RuntimeError(
                f"linalg.vector_norm cannot compute the {p} norm on {where} the operation does not have an identity"
            )
        return titled((amax if p > 0 else amin)(x.abs(), axes, keepdim), "LinalgVectorNorm")
    if p == 0:
        return record(
            np.sum(x._array != 0, axes, x._array.dtype, keepdims=keepdim), "LinalgVectorNorm", (x,), lambda g: zeros(x)
        )
    if p == 1:
        return titled(sum(x.abs(), axes, keepdim), "LinalgVectorNorm")
    size = np.abs(x._array)
    with np.errstate(all="ignore"):
        array = (
            np.sqrt((size * size).sum(axes, keepdims=keepdim))
            if p == 2
            else (size**p).sum(axes, keepdims=keepdim) ** (1 / p)
        )

    def rule(g):
        length = back(norm(x, p, axes, keepdim), axes, keepdim)
        share = masked(back(g, axes, keepdim) / length ** (p - 1), length._array == 0)  # nothing where all is zero
        return share * (x if p == 2 else x.sgn() * x.abs() ** (p - 1))

    return record(array, "LinalgVectorNorm", (x,), rule, [x])


def logsumexp(input, dim, keepdim=False):
    """log Σ eˣ, without overflow."""
    x = floating(input)
    axes = axes_of(dim, x.ndim)
    with np.errstate(all="ignore"):
        top = np.max(x._array, axes, keepdims=True, initial=-np.inf)
        top = np.where(np.isfinite(top), top, 0)
        array = np.log(np.exp(x._array - top).sum(axes, keepdims=True)) + top
    array = array.astype(x._array.dtype)

    def rule(g):
        return back(g, axes, keepdim) * exp(x - logsumexp(x, axes, True))

    return record(array if keepdim else array.squeeze(axes), "Logsumexp", (x,), rule, [x])


# Summed up along the way


def along(function, x, at, keep):
    """numpy's function along an axis; float32 is summed up in float64, and rounded at each place."""
    if not x.ndim:
        return x.astype(keep)
    with np.errstate(all="ignore"):
        return function(x, at, dtype=np.float64 if keep == np.float32 else keep).astype(keep, copy=False)


def cumsum(input, dim, *, dtype=None):
    """Running sums along an axis."""
    input = input if dtype is None else input.to(dtype)
    at = axis(dim, input.ndim)
    x = input._array
    keep = np.int64 if x.dtype.kind in "biu" and dtype is None else x.dtype
    array = along(np.cumsum, x, at, keep)
    return record(array, "Cumsum", (input,), lambda g: flip(cumsum(flip(g, at), at), at) if g.ndim else g)


@of_rows
def cumprod(input, dim, *, dtype=None):
    """Running products along an axis."""
    input = input if dtype is None else input.to(dtype)
    at = axis(dim, input.ndim)
    x = input._array
    keep = np.int64 if x.dtype.kind in "biu" and dtype is None else x.dtype

    def rule(g):
        from .shapes import cat, narrow

        # Σ over what comes later of g · (the product without this number): a step at a time, which zeros do not harm
        n, found = x.shape[at], []
        for i in range(n):
            rest = narrow(input, at, i + 1, n - i - 1)
            one = Tensor(np.ones_like(x.take([0], at)))
            before = prod(narrow(input, at, 0, i), at, True) if i else one
            after = cumprod(cat([one, rest], at), at)
            found.append(sum(narrow(g, at, i, n - i) * before * after, at, True))
        return cat(found, at) if n else g

    return record(along(np.cumprod, x, at, keep), "Cumprod", (input,), rule, [input])


@of_rows
def cummax(input, dim):
    """Running maxima, and where they were (the last place, of equal ones)."""
    at = axis(dim, input.ndim)
    x = np.moveaxis(input._array, at, 0)
    indices = np.zeros(x.shape, np.int64)
    best, where = x[:1], indices[:1]
    for i in range(len(x)):
        here = x[i : i + 1]
        wins = (here >= best) & ~np.isnan(best) | np.isnan(here)
        best, where = np.where(wins, here, best), np.where(wins, i, where)
        indices[i : i + 1] = where
    indices = np.moveaxis(indices, 0, at)
    shape = input._array.shape

    def rule(g, _):
        from .shapes import scatter_add

        return scatter_add(Tensor(np.zeros(shape, g._array.dtype)), at, Tensor(indices), g)

    return CUMMAX(*record_many([np.take_along_axis(input._array, indices, at), indices], "Cummax", (input,), rule))


@of_rows
def logcumsumexp(input, dim):
    """log of the running sums of eˣ."""
    if input.dtype.kind < 2:
        raise NotImplementedError(f'"logcumsumexp_out_cpu" not implemented for {input.dtype.title!r}')
    top = np.max(input._array, axis(dim, input.ndim), keepdims=True, initial=np.finfo(input._array.dtype).min)
    return titled(log(cumsum(exp(input - Tensor(top)), dim)) + Tensor(top), "Logcumsumexp")


def diff(input, n=1, dim=-1):
    from .shapes import narrow

    if not input.ndim:
        raise RuntimeError("diff expects input to be at least one-dimensional")
    if n < 0:
        raise RuntimeError(f"order must be non-negative but got {n}")
    for _ in range(builtins.min(n, input._array.shape[axis(dim, input.ndim)])):
        length = input._array.shape[dim]
        after, before = narrow(input, dim, 1, length - 1), narrow(input, dim, 0, length - 1)
        input = after ^ before if input._array.dtype == bool else after - before
    return input


# Sorting and counting


def order_of(x, at, descending):
    """Indices that sort; of equal ones the first comes first."""
    if not descending:
        return np.argsort(x, at, kind="stable")
    backwards = np.argsort(np.flip(x, at), at, kind="stable")
    return np.flip(x.shape[at] - 1 - backwards, at)


@of_rows
def sort(input, dim=-1, descending=False, *, stable=False):
    """Sorted along an axis, with the indices."""
    at = axis(dim, input.ndim)
    return picked(input, order_of(input._array, at, descending), at, True, SORT, "Sort")


@of_rows
def argsort(input, dim=-1, descending=False, *, stable=False):
    return Tensor(order_of(input._array, axis(dim, input.ndim), descending))


@of_rows
def topk(input, k, dim=-1, largest=True, sorted=True):
    """The k largest along an axis, with their indices."""
    at = axis(dim, input.ndim)
    if input._array.dtype == bool:
        raise RuntimeError("topk does not support bool dtypes on CPU")
    if not 0 <= k <= input._array.shape[at]:
        raise RuntimeError("selected index k out of range")
    order = np.take(order_of(input._array, at, largest), np.arange(k), at)
    return picked(input, order, at, True, TOPK, "Topk")


def median(input, dim=None, keepdim=False):
    """The number in the middle; of two the lower. What is no number is, if there is such."""
    if dim is not None:
        return of_rows(median_along)(input, dim, keepdim)
    if not input.numel():
        return titled((sum(input) * math.nan).to(input.dtype), "Median")
    return shared(input, median_along(reshape(input.detach(), -1), 0, False).values._array, "Median")


def median_along(input, dim, keepdim):
    at = axis(dim, input.ndim)
    not_empty("median", input, at)
    middle = np.take(order_of(input._array, at, False), [(input._array.shape[at] - 1) // 2], at)
    wrong = np.isnan(input._array)
    middle = np.where(wrong.any(at, keepdims=True), wrong.argmax(at, keepdims=True), middle)
    return picked(input, middle, at, keepdim, MEDIAN, "Median.1")


@of_rows
def mode(input, dim=-1, keepdim=False):
    """The most frequent number, of several the smallest; and where it stands last."""
    at = axis(dim, input.ndim)
    not_empty("mode", input, at)
    x = np.moveaxis(input._array, at, -1)
    found = np.empty(x.shape[:-1], np.int64)
    for place in np.ndindex(found.shape):
        values, codes, counts = np.unique(x[place], return_inverse=True, return_counts=True)
        found[place] = np.flatnonzero(codes == counts.argmax())[-1]
    return picked(input, np.expand_dims(found, at), at, keepdim, MODE, "Mode")


def quantile(input, q, dim=None, keepdim=False):
    """The numbers below which the shares q of all lie: an axis of them first, if q has one."""
    from .pointwise import lerp
    from .shapes import index_select, squeeze

    if not input.numel():
        raise RuntimeError("quantile() input tensor must be non-empty")
    if input._array.dtype not in (np.float32, np.float64):
        raise RuntimeError("quantile() input tensor must be either float or double dtype")
    if not isinstance(q, Tensor):
        if not 0 <= q <= 1:
            raise RuntimeError(f"quantile() q must be in the range [0, 1] but got {q:g}")
        q = Tensor(np.asarray(q, input._array.dtype))
    x = reshape(input, -1) if dim is None or not input.ndim else input
    at = 0 if dim is None else axis(dim, input.ndim)
    ordered, n = sort(x, at).values, x._array.shape[at]
    place = q * (n - 1)
    low = Tensor(np.floor(place._array).astype(np.int64))
    high = Tensor(np.ceil(place._array).astype(np.int64))
    a, b = index_select(ordered, at, low.reshape(-1)), index_select(ordered, at, high.reshape(-1))
    part = (place - low).reshape(-1)
    out = lerp(a, b, part.reshape([-1 if i == at else 1 for i in range(x.ndim)])).movedim(at, 0)
    if keepdim:
        out = reshape(out, -1, *(1,) * input.ndim) if dim is None else unsqueeze(out, at + 1) if input.ndim else out
    return out if q.ndim else squeeze(out, 0)


def unique(input, sorted=True, return_inverse=False, return_counts=False, dim=None):
    """Each number once, in order."""
    at = None if dim is None else axis(dim, input.ndim)
    values, inverse, counts = np.unique(input._array, return_inverse=True, return_counts=True, axis=at)
    inverse = inverse.reshape(input._array.shape if dim is None else (-1,))
    values = record(values, "Unique2" if dim is None else "UniqueDim", (input,), no_derivative("unique"))
    outs = (values, *([Tensor(inverse)] if return_inverse else []), *([Tensor(counts)] if return_counts else []))
    return outs if len(outs) > 1 else values


def no_derivative(name):
    """The rule of an operation that has no gradient, and says so if it is asked for one."""

    def rule(*gradients):
        raise RuntimeError(f"derivative for aten::{name} is not implemented")

    return rule


def bincount(input, weights=None, minlength=0):
    """How often each whole number occurs."""
    if input.ndim != 1 or input.dtype.kind > 1 or (input._array < 0).any():
        raise RuntimeError("bincount only supports 1-d non-negative integral inputs.")
    if weights is None:
        return Tensor(np.bincount(input._array.astype(np.intp), minlength=minlength).astype(np.int64))
    if weights._array.shape != input._array.shape:
        raise RuntimeError("weights should be 1-d and have the same length as input")
    array = np.bincount(input._array.astype(np.intp), weights._array, minlength)
    array = array.astype(weights._array.dtype) if weights.dtype.kind > 1 else array
    return record(array, "NotImplemented", (weights,), no_derivative("bincount"))


def two_axes_at_most(name, input):
    if input.ndim > 2:
        raise RuntimeError(
            f"{name}(): expected input to have two or fewer dimensions but got an input with {input.ndim} dimensions"
        )


def corrcoef(input):
    """How much rows go together: their matrix of correlations."""
    two_axes_at_most("corrcoef", input)
    together = cov(input)
    if not together.ndim:
        return together / together
    size = together.diagonal().sqrt()
    return (together / size[:, None] / size[None, :]).clamp(-1, 1)


def cov(input, *, correction=1):
    """How much rows go together: the mean of the products of what each has above its mean."""
    two_axes_at_most("cov", input)
    if input._array.dtype == bool:
        raise RuntimeError("cov(): bool dtype is not supported for input")
    rows = floating(input)
    rows = rows if rows.ndim == 2 else reshape(rows, 1, -1)
    away = rows - mean(rows, -1, True)
    return (away @ away.t() / builtins.max(rows._array.shape[1] - correction, 0)).squeeze()


def softmax(input, dim=None, dtype=None, **unknown):
    """eˣ / Σ eˣ along an axis."""
    if dim is None:
        raise TypeError('softmax() missing 1 required positional arguments: "dim"')
    refuse_keywords("softmax", unknown)
    x = input if dtype is None else input.to(dtype)
    at = axis(dim, x.ndim)
    if not x.numel():
        return x.clone()
    if x.dtype.kind < 2:
        raise NotImplementedError(
            f"\"softmax_{'lastdim_' if at == x.ndim - 1 else ''}kernel_impl\" not implemented for '{x.dtype.title}'"
        )
    if not x.ndim:
        return x * 0 + 1
    with np.errstate(all="ignore"):
        e = np.exp(x._array - x._array.max(at, keepdims=True))
        array = e / e.sum(at, keepdims=True)

    def rule(g):
        y = softmax(x, at)
        gy = g * y
        return gy - y * sum(gy, at, True)

    return record(array, "Softmax", (x,), rule, [x])


def log_softmax(input, dim=None, dtype=None, **unknown):
    """x − log Σ eˣ along an axis."""
    if dim is None:
        raise TypeError('log_softmax() missing 1 required positional arguments: "dim"')
    refuse_keywords("log_softmax", unknown)
    x = input if dtype is None else input.to(dtype)
    at = axis(dim, x.ndim)
    if not x.numel():
        return x.clone()
    if x.dtype.kind < 2:
        raise NotImplementedError(
            f"\"log_softmax_{'lastdim_' if at == x.ndim - 1 else ''}kernel_impl\" not implemented for '{x.dtype.title}'"
        )
    if not x.ndim:
        return x * 0
    with np.errstate(all="ignore"):
        away = x._array - x._array.max(at, keepdims=True)
        array = away - np.log(np.exp(away).sum(at, keepdims=True))

    def rule(g):
        return g - softmax(x, at) * sum(g, at, True)

    return record(array, "LogSoftmax", (x,), rule, [x])
