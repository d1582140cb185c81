"""Figure of one LSTM cell whose input, states and weights are single numbers, or of one unit of a trained layer."""

from typing import Any

import torch
from torch import Tensor, nn
from traitlets import Dict, Enum, Int, List, TraitError, validate

from companion.figures.figure import Figure, Number, script
from companion.layers.lstm import LSTM, LSTMCell

# The cell should keep the first input; the others are small disturbances.
INPUTS = [1.0, 0.2, -0.3, 0.3, 0.1, -0.2, 0.3, -0.1, 0.2, -0.3, 0.3, 0.2, -0.2, 0.3, -0.3, 0.1, 0.3, -0.1, 0.2, 0.3]
LIMIT = 10  # of weights and biases
LONGEST = 200


def four(*start: float) -> List:
    """Return a trait of four numbers, one for each gate in torch's order i, f, g, o."""
    return List(Number(min=-LIMIT, max=LIMIT), list(start), minlen=4, maxlen=4).tag(sync=True)


def sequence(inputs: Any, features: int) -> Tensor:
    """Return the inputs as float64 (T, features). Refuse other shapes, and numbers that are not finite."""
    x = torch.as_tensor(inputs).detach().to("cpu", torch.float64)
    x = x[:, None] if x.ndim == features == 1 else x
    if x.ndim != 2 or x.shape[1] != features or not 2 <= len(x) <= LONGEST:
        raise ValueError(f"inputs should have shape (T, {features}) with T from 2 to {LONGEST}, not {tuple(x.shape)}")
    if steps := (~x.isfinite().all(dim=1)).nonzero().flatten().tolist():
        raise ValueError(f"inputs should be finite, but step {steps[0]} is {x[steps[0]].tolist()}")
    return x


class Gates(Figure):
    """An LSTM cell, and a sequence of 20 steps that runs through it.

    x, h, c: input x_t, states h_{t-1} and c_{t-1}, from -2 to 2, c from -4 to 4. bias: b_ih + b_hh of i, f, g, o,
    from -10 to 10. weight_ih, weight_hh: likewise. t: the step of the sequence that x, h and c are taken from, 0 if
    they are set by hand. closed: the step at which the forget gate is held shut, 0 for none. shown: the last stage
    of the computation whose values are drawn, 1 to 6. line: the value that is drawn as a line over the steps, "c",
    "h", "i", "f", "g" or "o".
    """

    _esm = script("gates")
    x = Number(1.0, min=-2, max=2).tag(sync=True)
    h = Number(0.0, min=-2, max=2).tag(sync=True)
    c = Number(0.0, min=-4, max=4).tag(sync=True)
    bias = four(0.0, 0.0, 0.0, 0.0)
    weight_ih = four(8.0, 0.0, 2.0, 0.0)
    weight_hh = four(0.0, 0.0, 0.5, 1.0)
    inputs = List(Number(), INPUTS, minlen=20, maxlen=20).tag(sync=True)
    t = Int(1, min=0, max=LONGEST).tag(sync=True)
    closed = Int(0, min=0, max=LONGEST).tag(sync=True)
    shown = Int(6, min=1, max=6).tag(sync=True)
    line = Enum(["c", "h", "i", "f", "g", "o"], "c").tag(sync=True)
    own = Dict(read_only=True).tag(sync=True)  # what the page needs of the reader's layer
    settings = ("x", "h", "c", "bias", "weight_ih", "weight_hh", "inputs", "t", "closed", "shown", "line")
    pictured = {"bias": [-6, 6, 0, 0], "t": 2}

    @validate("t", "closed")
    def _check_step(self, proposal):
        least, most = int(proposal.trait.name == "t" and bool(self.own)), len(self.own.get("inputs", self.inputs))
        if not least <= proposal.value <= most:
            raise TraitError(f"{proposal.trait.name} must be from {least} to {most}, not {proposal.value}")
        return proposal.value

    def cell(self) -> LSTMCell:
        """Return a `companion.LSTMCell` in float64 with the figure's weights and biases."""
        cell = LSTMCell(1, 1, dtype=torch.float64)
        with torch.no_grad():
            cell.weight_ih[:, 0] = torch.tensor(self.weight_ih)
            cell.weight_hh[:, 0] = torch.tensor(self.weight_hh)
            cell.bias_ih[:] = torch.tensor(self.bias)
            cell.bias_hh.zero_()
        return cell

    @classmethod
    def of(
        cls, layer: nn.Module, inputs: Any, unit: int = 0, *, depth: int = -1, labels: Any = None, language: str = "en"
    ) -> "Gates":
        """Return the figure with one unit of a trained LSTM and the reader's sequence.

        layer: `nn.LSTM` or `companion.LSTM` of one direction, without projection. inputs: one sequence,
        (T, input_size), or (T) if input_size is 1; T from 2 to 200. unit: from 0 to hidden_size - 1. depth: which of
        stacked layers, from 0; -1 is the last. labels: T texts that stand over the steps, such as a string.

        The states start at zeros, and copies of the weights compute in float64. `bias` and `weight_hh` are the unit's
        own; a change of them changes this unit only: what comes from the inputs and the other units stays. x, h, c,
        weight_ih and inputs are not used. TypeError for another kind of layer, ValueError for other wrong arguments.
        """
        if not isinstance(layer, (nn.LSTM, LSTM)):
            raise TypeError(f"layer must be nn.LSTM or companion.LSTM, not {type(layer).__name__}")
        weights = {name: value.detach().to("cpu", torch.float64) for name, value in layer.state_dict().items()}
        x, size = sequence(inputs, layer.input_size), layer.hidden_size
        infinite = [name for name, value in weights.items() if not value.isfinite().all()]
        for wrong, message in (
            (layer.bidirectional, "layer is bidirectional; the figure shows one direction"),
            (layer.proj_size, f"layer has proj_size={layer.proj_size}; the figure shows an LSTM without projection"),
            (infinite, f"layer: {', '.join(infinite)} should have finite numbers only"),
            (unit not in range(size), f"unit must be from 0 to {size - 1}, not {unit}"),
            (depth not in range(-1, layer.num_layers), f"depth must be from -1 to {layer.num_layers - 1}, not {depth}"),
            (labels is not None and len(labels) != len(x), f"labels should have {len(x)} texts, one for each step"),
        ):
            if wrong:
                raise ValueError(message)
        h, gates = x, unit + size * torch.arange(4)
        for k in range(depth % layer.num_layers + 1):
            below, one = h, LSTM(h.shape[1], size, bias=layer.bias, dtype=torch.float64)
            one.load_state_dict({name: weights[name[:-1] + str(k)] for name in one.state_dict()})
            h = one(below)[0].detach()
        before = torch.cat([torch.zeros_like(h[:1]), h[:-1]])
        weight_ih, weight_hh, *biases = (weight[gates] for weight in one.state_dict().values())
        own, bias = weight_hh[:, unit], sum(biases, torch.zeros(4, dtype=torch.float64))
        start = {"bias": bias.tolist(), "weight_hh": own.tolist()}
        if max(bias.abs().max(), own.abs().max()) > LIMIT:
            raise ValueError(f"layer: unit {unit} should have numbers from -{LIMIT} to {LIMIT}, not {start}")
        drive = below @ weight_ih.T + before @ weight_hh.T - before[:, [unit]] * own
        figure = cls(language=language, **start)
        given = {"inputs": x[:, 0].tolist(), "labels": labels and [*map(str, labels)], "features": layer.input_size}
        figure.set_trait("own", {"drive": drive.tolist(), "start": start, "unit": unit, **given})
        figure._show_own(f"<Gates of unit {unit} of {layer}, {len(x)} steps>")
        return figure
