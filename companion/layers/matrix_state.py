"""Recurrences whose state is a matrix: a value is written under a key, and a query reads the values of similar keys.

    S_t = α_t S_{t-1} + u_t k_tᵀ,   o_t = S_t q_t

The written vector u_t is `β_t v_t` (linear attention: Katharopoulos et al. 2020, arXiv 2006.16236), or a correction of
the value stored under the key, `β_t ( v_t - α_t S_{t-1} k_t )` (the delta rule: Schlag, Irie and Schmidhuber 2021,
arXiv 2102.11174). With `α_t < 1` the state forgets; both together are the gated delta rule (Yang, Kautz and Hatamizadeh
2024, arXiv 2412.06464). All are linear in S, so that a chunk of steps can be computed at once (Yang et al. 2024, arXiv
2406.06484, section 3).

Shapes: T time steps, then any others (*); keys and queries have K features, values have V.
"""

import torch
from torch import Tensor


def loop(q, k, v, log_alpha, beta, S, corrects=False):
    """Run one step after another, and return the outputs, (T, *, V), and the last state, as `S`.

    q, k: (T, *, K), queries and keys. v: (T, *, V), values. log_alpha: (T, *), log α, at most 0. beta: (T, *). S: (*,
    V, K), the initial state. corrects: write by the delta rule.
    """
    outputs = []
    alpha = log_alpha.exp()
    for q_t, k_t, v_t, alpha_t, beta_t in zip(q, k, v, alpha, beta, strict=True):
        # S ← α_t S_{t-1}
        S = alpha_t[..., None, None] * S
        # u_t = β_t v_t,   or with the delta rule  u_t = β_t ( v_t - S k_t )
        u = beta_t[..., None] * (v_t - read(S, k_t) if corrects else v_t)
        # S_t = S + u_t k_tᵀ
        S = S + u[..., :, None] * k_t[..., None, :]
        # o_t = S_t q_t
        outputs.append(read(S, q_t))
    return torch.stack(outputs), S


def read(S: Tensor, key: Tensor) -> Tensor:
    """Return S k, for all other dimensions."""
    return (S @ key[..., None])[..., 0]


def chunks(
    q: Tensor,
    k: Tensor,
    v: Tensor,
    log_alpha: Tensor,
    beta: Tensor,
    S: Tensor,
    corrects: bool = False,
    size: int = 64,
) -> tuple[Tensor, Tensor]:
    """Do the same as `loop`, `size` steps at a time; with `size` T, all steps at once: the parallel form."""
    together = []
    # time stands beside the features, so that a chunk's are matrices: (*, size, K)
    pieces = [x.movedim(0, -2).split(size, dim=-2) for x in (q, k, v)]
    gates = [x.movedim(0, -1).split(size, dim=-1) for x in (log_alpha, beta)]
    for Q, K, V, log_a, b in zip(*pieces, *gates, strict=True):
        O, S = one_chunk(Q, K, V, log_a, b, S, corrects)
        together.append(O)
    return torch.cat(together, dim=-2).movedim(-2, 0), S


def one_chunk(Q, K, V, log_alpha, beta, S, corrects):
    """Compute all steps of one chunk at once.

    Q, K: (*, C, K). V: (*, C, V). log_alpha, beta: (*, C). S: (*, V, K).
    """
    # γ_t = α_t … α_1:   what is left after t steps of the state before the chunk
    log_gamma = log_alpha.cumsum(-1)
    gamma = log_gamma.exp()[..., None]
    # Γ_ts = α_t … α_{s+1}:   what is left at t of what was written at s;  0 for s > t
    log_left = log_gamma[..., :, None] - log_gamma[..., None, :]
    future = torch.ones_like(log_left, dtype=torch.bool).triu(1)
    left = log_left.masked_fill(future, -torch.inf).exp()

    # U = β ⊙ V
    U = beta[..., None] * V
    if corrects:
        # u_t = β_t ( v_t - γ_t S_0 k_t - Σ_{s<t} Γ_ts ( k_t · k_s ) u_s ):   a triangle
        U = U - beta[..., None] * gamma * (K @ S.transpose(-2, -1))
        before = beta[..., None] * (left * (K @ K.transpose(-2, -1))).tril(-1)
        U = torch.linalg.solve_triangular(before, U, upper=False, unitriangular=True)

    # O = γ ⊙ Q S_0ᵀ + ( Γ ⊙ Q Kᵀ ) U:   what came before, and masked attention
    O = gamma * (Q @ S.transpose(-2, -1)) + (left * (Q @ K.transpose(-2, -1))) @ U
    # S = γ_C S_0 + Σ_s Γ_Cs u_s k_sᵀ
    S = gamma[..., -1:, :] * S + (left[..., -1, :, None] * U).transpose(-2, -1) @ K
    return O, S
