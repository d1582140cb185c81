"""Check parameters with other names, and separate ones for each gate, layer and direction."""

import itertools

import pytest
import torch
from torch import nn

from companion.check import check
from companion.check.engine.module_parameters import set_parameters
from companion.check.engine.probe import Outcome

pytestmark = pytest.mark.usefixtures("short_search")


def by_gate(x_name, h_name, gates, shown=torch.tanh):
    """Return a cell with a Linear for each gate and each of x and h, whose names have the gate for `?`."""

    class LSTMCell(nn.Module):
        def __init__(self, input_size, hidden_size):
            super().__init__()
            self.size = hidden_size
            for gate in gates:
                self.add_module(h_name.replace("?", gate), nn.Linear(hidden_size, hidden_size))
                self.add_module(x_name.replace("?", gate), nn.Linear(input_size, hidden_size))

        def gated(self, x, h, gate):
            from_x, from_h = (getattr(self, name.replace("?", gate)) for name in (x_name, h_name))
            return from_x(x) + from_h(h)

        def forward(self, x, state=None):
            h, c = state if state is not None else (x.new_zeros(len(x), self.size),) * 2
            f, i, g, o = (self.gated(x, h, gate) for gate in gates)
            c = f.sigmoid() * c + i.sigmoid() * g.tanh()
            return o.sigmoid() * shown(c), c

    return LSTMCell


@pytest.mark.parametrize("names", [
    ("W_i?", "W_h?", "figo"),
    ("W?", "U?", "fico"),
    ("x2?", "h2?", "figo"),
    ("?_x", "?_h", "fico"),
    ("x_?_gate", "h_?_gate", ["forget", "input", "cell", "output"]),
])  # fmt: skip
def test_linear_layers_for_each_gate_are_only_misnamed(names):
    result = check("lstm_cell", by_gate(*names))
    assert result.mistakes == ["parameter_names"] and "`weight_ih` is called `" in repr(result)
    wrong = by_gate(*names, shown=lambda c: c)
    assert check("lstm_cell", wrong).mistakes == ["tanh_missing_on_c", "parameter_names"]


@pytest.mark.parametrize("name", [
    "back_W_?_1", pytest.param("l1.back.W_?", marks=pytest.mark.heavy), pytest.param("W_?1_back",
    marks=pytest.mark.heavy),
])  # fmt: skip
@pytest.mark.parametrize(
    "words", ["ifgo", pytest.param(["input", "forget", "candidate", "output"], marks=pytest.mark.heavy)]
)
def test_weights_for_each_gate_are_matched_with_layers_and_directions(name, words):
    H, wanted, made = 2, {}, nn.Module()
    for layer, back in itertools.product(range(2), range(2)):
        for side, letter in (("ih", "W"), ("hh", "U")):
            weight = wanted[f"weight_{side}_l{layer}" + "_reverse" * back] = torch.rand(4 * H, 2 * H if layer else H)
            path = name.replace("W", letter).replace("1", str(layer)).replace("back", "rev" if back else "forward")
            for word in words:
                *inner, last = path.replace("?", word).split(".")
                within = made
                for piece in inner:
                    within._modules.setdefault(piece, nn.Module())
                    within = within._modules[piece]
                within.register_parameter(last, nn.Parameter(torch.zeros(H, weight.shape[1])))
    made.forward = lambda: None
    outcome = Outcome()
    parts = set_parameters(made, wanted, outcome)
    assert all(torch.equal(torch.cat(parts[name]), wanted[name]) for name in wanted)
    assert {*outcome.notes} == {"renamed"}
    assert all(("rev" in other) == ("reverse" in name) for name, other in outcome.notes["renamed"])
