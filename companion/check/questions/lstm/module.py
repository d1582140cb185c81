"""Mistakes with an LSTM as a module, shared by the cell and the layer."""

import torch
from torch import nn

from companion.check.questions.lstm.step import EXCLUSIVE
from companion.check.questions.weights import WEIGHTS, weights

MODULE_MISTAKES = {
    "state_swapped": "lstm#state-order",
    "state_read_as_c_h": "lstm#state-order",
    "state_returned_as_c_h": "lstm#state-order",
    "one_bias": "lstm#two-biases",
    "weights_transposed": "lstm#one-product",
    "state_detached": "forget_bias#gradient-path",
    "state_detached~h": "",
    "default_state_missing": "lstm#from-cell-to-layer",
    "default_state_ones": "lstm#from-cell-to-layer",
    "default_state_random": "lstm#from-cell-to-layer",
    "default_state_random~uniform": "",
    "state_kept_between_calls": "lstm#from-cell-to-layer",
    "state_kept_between_calls~detached": "",
}
MODULE_EXCLUSIVE = (
    *EXCLUSIVE,
    frozenset(
        {"state_swapped", "state_read_as_c_h", "state_returned_as_c_h", "only_h_returned", "only_output_returned"}
    ),
    frozenset({"state_detached", "c_detached", "state_detached_each_step"}),
    frozenset({"default_state_missing", "default_state_ones", "default_state_random"}),
)


def parameters_reference(module, mistakes, inputs, hidden, ending=""):
    """Add the parameters to a module: as torch does, or with one bias, or transposed."""
    for name, parameter in weights(torch.rand, inputs, hidden, gates=4).items():
        if name == "bias_hh" and "one_bias" in mistakes:
            continue
        transposed = parameter.dim() == 2 and "weights_transposed" in mistakes
        module.register_parameter(name + ending, nn.Parameter(parameter.T if transposed else parameter))


def stored_reference(module, mistakes, ending=""):
    """Return the parameters as `gates_reference` takes them."""
    parameters = [getattr(module, name + ending, None) for name in WEIGHTS]
    if "weights_transposed" not in mistakes:
        return parameters
    return [weight.T if weight is not None and weight.dim() == 2 else weight for weight in parameters]


def default_reference(mistakes, like, *shape):
    if "default_state_missing" in mistakes:
        raise TypeError("cannot unpack non-iterable NoneType object")
    make = torch.zeros
    if "default_state_ones" in mistakes:
        make = torch.ones
    if "default_state_random" in mistakes:
        make = torch.randn
    if "default_state_random~uniform" in mistakes:
        make = torch.rand
    return make(*shape, dtype=like.dtype), make(*shape, dtype=like.dtype)
