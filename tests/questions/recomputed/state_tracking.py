"""Right answers of the questions about *What gates between 0 and 1 cannot do*, computed by torch."""

import torch

from companion import scan


def constant_input(z, n, h):
    a = torch.full((2,), z, dtype=torch.float64)
    return scan(a, (1 - a) * n, torch.tensor(h, dtype=torch.float64))[-1].item()


def held_input(A, h, x, delta, goal):
    """Follow the state and its input, which stays as it is, by the exponential of one matrix."""
    assert A * goal + x == 0
    slopes = torch.tensor([[A, 1], [0, 0]], dtype=torch.float64)
    return (torch.linalg.matrix_exp(delta * slopes) @ torch.tensor([h, x], dtype=torch.float64))[0].item()
