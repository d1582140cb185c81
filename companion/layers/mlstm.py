"""mLSTM of xLSTM: the LSTM with a matrix as cell state, and exponential gates.

Maximilian Beck, Korbinian Pöppel, Markus Spanring, Andreas Auer, Oleksandra Prudnikova, Michael Kopp, Günter Klambauer,
Johannes Brandstetter and Sepp Hochreiter, "xLSTM: Extended Long Short-Term Memory" (2024), arXiv 2405.04517, section
2.3.
"""

import math

import torch
from torch.nn import functional as F

from companion.layers.linear_attention import LinearAttention


class MLSTM(LinearAttention):
    """A matrix-valued LSTM over sequences.

    Rows of the parameters: those of q, k, v, o, hidden_size each, then of i and f, num_heads each. The state is a
    tuple: C (B, num_heads, size, size), values by keys; n (B, num_heads, size), the sum of keys; m (B, num_heads), the
    logarithm by which both are scaled down. size: hidden_size / num_heads.

    Note: Forget gates begin with biases from 3 to 6, even over the heads, and input gates near e^0, both independent of
    the input: so they do in the authors' code.
    """

    @torch.no_grad()
    def reset_parameters(self) -> None:
        """Draw q, k, v and o's parameters as in other layers, and the gates' as the docstring of the class says."""
        super().reset_parameters()
        self.weight_ih_l0[-2 * self.num_heads :] = 0
        *_, i, f = self.bias_ih_l0.split(self.parts)
        i.normal_(0, 0.1)
        f[:] = torch.linspace(3, 6, self.num_heads, device=f.device, dtype=f.dtype)

    def rows(self) -> list[int]:
        """Return how many rows of the input weights compute each of q, k, v, o, i and f."""
        return [self.hidden_size] * 4 + [self.num_heads] * 2

    def still(self) -> list[float]:
        """Return the parts of a step that changes nothing: its gates are e^-∞ and σ( ∞ )."""
        return [0, 0, 0, 0, -math.inf, math.inf]

    def state_shapes(self) -> list[tuple[int, ...]]:
        """Return the shapes of C, n and m for one sequence."""
        size = self.hidden_size // self.num_heads
        return [(self.num_heads, size, size), (self.num_heads, size), (self.num_heads,)]

    def run(self, q, k, v, o, i, f, state):
        """Return the output, (T, B, hidden_size), and the new state (C, n, m)."""
        C, n, m = state
        q, k, v = (x.unflatten(-1, (self.num_heads, -1)) for x in (q, k, v))
        # k_t ← k_t / √size
        k = k / math.sqrt(k.size(-1))
        # f_t = σ( f̃ ),   i_t = exp( ĩ ):   their logarithms, scaled down
        log_f, log_i, m = stabilised(F.logsigmoid(f), i, m)
        # C_t = f_t C_{t-1} + i_t v_t k_tᵀ,   n_t = f_t n_{t-1} + i_t k_t:
        # n is one more row of C, whose value is 1
        v = torch.cat([v, torch.ones_like(v[..., :1])], dim=-1)
        S = torch.cat([C, n[..., None, :]], dim=-2)
        read, S = self.way(q, k, v, log_f, log_i.exp(), S)
        # h_t = σ( õ_t ) ⊙ C_t q_t / max( | n_t · q_t |, 1 )
        # 1, scaled down, is e^-m; beyond e^±80, where h is next to 0 or n_t · q_t larger,
        # it would overflow or be 0
        one = (-m.clamp(-80, 80)).exp()
        h = read[..., :-1] / torch.maximum(read[..., -1:].abs(), one[..., None])
        return torch.sigmoid(o) * h.flatten(-2), (S[..., :-1, :], S[..., -1, :], m[-1])


def stabilised(log_f, log_i, m_0):
    """Return log f', log i' and m, (T, *) each: gates scaled by e^-m so that their exponentials do not overflow.

    log_f, log_i: (T, *). m_0: (*), before the first step.
    """
    # m_t = max( log f_t + m_{t-1}, log i_t ):   with F_t = log f_1 + … + log f_t
    # it is a running maximum
    F_t = log_f.cumsum(0)
    m = F_t + torch.maximum(m_0, (log_i - F_t).cummax(0).values)
    # f'_t = exp( log f_t + m_{t-1} - m_t ),   i'_t = exp( log i_t - m_t )
    before = torch.cat([m_0[None], m[:-1]])
    return log_f + before - m, log_i - m, m
