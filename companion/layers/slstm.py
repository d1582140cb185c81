"""sLSTM of xLSTM: the LSTM with exponential gates, a normaliser, and units that see each other within heads.

Maximilian Beck and others, "xLSTM: Extended Long Short-Term Memory" (2024), arXiv 2405.04517, section 2.2.
"""

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from companion.layers import errors
from companion.layers.sequence_layer import SequenceLayer
from companion.layers.types import Device


class SLSTM(SequenceLayer):
    """An LSTM whose input gate is an exponential, over sequences, in a loop: it cannot be computed in parallel.

    num_heads: a unit sees the outputs of its head only. Rows of the parameters: those of z, i, f and o, hidden_size
    each; and `weight_hh_l0` (4, num_heads, size, size) for the outputs of the step before. size: hidden_size /
    num_heads. State: a tuple of h, c, n and m, (B, hidden_size) each: output, cell, normaliser, and the logarithm by
    which c and n are scaled down. Other arguments and the call: `SequenceLayer`. ValueError for a hidden_size that is
    not a multiple of num_heads.

    Note: Forget gates begin with biases from 3 to 6, so that σ is near 1, as in `MLSTM`.
    """

    weight_hh_l0: Tensor

    def __init__(
        self,
        input_size: int,
        hidden_size: int,
        num_heads: int = 1,
        batch_first: bool = False,
        device: Device = None,
        dtype: torch.dtype | None = None,
    ) -> None:
        errors.multiple(hidden_size=hidden_size, num_heads=num_heads)
        self.num_heads = num_heads
        size = hidden_size // num_heads
        super().__init__(
            input_size, hidden_size, batch_first, device, dtype, {"weight_hh_l0": (4, num_heads, size, size)}
        )

    @torch.no_grad()
    def reset_parameters(self) -> None:
        """Draw all parameters anew, with forget biases from 3 to 6, and `weight_hh_l0` from U(-k, k), k = 1 / √size."""
        super().reset_parameters()
        f = self.bias_ih_l0.split(self.parts)[2]
        f[:] = torch.linspace(3, 6, len(f))
        k = self.weight_hh_l0.size(-1) ** -0.5
        nn.init.uniform_(self.weight_hh_l0, -k, k)

    def rows(self) -> list[int]:
        """Return the number of rows for z, i, f and o."""
        return [self.hidden_size] * 4

    def still(self) -> list[float]:
        """Return zeros: `run_padded` leaves out the padding by the sequences' lengths."""
        return [0] * 4

    def state_shapes(self) -> list[tuple[int, ...]]:
        """Return the shapes of h, c, n and m for one sequence."""
        return [(self.hidden_size,)] * 4

    def run_padded(self, lengths, z, i, f, o, state):
        """Return the output, (T, B, hidden_size), and the new state."""
        outputs, R = [], self.weight_hh_l0.to(z.dtype)
        for t, sums in enumerate(torch.stack([z, i, f, o], dim=2)):
            # W x_t + R h_{t-1} + b,   R within each head
            h = state[0].unflatten(-1, (self.num_heads, -1))
            new = self.step(sums + torch.einsum("pnij,bnj->bpni", R, h).flatten(-2), state)
            if lengths is not None:
                runs = (t < lengths)[:, None]
                new = tuple(torch.where(runs, x, before) for x, before in zip(new, state, strict=True))
            state = new
            outputs.append(state[0])
        return torch.stack(outputs), state

    @staticmethod
    def step(sums, state):
        """Return the state after one step. sums: (B, 4, hidden_size)."""
        z, i, f, o = sums.unbind(1)
        _, c, n, m = state
        # i = exp( ĩ ),   f = σ( f̃ ):   both times e^-m, so that they do not overflow
        log_f = F.logsigmoid(f) + m
        m = torch.maximum(log_f, i)
        i, f = (i - m).exp(), (log_f - m).exp()
        # c_t = f c_{t-1} + i tanh( z̃ ),   n_t = f n_{t-1} + i
        c, n = f * c + i * torch.tanh(z), f * n + i
        # h_t = σ( õ ) c_t / n_t
        return torch.sigmoid(o) * c / n, c, n, m

    def extra_repr(self) -> str:
        """Return the arguments that `repr` shows."""
        return super().extra_repr() + (f", num_heads={self.num_heads}" if self.num_heads > 1 else "")
