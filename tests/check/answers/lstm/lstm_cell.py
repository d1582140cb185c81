"""Answers to the question `lstm_cell`."""

import torch
from torch import nn

import companion
from companion.check.engine.question import all_questions
from tests.check.answers.lstm.pairs import program
from tests.check.answers.lstm.states import DEFAULTS_OTHERWISE, DEFAULTS_WRONG, STATES_WRONG
from tests.check.answers.lstm.step import STEP, STEP_WRONG
from tests.check.lstm_answers import CELL_HEAD, CELLS, SOURCES

CELL = (
    STEP
    + """
class LSTMCell(nn.Module):
    def __init__(self, input_size, hidden_size):
        super().__init__()
        H = self.H = hidden_size
        self.weight_ih = nn.Parameter(torch.randn(4 * H, input_size))
        self.weight_hh = nn.Parameter(torch.randn(4 * H, H))
        self.bias_ih = nn.Parameter(torch.randn(4 * H))
        self.bias_hh = nn.Parameter(torch.randn(4 * H))

    def forward(self, x, state=None):
        if state is None:
            state = torch.zeros(len(x), self.H), torch.zeros(len(x), self.H)
        h0, c0 = state
        h_n, c_n = step(x, h0, c0, *self.parameters())
        return (h_n, c_n)
"""
)
CELL_WRONG = STEP_WRONG | STATES_WRONG | DEFAULTS_WRONG | {
    "old_c_returned": [("(h_n, c_n)", "(h_n, c0)")],
    "only_h_returned": [("(h_n, c_n)", "h_n")],
    "state_returned_nested": [("(h_n, c_n)", "h_n, (h_n, c_n)")],
    "c_detached": [("f * c + i", "f * c.data + i")],
    "one_bias": [
        ("        self.bias_hh = nn.Parameter(torch.randn(4 * H))\n", ""), ("*self.parameters()",
        "*self.parameters(), 0"),
    ],
    "weights_transposed": [
        ("(4 * H, input_size)", "(input_size, 4 * H)"), ("(4 * H, H)", "(H, 4 * H)"), ("W.T", "W"), ("U.T", "U"),
    ],
}  # fmt: skip


class OfTorchsWeights(nn.LSTMCell):
    """Layer of torch that only provides its first weights."""

    def forward(self, x, state=None):
        h, c = state or (torch.zeros(len(x), self.hidden_size),) * 2
        i, f, g, o = (x @ self.weight_ih.T + self.bias_ih + h @ self.weight_hh.T + self.bias_hh).chunk(4, 1)
        c = f.sigmoid() * c + i.sigmoid() * g.tanh()
        return o.sigmoid() * c.tanh(), c


def through(function):
    class LSTMCell(nn.Module):
        def __init__(self, input_size, hidden_size):
            super().__init__()
            for name, parameter in nn.LSTMCell(input_size, hidden_size).named_parameters():
                setattr(self, name, parameter)

        def forward(self, x, state=None):
            zeros = x.new_zeros(len(x), self.weight_hh.shape[1])
            return function(x, state or (zeros, zeros), [self.weight_ih, self.weight_hh, self.bias_ih, self.bias_hh])

    return LSTMCell


class Inherited(nn.LSTMCell):
    pass


class Hidden(nn.Module):
    def __init__(self, *sizes):
        super().__init__()
        layer = nn.LSTM(*sizes)
        for name, parameter in layer.named_parameters():
            setattr(self, name.removesuffix("_l0"), parameter)
        self.run = layer.forward

    def forward(self, x, state=None):
        states = state and tuple(part.unsqueeze(0) for part in state)
        return tuple(part[0] for part in self.run(x.unsqueeze(0), states)[1])


LIBRARIES = {
    "nn.LSTMCell": nn.LSTMCell,
    "inherited": Inherited,
    "nn.LSTM inside": Hidden,
    "torch.lstm_cell": through(lambda x, state, weights: torch.lstm_cell(x, state, *weights)),
    "torch._VF": through(lambda x, state, weights: torch._VF.lstm_cell(x, state, *weights)),
    "torch.ops": through(lambda x, state, weights: torch.ops.aten.lstm_cell.default(x, state, *weights)),
    "scripted": lambda *sizes: torch.jit.script(nn.LSTMCell(*sizes)),
    "the companion's": companion.LSTMCell,
    "the companion's step": through(
        lambda x, state, weights: companion.layers.lstm.LSTMStep().step(
            companion.layers.step.affine(x, weights[0], weights[2] + weights[3]), state,
            type("W", (), {"hh": weights[1], "hr": None}),
        )
    ),
    "the reference": all_questions()["lstm_cell"].reference(frozenset()),
}  # fmt: skip

PROGRAM = program("lstm_cell", CELL, CELL_WRONG, [
    *DEFAULTS_OTHERWISE,
    ("state_detached", [("h0, c0 = state", "h0, c0 = state[0].detach(), state[1]")]),
    ("default_state_missing", [("state=None", "state")]),
    ("one_bias", [*CELL_WRONG["one_bias"], ("bias_ih", "bias")]),
    *(("library_layer", layer) for layer in LIBRARIES.values()),
], {name: CELL_HEAD + body for name, body in CELLS.items()} | {
    "another program": SOURCES["lstm_cell"],
    "torch's weights": OfTorchsWeights,
})  # fmt: skip
