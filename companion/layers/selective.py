"""Selective state spaces: the input decides how long a time step lasts.

Albert Gu and Tri Dao, "Mamba: Linear-time sequence modeling with selective state spaces" (2023), arXiv 2312.00752,
section 3; with fixed steps it is S4D: Albert Gu, Ankit Gupta, Karan Goel and Christopher Ré (2022), arXiv 2206.11893.
"""

import math

import torch
from torch import Tensor
from torch.nn import functional as F

from companion.layers.initialisation import time_step_biases
from companion.layers.scan import scan
from companion.layers.sequence_layer import SequenceLayer
from companion.layers.types import Device


def discretised(delta: Tensor, A: Tensor, B: Tensor) -> tuple[Tensor, Tensor]:
    """Return Ā and B̄ of h(t + Δ) = Ā h(t) + B̄ x, for a state h' = A h + B x whose input x is held for a time Δ.

    delta, A, B: tensors of compatible shapes; each number of the state is independent.
    """
    # Ā = exp( Δ A )
    z = delta * A
    # B̄ = ( exp( Δ A ) - 1 ) / A · B,   which for A → 0 is Δ B
    small = z.abs() < torch.finfo(z.dtype).eps ** 0.5
    return z.exp(), delta * B * torch.where(small, 1 + z / 2, torch.expm1(z) / torch.where(small, 1, z))


class SelectiveSSM(SequenceLayer):
    """A selective state space: hidden_size channels of state_size numbers, each with its own rate of decay.

    The layer S6 of Mamba alone, without the convolution and the gate around it. selective: Δ, B and C depend on the
    input. If not, they are only biases, and the layer is S4D, with real A. state_size: numbers of each channel. Rows of
    the parameters: those of u and Δ, hidden_size each, then of B and C, state_size each; and `A_log` (hidden_size,
    state_size), `D` (hidden_size). State: (B, hidden_size, state_size). Other arguments and the call: `SequenceLayer`.
    ValueError for a state_size below 1.
    """

    def __init__(
        self,
        input_size: int,
        hidden_size: int,
        state_size: int = 16,
        selective: bool = True,
        batch_first: bool = False,
        device: Device = None,
        dtype: torch.dtype | None = None,
    ) -> None:
        if state_size < 1:
            raise ValueError(f"state_size must be 1 or more, got {state_size}")
        self.state_size, self.selective = state_size, selective
        shapes = {"A_log": (hidden_size, state_size), "D": (hidden_size,)}
        super().__init__(input_size, hidden_size, batch_first, device, dtype, shapes)

    def reset_parameters(self) -> None:
        """Draw all parameters anew."""
        super().reset_parameters()
        self.reset_rates()

    @torch.no_grad()
    def reset_rates(self):
        """Set the initial rates of decay and the lengths of the time steps."""
        H, like = self.hidden_size, {"device": self.D.device, "dtype": self.D.dtype}
        # A = -1, …, -state_size
        self.A_log[:] = torch.arange(1.0, self.state_size + 1, **like).log()
        self.D.fill_(1)
        bias = self.bias_ih_l0[H : 2 * H]
        bias[:] = time_step_biases(bias)

    def rows(self) -> list[int]:
        """Return the number of rows for u, Δ, B and C."""
        return [self.hidden_size] * 2 + [self.state_size] * 2

    def still(self) -> list[float]:
        """Return the parts of a step that changes nothing: its length is softplus( -∞ ) = 0."""
        return [0, -math.inf, 0, 0]

    def state_shapes(self) -> list[tuple[int, ...]]:
        """Return the state's shape for one sequence."""
        return [(self.hidden_size, self.state_size)]

    def run(self, u, delta, B, C, state):
        """Return the output, (T, B, hidden_size), and the new state."""
        # without selection they are only biases; padding keeps its Δ = 0
        if not self.selective:
            _, *biases = self.bias_ih_l0.split(self.parts)
            pairs = zip((delta, B, C), biases, strict=True)
            delta, B, C = (torch.where(part.isinf(), part, bias) for part, bias in pairs)
        # Δ_t = softplus( W_Δ x_t + b_Δ )
        delta = F.softplus(delta)[..., None]
        # a_t = exp( Δ_t A ),   b_t = Δ_t B_t u_t,   with A = -exp( A_log )
        a = torch.exp(delta * -self.A_log.exp())
        b = delta * B[..., None, :] * u[..., None]
        # h_t = a_t ⊙ h_{t-1} + b_t
        h = scan(a, b, state[0])
        # y_t = h_t C_t + D ⊙ u_t
        return (h * C[..., None, :]).sum(-1) + self.D * u, (h[-1],)

    def extra_repr(self) -> str:
        """Return the arguments that `repr` shows."""
        return (
            super().extra_repr() + f", state_size={self.state_size}" + ("" if self.selective else ", selective=False")
        )
