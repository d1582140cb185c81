"""Matrix states that follow more than swaps: several delta steps for each input, and rotations."""

import math

import torch
from torch.nn import functional as F

from companion.layers import errors
from companion.layers.linear_attention import DeltaNet, LinearAttention
from companion.layers.types import Device


class DeltaProduct(DeltaNet):
    """The delta rule with several keys and values for each input, one after another.

        S ← S + β_j ( v_j - S k_j ) k_jᵀ   for j = 1, …, num_steps,   o_t = S_t q_t

    Julien Siems et al. (2025), arXiv 2502.10297. A step multiplies the state by a product of num_steps reflections, and
    two reflections are a rotation. num_steps: at least 1. Rows of the parameters: those of q, hidden_size, of k and v,
    num_steps · hidden_size each, then of β, num_steps · num_heads. Other arguments: `DeltaNet`.
    """

    def __init__(
        self,
        input_size: int,
        hidden_size: int,
        num_heads: int = 1,
        num_steps: int = 2,
        most: float = 2.0,
        batch_first: bool = False,
        device: Device = None,
        dtype: torch.dtype | None = None,
    ) -> None:
        errors.integers(num_steps=num_steps)
        if num_steps < 1:
            raise ValueError(f"num_steps must be 1 or more, got {num_steps}")
        self.num_steps = num_steps
        super().__init__(input_size, hidden_size, num_heads, most, batch_first, device, dtype)

    def rows(self) -> list[int]:
        """Return the number of rows for q, the keys, the values and β."""
        return [self.hidden_size, *[self.num_steps * self.hidden_size] * 2, self.num_steps * self.num_heads]

    def run(self, q, k, v, beta, state):
        """Return the output, (T, B, hidden_size), and the new state."""
        # each input is num_steps steps, of which the last one reads: (T, B, …) → (T · num_steps, B, …)
        k, v, beta = (x.unflatten(-1, (self.num_steps, -1)).movedim(2, 1).flatten(0, 1) for x in (k, v, beta))
        q = F.pad(q[:, None], (0, 0, 0, 0, self.num_steps - 1, 0)).flatten(0, 1)
        output, state = super().run(q, k, v, beta, state)
        return output[self.num_steps - 1 :: self.num_steps], state

    def extra_repr(self) -> str:
        """Return the arguments that `repr` shows."""
        return super().extra_repr() + f", num_steps={self.num_steps}"


class RotaryLinearAttention(LinearAttention):
    """Linear attention that forgets, and whose keys and queries are turned by angles that the input decides.

        S_t = α_t S_{t-1} + v_t ( R_t k_t )ᵀ,   o_t = S_t R_t q_t

    R_t turns pairs of features by φ_t = φ_{t-1} + π tanh( W x_t + b ). It equals a state whose pairs are turned at each
    step, as in Mamba-3 (Aakash Lahoti et al. 2026, arXiv 2603.15569). Rows of the parameters: those of q, k, v,
    hidden_size each, of α, num_heads, and of the angles, hidden_size / 2. State: a tuple of S (B, num_heads, size,
    size) and φ (B, num_heads, size / 2). Other arguments: `LinearAttention`. ValueError for an odd size.
    """

    forgets = True

    @staticmethod
    def check_sizes(hidden_size: int, num_heads: int) -> None:
        """Check that the features can be divided among the heads in pairs."""
        if hidden_size % (2 * num_heads):
            raise ValueError(f"hidden_size must be an even multiple of num_heads, got {hidden_size} and {num_heads}")
        LinearAttention.check_sizes(hidden_size, num_heads)

    def rows(self) -> list[int]:
        """Return the number of rows for q, k, v, α and the angles."""
        return [*super().rows(), self.hidden_size // 2]

    def still(self) -> list[float]:
        """Return the parts of a step that changes nothing: its angles are π tanh( 0 ) = 0."""
        return [*super().still(), 0]

    def state_shapes(self) -> list[tuple[int, ...]]:
        """Return the shapes of S and φ for one sequence."""
        size = self.hidden_size // self.num_heads
        return [*super().state_shapes(), (self.num_heads, size // 2)]

    def run(self, q, k, v, alpha, angles, state):
        """Return the output, (T, B, hidden_size), and the new state."""
        S, phi = state
        # φ_t = φ_{t-1} + π tanh( W x_t + b )
        phi = phi + (math.pi * torch.tanh(angles)).unflatten(-1, (self.num_heads, -1)).cumsum(0)
        q, k = (turned(x.unflatten(-1, (self.num_heads, -1)), phi).flatten(-2) for x in (q, k))
        output, (S,) = super().run(q, k, v, alpha, (S,))
        return output, (S, phi[-1])


def turned(x, angles):
    """Return vectors (*, size) whose pairs of features are turned by angles (*, size / 2)."""
    a, b = x.unflatten(-1, (-1, 2)).unbind(-1)
    cos, sin = angles.cos(), angles.sin()
    return torch.stack([cos * a - sin * b, sin * a + cos * b], dim=-1).flatten(-2)
