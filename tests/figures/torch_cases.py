"""Random cases for comparing the figures' arithmetic with torch, and a register of the compared exports."""

import os

import torch

MANY = 1200 if "PROVE" in os.environ else 210  # enough to go through SCALES and other cycles
DOUBLE = {"dtype": torch.float64}
# The factors of weights, and of inputs and states: as drawn, small, and so large that gates are saturated.
SCALES = [(1, 1), (3, 1), (1, 1e-3), (1e-3, 1), (1, 30), (30, 1), (1, 1e3), (1e3, 1), (0, 1), (1, 0)]
COMPARED = set()  # exports that a test compares with torch


def compares(*names):
    """Register the exports that a test compares with torch."""
    COMPARED.update(names)
    return lambda test: test


def same(ours, theirs, rtol=1e-11, atol=1e-11):
    """Assert that lists of numbers, one for each case, equal tensors: shapes exactly, values up to rtol and atol."""
    ours = [torch.tensor(numbers, **DOUBLE) for numbers in ours]
    assert [tensor.shape for tensor in ours] == [tensor.shape for tensor in theirs]
    flat = [torch.cat([tensor.detach().flatten().double() for tensor in side]) for side in (ours, theirs)]
    torch.testing.assert_close(*flat, rtol=rtol, atol=atol, equal_nan=True)


def sizes():
    """Yield for each case: (input_size, hidden_size, steps, factor of weights, factor of values)."""
    for case in range(MANY):
        input_size, hidden_size, steps = torch.randint(1, 6, (3,)).tolist()
        yield input_size, hidden_size, steps, *SCALES[case % len(SCALES)]


def scaled(module, factor):
    with torch.no_grad():
        for parameter in module.parameters():
            parameter.mul_(factor)
    return module


def weights(module, suffix=""):
    """Return a layer's parameters as arithmetic.js takes them."""
    kinds = ("weight_ih", "weight_hh", "bias_ih", "bias_hh")
    return {kind: tensor for kind in kinds if (tensor := getattr(module, kind + suffix, None)) is not None}


def randn(*shape):
    return torch.randn(*shape, **DOUBLE)
