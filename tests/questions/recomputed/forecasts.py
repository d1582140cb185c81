"""Right answers of the questions about *Many steps ahead, and how sure*, computed in another way."""

import torch
from torch import nn


def fed_back(a, b, x, first, second):
    """Return three steps of a linear layer, one after another."""
    layer = nn.Linear(1, 1, dtype=torch.float64)
    nn.init.constant_(layer.weight, a)
    nn.init.constant_(layer.bias, b)
    steps = [torch.tensor([x], dtype=torch.float64)]
    for _ in range(3):
        steps.append(layer(steps[-1]))
    assert [first, second] == [step.item() for step in steps[1:3]]
    return steps[3].item()


def interval(errors, sizes):
    """Return the smallest error such that at least 8 of the 9, (9 + 1) · 80%, are not larger."""
    assert sorted(errors.abs().tolist()) == sizes.tolist()
    return min(q for q in errors.abs().tolist() if (errors.abs() <= q).sum() >= 8)
