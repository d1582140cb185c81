"""Right answers of the questions about *GRU*, computed by torch."""

import torch
from torch import nn

from tests.questions.recomputed import count


def parameters(rnn, input_size, hidden_size):
    assert rnn == count(nn.RNN(input_size, hidden_size))
    return count(nn.GRU(input_size, hidden_size))


def step_by_hand(r, z, n, h):
    """Return the state of an `nn.GRUCell` whose biases make these gates and this candidate."""
    cell = nn.GRUCell(1, 1, dtype=torch.float64)
    with torch.no_grad():
        for parameter in cell.parameters():
            parameter.zero_()
        cell.bias_ih.copy_(torch.tensor([r, z, n], dtype=torch.float64).atanh())
        cell.bias_ih[:2] = torch.tensor([r, z], dtype=torch.float64).logit()
        return cell(torch.zeros(1, 1, dtype=torch.float64), torch.tensor([[h]], dtype=torch.float64)).item()
