"""Layers as strangers write them: some are right, each of the others has one fault."""

import torch
from torch import nn

from companion.layers.step import Step, affine


class Leaky(nn.Module):
    """A running mean, computed for all steps at once by a product with a triangle of powers."""

    keep = 0.5

    def __init__(self, input_size, hidden_size):
        super().__init__()
        self.map = nn.Linear(input_size, hidden_size)

    def forward(self, input, state=None):
        v = self.map(input)
        state = torch.zeros_like(v[0]) if state is None else state
        T = len(v)
        steps = torch.arange(T)
        powers = (self.keep ** (steps[:, None] - steps).clamp(min=0)).to(v).tril()
        h = torch.einsum("ts,sbh->tbh", powers, v) + self.carried(steps).to(v)[:, None, None] * state
        return h, h[-1]

    def carried(self, steps):
        """Return what is left of the state after each step."""
        return self.keep ** (steps + 1)


def changed(after=lambda *results: results, before=lambda state: state):
    """Return a running mean with a change of what it returns, or of the state that is handed in."""

    class Changed(Leaky):
        def forward(self, input, state=None):
            return after(*super().forward(input, None if state is None else before(state)))

    return Changed


class OffByOne(Leaky):
    def carried(self, steps):
        return self.keep**steps


class WrongLater(Leaky):
    """A layer whose state comes from the step before the last."""

    def forward(self, input, state=None):
        h, _ = super().forward(input, state)
        return h, h[-2] if len(h) > 30 else h[-1]


class WrongInLongCalls(Leaky):
    def forward(self, input, state=None):
        return super().forward(input, state / 2 if state is not None and len(input) > 20 else state)


class OtherInEvaluation(Leaky):
    def forward(self, input, state=None):
        h, end = super().forward(input, state)
        return (h if self.training else 1.5 * h), end


class AsDictionary(Leaky):
    """A state with names; heads of four units."""

    def __init__(self, input_size, hidden_size):
        if hidden_size % 4:
            raise ValueError("hidden_size must be a multiple of 4")
        super().__init__(input_size, hidden_size)

    def forward(self, input, state=None):
        h, end = super().forward(input, state and state["h"])
        return h, {"h": end}


class PeepholeStep(Step):
    """An LSTM whose forget gate sees the cell state, as a step."""

    gates, is_pair = 4, True

    def shapes(self, below, hidden_size, size, bias):
        return super().shapes(below, hidden_size, size, bias) | {"weight_cf": (hidden_size,)}

    def step(self, a, state, w):
        h, c = state
        i, f, g, o = affine(h, w.hh, a).chunk(4, dim=-1)
        c = torch.sigmoid(f + w.cf * c) * c + torch.sigmoid(i) * torch.tanh(g)
        return torch.sigmoid(o) * torch.tanh(c), c


class Few(nn.Module):
    def __init__(self, size):
        super().__init__()


class Untrained(Leaky):
    def __init__(self, input_size, hidden_size):
        super().__init__(input_size, hidden_size)
        self.requires_grad_(False)


class Spare(Leaky):
    def __init__(self, input_size, hidden_size):
        super().__init__(input_size, hidden_size)
        self.spare = nn.Parameter(torch.zeros(3))


class DetachedEachStep(Leaky):
    def forward(self, input, state=None):
        outputs = []
        for x in input:
            h, state = super().forward(x[None], None if state is None else state.detach() + 0 * state)
            outputs.append(h)
        return torch.cat(outputs), state


class InFloat32(nn.GRU):
    def forward(self, input, state=None):
        return super().forward(input, torch.zeros(1, input.size(1), self.hidden_size, dtype=torch.float32))


class Growing(Leaky):
    def forward(self, input, state=None):
        state = input if state is None else torch.cat([state, input])
        return super().forward(state)[0][-len(input) :], state


class FixedState(nn.LSTM):
    """An LSTM whose state has the same size for every hidden_size."""

    def __init__(self, input_size, hidden_size):
        super().__init__(input_size, hidden_size, proj_size=1)
        self.cell = nn.RNN(1, 5)

    def forward(self, input, state=None):
        h, _ = super().forward(input)
        return self.cell(h, state)


def no_module(input_size, hidden_size):
    return lambda input, state=None: (input, state)
