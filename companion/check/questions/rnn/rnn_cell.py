"""Question `rnn_cell`: the cell as a module."""

import torch
from torch import nn

from companion.check.engine.probe import Probe
from companion.check.engine.question import Question
from companion.check.engine.run_answer import Module
from companion.check.questions.rnn import rnn_step
from companion.check.questions.rnn.rnn_step import STEP_EXCLUSIVE, STEP_MISTAKES, step_reference
from companion.check.questions.weights import WEIGHTS, weights

CELL_MISTAKES = {
    "state_in_tuple": "complaints#tuples",
    "one_bias": "rnn#equation",
    "no_bias": "rnn#equation",
    "weights_transposed": "rnn#batch-of-rows",
    "weights_transposed~ih": "",
    "default_state_missing": "rnn#the-loop",
    "default_state_ones": "rnn#the-loop",
    "default_state_random": "rnn#the-loop",
    "default_state_random~uniform": "",
    "state_kept_between_calls": "rnn#two-results",
}


def cell_reference(mistakes):
    absent = {"one_bias": ["bias_hh"], "no_bias": ["bias_ih", "bias_hh"]}
    turned = [name for name in WEIGHTS[:2] if "weights_transposed" in mistakes]
    turned += ["weight_ih"] if "weights_transposed~ih" in mistakes else []

    def default(x, size):
        if "default_state_missing" in mistakes:
            raise TypeError("forward() missing 1 required positional argument: 'h'")
        if "default_state_ones" in mistakes:
            return torch.ones(len(x), size, dtype=x.dtype)
        if "default_state_random" in mistakes:
            return torch.randn(len(x), size, dtype=x.dtype)
        if "default_state_random~uniform" in mistakes:
            return torch.rand(len(x), size, dtype=x.dtype)
        return torch.zeros(len(x), size, dtype=x.dtype)

    class RNNCell(nn.Module):
        def __init__(self, input_size, hidden_size):
            super().__init__()
            self.hidden_size = hidden_size
            self.kept = None
            missing = [parameter for name in mistakes & set(absent) for parameter in absent[name]]
            for name, parameter in weights(torch.rand, input_size, hidden_size).items():
                if name not in missing:
                    self.register_parameter(name, nn.Parameter(parameter.T if name in turned else parameter))

        def forward(self, x, h=None):
            if h is None:
                h = default(x, self.hidden_size) if self.kept is None else self.kept
            stored = {name: getattr(self, name, None) for name in WEIGHTS}
            new = step_reference(mistakes)(
                x, h, *(parameter.T if name in turned else parameter for name, parameter in stored.items())
            )
            if "state_kept_between_calls" in mistakes:
                self.kept = new
            return new

    return RNNCell


def cell_probes(draw):
    def probe(name, draw, batch, inputs, hidden, state=True, calls=1):
        tensors = {"x": draw(batch, inputs)} | ({"h": draw(batch, hidden)} if state else {})
        options = {"input_size": inputs, "hidden_size": hidden}
        return Probe(name, tensors | weights(draw, inputs, hidden), options, WEIGHTS, tuple(tensors), calls)

    return [
        probe("one_number", draw.few, 1, 1, 1),
        probe("batch_1", draw.few, 1, 3, 2),
        probe("no_state", draw, 2, 4, 3, state=False, calls=2),
        probe("several", draw, 3, 4, 5),
    ]


QUESTION = Question(
    name="rnn_cell",
    answer="RNNCell",
    assignment="rnn",
    task=2,
    points=2,
    place="rnn#equation",
    call=Module(("input_size", "hidden_size"), ("x", "h"), "h_new"),
    truth=nn.RNNCell,
    reference=cell_reference,
    mistakes=CELL_MISTAKES | STEP_MISTAKES,
    probes=cell_probes,
    exclusive=(
        *STEP_EXCLUSIVE,
        frozenset({"default_state_missing", "default_state_ones", "default_state_random", "state_kept_between_calls"}),
        frozenset({"one_bias", "no_bias"}),
        frozenset({"view_for_transpose", "weights_transposed"}),
    ),
    axes=rnn_step.QUESTION.axes,
)
