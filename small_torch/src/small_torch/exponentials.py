"""Softmax and logarithms of sums of eˣ, without overflow."""

import numpy as np

from .arithmetic import floating
from .cumulative import cumsum
from .gathering import accept_scalars
from .memory import contiguous
from .operands import refuse_keywords
from .pointwise import exp, log
from .reductions import axes_of, restore_axes, sum
from .tape import rename_node
from .tensor import Tensor, axis, record


def logsumexp(input, dim, keepdim=False):
    """Return log Σ eˣ."""
    x = floating(input)
    axes = axes_of(dim, x.ndim)
    with np.errstate(all="ignore"):
        largest = np.max(x._array, axes, keepdims=True, initial=-np.inf)
        largest = np.where(np.isfinite(largest), largest, 0)
        array = np.log(np.exp(x._array - largest).sum(axes, keepdims=True)) + largest
    array = array.astype(x._array.dtype)

    def rule(g):
        return restore_axes(g, axes, keepdim) * exp(x - logsumexp(x, axes, True))

    return record(contiguous(array if keepdim else array.squeeze(axes)), "Logsumexp", (x,), rule, [x])


@accept_scalars
def logcumsumexp(input, dim):
    """Return the logarithms of running sums of eˣ."""
    if input.dtype.kind < 2:
        raise NotImplementedError(f'"logcumsumexp_out_cpu" not implemented for {input.dtype.title!r}')
    largest = np.max(input._array, axis(dim, input.ndim), keepdims=True, initial=np.finfo(input._array.dtype).min)
    return rename_node(log(cumsum(exp(input - Tensor(largest)), dim)) + Tensor(largest), "Logcumsumexp")


def softmax_input(name, input, dim, dtype, unknown):
    """Check the arguments of a softmax; return its input, in its type, and the axis."""
    if dim is None:
        raise TypeError(f'{name}() missing 1 required positional arguments: "dim"')
    refuse_keywords(name, unknown)
    x = input if dtype is None else input.to(dtype)
    at = axis(dim, x.ndim)
    if x.numel() and x.dtype.kind < 2:
        kernel = f"{name}_{'lastdim_' if at == x.ndim - 1 else ''}kernel_impl"
        raise NotImplementedError(f"\"{kernel}\" not implemented for '{x.dtype.title}'")
    return x, at


def softmax(input, dim=None, dtype=None, **unknown):
    """Return eˣ / Σ eˣ along an axis."""
    x, at = softmax_input("softmax", input, dim, dtype, unknown)
    if not x.numel():
        return x.clone()
    if not x.ndim:
        return x * 0 + 1
    with np.errstate(all="ignore"):
        e = np.exp(x._array - x._array.max(at, keepdims=True))
        array = contiguous(e / e.sum(at, keepdims=True))

    def rule(g):
        y = softmax(x, at)
        gy = g * y
        return gy - y * sum(gy, at, True)

    return record(array, "Softmax", (x,), rule, [x])


def log_softmax(input, dim=None, dtype=None, **unknown):
    """Return x − log Σ eˣ along an axis."""
    x, at = softmax_input("log_softmax", input, dim, dtype, unknown)
    if not x.numel():
        return x.clone()
    if not x.ndim:
        return x * 0
    with np.errstate(all="ignore"):
        difference = x._array - x._array.max(at, keepdims=True)
        array = contiguous(difference - np.log(np.exp(difference).sum(at, keepdims=True)))

    def rule(g):
        return g - softmax(x, at) * sum(g, at, True)

    return record(array, "LogSoftmax", (x,), rule, [x])
