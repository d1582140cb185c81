"""Linear layer and dropout, which other layers are made of."""

import math
from typing import TYPE_CHECKING

import torch
from torch import Tensor, nn

from companion.layers.recurrent import dropout
from companion.layers.types import Device


class Linear(nn.Module):
    """W x + b for every vector, with the parameters and the initial numbers of `torch.nn.Linear`.

    Parameters: `weight` (out_features, in_features), `bias` (out_features), or None without.
    """

    bias: Tensor | None

    def __init__(
        self,
        in_features: int,
        out_features: int,
        bias: bool = True,
        device: Device = None,
        dtype: torch.dtype | None = None,
    ) -> None:
        super().__init__()
        self.in_features, self.out_features = in_features, out_features
        self.weight = nn.Parameter(torch.empty(out_features, in_features, device=device, dtype=dtype))
        bias = nn.Parameter(torch.empty(out_features, device=device, dtype=dtype)) if bias else None
        self.register_parameter("bias", bias)
        # from U(-1/√in, 1/√in), both
        nn.init.kaiming_uniform_(self.weight, a=math.sqrt(5))
        if bias is not None:
            bound = 1 / math.sqrt(in_features)
            nn.init.uniform_(bias, -bound, bound)

    def forward(self, x: Tensor) -> Tensor:
        """Return W x + b, (*, out_features), for x (*, in_features)."""
        return affine(x, self.weight, self.bias)

    if TYPE_CHECKING:
        __call__ = forward

    def extra_repr(self) -> str:
        """Return the arguments that `repr` shows."""
        return f"in_features={self.in_features}, out_features={self.out_features}, bias={self.bias is not None}"


def affine(x: Tensor, weight: Tensor, bias: Tensor | None = None) -> Tensor:
    """Return W x + b for vectors (*, in).

    weight: (out, in). bias: (out) or None.
    """
    y = x @ weight.T
    return y if bias is None else y + bias


class Dropout(nn.Module):
    """Dropout while training, as `torch.nn.Dropout`, with the same random numbers under one seed."""

    def __init__(self, p: float = 0.5) -> None:
        super().__init__()
        self.p = p

    def forward(self, x: Tensor) -> Tensor:
        """Return `x` with each number zeroed with probability p while training."""
        return dropout(x, self.p) if self.training and self.p > 0 else x

    if TYPE_CHECKING:
        __call__ = forward

    def extra_repr(self) -> str:
        """Return the arguments that `repr` shows."""
        return f"p={self.p}, inplace=False"
