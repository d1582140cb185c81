"""The recurrent block of RecurrentGemma: a gated linear recurrence, RG-LRU, beside a gate.

Soham De and others, "Griffin: Mixing gated linear recurrences with local attention" (2024), arXiv 2402.19427, section
2.4.
"""

import torch
from torch import Tensor
from torch.nn import functional as F

from companion.layers import errors
from companion.layers.mixer import KERNEL, Mixer, short_convolution, times, without_padding
from companion.layers.scan import scan
from companion.layers.types import Device

C = 8.0  # a constant of the paper


class GriffinMixer(Mixer):
    """The recurrent block of Griffin, whose gates read blocks of the input.

    inner_size: units; hidden_size if None. num_heads: blocks of the gates' matrices. Rows of `weight_ih_l0` and
    `bias_in`: x and the gate y, inner_size each. State: a tuple of the last three inputs of the convolution, (B,
    inner_size, 3), h (B, inner_size), and (B, 1), 0 before the first step and 1 after it, where the input is not scaled
    down. Other arguments and the call: `SequenceLayer`. ValueError for an inner_size that is not a multiple of
    num_heads.
    """

    decay: Tensor

    def __init__(
        self,
        input_size: int,
        hidden_size: int,
        num_heads: int = 1,
        inner_size: int | None = None,
        batch_first: bool = False,
        device: Device = None,
        dtype: torch.dtype | None = None,
    ) -> None:
        self.inner_size, self.num_heads = inner_size or hidden_size, num_heads
        errors.integers(hidden_size=hidden_size)
        errors.multiple(inner_size=self.inner_size, num_heads=num_heads)
        H, block = self.inner_size, self.inner_size // num_heads
        shapes = {
            "bias_in": (2 * H,),
            "conv_weight": (H, 1, KERNEL),
            "conv_bias": (H,),
            "weight_i": (num_heads, block, block),
            "bias_i": (num_heads, block),
            "weight_r": (num_heads, block, block),
            "bias_r": (num_heads, block),
            "decay": (H,),
            "weight_out": (hidden_size, H),
            "bias_out": (hidden_size,),
        }
        super().__init__(input_size, hidden_size, batch_first, device, dtype, shapes)

    def rows(self) -> list[int]:
        """Return the number of rows for x and y."""
        return [self.inner_size] * 2

    def state_shapes(self) -> list[tuple[int, ...]]:
        """Return the shapes of the state for one sequence."""
        return [(self.inner_size, KERNEL - 1), (self.inner_size,), (1,)]

    @torch.no_grad()
    def reset_parameters(self) -> None:
        """Draw all parameters anew: without the gate, a is from 0.9 to 0.999."""
        super().reset_parameters()
        # a = exp( -C softplus( Λ ) ),   a² even between
        a = torch.empty_like(self.decay).uniform_(0.9**2, 0.999**2).sqrt()
        self.decay[:] = torch.log(torch.expm1(-a.log() / C))
        self.bias_i.zero_()
        self.bias_r.zero_()

    def run_padded(self, lengths, x, y, state):
        """Return the output, (T, B, hidden_size), and the new state."""
        before, h, begun = state
        b_x, b_y = self.bias_in.chunk(2)
        x, after = short_convolution(x + b_x, self.conv_weight, self.conv_bias, before, lengths)
        # i_t = σ( W_i x_t + b_i ),   r_t = σ( W_r x_t + b_r ),   block by block
        blocks = x.unflatten(-1, (self.num_heads, -1))
        i, r = (
            torch.sigmoid(torch.einsum("tbhi,hij->tbhj", blocks, weight.to(x.dtype)) + bias).flatten(-2)
            for weight, bias in ((self.weight_i, self.bias_i), (self.weight_r, self.bias_r))
        )
        # log a_t = -C r_t softplus( Λ )
        log_a = -C * r * F.softplus(self.decay)
        # u_t = √( 1 - a_t² ) ⊙ i_t ⊙ x_t,   but i_1 ⊙ x_1 at the very first step
        scale = torch.sqrt(-torch.expm1(2 * log_a))
        scale = torch.cat([torch.lerp(torch.ones_like(scale[0]), scale[0], begun)[None], scale[1:]])
        log_a, u = without_padding(lengths, log_a, scale * i * x)
        # h_t = a_t ⊙ h_{t-1} + u_t
        h = scan(log_a.exp(), u, h)
        # W ( gelu( y_t ) ⊙ h_t ) + b
        output = times(self.weight_out, h * F.gelu(y + b_y, approximate="tanh")) + self.bias_out
        return output, (after, h[-1], torch.ones_like(begun))
