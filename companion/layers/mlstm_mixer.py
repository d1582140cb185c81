"""xLSTM's mLSTM as released: no convolution, gates with a soft bound, a norm for each head.

Maximilian Beck and others, "xLSTM 7B" (2025), arXiv 2503.13427, section 3.
"""

import math

import torch
from torch.nn import functional as F

from companion.layers import errors, matrix_state
from companion.layers.mixer import Mixer, rms_norm, times, without_padding
from companion.layers.mlstm import stabilised
from companion.layers.types import Device


class MLSTMMixer(Mixer):
    """The mLSTM of xLSTM 7B.

    num_heads: the number of heads. key_size, value_size: features of a head; hidden_size / num_heads if None, and half
    of it for keys. cap: the bound of the gates, `cap · tanh( x / cap )`. eps: of the norm and of the division. Rows of
    `weight_ih_l0`: q, k, v and the output gate o, then i and f, num_heads each, to which `gate_bias` is added. State: a
    tuple of C (B, num_heads, value_size, key_size), n (B, num_heads, key_size) and m (B, num_heads).
    Other arguments and the call: `SequenceLayer`. ValueError for a hidden_size that is not a multiple of num_heads.
    """

    way = staticmethod(matrix_state.chunks)

    def __init__(
        self,
        input_size: int,
        hidden_size: int,
        num_heads: int = 1,
        key_size: int | None = None,
        value_size: int | None = None,
        cap: float = 15.0,
        eps: float = 1e-6,
        batch_first: bool = False,
        device: Device = None,
        dtype: torch.dtype | None = None,
    ) -> None:
        errors.multiple(hidden_size=hidden_size, num_heads=num_heads)
        self.num_heads, self.cap, self.eps = num_heads, cap, eps
        self.value_size = value_size or hidden_size // num_heads
        self.key_size = key_size or max(1, hidden_size // num_heads // 2)
        values = num_heads * self.value_size
        shapes = {"gate_bias": (2 * num_heads,), "norm_weight": (values,), "weight_out": (hidden_size, values)}
        super().__init__(input_size, hidden_size, batch_first, device, dtype, shapes)

    def rows(self) -> list[int]:
        """Return the number of rows for q, k, v, o, i and f."""
        keys, values = self.num_heads * self.key_size, self.num_heads * self.value_size
        return [keys, keys, values, values, self.num_heads, self.num_heads]

    def state_shapes(self) -> list[tuple[int, ...]]:
        """Return the shapes of C, n and m for one sequence."""
        H, K = self.num_heads, self.key_size
        return [(H, self.value_size, K), (H, K), (H,)]

    @torch.no_grad()
    def reset_parameters(self) -> None:
        """Draw all parameters anew: forget gates with biases from 3 to 6 over the heads, input gates with -10."""
        super().reset_parameters()
        i, f = self.gate_bias.chunk(2)
        i.fill_(-10)
        f[:] = torch.linspace(3, 6, self.num_heads)

    def run_padded(self, lengths, q, k, v, o, i, f, state):
        """Return the output, (T, B, hidden_size), and the new state (C, n, m)."""
        C, n, m = state
        q, k, v = (x.unflatten(-1, (self.num_heads, -1)) for x in (q, k, v))
        i, f = (self.cap * torch.tanh((x + b) / self.cap) for x, b in zip((i, f), self.gate_bias.chunk(2)))
        # in padding f = 1 and i = exp( -∞ )
        (log_f,), (i,) = without_padding(lengths, F.logsigmoid(f)), without_padding(lengths, i, fill=-math.inf)
        log_f, log_i, m = stabilised(log_f, i, m)
        # C_t = f_t C_{t-1} + i_t v_t k_tᵀ,   n_t = f_t n_{t-1} + i_t k_t:   n is one more row of C
        v = torch.cat([v, torch.ones_like(v[..., :1])], dim=-1)
        S = torch.cat([C, n[..., None, :]], dim=-2)
        read, S = self.way(q / math.sqrt(self.key_size), k, v, log_f, log_i.exp(), S)
        # h_t = C_t q_t / ( max( | n_t · q_t |, 1 ) + eps ),   where 1, scaled down, is e^-m
        one = (-m.clamp(-80, 80)).exp()
        h = read[..., :-1] / (torch.maximum(read[..., -1:].abs(), one[..., None]) + self.eps)
        # y_t = W ( σ( o_t ) ⊙ norm( h_t - mean ) )
        weight = self.norm_weight.unflatten(0, (self.num_heads, -1))
        h = rms_norm(h - h.mean(-1, keepdim=True), weight, self.eps).flatten(-2)
        return times(self.weight_out, torch.sigmoid(o) * h), (S[..., :-1, :], S[..., -1, :], m[-1])
