"""Small right answers to `gates` and `lstm_cell`, from which the tests make wrong ones."""

import torch
from torch import nn


def right_gates(x, h, weight_ih, weight_hh, bias_ih, bias_hh):
    i, f, g, o = (x @ weight_ih.T + bias_ih + h @ weight_hh.T + bias_hh).chunk(4, dim=1)
    return torch.sigmoid(i), torch.sigmoid(f), torch.tanh(g), torch.sigmoid(o)


def only_i_differs(x, h, *weights):
    i, f, g, o = right_gates(x, h, *weights)
    return i + (x.sum() > 100) + 0.1 * (torch.arange(i.shape[1]) > 1), f, g, o


def cell(fix=lambda module: None, base=nn.Module):
    """Return a right LSTMCell. fix: called with the module at the end of `__init__`, to spoil it."""

    class LSTMCell(base):
        def __init__(self, input_size, hidden_size):
            super().__init__()
            self.weight_ih = nn.Parameter(torch.rand(4 * hidden_size, input_size))
            self.weight_hh = nn.Parameter(torch.rand(4 * hidden_size, hidden_size))
            self.bias_ih = nn.Parameter(torch.rand(4 * hidden_size))
            self.bias_hh = nn.Parameter(torch.rand(4 * hidden_size))
            fix(self)

        def named(self, name):
            return getattr(self, name)

        def forward(self, x, state=None):
            h, c = state if state is not None else (x.new_zeros(len(x), self.named("weight_hh").shape[1]),) * 2
            names = ("weight_ih", "weight_hh", "bias_ih", "bias_hh")
            i, f, g, o = right_gates(x, h, *map(self.named, names))
            c = f * c + i * g
            return o * c.tanh(), c

    return LSTMCell
