"""Recurrences whose state is a matrix: a value is written under a key, and a query reads the values of similar keys.

    S_t = α_t S_{t-1} + u_t k_tᵀ,   o_t = S_t q_t

The written vector u_t is `β_t v_t` (linear attention: Katharopoulos et al. 2020, arXiv 2006.16236), or a correction of
the value stored under the key, `β_t ( v_t - α_t S_{t-1} k_t )` (the delta rule: Schlag, Irie and Schmidhuber 2021,
arXiv 2102.11174). With `α_t < 1` the state forgets; both together are the gated delta rule (Yang, Kautz and Hatamizadeh
2024, arXiv 2412.06464). α_t is one number, or one for each feature of the key, which multiplies a column of S (Yang et
al. 2023, arXiv 2312.06635). All are linear in S, so that a chunk of steps can be computed at once (Yang et al. 2024,
arXiv 2406.06484, section 3).

Shapes: T time steps, then any others (*); keys and queries have K features, values have V.
"""

import torch
from torch import Tensor
from torch.nn import functional as F

from companion.layers.scan import pairs


def loop(q, k, v, log_alpha, beta, S, corrects=False):
    """Run one step after another, and return the outputs, (T, *, V), and the last state, as `S`.

    q, k: (T, *, K), queries and keys. v: (T, *, V), values. log_alpha: (T, *) or (T, *, K), log α, at most 0. beta: (T,
    *). S: (*, V, K), the initial state. corrects: write by the delta rule.
    """
    outputs = []
    alpha = by_key(log_alpha, k).exp()
    for q_t, k_t, v_t, alpha_t, beta_t in zip(q, k, v, alpha, beta, strict=True):
        # S ← α_t S_{t-1}
        S = alpha_t[..., None, :] * S
        # u_t = β_t v_t,   or with the delta rule  u_t = β_t ( v_t - S k_t )
        u = beta_t[..., None] * (v_t - read(S, k_t) if corrects else v_t)
        # S_t = S + u_t k_tᵀ
        S = S + u[..., :, None] * k_t[..., None, :]
        # o_t = S_t q_t
        outputs.append(read(S, q_t))
    return torch.stack(outputs), S


def by_key(log_alpha, k):
    """Return log α with a last dimension that fits the features of keys: of size 1 for one number for each head."""
    return log_alpha if log_alpha.dim() == k.dim() else log_alpha[..., None]


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
    size: int | None = None,
    at_once: bool | None = None,
) -> tuple[Tensor, Tensor]:
    """Do the same as `loop`, `size` steps at a time; with `size` T, all steps at once: the parallel form.

    size: 64 if None, or 16 for a gate for each feature of the key, which takes memory for size × K numbers a step.
    at_once: compute all chunks at once, in fewer and larger operations that take more memory, instead of one after
    another; if None, on a graphics card.
    """
    together, log_alpha = [], by_key(log_alpha, k)
    size = size or (64 if log_alpha.size(-1) == 1 else 16)
    at_once = q.device.type != "cpu" if at_once is None else at_once
    # time stands beside the features, so that a chunk's are matrices: (*, size, K)
    inputs = [x.movedim(0, -2) for x in (q, k, v, log_alpha, beta[..., None])]
    if at_once and len(q) > size:
        O, S = all_chunks(inputs, S, corrects, size)
        return O.movedim(-2, 0), S
    for Q, K, V, log_a, b in zip(*(x.split(size, dim=-2) for x in inputs), strict=True):
        O, S = one_chunk(Q, K, V, log_a, b, S, corrects)
        together.append(O)
    return torch.cat(together, dim=-2).movedim(-2, 0), S


def one_chunk(Q, K, V, log_alpha, beta, S, corrects):
    """Compute all steps of one chunk at once.

    Q, K: (*, C, K). V: (*, C, V). log_alpha: (*, C, 1) or (*, C, K). beta: (*, C, 1). S: (*, V, K).
    """
    # γ_t = α_t … α_1:   what is left after t steps of the state before the chunk
    log_gamma = log_alpha.cumsum(-2)
    gamma = log_gamma.exp()
    # Γ_ts = α_t … α_{s+1}:   what is left at t of what was written at s;  0 for s > t
    log_left = log_gamma[..., :, None, :] - log_gamma[..., None, :, :]
    future = torch.ones_like(log_left[..., 0], dtype=torch.bool).triu(1)
    left = log_left.masked_fill(future[..., None], -torch.inf).exp()

    # U = β ⊙ V
    U = beta * V
    if corrects:
        # u_t = β_t ( v_t - S_0 ( γ_t ⊙ k_t ) - Σ_{s<t} ( k_t · Γ_ts ⊙ k_s ) u_s ):
        # a triangle
        U = U - beta * ((gamma * K) @ S.transpose(-2, -1))
        before = beta * products(K, K, left).tril(-1)
        U = torch.linalg.solve_triangular(before, U, upper=False, unitriangular=True)

    # O = ( γ ⊙ Q ) S_0ᵀ + ( q_t · Γ_ts ⊙ k_s ) U:   the past, and masked attention
    O = (gamma * Q) @ S.transpose(-2, -1) + products(Q, K, left) @ U
    # S = S_0 ⊙ γ_C + Σ_s u_s ( Γ_Cs ⊙ k_s )ᵀ
    S = gamma[..., -1:, :] * S + U.transpose(-2, -1) @ (left[..., -1, :, :] * K)
    return O, S


def all_chunks(inputs, S, corrects, size):
    """Compute all chunks at once, each for any state before it, and then the states between them, by a tree.

    inputs: Q, K, V, log α and β as in `one_chunk`, of all T steps. Returns O, (*, T, V), and the last state.
    """
    T = inputs[0].size(-2)
    # (*, T, K) → (chunks, *, size, K);   steps of zeros at the end change nothing
    inputs = [F.pad(x, (0, 0, 0, -T % size)).unflatten(-2, (-1, size)).movedim(-3, 0) for x in inputs]
    O, R, D, A, times = for_any_state(*inputs, corrects)
    # S_c = S_{c-1} A_c + D_c
    after = pairs(A, D, S, times)
    before = torch.cat([S[None], after[:-1]])
    # O_c = O'_c + R_c S_{c-1}ᵀ
    O = O + R @ before.transpose(-2, -1)
    return O.movedim(0, -3).flatten(-3, -2).narrow(-2, 0, T), after[-1]


def for_any_state(Q, K, V, log_alpha, beta, corrects):
    """Compute a chunk without the state S_0 before it: return O', R, D, A, and the product of A and a state.

        O = O' + R S_0ᵀ,   S = S_0 A + D

    Arguments: `one_chunk`. R: (*, C, K). D: (*, V, K). A: (*, K, K) with the delta rule; without, γ_C, multiplied by ⊙.
    """
    zeros = V.new_zeros(V.size(-1), K.size(-1))
    if not corrects:
        # R = γ ⊙ Q,   A = γ_C
        O, D = one_chunk(Q, K, V, log_alpha, beta, zeros, corrects)
        gamma = log_alpha.cumsum(-2).exp()
        return O, gamma * Q, D, gamma[..., -1:, :], torch.mul
    # Each row of a state has a feature of the values. From S_0 = 0 come O' and D; from S_0 = I,
    # more rows below it with values of 0, come R and A
    rows, unit = zeros.shape, torch.eye(K.size(-1), dtype=K.dtype, device=K.device)
    V = F.pad(V, (0, K.size(-1)))
    O, S = one_chunk(Q, K, V, log_alpha, beta, torch.cat([zeros, unit]), corrects)
    return *O.split(rows, dim=-1), *S.split(rows, dim=-2), lambda A, S: S @ A


def products(Q, K, left):
    """Return q_t · Γ_ts ⊙ k_s for all t and s of a chunk, (*, C, C).

    left: Γ, (*, C, C, 1) or (*, C, C, K). Γ is made of differences of logarithms, at most 0: to divide keys by γ
    instead, which needs less memory, would overflow where the state forgets fast.
    """
    if left.size(-1) == 1:
        return left[..., 0] * (Q @ K.transpose(-2, -1))
    return (Q[..., :, None, :] * left * K[..., None, :, :]).sum(-1)
