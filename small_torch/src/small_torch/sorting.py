"""Sorting, order statistics and counting."""

import math

import numpy as np

from .arithmetic import lerp, refuse_gradient
from .comparing import masked_fill
from .dtypes import float32, float64
from .gathering import accept_scalars, index_select
from .memory import copy_array
from .messages import refuse
from .operands import refuse_type
from .reductions import check_not_empty, record_extreme, record_picked, return_type, sum
from .shapes import movedim, reshape, squeeze, unsqueeze
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
    refuse_type("sort", input)
    order = sort_indices(input._array, at, descending)
    return record_picked(input, order, at, True, SORT, "Sort", like=input._array)


def argsort(input, dim=-1, descending=False, *, stable=False):
    return sort(input.detach(), dim, descending).indices


def topk(input, k: int, dim: int = -1, largest: bool = True, sorted: bool = True):
    """Return the k largest numbers along an axis, and their indices."""
    return topk_along(input, k if input.ndim else k or 1, dim, largest)


@accept_scalars
def topk_along(input, k, dim, largest):
    at = axis(dim, input.ndim)
    refuse(not 0 <= k <= input._array.shape[at], "selected index k out of range")
    refuse_type("topk", input)
    order = np.take(sort_indices(input._array, at, largest), np.arange(k), at)
    return record_picked(input, order, at, True, TOPK, "Topk")


def median(input, dim=None, keepdim: bool = False):
    """Return the middle number, the lower of two; NaN if there is any."""
    if dim is not None:
        return median_along(input, dim, keepdim)
    if not input.numel():
        return rename_node((sum(input) * math.nan).to(input.dtype), "Median")
    refuse_type("median", input)
    return record_extreme(input, median_along(reshape(input.detach(), -1), 0, False).values._array, "Median")


@accept_scalars
def median_along(input, dim, keepdim):
    at = axis(dim, input.ndim)
    check_not_empty("median", input, at)
    refuse_type("median_along", input)
    middle = np.take(sort_indices(input._array, at, False), [(input._array.shape[at] - 1) // 2], at)
    is_nan = np.isnan(input._array)
    middle = np.where(is_nan.any(at, keepdims=True), is_nan.argmax(at, keepdims=True), middle)
    return record_picked(input, middle, at, keepdim, MEDIAN, "Median.1")


def mode(input, dim: int = -1, keepdim: bool = False):
    """Return the most frequent number, the smallest of several, and its last index."""
    check_not_empty("mode", input, axis(dim, input.ndim)) if input.ndim else None
    if input.ndim and input.numel():
        refuse_type("mode", input)
    return mode_along(input, dim, keepdim)


@accept_scalars
def mode_along(input, dim, keepdim):
    at = axis(dim, input.ndim)
    x = np.moveaxis(input._array, at, -1)
    indices = np.empty(x.shape[:-1], np.int64)
    for row in np.ndindex(indices.shape):
        values, codes, counts = np.unique(x[row], return_inverse=True, return_counts=True, equal_nan=False)
        indices[row] = np.flatnonzero(codes == counts.argmax())[-1]
    return record_picked(input, np.expand_dims(indices, at), at, keepdim, MODE, "Mode")


def quantile(input, q, dim=None, keepdim: bool = False):
    """Return the numbers below which the shares q of all numbers lie. An axis of q is the first of the result."""
    refuse(input.dtype not in (float32, float64), "quantile() input tensor must be either float or double dtype")
    q = q if isinstance(q, Tensor) else Tensor(np.asarray(q, input._array.dtype))
    refuse(q.ndim > 1, "quantile() q must be a scalar or 1D tensor")
    refuse(q.dtype is not input.dtype, "quantile() q tensor must be same dtype as the input tensor")
    refuse(not input.numel(), "quantile() input tensor must be non-empty")
    refuse(((q._array < 0) | (q._array > 1)).any(), "quantile() q values must be in the range [0, 1]")
    at = 0 if dim is None else axis(dim, input.ndim)
    x = reshape(input, -1) if dim is None or not input.ndim else movedim(input, at, -1)
    ordered, position = sort(x, -1).values, q._array.reshape(-1) * (x._array.shape[-1] - 1)
    low, high = (index_select(ordered, -1, Tensor(f(position).astype(np.int64))) for f in (np.floor, np.ceil))
    out = lerp(low, high, Tensor((position - np.floor(position)).astype(x._array.dtype)))
    is_nan = Tensor(np.isnan(x._array).any(-1, keepdims=True))
    out = movedim(masked_fill(out, is_nan.expand(out.shape), math.nan), -1, 0)
    if keepdim:
        out = reshape(out, -1, *(1,) * input.ndim) if dim is None else unsqueeze(out, at + 1) if input.ndim else out
    return out if q.ndim else squeeze(out, 0)


def unique(input, sorted=True, return_inverse=False, return_counts=False, dim=None):
    """Return each number once, in order."""
    name, title = ("_unique2", "Unique2") if dim is None else ("unique_dim", "UniqueDim")
    refuse_type("unique" if dim is None else "unique_dim", input)
    at = None if dim is None else axis(dim, input.ndim, wrap_scalar=False)
    if dim is not None and not input.numel() and input._array.shape[at]:
        raise RuntimeError("There are 0 sized dimensions, and they aren't selected, so unique cannot be applied")
    values, inverse, counts = np.unique(input._array, return_inverse=True, return_counts=True, axis=at, equal_nan=False)
    rule = refuse_gradient(name, "the derivative for '{}' is not implemented.", NotImplementedError)
    outs = [record(copy_array(values), title, (input,), rule)]
    if return_inverse:
        outs.append(Tensor(inverse.reshape(input._array.shape if dim is None else (-1,))))
    if return_counts:
        outs.append(Tensor(counts))
    return tuple(outs) if len(outs) > 1 else outs[0]


def bincount(input, weights=None, minlength=0):
    """Count how often each integer occurs."""
    refuse_type("bincount", input)
    refuse(minlength < 0, "minlength should be >= 0")
    if not input.numel() and input.ndim == 1:
        return Tensor(np.zeros(minlength, np.int64))
    refuse(input.ndim != 1 or (input._array < 0).any(), "bincount only supports 1-d non-negative integral inputs.")
    numbers = input._array.astype(np.intp)
    if weights is None:
        return Tensor(np.bincount(numbers, minlength=minlength).astype(np.int64))
    refuse(weights._array.shape != input._array.shape, "weights should be 1-d and have the same length as input")
    array = np.bincount(numbers, weights._array, minlength)
    array = array.astype(weights._array.dtype) if weights.dtype.kind > 1 else array
    return record(array, "NotImplemented", (weights,), refuse_gradient("bincount"))
