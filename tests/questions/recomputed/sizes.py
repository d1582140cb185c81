"""Right answers of the questions about *Which layer, and how large?*, computed by torch."""

import torch
from torch import nn


def cache(layers, window, width):
    """Return how many numbers a cache has that receives a key and a value in each layer, character by character."""
    caches = [[torch.zeros(0, width), torch.zeros(0, width)] for _ in range(layers)]
    for _ in range(window):
        caches = [[torch.cat([old, torch.zeros(1, width)]) for old in pair] for pair in caches]
    return sum(old.numel() for pair in caches for old in pair)


def second_layer(size, units):
    layer = nn.LSTM(size, units, num_layers=2)
    return sum(parameter.numel() for name, parameter in layer.named_parameters() if name.endswith("_l1"))
