"""Right answers of the questions about *Where a state begins and ends*, measured with `nn.LSTM`."""

import torch
from torch import nn


def state_and_gradient(window, number):
    """Return how many inputs the last output depends on, and to how many its gradient goes with `detach`."""
    torch.manual_seed(0)
    layer = nn.LSTM(1, 2, dtype=torch.float64)
    counts = []
    for is_detached in (False, True):
        x = torch.randn(number * window, 1, dtype=torch.float64, requires_grad=True)
        state = None
        for part in x.split(window):
            if is_detached and state:
                state = tuple(s.detach() for s in state)
            output, state = layer(part, state)
        (gradient,) = torch.autograd.grad(output[-1].sum(), x)
        counts.append(gradient.count_nonzero().item())
    return tuple(counts)


def one_document_ends(num_layers, hidden_size, batch):
    torch.manual_seed(0)
    _, state = nn.LSTM(3, hidden_size, num_layers)(torch.randn(5, batch, 3))
    keep = torch.ones(batch)
    keep[1] = 0
    return sum((s * keep[:, None] == 0).sum().item() for s in state)
