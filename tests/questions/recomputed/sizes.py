"""Right answers of the questions about *Which layer, and how large?*, computed by torch."""

from torch import nn


def second_layer(size, units):
    layer = nn.LSTM(size, units, num_layers=2)
    return sum(parameter.numel() for name, parameter in layer.named_parameters() if name.endswith("_l1"))
