"""Losses, as modules: what they compute is in `functional`. reduction: "mean", "sum" or "none"."""

from .layers import as_module


def loss(name, function, doc, *tensors, **options):
    """Make the module of a loss: input and target (*), or (B, C, *) and classes (B, *); output a number, or a loss for
    each.

    tensors: the names of weights that it keeps as buffers; the first may be given by place. options: its arguments'
    defaults.
    """
    return as_module(
        name, lambda self, input, target: self._computed(input, target), doc,
        function=function, tensors=tensors, options=options | {"reduction": "mean"}, by_place=len(tensors[:1]),
    )  # fmt: skip


MSELoss = loss("MSELoss", "mse_loss", "The squared difference.")
L1Loss = loss("L1Loss", "l1_loss", "The absolute difference.")
BCELoss = loss(
    "BCELoss", "binary_cross_entropy", "-log of p where the target is 1, and of 1 - p where it is 0.", "weight"
)
BCEWithLogitsLoss = loss(
    "BCEWithLogitsLoss", "binary_cross_entropy_with_logits", "The same of σ( x ).", "weight", "pos_weight"
)
NLLLoss = loss("NLLLoss", "nll_loss", "-log p of the target, of log p.", "weight", ignore_index=-100)
CrossEntropyLoss = loss(
    "CrossEntropyLoss",
    "cross_entropy",
    "The same of log softmax( x ).",
    "weight",
    ignore_index=-100,
    label_smoothing=0.0,
)
