"""Right answers of the questions about *The parameters of nn.LSTM*, computed by torch."""

import torch
from torch import nn

from tests.questions.recomputed import count


def shape_of_h_n(input_size, hidden_size, layers, batch, steps):
    layer = nn.LSTM(input_size, hidden_size, num_layers=layers, batch_first=True)
    _, (h_n, _) = layer(torch.zeros(batch, steps, input_size))
    return tuple(h_n.shape)


def projected_states(input_size, hidden_size, proj_size, batch):
    layer = nn.LSTM(input_size, hidden_size, proj_size=proj_size)
    _, (h_n, c_n) = layer(torch.zeros(7, batch, input_size))
    return f"`h_n`: `{tuple(h_n.shape)}`, `c_n`: `{tuple(c_n.shape)}`"


def numbers_of_two_layers(input_size, hidden_size):
    return count(nn.LSTM(input_size, hidden_size, num_layers=2))
