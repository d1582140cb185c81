"""Newton's method for recurrences: all states of a nonlinear recurrence at once, by repeated scans.

Guess all states. Where h_t is not yet f( h_{t-1}, x_t ), linearise f at the guess: that gives a linear recurrence for
the correction, which a scan solves. Repeat. Yi Heng Lim, Qi Zhu, Joshua Selfridge and Muhammad Firmansyah Kasim (2023),
arXiv 2309.12252; Federico Danieli and others, "ParaRNN" (2025), arXiv 2510.21450. With the diagonal of the Jacobian
alone: Xavier Gonzalez and others (2024), arXiv 2407.19115.
"""

from collections.abc import Iterator

import torch
from torch import Tensor
from torch.func import jacrev, vmap

from companion.layers.recurrent import RNNBase
from companion.layers.scan import pairs, scan
from companion.layers.step import Weights


def newton(f, x, h_0, iterations, diagonal=False):
    """Yield approximations of all states h_1 … h_T of h_t = f( h_{t-1}, x_t ), (T, B, n), one per iteration.

    f: one step of one sequence, (n), (inputs) → (n), made of operations that `torch.func` knows. x: (T, B, inputs).
    h_0: (B, n). diagonal: use only the diagonal of the Jacobian, so that the scan multiplies numbers instead of
    matrices. After k iterations the first k states are exact, so T iterations always suffice; usually far fewer do.
    Where it does not converge, the states can overflow.
    """
    step, slope = vmap(vmap(f)), vmap(vmap(jacrev(f)))
    h = h_0.new_zeros(len(x), *h_0.shape)
    for _ in range(iterations):
        before = torch.cat([h_0[None], h[:-1]])
        # r_t = f( h_{t-1}, x_t ) - h_t,   J_t = ∂f/∂h at h_{t-1}
        r, J = step(before, x) - h, slope(before, x)
        # δ_t = J_t δ_{t-1} + r_t
        if diagonal:
            delta = scan(J.diagonal(dim1=-2, dim2=-1), r)
        else:
            column = r[..., None]
            delta = pairs(J, column, torch.zeros_like(column[0]), torch.matmul)[..., 0]
        # h_t ← h_t + δ_t
        h = h + delta
        yield h


def solve(layer: RNNBase, input: Tensor, iterations: int, diagonal: bool = False) -> Iterator[Tensor]:
    """Yield approximations of a recurrent layer's output, (T, B, hidden_size), one per iteration, from zeros.

    layer: an `RNN`, `GRU` or `LSTM` of the companion, of one layer in one direction. input: (T, B, input_size). Other
    arguments: `newton`. The state of an LSTM is h and c side by side. ValueError for another layer or input.
    """
    if (
        not isinstance(layer, RNNBase)
        or layer.num_layers > 1
        or layer.bidirectional
        or layer.proj_size
        or layer.batch_first
    ):
        raise ValueError(
            "a recurrent layer of the companion is needed, one layer in one direction, time first, without projection"
        )
    if input.dim() != 3 or input.size(-1) != layer.input_size:
        raise ValueError(f"input must be (time steps, batch, {layer.input_size}), got {tuple(input.shape)}")
    step, w = layer._step, Weights.of(layer, layer._weight_names, "_l0")
    parts = 2 if step.is_pair else 1

    def f(h, x):
        state = tuple(h[None].chunk(parts, dim=-1))
        return torch.cat(step.step(step.ahead(x[None], w), state, w), dim=-1)[0]

    h_0 = input.new_zeros(input.size(1), parts * layer.hidden_size)
    for h in newton(f, input, h_0, iterations, diagonal):
        yield h[..., : layer.hidden_size]
