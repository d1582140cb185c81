"""Right answers of the questions about *When torch complains*, computed by torch."""

import warnings

import pytest
import torch
from torch import nn
from torch.nn import functional as F


def linear_that_fits(vectors, size, expected, classes):
    message = f"mat1 and mat2 shapes cannot be multiplied ({vectors}x{size} and {expected}x{classes})"
    outputs = torch.zeros(vectors, 1, size)
    with pytest.raises(RuntimeError) as caught:
        nn.Linear(expected, classes)(outputs)
    assert message in str(caught.value)
    assert nn.Linear(size, classes)(outputs).shape == (vectors, 1, classes)
    return f"`nn.Linear({size}, {classes})`"


def right_model_wrong_loss(a, b, c):
    targets = torch.tensor([a, b, c], dtype=torch.float64)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return F.mse_loss(targets[:, None], targets).item()
