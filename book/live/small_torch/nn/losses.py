"""Losses, as modules: what they compute is in `functional`. reduction: "mean", "sum" or "none"."""

from . import functional as F
from .module import Module


class _Loss(Module):
    def __init__(self, *, reduction="mean"):
        super().__init__()
        self.reduction = reduction


class MSELoss(_Loss):
    """The squared difference."""

    def forward(self, input, target):
        """input, target: (*). Returns a number, or (*)."""
        return F.mse_loss(input, target, reduction=self.reduction)


class L1Loss(_Loss):
    """The absolute difference."""

    def forward(self, input, target):
        """input, target: (*). Returns a number, or (*)."""
        return F.l1_loss(input, target, reduction=self.reduction)


class _WeightedLoss(_Loss):
    """With a weight for each class, a buffer."""

    def __init__(self, weight=None, *, reduction="mean"):
        super().__init__(reduction=reduction)
        self.register_buffer("weight", weight)


class BCELoss(_WeightedLoss):
    """-log of the probability of what is the case: p where the target is 1, 1 - p where it is 0."""

    def forward(self, input, target):
        """input: probabilities (*). target: (*), from 0 to 1. Returns a number, or (*)."""
        return F.binary_cross_entropy(input, target, self.weight, reduction=self.reduction)


class BCEWithLogitsLoss(_WeightedLoss):
    """The same of σ( x )."""

    def __init__(self, weight=None, *, reduction="mean", pos_weight=None):
        super().__init__(weight, reduction=reduction)
        self.register_buffer("pos_weight", pos_weight)

    def forward(self, input, target):
        """input: (*). target: (*), from 0 to 1. Returns a number, or (*)."""
        return F.binary_cross_entropy_with_logits(
            input, target, self.weight, pos_weight=self.pos_weight, reduction=self.reduction
        )


class NLLLoss(_WeightedLoss):
    """-log p of the target, of log p. ignore_index: the target where nothing is asked."""

    def __init__(self, weight=None, *, ignore_index=-100, reduction="mean"):
        super().__init__(weight, reduction=reduction)
        self.ignore_index = ignore_index

    def forward(self, input, target):
        """input: log p (B, C, *). target: classes (B, *). Returns a number, or (B, *)."""
        return F.nll_loss(input, target, self.weight, ignore_index=self.ignore_index, reduction=self.reduction)


class CrossEntropyLoss(NLLLoss):
    """The same of log softmax( x ). label_smoothing: the share of the target that all classes have in common."""

    def __init__(self, weight=None, *, ignore_index=-100, reduction="mean", label_smoothing=0.0):
        super().__init__(weight, ignore_index=ignore_index, reduction=reduction)
        self.label_smoothing = label_smoothing

    def forward(self, input, target):
        """input: (B, C, *). target: classes (B, *), or probabilities (B, C, *). Returns a number, or (B, *)."""
        return F.cross_entropy(
            input, target, self.weight, ignore_index=self.ignore_index, reduction=self.reduction,
            label_smoothing=self.label_smoothing,
        )  # fmt: skip
