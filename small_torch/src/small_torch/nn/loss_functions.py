"""Losses as functions of tensors."""

import warnings

import numpy as np

from .. import dtypes
from ..absent import EXPLANATION
from ..arithmetic import zeros
from ..comparing import where
from ..elementwise import Formula, quiet, record_formula
from ..exponentials import log_softmax
from ..gathering import scatter
from ..memory import arrange
from ..messages import error, refuse
from ..operands import operands
from ..shapes import broadcast_tensors
from ..tape import rename_node
from ..tensor import Tensor, record
from .activations import logsigmoid
from .checks import check_fractions


def parse_reduction(reduction, size_average=None, reduce=None):
    """Return how to reduce a loss: "none", "mean" or "sum". The other two are torch's older arguments."""
    if size_average is not None or reduce is not None:
        sums, means = reduce is None or reduce, size_average is None or size_average
        reduction = "none" if not sums else "mean" if means else "sum"
        text = f"size_average and reduce args will be deprecated, please use reduction='{reduction}' instead."
        warnings.warn(text, stacklevel=4)
    refuse(reduction not in ("none", "mean", "sum"), "reduction", reduction)
    return reduction


def reduce_loss(loss, reduction):
    return loss if reduction == "none" else getattr(loss, reduction)()


def check_cast(source, like):
    """Raise RuntimeError if numbers of source's type do not fit into the other's."""
    refuse(source.dtype.kind > like.dtype.kind, "cast", source.dtype.title, like.dtype.title)


def check_constant(function, weight):
    """Raise RuntimeError for a weight that requires a gradient, which the loss does not compute."""
    refuse(weight is not None and weight.requires_grad, "weight gradient", function)


def broadcast_pair(input, target, weight=None):
    """Return input and target in one shape; warn if their shapes differ, as torch does."""
    if target.size() != input.size():
        warnings.warn(
            f"Using a target size ({target.size()}) that is different to the input size ({input.size()}). This"
            " will likely lead to incorrect results due to broadcasting. Please ensure they have the same size.",
            stacklevel=3,
        )
    refuse(weight is not None, f"the weight of this loss {EXPLANATION}", kind=NotImplementedError)
    return (input, target) if target.shape == input.shape else broadcast_tensors(input, target)


def loss_of_difference(name, kernel, value, slope):
    """Make a loss of d = input − target from its value and its slope, functions of d and one option.

    value works on arrays, slope on arrays and tensors. kernel: as for `check_fractions`.
    """

    def compute(a, b, reduction, option):
        losses = arrange(value(a - b, option), a.strides, b.strides)
        array = losses if reduction == "none" else losses.sum()
        return np.asarray(array / losses.size if reduction == "mean" else array, losses.dtype)

    def loss(input, target, reduction, option=None):
        a, b = operands(input, target)
        check_fractions(kernel, a)
        count = a.numel() if reduction == "mean" else 1

        def way(g, a, b):
            return g / count * slope(a - b, option)

        array = quiet.run(compute, a._array, b._array, reduction, option)
        return record_formula(Formula(name, way, lambda g, a, b: -way(g, a, b)), array, a, b)

    return loss


squared = loss_of_difference("MseLoss", "mse_cpu", lambda d, _: d * d, lambda d, _: 2 * d)
smooth = loss_of_difference(
    "SmoothL1Loss",
    "smooth_l1_cpu",
    lambda d, beta: np.where(abs(d) < beta, 0.5 * d * d / beta, abs(d) - 0.5 * beta),
    lambda d, beta: (d / beta).clip(-1, 1),
)
huber = loss_of_difference(
    "HuberLoss",
    "huber_cpu",
    lambda d, delta: np.where(abs(d) < delta, 0.5 * d * d, delta * (abs(d) - 0.5 * delta)),
    lambda d, delta: d.clip(-delta, delta),
)


def mse_loss(input, target, size_average=None, reduce=None, reduction="mean", weight=None):
    """Return (x − target)²."""
    input, target = broadcast_pair(input, target, weight)
    return squared(input, target, parse_reduction(reduction, size_average, reduce))


def l1_loss(input, target, size_average=None, reduce=None, reduction="mean", weight=None):
    """Return |x − target|."""
    input, target = broadcast_pair(input, target, weight)
    return reduce_loss((input - target).abs(), parse_reduction(reduction, size_average, reduce))


def smooth_l1_loss(input, target, size_average=None, reduce=None, reduction="mean", beta=1.0):
    """Return |x − target|, smoothed by a parabola where it is below beta."""
    input, target = broadcast_pair(input, target)
    reduction = parse_reduction(reduction, size_average, reduce)
    refuse(not beta >= 0, "smooth_l1_loss does not support negative values for beta.")
    return smooth(input, target, reduction, beta) if beta else reduce_loss((input - target).abs(), reduction)


def huber_loss(input, target, reduction="mean", delta=1.0, weight=None):
    """Return ½ (x − target)², continued by lines where the distance is above delta. The result has the input's type."""
    input, target = broadcast_pair(input, target, weight)
    refuse(not delta > 0, "huber_loss does not support non-positive values for delta.")
    common, _ = operands(input, target)
    check_cast(common, input)
    check_fractions("huber_cpu", common)
    out = huber(input, target.to(input.dtype), parse_reduction(reduction), delta)
    if target.dtype is input.dtype:
        return out

    def refuse_gradient(g):
        found, expected = (target, input) if input.requires_grad else (input, target)
        raise error("huber types", found.dtype.title, expected.dtype.title)

    return record(out._array, "HuberLoss", (input, target), refuse_gradient)


def binary_cross_entropy(input, target, weight=None, size_average=None, reduce=None, reduction="mean"):
    """Return −( y log x + (1 − y) log(1 − x) ), with logarithms of at least −100."""
    reduction = parse_reduction(reduction, size_average, reduce)
    refuse(target.size() != input.size(), "probabilities and target", target.size(), input.size())
    refuse(target.dtype is not input.dtype, "Found dtype {} but expected {}", target.dtype.title, input.dtype.title)
    check_constant("binary_cross_entropy", weight)
    weight = 1 if weight is None else weight.expand(np.broadcast_shapes(target.shape, weight.shape))
    check_fractions("binary_cross_entropy", input)
    for name, tensor in (("input", input), ("target", target)):
        refuse(not ((tensor._array >= 0) & (tensor._array <= 1)).all(), "probabilities", name)
    x, y = input.detach(), target.detach()
    losses = (1 - x).log().clamp(min=-100) * (y - 1) - x.log().clamp(min=-100) * y
    array = reduce_loss(losses.mul_(weight), reduction)._array

    def rule(g):
        g = (g / losses.numel() if reduction == "mean" else g) * weight
        slope = (input - target) / ((1 - input) * input).clamp_min(1e-12)
        return g * slope, g * ((1 - input).log() - input.log()) if target.requires_grad else None

    return record(array, "BinaryCrossEntropy", (input, target), rule, (input, target))


def binary_cross_entropy_with_logits(
    input: Tensor, target: Tensor, weight=None, size_average=None, reduce=None, reduction="mean", pos_weight=None
):
    """Return the binary cross entropy of σ(x), without overflow."""
    reduction = parse_reduction(reduction, size_average, reduce)
    refuse(target.size() != input.size(), "logits and target", target.size(), input.size())
    check_constant("binary_cross_entropy_with_logits", weight)
    log_p = logsigmoid(input)
    if pos_weight is not None:
        log_p = as_in_place(log_p * ((pos_weight - 1) * target + 1), log_p)
    one = target if target.dtype is dtypes.bool_ else 1  # torch's error for bools is that of two bools
    loss = as_in_place((one - target) * input - log_p, target)
    loss = loss if weight is None else as_in_place(loss * weight, loss)
    return rename_node(reduce_loss(loss, reduction), "BinaryCrossEntropyWithLogits", input, target, weight, pos_weight)


def as_in_place(new, old):
    """Return a tensor in the type that it has if torch writes it into the old one; raise torch's error if it cannot."""
    check_cast(new, old)
    refuse(new.shape != old.shape, "broadcast result", list(old.shape), list(new.shape))
    return new.to(old.dtype)


def kl_div(input: Tensor, target: Tensor, size_average=None, reduce=None, reduction="mean", log_target=False):
    """Return target · (log target − x): x are logarithms of probabilities; so are targets with log_target."""
    if reduction == "mean" and size_average is None and reduce is None:
        warnings.warn(
            "reduction: 'mean' divides the total loss by both the batch size and the support size.'batchmean' divides"
            " only by the batch size, and aligns with the KL div math definition.'mean' will be changed to behave the"
            " same as 'batchmean' in the next major release.",
            stacklevel=3,
        )
    by_batch = reduction == "batchmean" and size_average is None and reduce is None
    reduction = parse_reduction("sum" if by_batch else reduction, size_average, reduce)
    refuse(min(input.dtype.kind, target.dtype.kind) < 2, "kl_div: Integral inputs not supported.")
    if log_target:
        loss = target.exp() * (target - input)
    else:
        loss = where(target == 0, 0.0, target * target.log()) - target * input
    loss = reduce_loss(loss, reduction)
    return loss / input.size(0) if by_batch and input.ndim else loss


def check_targets(input, target):
    """Raise torch's error for class targets whose shape does not fit the input, (C), (N, C) or (N, C, …)."""
    shape, target_shape = list(input.shape), list(target.shape)
    refuse(not shape, "Expected 1 or more dimensions (got 0)", kind=ValueError)
    if len(shape) == 1:
        refuse(target_shape not in ([], [1]), "single target", *target_shape[:1])
        return
    refuse(target_shape[:1] != shape[:1], "target batch", shape[0], *target_shape[:1] or [0])
    refuse(len(shape) == 2 and len(target_shape) > 1, "0D or 1D target tensor expected, multi-target not supported")
    refuse(target_shape != [shape[0], *shape[2:]], "target sizes", [shape[0], *shape[2:]], target_shape)


def nll_loss(
    input: Tensor, target: Tensor, weight=None, size_average=None, ignore_index=-100, reduce=None, reduction="mean"
):
    """Return minus the number at the target's index, times the weight of its class.

    input: (N, C, …) or (C). target: (N, …) or (). The mean is weighted.
    """
    reduction = parse_reduction(reduction, size_average, reduce)
    check_targets(input, target)
    is_flat = input.ndim < 3
    check_constant("nll_loss_forward" if is_flat else "nll_loss2d_forward", weight)
    dim = min(input.ndim - 1, 1)
    classes = input.size(dim)
    check_fractions("nll_loss_out_frame" if is_flat else "nll_loss2d_forward_out_frame", input)
    refuse(target.dtype not in (dtypes.int64, dtypes.uint8), "target type", target.dtype.title)
    if weight is not None:
        flat = f" {classes} classes or no classes but got weight tensor of shape: {list(weight.shape)}"
        refuse(weight.shape != (classes,), "class weights", flat if is_flat else " or no classes")
        refuse(weight.dtype is not input.dtype, "class weight type", input.dtype.title, weight.dtype.title)
    x = input._array
    index = target._array.astype(np.int64).reshape(x.shape[:dim] + (1,) + x.shape[dim + 1 :])
    counted = index != ignore_index
    invalid = index[counted & ((index < 0) | (index >= classes))]
    refuse(invalid.size, "Target {} is out of bounds.", *invalid[:1], kind=IndexError)
    index = np.where(counted, index, 0)
    factors = counted.astype(x.dtype) if weight is None else counted * weight._array[index]
    with np.errstate(all="ignore"):
        losses = np.where(counted, -np.take_along_axis(x, index, dim) * factors, x.dtype.type(0))
        scales = np.where(counted, factors / factors.sum(), 0) if reduction == "mean" else factors
        array = losses.squeeze(dim) if reduction == "none" else losses.sum()
        array = np.asarray(array / factors.sum() if reduction == "mean" else array, x.dtype)
    title = "NllLoss" if is_flat else "NllLoss2D"

    def rule(g):
        g = (g.unsqueeze(dim) if reduction == "none" and g.ndim else g) * Tensor(-scales)
        out = scatter(Tensor(np.zeros(x.shape, x.dtype)), dim, Tensor(index), g)
        # torch's gradient has a node, in which the input counts, too
        return record(out._array, title, (out, input), lambda h: (h, zeros(h)))

    return record(array, title, (input,), rule, [tensor for tensor in (input, target, weight) if tensor is not None])


def cross_entropy(
    input: Tensor,
    target: Tensor,
    weight=None,
    size_average=None,
    ignore_index=-100,
    reduce=None,
    reduction="mean",
    label_smoothing=0.0,
):
    """Return −log softmax(x) at the target's index.

    input: (N, C, …) or (C). target: indices (N, …) or (), or probabilities of input's shape.
    """
    reduction = parse_reduction(reduction, size_average, reduce)
    dim, probabilities = 0 if input.ndim == 1 else 1, input.shape == target.shape
    if probabilities:
        refuse(target.dtype.kind < 2, "probability type", target.dtype.title)
        refuse(ignore_index >= 0, "ignore_index is not supported for floating point target")
    refuse(not probabilities and label_smoothing > 1, "label smoothing", label_smoothing)
    refuse(not input.ndim, "Dimension specified as 1 but tensor has no dimensions", kind=IndexError)
    classes = input.size(dim)
    wrong = probabilities and weight is not None and weight.shape != (classes,)
    refuse(wrong, "class weights of probabilities", classes, weight)
    log_p = log_softmax(input, dim)
    if not probabilities:
        loss = nll_loss(log_p, target, weight, None, ignore_index, None, reduction)
        if label_smoothing <= 0:
            return loss
    losses = -log_p if weight is None else -log_p * weight.reshape([-1] + [1] * (input.ndim - dim - 1))
    if probabilities:
        if label_smoothing > 0:
            target = target * (1 - label_smoothing) + label_smoothing / classes
        losses = (losses * target).sum(dim)
        return losses.sum() / (input.numel() / classes) if reduction == "mean" else reduce_loss(losses, reduction)
    counted = target != ignore_index
    uniform = reduce_loss(losses.sum(dim).masked_fill(~counted, 0.0), "none" if reduction == "none" else "sum")
    if reduction == "mean":
        uniform = uniform / (counted.sum() if weight is None else weight[target[counted]].sum())
    return loss * (1 - label_smoothing) + uniform * (label_smoothing / classes)


__all__ = """
    binary_cross_entropy binary_cross_entropy_with_logits cross_entropy huber_loss kl_div l1_loss mse_loss nll_loss
    smooth_l1_loss
""".split()
