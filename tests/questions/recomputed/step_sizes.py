"""Right answers of the questions about *How far to step*, computed by torch."""

import pytest
import torch


def stepped(optimizer_class, w, gradients, **options):
    """Return a weight after one step for each gradient."""
    weight = torch.tensor([w], dtype=torch.float64, requires_grad=True)
    optimizer = optimizer_class([weight], **options)
    for gradient in gradients:
        weight.grad = torch.tensor([gradient], dtype=torch.float64)
        optimizer.step()
    return weight.item()


def two_steps_with_momentum(w, g_1, g_2, lr, u):
    assert u == pytest.approx(0.9 * g_1 + g_2)
    return stepped(torch.optim.SGD, w, [g_1, g_2], lr=lr, momentum=0.9)


def first_step_of_adam(w, g, lr):
    return stepped(torch.optim.Adam, w, [g], lr=lr)
