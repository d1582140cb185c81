"""Answers to the question `rnn_cell`."""

from torch import nn

import companion
from tests.check.answers import Program, changed
from tests.check.answers.rnn.rnn_step import STEP, STEP_WRONG

CELL = (
    STEP
    + """
class RNNCell(nn.Module):
    def __init__(self, input_size, hidden_size):
        super().__init__()
        self.hidden_size = hidden_size
        self.last = None
        self.weight_ih = nn.Parameter(torch.randn(hidden_size, input_size))
        self.weight_hh = nn.Parameter(torch.randn(hidden_size, hidden_size))
        self.bias_ih = nn.Parameter(torch.zeros(hidden_size))
        self.bias_hh = nn.Parameter(torch.zeros(hidden_size))

    def forward(self, x, h=None):
        if h is None:
            h = torch.zeros(x.size(0), self.hidden_size)
        new = rnn_step(x, h, self.weight_ih, self.weight_hh, self.bias_ih, self.bias_hh)
        return new
"""
)
MADE_IH, MADE_HH = (f"        self.bias_{side} = nn.Parameter(torch.zeros(hidden_size))\n" for side in ("ih", "hh"))
BIASES, ZEROS = "self.bias_ih, self.bias_hh)", "h = torch.zeros(x.size(0), self.hidden_size)"
DEFAULT = f"        if h is None:\n            {ZEROS}\n"
IH_TRANSPOSED = [
    ("torch.randn(hidden_size, input_size)", "torch.randn(input_size, hidden_size)"),
    ("weight_ih.T", "weight_ih"),
]
CELL_WRONG = STEP_WRONG | {
    "one_bias": [(MADE_HH, ""), (BIASES, "self.bias_ih, 0)")],
    "no_bias": [(MADE_HH, ""), (MADE_IH, ""), (BIASES, "0, 0)")],
    "weights_transposed": [*IH_TRANSPOSED, ("weight_hh.T", "weight_hh")],
    "default_state_missing": [("h=None", "h"), (DEFAULT, "")],
    "default_state_ones": [("torch.zeros(x", "torch.ones(x")],
    "default_state_random": [("torch.zeros(x", "torch.randn(x")],
    "state_kept_between_calls": [
        (ZEROS, f"{ZEROS} if self.last is None else self.last"),
        ("return new", "self.last = new\n        return new"),
    ],
}


CELLS = {
    "parameters in another order": [
        ("        self.weight_ih = nn.Parameter(torch.randn(hidden_size, input_size))\n", ""),
        (MADE_HH, f"{MADE_HH}        self.weight_ih = nn.Parameter(torch.randn(hidden_size, input_size))\n"),
    ],
    "a buffer for the first state": [
        ("self.last = None", "self.register_buffer('zero', torch.zeros(1, hidden_size))"),
        (ZEROS, "h = self.zero.expand(len(x), -1)"),
    ],
    "call in place of forward": [("def forward", "def __call__")],
    "a module for the tanh": [("self.last = None", "self.activation = nn.Tanh()")],
    "weights of torch's own layer": [
        ("        self.last = None\n", "        start = nn.RNNCell(input_size, hidden_size)\n"),
        ("torch.randn(hidden_size, input_size)", "start.weight_ih.detach().clone()"),
    ],
}

# Two nn.Linear are a right step with wrong names, which are reported together with other mistakes.
LINEARS = """
    class RNNCell(nn.Module):
        def __init__(self, input_size, hidden_size):
            super().__init__()
            self.i2h = nn.Linear(input_size, hidden_size)
            self.h2h = nn.Linear(hidden_size, hidden_size)

        def forward(self, x, h=None):
            h = torch.zeros(len(x), self.h2h.in_features) if h is None else h
            return torch.tanh(self.i2h(x) + self.h2h(h))
"""

PROGRAM = Program(CELL, CELL_WRONG, also_wrong=[
    ("weights_transposed", IH_TRANSPOSED),
    ("default_state_random", [("torch.zeros(x", "torch.rand(x")]),
    ("default_state_missing", [(DEFAULT, "")]),
    ("one_bias", [(MADE_IH, ""), (BIASES, "0, self.bias)"), ("self.bias_hh =", "self.bias =")]),
    ("library_layer", nn.RNNCell),
    ("library_layer", companion.RNNCell),
    ("parameter_names", LINEARS),
    (("parameter_names", "sigmoid_for_tanh"), LINEARS.replace("torch.tanh", "torch.sigmoid")),
    (("parameter_names", "default_state_ones"), changed(LINEARS, ("i2h", "input"), ("h2h", "recurrent"), ("zeros",
    "ones"))),
], also_right=CELLS, pairs=[
    ("one_bias", "tanh_missing"),
    ("default_state_missing", "recurrent_weights_transposed"),
    ("default_state_random", "sigmoid_for_tanh"),
    ("weights_transposed", "tanh_on_input_only"),
    ("state_detached", "bias_ih_missing"),
])  # fmt: skip
