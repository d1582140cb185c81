"""Right answers of the questions about *Which number decides: the forget bias*, computed by torch."""

import torch
from torch import nn


def direct_path(f, steps):
    """Return the gradient at the first cell state of an `nn.LSTMCell` whose forget gate has one value at every step."""
    cell = nn.LSTMCell(1, 1, dtype=torch.float64)
    with torch.no_grad():
        for parameter in cell.parameters():
            parameter.zero_()
        cell.bias_ih[1] = torch.tensor(f, dtype=torch.float64).logit()
    first = c = torch.ones(1, 1, dtype=torch.float64, requires_grad=True)
    h = torch.zeros_like(c)
    for _ in range(steps):
        h, c = cell(torch.zeros_like(h), (h, c))
    return torch.autograd.grad(c.sum(), first)[0].item()


def bias_for_a_lifetime(steps):
    return torch.tensor(1 - 1 / steps, dtype=torch.float64).logit().item()
