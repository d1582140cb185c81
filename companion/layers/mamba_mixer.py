"""Mamba and Mamba-2 as released: a state space with a short convolution, a gate and linear maps.

Albert Gu and Tri Dao, "Mamba" (2023), arXiv 2312.00752, section 3.4; Tri Dao and Albert Gu, "Transformers are SSMs"
(2024), arXiv 2405.21060, section 7.
"""

import torch
from torch.nn import functional as F

from companion.layers import errors, matrix_state
from companion.layers.initialisation import time_step_biases
from companion.layers.mixer import KERNEL, Mixer, rms_norm, short_convolution, times, without_padding
from companion.layers.scan import scan
from companion.layers.types import Device


class MambaMixer(Mixer):
    """Mamba's layer: the convolution makes u, and u the lengths of the time steps Δ and the sides B and C.

    inner_size: channels; 2 · hidden_size if None. state_size: numbers of each channel. rank: features between u and Δ;
    hidden_size / 16, rounded up, if None. Rows of `weight_ih_l0`: u and the gate z, inner_size each; of `weight_u`:
    those of Δ, rank, then B and C, state_size each. State: a tuple of the last three inputs of the convolution, (B,
    inner_size, 3), and h (B, inner_size, state_size). Other arguments and the call: `SequenceLayer`.
    """

    def __init__(
        self,
        input_size: int,
        hidden_size: int,
        state_size: int = 16,
        inner_size: int | None = None,
        rank: int | None = None,
        batch_first: bool = False,
        device: Device = None,
        dtype: torch.dtype | None = None,
    ) -> None:
        errors.integers(hidden_size=hidden_size, state_size=state_size)
        self.state_size, self.inner_size = state_size, inner_size or 2 * hidden_size
        self.rank = rank or -(-hidden_size // 16)
        H, N = self.inner_size, state_size
        shapes = {
            "conv_weight": (H, 1, KERNEL),
            "conv_bias": (H,),
            "weight_u": (self.rank + 2 * N, H),
            "weight_dt": (H, self.rank),
            "dt_bias": (H,),
            "A_log": (H, N),
            "D": (H,),
            "weight_out": (hidden_size, H),
        }
        super().__init__(input_size, hidden_size, batch_first, device, dtype, shapes)

    def rows(self) -> list[int]:
        """Return the number of rows for u and z."""
        return [self.inner_size] * 2

    def state_shapes(self) -> list[tuple[int, ...]]:
        """Return the shapes of the state for one sequence."""
        return [(self.inner_size, KERNEL - 1), (self.inner_size, self.state_size)]

    @torch.no_grad()
    def reset_parameters(self) -> None:
        """Draw all parameters anew: A = 1, …, state_size, D = 1, and softplus( b_dt ) from 0.001 to 0.1."""
        super().reset_parameters()
        self.A_log[:] = torch.arange(1.0, self.state_size + 1).log()
        self.D.fill_(1)
        self.dt_bias[:] = time_step_biases(self.dt_bias)

    def run_padded(self, lengths, u, z, state):
        """Return the output, (T, B, hidden_size), and the new state."""
        before, h = state
        u, after = short_convolution(u, self.conv_weight, self.conv_bias, before, lengths)
        u = F.silu(u)
        dt, B, C = times(self.weight_u, u).split([self.rank, self.state_size, self.state_size], dim=-1)
        # Δ_t = softplus( W_Δ dt_t + b_Δ );   in padding 0, which changes nothing
        (delta,) = without_padding(lengths, F.softplus(times(self.weight_dt, dt) + self.dt_bias))
        # h_t = exp( Δ_t A ) ⊙ h_{t-1} + Δ_t B_t u_t,   y_t = h_t C_t + D ⊙ u_t
        a = torch.exp(delta[..., None] * -self.A_log.exp())
        h = scan(a, delta[..., None] * B[..., None, :] * u[..., None], h)
        y = (h * C[..., None, :]).sum(-1) + self.D * u
        # W ( silu( z_t ) ⊙ y_t )
        return times(self.weight_out, y * F.silu(z)), (after, h[-1])


class Mamba2Mixer(Mixer):
    """Mamba-2's layer: a matrix as state for each head, with one decay, and the norm after the gate.

    num_heads, head_size: of the inputs u; head_size is 2 · hidden_size / num_heads if None. state_size: features of B
    and C. num_groups: each group of heads has one B and one C, and a norm of its own. eps: of the norm. Rows of
    `weight_ih_l0`: z and u, num_heads · head_size each, B and C, num_groups · state_size each, and Δ, num_heads. State:
    a tuple of the last three inputs of the convolution, (B, channels, 3), and h (B, num_heads, head_size, state_size).
    Other arguments and the call: `SequenceLayer`. ValueError for a num_heads that is not a multiple of num_groups.
    """

    way = staticmethod(matrix_state.chunks)

    def __init__(
        self,
        input_size: int,
        hidden_size: int,
        num_heads: int = 1,
        head_size: int | None = None,
        state_size: int = 16,
        num_groups: int = 1,
        eps: float = 1e-5,
        batch_first: bool = False,
        device: Device = None,
        dtype: torch.dtype | None = None,
    ) -> None:
        errors.integers(hidden_size=hidden_size, num_heads=num_heads, state_size=state_size, num_groups=num_groups)
        if min(num_heads, num_groups) < 1 or num_heads % num_groups:
            raise ValueError(f"num_heads must be a multiple of num_groups, got {num_heads} and {num_groups}")
        self.num_heads, self.num_groups, self.state_size, self.eps = num_heads, num_groups, state_size, eps
        self.head_size = head_size or 2 * hidden_size // num_heads
        self.inner_size, self.sides = num_heads * self.head_size, num_groups * state_size
        self.channels = self.inner_size + 2 * self.sides
        H = (num_heads,)
        shapes = {
            "conv_weight": (self.channels, 1, KERNEL),
            "conv_bias": (self.channels,),
            "dt_bias": H,
            "A_log": H,
            "D": H,
            "norm_weight": (self.inner_size,),
            "weight_out": (hidden_size, self.inner_size),
        }
        super().__init__(input_size, hidden_size, batch_first, device, dtype, shapes)

    def rows(self) -> list[int]:
        """Return the number of rows for z, u, B, C and Δ."""
        return [self.inner_size] * 2 + [self.sides] * 2 + [self.num_heads]

    def state_shapes(self) -> list[tuple[int, ...]]:
        """Return the shapes of the state for one sequence."""
        return [(self.channels, KERNEL - 1), (self.num_heads, self.head_size, self.state_size)]

    @torch.no_grad()
    def reset_parameters(self) -> None:
        """Draw all parameters anew: A = 1, …, num_heads, D = 1, and softplus( b_dt ) from 0.001 to 0.1."""
        super().reset_parameters()
        self.A_log[:] = torch.arange(1.0, self.num_heads + 1).log()
        self.D.fill_(1)
        self.dt_bias[:] = time_step_biases(self.dt_bias)

    def run_padded(self, lengths, z, u, B, C, dt, state):
        """Return the output, (T, B, hidden_size), and the new state."""
        before, h = state
        uBC, after = short_convolution(torch.cat([u, B, C], dim=-1), self.conv_weight, self.conv_bias, before, lengths)
        u, B, C = F.silu(uBC).split([self.inner_size, self.sides, self.sides], dim=-1)
        # (T, B, heads, size)
        u = u.unflatten(-1, (self.num_heads, -1))
        B, C = (
            x.unflatten(-1, (self.num_groups, -1)).repeat_interleave(self.num_heads // self.num_groups, dim=-2)
            for x in (B, C)
        )
        # Δ_t = softplus( dt_t + b_Δ );   in padding 0, which changes nothing
        (delta,) = without_padding(lengths, F.softplus(dt + self.dt_bias))
        # h_t = exp( Δ_t A ) h_{t-1} + Δ_t u_t B_tᵀ,   y_t = h_t C_t + D u_t
        y, h = self.way(C, B, u, -self.A_log.exp() * delta, delta, h, False)
        y = (y + self.D[:, None] * u).flatten(-2) * F.silu(z)
        # W norm( silu( z_t ) ⊙ y_t ),   with a norm for each group
        weight = self.norm_weight.unflatten(0, (self.num_groups, -1))
        y = rms_norm(y.unflatten(-1, (self.num_groups, -1)), weight, self.eps).flatten(-2)
        return times(self.weight_out, y), (after, h)
