"""Running sums, products and maxima along an axis; differences of neighbours."""

import builtins

import numpy as np

from . import dtypes
from .elementwise import Formula, quiet, record_formula
from .gathering import accept_scalars, scatter_add
from .joining import cat, narrow
from .memory import contiguous
from .messages import refuse
from .operands import refuse_type
from .rearranging import flip
from .reductions import cast, prod, return_type, sum
from .tensor import Tensor, axis, record, record_many

CUMMAX = return_type("cummax", ("values", "indices"))


def accumulate(function, x, dim, dtype):
    """Return running sums or products, computed in float64 or int64, and what they are made from: an array, an axis."""
    at = axis(dim, x.ndim)
    if dtype is dtypes.bool_ and x.ndim and x.numel():
        raise NotImplementedError(f"\"{function.__name__}_out_cpu\" not implemented for 'Bool'")
    x = cast(x, dtype)
    kind = np.int64 if x.dtype.kind < 2 and dtype is None else x._array.dtype
    if not x.ndim:
        return x._array.astype(kind), x, at
    wide = np.float64 if kind in (np.float32, np.float16) else kind
    return contiguous(quiet.run(function, x._array, at, wide).astype(kind, copy=False)), x, at


def cumsum(input, dim: int, *, dtype=None):
    """Return running sums along an axis."""
    array, x, at = accumulate(np.cumsum, input, dim, dtype)
    return record(array, "Cumsum", (x,), lambda g: flip(cumsum(flip(g, at), at), at) if g.ndim else g)


@accept_scalars
def cumprod(input, dim: int, *, dtype=None):
    """Return running products along an axis."""
    array, x, at = accumulate(np.cumprod, input, dim, dtype)

    def way(g, a, y):
        # Σ over later places of g · (the product without this number); no quotient, since numbers may be zero
        n, gradients = y._array.shape[at], []
        for i in range(n):
            rest = narrow(a, at, i + 1, n - i - 1)
            ones = Tensor(np.ones_like(a._array.take([0], at)))
            before = prod(narrow(a, at, 0, i), at, True) if i else ones
            after = cumprod(cat([ones, rest], at), at)
            gradients.append(sum(narrow(g, at, i, n - i) * before * after, at, True))
        return cat(gradients, at) if n else g

    return record_formula(Formula("Cumprod", way, on_arrays=False), array, x)


@accept_scalars
def cummax(input, dim: int):
    """Return running maxima and their indices (the last, of equal ones)."""
    at = axis(dim, input.ndim) if input.numel() else 0
    refuse_type("cummax", input)
    x = input._array
    is_best = (x == np.maximum.accumulate(x, at)) | np.isnan(x)
    places = np.arange(x.shape[at]).reshape([-1 if i == at else 1 for i in range(x.ndim)])
    indices = contiguous(np.maximum.accumulate(np.where(is_best, places, 0), at))

    def rule(g, _):
        return scatter_add(Tensor(np.zeros(indices.shape, g._array.dtype)), at, Tensor(indices), g)

    array = contiguous(np.take_along_axis(x, indices, at))
    return CUMMAX(*record_many([array, indices], "Cummax", (input,), rule, [input]))


def diff(input, n: int = 1, dim: int = -1, prepend=None, append=None):
    """Return the differences of neighbours along an axis, n times."""
    refuse(not input.ndim, "diff expects input to be at least one-dimensional")
    refuse(n < 0, f"order must be non-negative but got {n}")
    at, parts = axis(dim, input.ndim), [part for part in (prepend, input, append) if part is not None]
    input = cat(parts, at) if len(parts) > 1 else input
    if not n:
        return input.clone()
    for _ in range(builtins.min(n, input._array.shape[at])):
        length = input._array.shape[at]
        after, before = narrow(input, at, 1, length - 1), narrow(input, at, 0, length - 1)
        input = after ^ before if input._array.dtype == bool else after - before
    return input
