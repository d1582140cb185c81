"""Softmax and logarithms of sums of eˣ, without overflow."""

import operator

import numpy as np

from .comparing import where
from .elementwise import Formula, apply, floating, quiet, record_formula, set_name
from .gathering import accept_scalars
from .memory import contiguous
from .messages import refuse
from .operands import refuse_type
from .pointwise import exp
from .rearranging import flip
from .reductions import axes_of
from .tensor import Tensor, axis


def logsumexp_array(x, axes):
    """Return log Σ eˣ of numpy's array, with axes of length 1."""
    largest = np.max(x.real, axes, keepdims=True, initial=-np.inf)
    largest = np.where(np.isfinite(largest), largest, 0).astype(x.real.dtype)
    return np.log(np.exp(x - largest).sum(axes, keepdims=True)) + largest


def logsumexp(input, dim, keepdim=False):
    """Return log Σ eˣ."""
    x = floating(input)
    axes = axes_of(dim, x.ndim)
    refuse(dim == () and x.ndim and x.numel() and not keepdim, "broadcast result", [], [1] * x.ndim)  # as in torch
    array = quiet.run(logsumexp_array, x._array, axes)
    kept = array.shape
    formula = Formula("Logsumexp", lambda g, a, y: g.reshape(kept) * apply(exp, a - y.reshape(kept)))
    return record_formula(formula, contiguous(array if keepdim else array.squeeze(axes)), x)


@accept_scalars
def logcumsumexp(input, dim):
    """Return the logarithms of running sums of eˣ."""
    refuse_type("logcumsumexp", input)
    at = axis(dim, input.ndim)

    def way(g, a, y):
        # Σ over later places of g · e^(x − y), for positive and negative g apart, since the sums are of logarithms
        none, parts = float(np.finfo(a._array.dtype).min), []
        for part in (g > 0, g < 0):
            logs = where(part, g.abs().log(), none) - y
            parts.append(exp(flip(logcumsumexp(flip(logs, at), at), at) + a))
        return parts[0] - parts[1]

    array = quiet.run(np.logaddexp.accumulate, input._array.astype(np.float64), at)
    array = contiguous(array.astype(input._array.dtype))
    return record_formula(Formula("Logcumsumexp", way, on_arrays=False), array, input)


def softmax_array(x, at):
    e = np.exp(x - x.max(at, keepdims=True))
    return e / e.sum(at, keepdims=True)


def log_softmax_array(x, at):
    difference = x - x.max(at, keepdims=True)
    return difference - np.log(np.exp(difference).sum(at, keepdims=True))


def sum_along(x, at):
    """Return the sum of an array or a tensor along an axis, which stays."""
    return x.sum(at, keepdim=True) if isinstance(x, Tensor) else x.sum(at, keepdims=True)


def along_axis(name, title, function, back):
    """Make `softmax` or `log_softmax` from numpy's function and the way back, both along an axis."""

    def operation(input, dim: int, dtype=None):
        x = input if dtype is None else input.to(dtype)
        at, array = axis(operator.index(dim), x.ndim), x._array
        if array.size and array.dtype.kind != "f":
            kernel = f"{name}_{'lastdim_' if at >= x.ndim - 1 else ''}kernel_impl"
            raise NotImplementedError(f"\"{kernel}\" not implemented for '{x.dtype.title}'")
        if array.size:
            array = quiet.run(function, contiguous(array if x.ndim else array[None]), at).reshape(array.shape)
        kept = at if x.ndim else ()
        return record_formula(Formula(title, lambda g, y: back(g, y, kept)), array, x)

    return set_name(name, operation)


softmax = along_axis("softmax", "Softmax", softmax_array, lambda g, y, at: y * (g - sum_along(g * y, at)))
log_softmax = along_axis(
    "log_softmax", "LogSoftmax", log_softmax_array, lambda g, y, at: g - apply(exp, y) * sum_along(g, at)
)
