"""Losses as modules, which call `functional`. reduction: "mean", "sum" or "none"."""

from .layers import as_module


def loss(name, function, doc, *tensors, **options):
    """Make the module of a loss.

    Input and target: (*), or (B, C, *) and classes (B, *). Output: a number, or a loss for each target. tensors: names
    of weights that it keeps as buffers; the first may be positional. options: its arguments' defaults.
    """
    return as_module(
        name, lambda self, input, target: self._call_function(input, target), doc,
        function=function, tensors=tensors, options=options | {"reduction": "mean"}, max_positional=len(tensors[:1]),
    )  # fmt: skip


MSELoss = loss("MSELoss", "mse_loss", "The squared difference.")
L1Loss = loss("L1Loss", "l1_loss", "The absolute difference.")
BCELoss = loss(
    "BCELoss", "binary_cross_entropy", "-log of p where the target is 1, and of 1 - p where it is 0.", "weight"
)
BCEWithLogitsLoss = loss(
    "BCEWithLogitsLoss",
    "binary_cross_entropy_with_logits",
    "The binary cross entropy of σ( x ).",
    "weight",
    "pos_weight",
)
NLLLoss = loss("NLLLoss", "nll_loss", "-log p of the target, of log p.", "weight", ignore_index=-100)
CrossEntropyLoss = loss(
    "CrossEntropyLoss",
    "cross_entropy",
    "-log softmax( x ) of the target.",
    "weight",
    ignore_index=-100,
    label_smoothing=0.0,
)
