"""The gated delta rule as released: Qwen3-Next, Qwen3.5 and Olmo Hybrid (`DeltaMixer`), Kimi Linear (`KimiMixer`).

Songlin Yang, Jan Kautz and Ali Hatamizadeh, "Gated Delta Networks" (2024), arXiv 2412.06464, section 3.4; Kimi Team,
"Kimi Linear" (2025), arXiv 2510.26692, section 3.
"""

import math
from typing import Any

import torch
from torch.nn import functional as F

from companion.layers import errors, matrix_state
from companion.layers.initialisation import time_step_biases
from companion.layers.mixer import KERNEL, Mixer, rms_norm, short_convolution, times, unit, without_padding
from companion.layers.types import Device


class DeltaMixer(Mixer):
    """A layer with the gated delta rule, whose decay, norm and output gate are those of released models.

    num_heads: of the values. num_key_heads: of queries and keys, each for num_heads / num_key_heads heads of values;
    num_heads if None. key_size, value_size: features of a head; hidden_size / num_heads if None. most: upper bound of
    β; 2 in Olmo Hybrid. eps: of the norm. Rows of `weight_ih_l0`: q, k, v, the gate z, b of β and a of the decay.
    State: a tuple of the last three inputs of the convolution, (B, channels, 3), and S (B, num_heads, value_size,
    key_size). Other arguments and the call: `SequenceLayer`. ValueError for numbers of heads that do not divide, and
    for a `most` that is not above 0 and at most 2.
    """

    way = staticmethod(matrix_state.chunks)

    def __init__(
        self,
        input_size: int,
        hidden_size: int,
        num_heads: int = 1,
        num_key_heads: int | None = None,
        key_size: int | None = None,
        value_size: int | None = None,
        most: float = 1.0,
        eps: float = 1e-6,
        batch_first: bool = False,
        device: Device = None,
        dtype: torch.dtype | None = None,
    ) -> None:
        num_key_heads = num_heads if num_key_heads is None else num_key_heads
        errors.integers(hidden_size=hidden_size, num_heads=num_heads, num_key_heads=num_key_heads)
        if min(num_heads, num_key_heads) < 1 or num_heads % num_key_heads:
            raise ValueError(f"num_heads must be a multiple of num_key_heads, got {num_heads} and {num_key_heads}")
        if None in (key_size, value_size):
            errors.multiple(hidden_size=hidden_size, num_heads=num_heads)
        if isinstance(most, bool) or not 0 < most <= 2:
            raise ValueError(f"most must be above 0 and at most 2, or the state would grow without end, got {most}")
        self.num_heads, self.num_key_heads, self.most, self.eps = num_heads, num_key_heads, most, eps
        self.key_size, self.value_size = (size or hidden_size // num_heads for size in (key_size, value_size))
        self.keys, self.values = num_key_heads * self.key_size, num_heads * self.value_size
        like = (batch_first, device, dtype)
        super().__init__(input_size, hidden_size, *like, self.shapes() | {"weight_out": (hidden_size, self.values)})

    def shapes(self) -> dict[str, tuple[int, ...]]:
        """Return the shapes of the parameters between the linear maps."""
        H = self.num_heads
        shapes = {"A_log": (H,), "dt_bias": (H,), "norm_weight": (self.value_size,)}
        return {"conv_weight": (2 * self.keys + self.values, 1, KERNEL)} | shapes

    def rows(self) -> list[int]:
        """Return the number of rows for q, k, v, z, b and a."""
        return [self.keys, self.keys, self.values, self.values, self.num_heads, self.num_heads]

    def state_shapes(self) -> list[tuple[int, ...]]:
        """Return the shapes of the state for one sequence."""
        channels = 2 * self.keys + self.values
        return [(channels, KERNEL - 1), (self.num_heads, self.value_size, self.key_size)]

    @torch.no_grad()
    def reset_parameters(self) -> None:
        """Draw all parameters anew: A from U(0, 16), and b_dt so that softplus( b_dt ) is from 0.001 to 0.1."""
        super().reset_parameters()
        self.A_log.uniform_(0.01, 16).log_()
        self.dt_bias[:] = time_step_biases(self.dt_bias)

    # A chapter prints this method.
    # fmt: off
    def run_padded(self, lengths, q, k, v, z, b, a, state):
        """Return the output, (T, B, hidden_size), and the new state."""
        before, S = state
        # q, k, v ← silu( convolution ),   in heads (T, B, heads, size)
        qkv = torch.cat([q, k, v], dim=-1)
        qkv, after = short_convolution(qkv, self.conv_weight, None, before, lengths)
        q, k, v = F.silu(qkv).split([self.keys, self.keys, self.values], dim=-1)
        q, k = (unit(x.unflatten(-1, (self.num_key_heads, -1))) for x in (q, k))
        shared = self.num_heads // self.num_key_heads
        q, k = (x.repeat_interleave(shared, dim=-2) for x in (q, k))
        v = v.unflatten(-1, (self.num_heads, -1))
        # β_t = most · σ( b_t );   in padding β = 0 and α = 1
        beta = self.most * torch.sigmoid(b)
        log_alpha, beta = without_padding(lengths, self.log_alpha(a), beta)
        # S_t = α_t S_{t-1} + β_t ( v_t - α_t S_{t-1} k_t ) k_tᵀ,   o_t = S_t q_t / √size
        o, S = self.way(q / math.sqrt(self.key_size), k, v, log_alpha, beta, S, True)
        # y_t = W ( gate( z_t ) ⊙ norm( o_t ) )
        y = rms_norm(o, self.norm_weight, self.eps).flatten(-2) * self.gate(z)
        return times(self.weight_out, y), (after, S)

    # fmt: on
    def log_alpha(self, a):
        """Return log α_t = -A softplus( a_t + b_dt ), (T, B, num_heads), with A = exp( A_log )."""
        return -self.A_log.exp() * F.softplus(a + self.dt_bias)

    def gate(self, z):
        """Return silu( z_t ), (T, B, values)."""
        return F.silu(z)

    def extra_repr(self) -> str:
        """Return the arguments that `repr` shows."""
        heads = f", num_heads={self.num_heads}, num_key_heads={self.num_key_heads}"
        sizes = f", key_size={self.key_size}, value_size={self.value_size}"
        return super().extra_repr() + heads + sizes + (f", most={self.most}" if self.most != 1 else "")


class KimiMixer(DeltaMixer):
    """The delta attention of Kimi Linear: a decay for each feature of the key, and a gate σ instead of silu.

    Decay and gate are products of two matrices, with size features between: rows of `weight_ih_l0` are q, k, v, z, b
    and a, and `weight_z` and `weight_a` follow. size: hidden_size / num_heads if None, of keys and values.
    """

    def __init__(
        self,
        input_size: int,
        hidden_size: int,
        num_heads: int = 1,
        size: int | None = None,
        eps: float = 1e-6,
        batch_first: bool = False,
        device: Device = None,
        dtype: torch.dtype | None = None,
    ) -> None:
        like: dict[str, Any] = {"batch_first": batch_first, "device": device, "dtype": dtype}
        super().__init__(input_size, hidden_size, num_heads, key_size=size, value_size=size, eps=eps, **like)
        self.size = self.key_size

    def shapes(self) -> dict[str, tuple[int, ...]]:
        """Return the shapes of the parameters between the linear maps."""
        return super().shapes() | {
            "dt_bias": (self.keys,),
            "weight_a": (self.keys, self.key_size),
            "weight_z": (self.values, self.value_size),
        }

    def rows(self) -> list[int]:
        """Return the number of rows for q, k, v, z, b and a."""
        return [self.keys, self.keys, self.values, self.value_size, self.num_heads, self.key_size]

    def log_alpha(self, a):
        """Return log α_t = -A softplus( W_a a_t + b_dt ), (T, B, num_heads, key_size)."""
        rates = F.softplus(times(self.weight_a, a) + self.dt_bias).unflatten(-1, (self.num_heads, -1))
        return -self.A_log.exp()[:, None] * rates

    def gate(self, z):
        """Return σ( W_z z_t ), (T, B, values)."""
        return torch.sigmoid(times(self.weight_z, z))
