"""Right answers of the questions about *LSTM*, computed by torch."""

import torch
from torch import nn


def new_cell(input_size=1, hidden_size=1):
    """Return an `nn.LSTMCell` with weights and biases of zeros."""
    cell = nn.LSTMCell(input_size, hidden_size, dtype=torch.float64)
    for parameter in cell.parameters():
        nn.init.zeros_(parameter)
    return cell


def cell_state_by_hand(i, f, o, g, c):
    """Return the cell state of a cell whose biases make these gates and this candidate."""
    cell, zero = new_cell(), torch.zeros(1, 1, dtype=torch.float64)
    with torch.no_grad():
        cell.bias_ih[[0, 1, 3]] = torch.tensor([i, f, o], dtype=torch.float64).logit()
        cell.bias_ih[2] = torch.tensor(g, dtype=torch.float64).atanh()
        return cell(zero, (zero, zero + c))[1].item()


@torch.no_grad()
def forget_rows(input_size, hidden_size):
    """Return the rows of `weight_ih` that change how much of an old cell state stays."""
    rows = []
    x, state = torch.ones(1, input_size, dtype=torch.float64), torch.zeros(1, hidden_size, dtype=torch.float64)
    for row in range(4 * hidden_size):
        cell = new_cell(input_size, hidden_size)
        cell.weight_ih[row] = 1.0
        kept = cell(x, (state, state + 1))[1] - cell(x, (state, state))[1]
        if kept.max() > 0.6:  # one half, where the forget gate is σ(0)
            rows.append(row)
    assert rows == list(range(rows[0], rows[-1] + 1))
    return f"`[{rows[0]}:{rows[-1] + 1}]`"
