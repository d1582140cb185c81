"""Many numbers become one: sums, means, extremes."""

import builtins
import math
from collections import namedtuple

import numpy as np

from .arithmetic import called, floating, zeros
from .comparing import masked, maximum, minimum
from .gathering import of_rows, scatter
from .joining import cat, narrow
from .shapes import flip, reshape, unsqueeze
from .tape import titled
from .tensor import Tensor, axis, record, record_many


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
        before = shifted(input, at, n).cumprod(at)
        after = flip(shifted(flip(input, at), at, n).cumprod(at), at)
        return g * before * after

    return record(np.prod(x, at, dtype=keep, keepdims=keepdim), "Prod.1", (input,), rule, [input])


def shifted(input, at, n):
    """One place further, with a one at the first."""
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


MAX, MIN = pair("max", ("values", "indices")), pair("min", ("values", "indices"))


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
