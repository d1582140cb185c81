"""Running sums, products and maxima along an axis; differences of neighbours."""

import builtins

import numpy as np

from .gathering import accept_scalars, scatter_add
from .joining import cat, narrow
from .memory import contiguous
from .operands import refuse, refuse_types
from .rearranging import flip
from .reductions import prod, return_type, sum
from .tensor import Tensor, axis, record, record_many

CUMMAX = return_type("cummax", ("values", "indices"))


def accumulate(function, x, dim, result_type):
    """Apply numpy's function along an axis; float32 is accumulated in float64, and rounded at each place."""
    if not x.ndim:
        return x.astype(result_type)
    with np.errstate(all="ignore"):
        out = function(x, dim, dtype=np.float64 if result_type == np.float32 else result_type)
    return contiguous(out.astype(result_type, copy=False))


def cumsum(input, dim, *, dtype=None):
    """Return running sums along an axis."""
    input = input if dtype is None else input.to(dtype)
    at = axis(dim, input.ndim)
    x = input._array
    result_type = np.int64 if x.dtype.kind in "biu" and dtype is None else x.dtype
    array = accumulate(np.cumsum, x, at, result_type)
    return record(array, "Cumsum", (input,), lambda g: flip(cumsum(flip(g, at), at), at) if g.ndim else g)


@accept_scalars
def cumprod(input, dim, *, dtype=None):
    """Return running products along an axis."""
    input = input if dtype is None else input.to(dtype)
    at = axis(dim, input.ndim)
    x = input._array
    result_type = np.int64 if x.dtype.kind in "biu" and dtype is None else x.dtype

    def rule(g):
        # Σ over later places of g · (the product without this number); no quotient, since numbers may be zero
        n, gradients = x.shape[at], []
        for i in range(n):
            rest = narrow(input, at, i + 1, n - i - 1)
            ones = Tensor(np.ones_like(x.take([0], at)))
            before = prod(narrow(input, at, 0, i), at, True) if i else ones
            after = cumprod(cat([ones, rest], at), at)
            gradients.append(sum(narrow(g, at, i, n - i) * before * after, at, True))
        return cat(gradients, at) if n else g

    return record(accumulate(np.cumprod, x, at, result_type), "Cumprod", (input,), rule, [input])


@accept_scalars
def cummax(input, dim):
    """Return running maxima and their indices (the last, of equal ones)."""
    at = axis(dim, input.ndim)
    refuse_types(input, "c", '"cummax_cpu" not implemented for {!r}')
    x = np.moveaxis(input._array, at, 0)
    indices = np.zeros(x.shape, np.int64)
    best_value, best_index = x[:1], indices[:1]
    for i in range(len(x)):
        current = x[i : i + 1]
        is_better = (current >= best_value) & ~np.isnan(best_value) | np.isnan(current)
        best_value, best_index = np.where(is_better, current, best_value), np.where(is_better, i, best_index)
        indices[i : i + 1] = best_index
    indices = contiguous(np.moveaxis(indices, 0, at))
    shape = input._array.shape

    def rule(g, _):
        return scatter_add(Tensor(np.zeros(shape, g._array.dtype)), at, Tensor(indices), g)

    return CUMMAX(
        *record_many([contiguous(np.take_along_axis(input._array, indices, at)), indices], "Cummax", (input,), rule)
    )


def diff(input, n=1, dim=-1):
    """Return the differences of neighbours along an axis, n times."""
    refuse(not input.ndim, "diff expects input to be at least one-dimensional")
    refuse(n < 0, f"order must be non-negative but got {n}")
    if not n:
        return input.clone()
    for _ in range(builtins.min(n, input._array.shape[axis(dim, input.ndim)])):
        length = input._array.shape[dim]
        after, before = narrow(input, dim, 1, length - 1), narrow(input, dim, 0, length - 1)
        input = after ^ before if input._array.dtype == bool else after - before
    return input
