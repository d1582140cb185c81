"""The affine map that other layers are made of: one weight matrix, one bias."""

import math

import torch
from torch import nn

from companion.layers.recurrent import dropout


class Linear(nn.Module):
    """W x + b for every vector, with the parameters and the initial numbers of `torch.nn.Linear`.

    Parameters: `weight` (out_features, in_features), `bias` (out_features), or None without.
    """

    def __init__(self, in_features, out_features, bias=True, device=None, dtype=None):
        super().__init__()
        self.in_features, self.out_features = in_features, out_features
        self.weight = nn.Parameter(torch.empty(out_features, in_features, device=device, dtype=dtype))
        bias = nn.Parameter(torch.empty(out_features, device=device, dtype=dtype)) if bias else None
        self.register_parameter("bias", bias)
        # from U(-1/√in, 1/√in), both
        nn.init.kaiming_uniform_(self.weight, a=math.sqrt(5))
        if bias is not None:
            bound = 1 / math.sqrt(in_features)
            nn.init.uniform_(self.bias, -bound, bound)

    def forward(self, x):
        """x: (*, in_features). Returns (*, out_features)."""
        return affine(x, self.weight, self.bias)

    def extra_repr(self):
        return f"in_features={self.in_features}, out_features={self.out_features}, bias={self.bias is not None}"


def affine(x, weight, bias=None):
    """W x + b for vectors (*, in). weight: (out, in). bias: (out) or None."""
    y = x @ weight.T
    return y if bias is None else y + bias


class Dropout(nn.Module):
    """Sets each number to zero with probability p while training, as `torch.nn.Dropout`; one seed draws the same."""

    def __init__(self, p=0.5):
        super().__init__()
        self.p = p

    def forward(self, x):
        """x: (*). Returns the same shape."""
        return dropout(x, self.p) if self.training and self.p > 0 else x

    def extra_repr(self):
        return f"p={self.p}, inplace=False"
