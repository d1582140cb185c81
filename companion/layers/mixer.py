"""Base of the layers as released models use them, and the parts that they share.

Around a recurrence of this package stand a short convolution before it, and a norm, a gate and a linear map after it.

Shapes: T time steps, B sequences in a batch.
"""

import math

import torch
from torch import Tensor

from companion.layers.sequence_layer import SequenceLayer

KERNEL = 4  # steps that a short convolution sees, in all released models here


class Mixer(SequenceLayer):
    """Base of a layer with one linear map in, without a bias, a short convolution, a recurrence, and a linear map out.

    Matrices begin from U(-k, k) with k = 1/√(columns), norms as ones and biases as zeros. Arguments and the call:
    `SequenceLayer`. A subclass defines `run_padded` instead of `run`.
    """

    bias = False

    @torch.no_grad()
    def reset_parameters(self) -> None:
        """Draw all parameters anew."""
        for name, parameter in self.named_parameters():
            if parameter.dim() > 1:
                k = 1 / math.sqrt(parameter.size(-1))
                parameter.uniform_(-k, k)
            else:
                parameter.fill_(1 if "norm" in name else 0)

    def still(self) -> list[float]:
        """Return zeros: `run_padded` leaves out the padding by the sequences' lengths."""
        return [0] * len(self.parts)


def short_convolution(x, weight, bias, before, lengths=None):
    """Return weighted sums of the last steps, for each channel, (T, B, channels), and the last inputs as a state.

        y_t = w_1 ⊙ x_{t-3} + w_2 ⊙ x_{t-2} + w_3 ⊙ x_{t-1} + w_4 ⊙ x_t + b

    x: (T, B, channels). weight: (channels, 1, 4) and bias: (channels) or None, as those of `nn.Conv1d` with a group for
    each channel. before: (B, channels, 3), the inputs before x. lengths: as in `SequenceLayer.run_padded`.
    """
    T, size = len(x), weight.size(-1)
    # (3 + T, B, channels)
    inputs = torch.cat([before.movedim(-1, 0), x])
    y = sum(w * inputs[s : s + T] for s, w in enumerate(weight[:, 0].unbind(-1)))
    if lengths is None:
        after = inputs[T:]
    else:
        places = lengths + torch.arange(size - 1, device=x.device)[:, None]
        after = inputs[places, torch.arange(len(lengths), device=x.device)]
    return y if bias is None else y + bias, after.movedim(0, -1)


def without_padding(lengths: Tensor | None, *tensors: Tensor, fill: float = 0) -> tuple[Tensor, ...]:
    """Return tensors (T, B, *) with `fill` where there is padding. lengths: as in `SequenceLayer.run_padded`."""
    if lengths is None:
        return tensors
    steps = torch.arange(len(tensors[0]), device=lengths.device)
    padding = steps[:, None] >= lengths
    return tuple(x.masked_fill(padding[(..., *[None] * (x.dim() - 2))], fill) for x in tensors)


def times(weight, x):
    """Return W x for vectors (*, in), in the type of x, which is float32 where the weights have half precision."""
    return x @ weight.to(x.dtype).T


def unit(x):
    """Return vectors (*, size) brought to length 1, nearly: `x / √( |x|² + 10⁻⁶ )`."""
    return x * torch.rsqrt(x.square().sum(-1, keepdim=True) + 1e-6)


def rms_norm(x, weight, eps):
    """Return vectors (*, size) divided by the root of their mean square, and multiplied by a weight (size).

    Biao Zhang and Rico Sennrich, "Root mean square layer normalization" (2019), arXiv 1910.07467.
    """
    return weight * (x * torch.rsqrt(x.square().mean(-1, keepdim=True) + eps))
