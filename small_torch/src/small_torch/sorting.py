"""Sorting, what is found by it, and counting."""

import math

import numpy as np

from .arithmetic import lerp
from .gathering import index_select, of_rows
from .reductions import not_empty, pair, picked, shared, sum
from .shapes import reshape, squeeze, unsqueeze
from .tape import titled
from .tensor import Tensor, axis, record

SORT, TOPK, MEDIAN, MODE = (pair(name, ("values", "indices")) for name in ("sort", "topk", "median", "mode"))


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
