"""Right answers of the questions about *A forecast every day*, computed in another way."""

import torch
from torch import nn

from companion.learning.series import windows


def steps_a_day(machines, length):
    """Count the steps of the windows that end in one day."""
    series = torch.zeros(length - 1 + 24 + 1, 1)  # one more value follows the last window
    inputs, _ = windows(series, length)
    output, _ = nn.LSTM(1, 1)(inputs)
    return machines * output.numel()


def mean_error(fault, days):
    shown = torch.tensor([0.0] * 20 + [fault] * days, dtype=torch.float64)
    return shown.unfold(0, 14, 1).mean(-1)[-1].item()
