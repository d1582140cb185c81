"""Losses as functions of tensors."""

import warnings

import numpy as np

from .. import dtypes
from ..comparing import where
from ..elementwise import masked
from ..exponentials import log_softmax
from ..gathering import gather
from ..pointwise import logsigmoid
from ..shapes import squeeze, unsqueeze
from ..tape import rename_node
from ..tensor import Tensor


def reduce_loss(loss, reduction):
    """Return the mean or the sum of a loss, or the loss itself."""
    if reduction not in ("mean", "sum", "none"):
        raise ValueError(f"{reduction} is not a valid value for reduction")
    return loss.mean() if reduction == "mean" else loss.sum() if reduction == "sum" else loss


def warn_if_shapes_differ(input, target):
    """Give torch's warning if input and target have different shapes."""
    if target.shape != input.shape:
        warnings.warn(
            f"Using a target size ({target.shape}) that is different to the input size ({input.shape}). This will"
            " likely lead to incorrect results due to broadcasting. Please ensure they have the same size.",
            stacklevel=3,
        )


def mse_loss(input, target, size_average=None, reduce=None, reduction="mean"):
    """Return (x − target)²."""
    warn_if_shapes_differ(input, target)
    difference = input - target
    return rename_node(reduce_loss(difference * difference, reduction), "MseLoss")


def l1_loss(input, target, size_average=None, reduce=None, reduction="mean"):
    """Return |x − target|."""
    warn_if_shapes_differ(input, target)
    return reduce_loss((input - target).abs(), reduction)


def smooth_l1_loss(input, target, reduction="mean", beta=1.0):
    warn_if_shapes_differ(input, target)
    distance = (input - target).abs()
    return rename_node(
        reduce_loss(where(distance < beta, 0.5 * distance * distance / beta, distance - 0.5 * beta), reduction),
        "SmoothL1Loss",
    )


def huber_loss(input, target, reduction="mean", delta=1.0):
    warn_if_shapes_differ(input, target)
    distance = (input - target).abs()
    return rename_node(
        reduce_loss(where(distance < delta, 0.5 * distance * distance, delta * (distance - 0.5 * delta)), reduction),
        "HuberLoss",
    )


def binary_cross_entropy(input, target, weight=None, size_average=None, reduce=None, reduction="mean"):
    """Return −( y log x + (1 − y) log(1 − x) ), with logarithms of at least −100."""
    if input.numel() and (input._array.min() < 0 or input._array.max() > 1):
        raise RuntimeError("all elements of input should be between 0 and 1")
    loss = (target - 1) * (1 - input).log().clamp(min=-100) - target * input.log().clamp(min=-100)
    return rename_node(reduce_loss(loss if weight is None else loss * weight, reduction), "BinaryCrossEntropy")


def binary_cross_entropy_with_logits(
    input, target, weight=None, size_average=None, reduce=None, reduction="mean", pos_weight=None
):
    """Return the binary cross entropy of σ(x), without overflow."""
    if target.shape != input.shape:
        raise ValueError(f"Target size ({target.shape}) must be the same as input size ({input.shape})")
    if target.dtype.kind < 2 and target.dtype is not dtypes.bool_:
        raise RuntimeError(
            f"result type {input.dtype.title} can't be cast to the desired output type {target.dtype.title}"
        )
    if pos_weight is None:
        loss = (1 - target) * input - logsigmoid(input)
    else:
        loss = (1 - target) * input - ((pos_weight - 1) * target + 1) * logsigmoid(input)
    return rename_node(
        reduce_loss(loss if weight is None else loss * weight, reduction), "BinaryCrossEntropyWithLogits"
    )


def nll_loss(input, target, weight=None, size_average=None, ignore_index=-100, reduce=None, reduction="mean"):
    """Return minus the number at the target's index: input (N, C, …), target (N, …)."""
    if reduction not in ("mean", "sum", "none"):
        raise ValueError(f"{reduction} is not a valid value for reduction")
    if target.dtype not in (dtypes.int64, dtypes.uint8):
        raise RuntimeError(f"expected target dtype to be Long or Byte, but got {target.dtype.title}")
    if input.ndim == 1:
        if target.ndim:
            raise ValueError(
                f"Expected input batch_size ({input._array.shape[0]}) to match target batch_size"
                f" ({target._array.shape[0]})."
            )
        out = nll_loss(unsqueeze(input, 0), unsqueeze(target, 0), weight, None, ignore_index, None, reduction)
        return squeeze(out, 0) if reduction == "none" else out
    if input.ndim == 2 and target.ndim > 1:
        raise RuntimeError("0D or 1D target tensor expected, multi-target not supported")
    if input._array.shape[0] != target._array.shape[0] and target.ndim:
        raise ValueError(
            f"Expected input batch_size ({input._array.shape[0]}) to match target batch_size"
            f" ({target._array.shape[0]})."
        )
    expected = [input._array.shape[0], *input._array.shape[2:]]
    if list(target.shape) != expected:
        raise RuntimeError(f"Expected target size {expected}, got {list(target.shape)}")
    classes = input._array.shape[1]
    counted = target._array != ignore_index
    invalid = target._array[counted & ((target._array < 0) | (target._array >= classes))]
    if invalid.size:
        raise IndexError(f"Target {invalid[0]} is out of bounds.")
    index = Tensor(np.where(counted, target._array, 0))
    weights = np.where(counted, 1, 0).astype(input._array.dtype)
    if weight is not None:
        weights = weights * weight._array[index._array]
    loss = masked(-squeeze(gather(input, 1, unsqueeze(index, 1)), 1), ~counted) * Tensor(weights)
    if reduction == "none":
        return rename_node(loss, "NllLoss")
    if reduction == "sum":
        return rename_node(loss.sum(), "NllLoss")
    with np.errstate(all="ignore"):
        return rename_node(loss.sum() / Tensor(weights.sum()), "NllLoss" if input.ndim == 2 else "NllLoss2D")


def cross_entropy(
    input, target, weight=None, size_average=None, ignore_index=-100, reduce=None, reduction="mean", label_smoothing=0.0
):
    """Return −log softmax(x) at the target's index.

    input: (N, C, …). target: indices (N, …), or probabilities of input's shape.
    """
    dim = 0 if input.ndim == 1 else 1
    log_p = log_softmax(input, dim)
    if target.dtype.kind > 1 and target.shape == input.shape:
        target = (
            target
            if not label_smoothing
            else target * (1 - label_smoothing) + label_smoothing / input._array.shape[dim]
        )
        shape = [1] * input.ndim
        shape[dim] = -1
        loss = -(log_p * target if weight is None else log_p * target * weight.reshape(shape)).sum(dim)
        if reduction == "mean":
            return rename_node(loss.sum() / (loss.numel() if loss.ndim else 1), "Div.1")
        return reduce_loss(loss, reduction)
    hard_loss = nll_loss(log_p, target, weight, None, ignore_index, None, reduction)
    if not label_smoothing:
        return hard_loss
    classes, counted = input._array.shape[dim], target._array != ignore_index
    smooth_loss = masked(
        -(log_p if weight is None else log_p * weight.reshape([-1 if i == dim else 1 for i in range(input.ndim)])).sum(
            dim
        ),
        ~counted,
    )
    if reduction == "mean":
        total_weight = counted.sum() if weight is None else weight._array[target._array[counted]].sum()
        smooth_loss = smooth_loss.sum() / float(total_weight)
    elif reduction == "sum":
        smooth_loss = smooth_loss.sum()
    return hard_loss * (1 - label_smoothing) + smooth_loss * (label_smoothing / classes)
