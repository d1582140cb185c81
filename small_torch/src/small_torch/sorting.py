"""Sorting, order statistics and counting."""

import math

import numpy as np

from .arithmetic import lerp
from .gathering import accept_scalars, index_select
from .reductions import check_not_empty, record_extreme, record_picked, return_type, sum
from .shapes import reshape, squeeze, unsqueeze
from .tape import rename_node
from .tensor import Tensor, axis, record

SORT, TOPK, MEDIAN, MODE = (return_type(name, ("values", "indices")) for name in ("sort", "topk", "median", "mode"))


def sort_indices(x, at, descending):
    """Return the indices that sort x along an axis; equal numbers keep their order."""
    if not descending:
        return np.argsort(x, at, kind="stable")
    order = np.argsort(np.flip(x, at), at, kind="stable")
    return np.flip(x.shape[at] - 1 - order, at)


@accept_scalars
def sort(input, dim=-1, descending=False, *, stable=False):
    """Sort along an axis; return the values and their indices."""
    at = axis(dim, input.ndim)
    return record_picked(input, sort_indices(input._array, at, descending), at, True, SORT, "Sort")


@accept_scalars
def argsort(input, dim=-1, descending=False, *, stable=False):
    return Tensor(sort_indices(input._array, axis(dim, input.ndim), descending))


@accept_scalars
def topk(input, k, dim=-1, largest=True, sorted=True):
    """Return the k largest numbers along an axis, and their indices."""
    at = axis(dim, input.ndim)
    if input._array.dtype == bool:
        raise RuntimeError("topk does not support bool dtypes on CPU")
    if not 0 <= k <= input._array.shape[at]:
        raise RuntimeError("selected index k out of range")
    order = np.take(sort_indices(input._array, at, largest), np.arange(k), at)
    return record_picked(input, order, at, True, TOPK, "Topk")


def median(input, dim=None, keepdim=False):
    """Return the middle number, the lower of two; NaN if there is any."""
    if dim is not None:
        return accept_scalars(median_along)(input, dim, keepdim)
    if not input.numel():
        return rename_node((sum(input) * math.nan).to(input.dtype), "Median")
    return record_extreme(input, median_along(reshape(input.detach(), -1), 0, False).values._array, "Median")


def median_along(input, dim, keepdim):
    at = axis(dim, input.ndim)
    check_not_empty("median", input, at)
    middle = np.take(sort_indices(input._array, at, False), [(input._array.shape[at] - 1) // 2], at)
    is_nan = np.isnan(input._array)
    middle = np.where(is_nan.any(at, keepdims=True), is_nan.argmax(at, keepdims=True), middle)
    return record_picked(input, middle, at, keepdim, MEDIAN, "Median.1")


@accept_scalars
def mode(input, dim=-1, keepdim=False):
    """Return the most frequent number, the smallest of several, and its last index."""
    at = axis(dim, input.ndim)
    check_not_empty("mode", input, at)
    x = np.moveaxis(input._array, at, -1)
    indices = np.empty(x.shape[:-1], np.int64)
    for row in np.ndindex(indices.shape):
        values, codes, counts = np.unique(x[row], return_inverse=True, return_counts=True)
        indices[row] = np.flatnonzero(codes == counts.argmax())[-1]
    return record_picked(input, np.expand_dims(indices, at), at, keepdim, MODE, "Mode")


def quantile(input, q, dim=None, keepdim=False):
    """Return the numbers below which the shares q of all numbers lie.

    If q has an axis, it is the first axis of the result.
    """
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
    position = q * (n - 1)
    low = Tensor(np.floor(position._array).astype(np.int64))
    high = Tensor(np.ceil(position._array).astype(np.int64))
    a, b = index_select(ordered, at, low.reshape(-1)), index_select(ordered, at, high.reshape(-1))
    fraction = (position - low).reshape(-1)
    out = lerp(a, b, fraction.reshape([-1 if i == at else 1 for i in range(x.ndim)])).movedim(at, 0)
    if keepdim:
        out = reshape(out, -1, *(1,) * input.ndim) if dim is None else unsqueeze(out, at + 1) if input.ndim else out
    return out if q.ndim else squeeze(out, 0)


def unique(input, sorted=True, return_inverse=False, return_counts=False, dim=None):
    """Return each number once, in order."""
    at = None if dim is None else axis(dim, input.ndim)
    values, inverse, counts = np.unique(input._array, return_inverse=True, return_counts=True, axis=at)
    inverse = inverse.reshape(input._array.shape if dim is None else (-1,))
    values = record(values, "Unique2" if dim is None else "UniqueDim", (input,), no_derivative("unique"))
    outs = (values, *([Tensor(inverse)] if return_inverse else []), *([Tensor(counts)] if return_counts else []))
    return outs if len(outs) > 1 else values


def no_derivative(name):
    """Return the rule of an operation without a gradient, which raises torch's error."""

    def rule(*gradients):
        raise RuntimeError(f"derivative for aten::{name} is not implemented")

    return rule


def bincount(input, weights=None, minlength=0):
    """Count how often each integer occurs."""
    if input.ndim != 1 or input.dtype.kind > 1 or (input._array < 0).any():
        raise RuntimeError("bincount only supports 1-d non-negative integral inputs.")
    if weights is None:
        return Tensor(np.bincount(input._array.astype(np.intp), minlength=minlength).astype(np.int64))
    if weights._array.shape != input._array.shape:
        raise RuntimeError("weights should be 1-d and have the same length as input")
    array = np.bincount(input._array.astype(np.intp), weights._array, minlength)
    array = array.astype(weights._array.dtype) if weights.dtype.kind > 1 else array
    return record(array, "NotImplemented", (weights,), no_derivative("bincount"))
