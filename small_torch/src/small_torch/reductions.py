"""Reductions: sums, means, extremes and norms."""

import builtins
import math
from collections import namedtuple

import numpy as np

from .comparing import maximum, minimum
from .elementwise import floating, masked, set_name, zeros
from .gathering import accept_scalars, scatter
from .joining import cat, narrow
from .shapes import flip, reshape, unsqueeze
from .tape import rename_node
from .tensor import Tensor, axis, record, record_many


def axes_of(dim, ndim):
    """Return the named axes, counted from the front; all if none is named."""
    if dim is None or isinstance(dim, (tuple, list)) and not dim:
        return tuple(range(ndim))
    named = [axis(d, ndim) for d in ((dim,) if isinstance(dim, (int, np.integer)) else dim)]
    for d in named:
        if named.count(d) > 1:
            raise RuntimeError(f"dim {d} appears multiple times in the list of dims")
    return tuple(named) if ndim else ()


def restore_axes(g, axes, keepdim):
    """Insert into a gradient the axes that the reduction removed."""
    if not keepdim:
        for dim in sorted(axes):
            g = unsqueeze(g, dim)
    return g


def check_not_empty(name, input, at):
    """Raise IndexError if an axis has length 0."""
    if not input._array.shape[at]:
        raise IndexError(f"{name}(): Expected reduction dim {at} to have non-zero size.")


def check_floating(name, input):
    """Raise torch's RuntimeError for a tensor of integers or bools."""
    if input.dtype.kind < 2:
        raise RuntimeError(
            f"{name} floating point or complex {'dtype but got' if '()' in name else 'tensor as input. Got'}"
            f" {input.dtype.title}"
        )


def sum(input, dim=None, keepdim=False, *, dtype=None):
    """Return the sum of all numbers, or along axes."""
    if dtype is not None:
        input = input.to(dtype)
    x, shape, axes = input._array, input._array.shape, axes_of(dim, input.ndim)
    sum_type = np.int64 if x.dtype.kind in "biu" and dtype is None else x.dtype
    array = x.sum(axes, dtype=sum_type, keepdims=keepdim) if axes or not x.ndim else x.sum((), dtype=sum_type)
    return record(
        array, "Sum" if dim is None else "Sum.1", (input,), lambda g: restore_axes(g, axes, keepdim).expand(shape)
    )


def nansum(input, dim=None, keepdim=False):
    numbers = record(np.where(np.isnan(input._array), 0, input._array).astype(input._array.dtype), "Where", (input,),
                  lambda g: masked(g, np.isnan(input._array)))  # fmt: skip
    return rename_node(sum(numbers, dim, keepdim), "Nansum")


def mean(input, dim=None, keepdim=False, *, dtype=None):
    """Return the mean of all numbers, or along axes."""
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
        array,
        "Mean" if dim is None else "Mean.1",
        (input,),
        lambda g: restore_axes(g, axes, keepdim).expand(shape) / count,
    )


def var(input, dim=None, unbiased=True, keepdim=False, *, correction=None):
    """Return the variance; its divisor is the count minus `correction`, which is 1 by default."""
    if isinstance(dim, bool):
        dim, unbiased = None, dim
    if input.dtype.kind < 2:
        raise RuntimeError("std and var only support floating point and complex dtypes")
    axes = axes_of(dim, input.ndim)
    count = int(np.prod([input._array.shape[i] for i in axes], dtype=np.int64))
    ddof = correction if correction is not None else int(unbiased)
    deviations = input - mean(input, axes, True)
    with np.errstate(all="ignore"):
        array = (deviations._array * deviations._array).sum(axes, keepdims=keepdim) / np.asarray(
            builtins.max(count - ddof, 0), input._array.dtype
        )
    slope = 2 / (count - ddof) if count != ddof else math.inf
    return record(
        array,
        "Var",
        (input,),
        lambda g: restore_axes(g, axes, keepdim) * slope * (input - mean(input, axes, True)),
        [input],
    )


def std(input, dim=None, unbiased=True, keepdim=False, *, correction=None):
    """Return the standard deviation. If all numbers are equal, its gradient is zero."""
    square = var(input, dim, unbiased, keepdim, correction=correction)
    array = np.sqrt(square._array)
    return record(array, "Std", (square,), lambda g: masked(g / (2 * square.sqrt()), array == 0), [square])


def prod(input, dim=None, keepdim=False, *, dtype=None):
    """Return the product of all numbers, or along an axis."""
    input = input if dtype is None else input.to(dtype)
    x = input._array
    product_type = np.int64 if x.dtype.kind in "biu" and dtype is None else x.dtype
    if dim is None:
        flat = reshape(input, -1)
        return rename_node(
            reshape(prod(flat, 0, dtype=dtype), ()) if input.ndim != 1 else prod(flat, 0, dtype=dtype), "Prod"
        )
    if not input.ndim:
        return rename_node(prod(reshape(input, 1), dim, dtype=dtype), "Prod.1")
    at = axis(dim, input.ndim)
    n = x.shape[at]

    def rule(g):
        if not n:
            return Tensor(np.zeros(x.shape, x.dtype))
        g = g if keepdim else unsqueeze(g, at)
        # the product of all other numbers, not a quotient: numbers may be zero
        product_before = shift(input, at, n).cumprod(at)
        product_after = flip(shift(flip(input, at), at, n).cumprod(at), at)
        return g * product_before * product_after

    return record(np.prod(x, at, dtype=product_type, keepdims=keepdim), "Prod.1", (input,), rule, [input])


def shift(input, at, n):
    """Shift numbers by one place along an axis, with ones at the first."""
    first = Tensor(np.ones_like(input._array.take([0], at)))
    return cat([first, narrow(input, at, 0, n - 1)], at)


def extreme_values(name, function):
    """Make `amax` or `amin`, which share the gradient among equal extremes."""

    def operation(input, dim=(), keepdim=False):
        axes = axes_of(dim, input.ndim)
        if not input.numel():
            if len(axes) == input.ndim > 1:
                raise missing_dim_error(name)
            for d in (dim,) if isinstance(dim, int) else dim or axes:
                check_not_empty(name, input, d)
        extremes = function(input._array, axes, keepdims=True) if input.ndim else input._array

        def rule(g):
            is_extreme = (input._array == extremes).astype(g._array.dtype)
            return restore_axes(g, axes, keepdim) * Tensor(is_extreme / is_extreme.sum(axes, keepdims=True))

        return record(extremes if keepdim else extremes.squeeze(axes), name.title(), (input,), rule, [input])

    return set_name(name, operation)


def missing_dim_error(name):
    """Return torch's error for a reduction of an empty tensor without dim."""
    return RuntimeError(
        f"{name}(): Expected reduction dim to be specified for input.numel() == 0. Specify the reduction dim with the"
        " 'dim' argument."
    )


amax, amin = extreme_values("amax", np.max), extreme_values("amin", np.min)


def aminmax(input, *, dim=None, keepdim=False):
    return return_type("aminmax", ("min", "max"))(amin(input, dim, keepdim), amax(input, dim, keepdim))


def return_type(name, fields):
    """Make a named tuple that prints like torch's."""

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


MAX, MIN = return_type("max", ("values", "indices")), return_type("min", ("values", "indices"))


def record_picked(input, indices, at, keepdim, kind, name):
    """Return the numbers at the indices along an axis, and the indices, as a named tuple of type `kind`."""
    shape = input._array.shape
    array = np.take_along_axis(input._array, indices, at)

    def rule(g, _):
        g = g if keepdim else unsqueeze(g, at)
        return scatter(Tensor(np.zeros(shape, g._array.dtype)), at, Tensor(indices), g)

    results = [array, indices] if keepdim else [array.squeeze(at), indices.squeeze(at)]
    return kind(*record_many(results, name, (input,), rule))


def extreme(name, reduce_all, find_index, of_two, kind):
    """Make `max` or `min`: of all numbers, along an axis with the indices, or of two tensors."""

    def operation(input, dim=None, keepdim=False):
        if isinstance(dim, Tensor):
            return of_two(input, dim)
        if dim is None:
            if not input.numel():
                raise missing_dim_error(name)
            return record_extreme(input, np.asarray(reduce_all(input._array)), f"{name.title()}.1")
        return accept_scalars(extreme_along)(input, dim, keepdim, find_index, kind, name.title())

    return set_name(name, operation)


max, min = extreme("max", np.max, np.argmax, maximum, MAX), extreme("min", np.min, np.argmin, minimum, MIN)


def extreme_along(input, dim, keepdim, find_index, kind, name):
    """Return the extremes along an axis, and their indices."""
    at = axis(dim, input.ndim)
    check_not_empty(name.lower(), input, at)
    indices = np.expand_dims(find_index(input._array, at), at)
    return record_picked(input, indices, at, keepdim, kind, name)


def record_extreme(input, array, name):
    """Return one of the numbers, `array`, as a tensor; equal numbers share its gradient."""
    is_extreme = np.isnan(input._array) if np.isnan(array) else input._array == array
    share = Tensor(is_extreme / is_extreme.sum(dtype=input._array.dtype)) if input.dtype.kind > 1 else None
    return record(array, name, (input,), lambda g: g * share)


def index_of_extreme(name, function):
    """Make `argmax` or `argmin`: of equal numbers the first counts."""

    def operation(input, dim=None, keepdim=False):
        if input._array.dtype == bool:
            raise RuntimeError(f"{name}(): does not support bool input")
        if not input.numel():
            if dim is None:
                raise IndexError(f"{name}(): Expected reduction dim to be specified for input.numel() == 0.")
            check_not_empty(name, input, axis(dim, input.ndim))
        if dim is None:
            return Tensor(np.asarray(function(input._array), np.int64))
        return Tensor(np.asarray(function(input._array, axis(dim, input.ndim), keepdims=keepdim), np.int64))

    return set_name(name, operation)


argmax, argmin = index_of_extreme("argmax", np.argmax), index_of_extreme("argmin", np.argmin)


def boolean_reduction(name, function):
    """Make `any` or `all`."""

    def operation(input, dim=None, keepdim=False):
        result = function(input._array, axes_of(dim, input.ndim), keepdims=keepdim)
        return Tensor(np.asarray(result, np.uint8 if input._array.dtype == np.uint8 else bool))

    return set_name(name, operation)


any, all = boolean_reduction("any", np.any), boolean_reduction("all", np.all)


def count_nonzero(input, dim=None):
    return Tensor(np.asarray(np.count_nonzero(input._array, axes_of(dim, input.ndim)), np.int64))


def norm(input, p="fro", dim=None, keepdim=False, *, dtype=None):
    """Return (Σ |x|ᵖ)^(1/p)."""
    x = input if dtype is None else input.to(dtype)
    check_floating("linalg.vector_norm: Expected a", x)
    p = 2 if p in ("fro", None) else p
    axes = axes_of(dim, x.ndim)
    if builtins.abs(p) == math.inf:
        if not np.prod([x._array.shape[i] for i in axes]):
            where = (
                "an empty tensor because" if dim is None else f"the dimension {dim}because this dimension is empty and"
            )
            raise RuntimeError(
                f"linalg.vector_norm cannot compute the {p} norm on {where} the operation does not have an identity"
            )
        return rename_node((amax if p > 0 else amin)(x.abs(), axes, keepdim), "LinalgVectorNorm")
    if p == 0:
        return record(
            np.sum(x._array != 0, axes, x._array.dtype, keepdims=keepdim), "LinalgVectorNorm", (x,), lambda g: zeros(x)
        )
    if p == 1:
        return rename_node(sum(x.abs(), axes, keepdim), "LinalgVectorNorm")
    size = np.abs(x._array)
    with np.errstate(all="ignore"):
        array = (
            np.sqrt((size * size).sum(axes, keepdims=keepdim))
            if p == 2
            else (size**p).sum(axes, keepdims=keepdim) ** (1 / p)
        )

    def rule(g):
        length = restore_axes(norm(x, p, axes, keepdim), axes, keepdim)
        share = masked(
            restore_axes(g, axes, keepdim) / length ** (p - 1), length._array == 0
        )  # 0 where all numbers are 0
        return share * (x if p == 2 else x.sgn() * x.abs() ** (p - 1))

    return record(array, "LinalgVectorNorm", (x,), rule, [x])


def check_two_dims(name, input):
    """Raise torch's RuntimeError for more than two axes."""
    if input.ndim > 2:
        raise RuntimeError(
            f"{name}(): expected input to have two or fewer dimensions but got an input with {input.ndim} dimensions"
        )


def corrcoef(input):
    """Return the matrix of correlations between rows."""
    check_two_dims("corrcoef", input)
    covariance = cov(input)
    if not covariance.ndim:
        return covariance / covariance
    deviations = covariance.diagonal().sqrt()
    return (covariance / deviations[:, None] / deviations[None, :]).clamp(-1, 1)


def cov(input, *, correction=1):
    """Return the matrix of covariances between rows."""
    check_two_dims("cov", input)
    if input._array.dtype == bool:
        raise RuntimeError("cov(): bool dtype is not supported for input")
    rows = floating(input)
    rows = rows if rows.ndim == 2 else reshape(rows, 1, -1)
    deviations = rows - mean(rows, -1, True)
    return (deviations @ deviations.t() / builtins.max(rows._array.shape[1] - correction, 0)).squeeze()
