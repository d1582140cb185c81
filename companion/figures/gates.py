"""Figure of one LSTM cell whose input, states and weights are single numbers."""

import torch
from traitlets import Int, List

from companion.figures.figure import Figure, Number, script
from companion.layers.lstm import LSTMCell

# The cell should keep the first input; the others are small disturbances.
INPUTS = [1.0, 0.2, -0.3, 0.3, 0.1, -0.2, 0.3, -0.1, 0.2, -0.3, 0.3, 0.2, -0.2, 0.3, -0.3, 0.1, 0.3, -0.1, 0.2, 0.3]


def four(*start: float, limit: float) -> List:
    """Return a trait of four numbers, one for each gate in torch's order i, f, g, o."""
    return List(Number(min=-limit, max=limit), list(start), minlen=4, maxlen=4).tag(sync=True)


class Gates(Figure):
    """An LSTM cell, and a sequence of 20 steps that runs through it.

    x, h, c: input x_t, states h_{t-1} and c_{t-1}, from -2 to 2, c from -4 to 4. bias: b_ih + b_hh of i, f, g, o,
    from -10 to 10. weight_ih, weight_hh: likewise. t: the step of the sequence that x, h and c are taken from, 0 if
    they are set by hand. closed: the step at which the forget gate is held shut, 0 for none. shown: the last stage
    of the computation whose values are drawn, 1 to 6.
    """

    _esm = script("gates")
    x = Number(1.0, min=-2, max=2).tag(sync=True)
    h = Number(0.0, min=-2, max=2).tag(sync=True)
    c = Number(1.0, min=-4, max=4).tag(sync=True)
    bias = four(0.0, 0.0, 0.0, 0.0, limit=10)
    weight_ih = four(8.0, 0.0, 2.0, 0.0, limit=10)
    weight_hh = four(0.0, 0.0, 0.5, 1.0, limit=10)
    inputs = List(Number(), INPUTS, minlen=20, maxlen=20).tag(sync=True)
    t = Int(0, min=0, max=20).tag(sync=True)
    closed = Int(0, min=0, max=20).tag(sync=True)
    shown = Int(6, min=1, max=6).tag(sync=True)
    settings = ("x", "h", "c", "bias", "weight_ih", "weight_hh", "inputs", "t", "closed", "shown")

    def cell(self) -> LSTMCell:
        """Return a `companion.LSTMCell` in float64 with the figure's weights and biases."""
        cell = LSTMCell(1, 1, dtype=torch.float64)
        with torch.no_grad():
            cell.weight_ih[:, 0] = torch.tensor(self.weight_ih)
            cell.weight_hh[:, 0] = torch.tensor(self.weight_hh)
            cell.bias_ih[:] = torch.tensor(self.bias)
            cell.bias_hh.zero_()
        return cell
