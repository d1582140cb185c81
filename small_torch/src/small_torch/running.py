"""Sums, products and extremes of all numbers up to each place of an axis; and differences of neighbours."""

import builtins

import numpy as np

from .gathering import of_rows, scatter_add
from .joining import cat, narrow
from .reductions import pair, prod, sum
from .shapes import flip
from .tensor import Tensor, axis, record, record_many

CUMMAX = pair("cummax", ("values", "indices"))


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
        return scatter_add(Tensor(np.zeros(shape, g._array.dtype)), at, Tensor(indices), g)

    return CUMMAX(*record_many([np.take_along_axis(input._array, indices, at), indices], "Cummax", (input,), rule))


def diff(input, n=1, dim=-1):
    if not input.ndim:
        raise RuntimeError("diff expects input to be at least one-dimensional")
    if n < 0:
        raise RuntimeError(f"order must be non-negative but got {n}")
    for _ in range(builtins.min(n, input._array.shape[axis(dim, input.ndim)])):
        length = input._array.shape[dim]
        after, before = narrow(input, dim, 1, length - 1), narrow(input, dim, 0, length - 1)
        input = after ^ before if input._array.dtype == bool else after - before
    return input
