"""Right answers of the questions about *Layers as they are released*, computed by torch."""

import torch
from torch import nn
from torch.nn import functional as F


def convolution_by_hand(w, x):
    return int(F.conv1d(F.pad(x, (3, 0)).view(1, 1, 6), w.view(1, 1, 4))[0, 0, -1])


def state_between_steps(heads, size):
    """Count the inputs that a convolution has read before its last one, and a matrix of each head."""
    channels = 3 * heads * size
    convolution = nn.Conv1d(channels, channels, 4, groups=channels)
    (earlier,) = (size - 1 for size in convolution.kernel_size)
    matrices = torch.einsum("hv,hk->hvk", *torch.zeros(2, heads, size))
    return channels * earlier + matrices.numel()
