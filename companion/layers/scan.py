"""Parallel scan: all states of a linear recurrence in about 2 log₂ T rounds instead of a loop of T steps.

    h_t = a_t ⊙ h_{t-1} + b_t

Two steps in a row are one step of the same kind, `a_2 ⊙ ( a_1 ⊙ h + b_1 ) + b_2` = `( a_2 ⊙ a_1 ) ⊙ h` + `( a_2 ⊙ b_1 +
b_2 )`, so steps can be combined in any grouping (Guy Blelloch, "Prefix sums and their applications", 1990): in pairs,
as a tree, or in chunks that run side by side. `scan` uses the tree, which was the fastest here
(`benchmarks/evidence_speed.py`).

Shapes: T time steps, then any others (*), the same for a and b; h_0: (*).
"""

import math
from typing import Any

import torch
from torch import Tensor

from companion.layers.step import Weights
from companion.layers.through_time import has_tangent, recorded, transformed
from companion.layers.types import State


def loop(a, b, h_0, times=torch.mul):
    """Run the recurrence one step after another, and return h_1 … h_T, (T, *).

    times: the product of a and h; with `torch.matmul`, a may be square matrices, b and h_0 columns.
    """
    h, states = h_0, []
    for a_t, b_t in zip(a, b, strict=True):
        # h_t = a_t ⊙ h_{t-1} + b_t
        h = times(a_t, h) + b_t
        states.append(h)
    return torch.stack(states)


def pairs(a, b, h_0, times=torch.mul):
    """Combine pairs of steps into one, recursively: a tree. Return h_1 … h_T, (T, *)."""
    if len(a) == 1:
        return times(a, h_0) + b
    even = len(a) // 2 * 2
    a_1, a_2, b_1, b_2 = a[0:even:2], a[1:even:2], b[0:even:2], b[1:even:2]
    # h_2 = ( a_2 ⊙ a_1 ) ⊙ h_0 + ( a_2 ⊙ b_1 + b_2 ),   h_4 from h_2, …
    second = pairs(times(a_2, a_1), times(a_2, b_1) + b_2, h_0, times)
    # h_1 = a_1 ⊙ h_0 + b_1,   h_3 from h_2, …
    first = times(a_1, torch.cat([h_0[None], second[:-1]])) + b_1
    states = torch.stack([first, second], dim=1).flatten(0, 1)
    if even < len(a):
        states = torch.cat([states, (times(a[-1], states[-1]) + b[-1])[None]])
    return states


def chunks(a, b, h_0, size=None):
    """Run chunks of `size` steps side by side, about √T if None. Return h_1 … h_T, (T, *)."""
    T = len(a)
    size = size or math.isqrt(T - 1) + 1
    count = -(-T // size)
    # chunks of one size: at the end, steps that change nothing
    more = (count * size - T, *a.shape[1:])
    a = torch.cat([a, a.new_ones(more)]).unflatten(0, (count, size))
    b = torch.cat([b, b.new_zeros(more)]).unflatten(0, (count, size))
    # within all chunks at once:  A_t = a_t ⊙ … ⊙ a_1,   H_t = h_t if it began at zeros
    A, H = [a[:, 0]], [b[:, 0]]
    for t in range(1, size):
        A.append(a[:, t] * A[-1])
        H.append(a[:, t] * H[-1] + b[:, t])
    # from chunk to chunk:  h ← A_size ⊙ h + H_size
    begin = torch.stack([h_0, *loop(A[-1], H[-1], h_0)[:-1]])[:, None]
    # h_t = A_t ⊙ h_0 + H_t
    A, H = torch.stack(A, dim=1), torch.stack(H, dim=1)
    return torch.addcmul(H, A, begin).flatten(0, 1)[:T]


class Scan(torch.autograd.Function):
    """`pairs` with its own gradient, which is the same recurrence backwards in time."""

    @staticmethod
    def forward(a, b, h_0):
        """Return all states, (T, *)."""
        return pairs(a, b, h_0)

    @staticmethod
    def setup_context(ctx, inputs, output):
        """Save the tensors that the backward pass needs."""
        a, _, h_0 = inputs
        ctx.save_for_backward(a, h_0, output)

    @staticmethod
    def backward(ctx, grad):
        """Return the gradients of a, b and h_0."""
        a, h_0, h = ctx.saved_tensors
        # δ_t = ∂L/∂y_t + a_{t+1} ⊙ δ_{t+1}
        later = torch.cat([torch.zeros_like(a[:1]), a[1:].flip(0)])
        delta = scan(later, grad.flip(0), torch.zeros_like(h_0)).flip(0)
        # ∂L/∂a_t = δ_t ⊙ h_{t-1},   ∂L/∂b_t = δ_t,   ∂L/∂h_0 = a_1 ⊙ δ_1
        return delta * torch.cat([h_0[None], h[:-1]]), delta, a[0] * delta[0]


def scan(a: Tensor, b: Tensor, h_0: Tensor | None = None) -> Tensor:
    """Return all states of `h_t = a_t ⊙ h_{t-1} + b_t`, computed in about 2 log₂ T rounds instead of T.

    a, b: (T, *), real or complex. h_0: (*), zeros if None. Returns h_1 … h_T, (T, *). ValueError for shapes that differ
    or no step at all.
    """
    if a.shape != b.shape or (h_0 is not None and h_0.shape != a.shape[1:]):
        state = "" if h_0 is None else f", h_0 {tuple(h_0.shape)}"
        raise ValueError(
            f"a and b must be of one shape, and h_0 as one step of them: a {tuple(a.shape)}, b {tuple(b.shape)}{state}"
        )
    if len(a) == 0:
        raise ValueError("a and b are empty: at least one time step is needed")
    h_0 = torch.zeros_like(b[0]) if h_0 is None else h_0
    inputs = (a, b, h_0)
    if recorded() or transformed() or has_tangent(inputs) or any(x.is_complex() for x in inputs):
        return pairs(a, b, h_0)  # autograd supports exports, vmap and complex conjugation; `Scan` does not
    return Scan.apply(a, b, h_0)


def log_scan(log_a: Tensor, log_b: Tensor, h_0: Tensor) -> Tensor:
    """Return all states of `h_t = a_t ⊙ h_{t-1} + b_t` for positive a and b, from their logarithms.

        h_t = e^A_t ⊙ h_0 + exp( A_t + log Σ_{s≤t} e^(log b_s - A_s) ),   A_t = log a_1 + … + log a_t

    Franz Heinsen (2023), arXiv 2311.06281. log_a, log_b: (T, *), finite. h_0: (*), of any sign. The logarithm of the
    sum is computed without overflow. Errors grow with |A_t|, unlike those of `scan`, so half precision is not used.
    """
    dtype = torch.promote_types(log_a.dtype, torch.float32)
    A = log_a.cumsum(0, dtype=dtype)
    h = A.exp() * h_0 + (A + (log_b - A).logcumsumexp(0)).exp()
    return h.to(log_a.dtype)


def rectangle(sizes: list[int], device: torch.device) -> Tensor:
    """Return the places of a packed batch's rows in a padded one, (N), where step t has the places t B … t B + B - 1.

    sizes: the number of sequences that are still running at each of T time steps. N: their sum. B: sizes[0].
    """
    T, B = len(sizes), sizes[0]
    if sizes[-1] == B:
        return torch.arange(T * B, device=device)
    # row b runs at step t if b < sizes[t];   on the processor, since a card would have to wait for the number N
    running = torch.arange(B, device="cpu") < torch.tensor(sizes, device="cpu")[:, None]
    return running.flatten().nonzero()[:, 0].to(device)


def unroll(step: Any, x: Tensor, sizes: list[int], start: State, w: Weights, reverse: bool) -> tuple[Tensor, State]:
    """Run a step with `coefficients` over all time steps by one scan.

    Arguments and result are those of `companion.layers.recurrent.unroll`.
    """
    a, b = step.coefficients(step.ahead(x, w))
    T, B = len(sizes), sizes[0]
    places = rectangle(sizes, x.device)
    if sizes[-1] < B:
        # pad a packed batch to a rectangle with steps that change nothing
        a, b = (
            x.new_full((T * B, x.size(1)), still).index_copy(0, places, x)
            for x, still in zip((a, b), step.still, strict=True)
        )
    a, b = a.unflatten(0, (T, B)), b.unflatten(0, (T, B))
    if reverse:
        a, b = a.flip(0), b.flip(0)
    h = step.scan(a, b, start[0])
    end = h[-1]
    h = h.flip(0) if reverse else h
    return h.flatten(0, 1).index_select(0, places), (end,)
