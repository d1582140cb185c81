"""Minimal gated units: the gates depend on the input alone, so all time steps can be computed in parallel.

Leo Feng, Frederick Tung, Mohamed Osama Ahmed, Yoshua Bengio and Hossein Hajimirsadeghi, "Were RNNs all we needed?"
(2024), arXiv 2410.01201, sections 3.1 and 3.2. The recurrence of the minGRU is older: it is the GILR of Eric Martin and
Chris Cundy (2018), arXiv 1709.04057, and part of the first SRU (Tao Lei et al. 2017, arXiv 1709.02755).
"""

import math
from collections.abc import Callable
from typing import TYPE_CHECKING

import torch
from torch import Tensor
from torch.nn import functional as F

from companion.layers import scan
from companion.layers.recurrent import RNNBase
from companion.layers.step import Step, Weights
from companion.layers.types import Device, Sequences, State


class LinearStep(Step):
    """A step h_t = a_t ⊙ h_{t-1} + b_t. A subclass computes a and b in `coefficients(sums)`."""

    unroll = staticmethod(scan.unroll)
    scan: Callable[..., Tensor] = staticmethod(scan.scan)
    still = (1.0, 0.0)  # the a and b with which a step leaves the state as it is

    def shapes(self, below: int, hidden_size: int, size: int, bias: bool) -> dict[str, tuple[int, ...] | None]:
        """Return the parameters' shapes: those of the input, and none of the state."""
        rows = self.gates * hidden_size
        return {"weight_ih": (rows, below), "weight_hh": None, "bias_ih": (rows,) if bias else None, "bias_hh": None}

    if TYPE_CHECKING:

        def coefficients(self, sums: Tensor) -> tuple[Tensor, Tensor]:
            """Return a and b, each (*, hidden_size)."""

    def step(self, sums: Tensor, state: State, w: Weights) -> State:
        """Return the new state (h,).

        sums: W x_t + b, (B, gates * hidden_size). state: (h,), (B, hidden_size).
        """
        a, b = self.coefficients(sums)
        # h_t = a_t ⊙ h_{t-1} + b_t
        return (a * state[0] + b,)


class MinGRUStep(LinearStep):
    """A GRU without a reset gate, whose update gate and candidate do not depend on the state."""

    name = "MinGRU"
    gates = 2

    def coefficients(self, sums):
        """Return a and b, each (*, hidden_size).

        sums: (*, 2 * hidden_size), for z, then for n.
        """
        z, n = sums.chunk(2, dim=-1)
        # z_t = σ( W_iz x_t + b_iz )
        z = torch.sigmoid(z)
        # h_t = z_t ⊙ h_{t-1}  +  ( 1 - z_t ) ⊙ ( W_in x_t + b_in )
        return z, (1 - z) * n


class LogMinGRUStep(LinearStep):
    """The step of a minGRU with a positive candidate, whose coefficients are logarithms."""

    name = "LogMinGRU"
    gates = 2
    scan = staticmethod(scan.log_scan)
    still = (0.0, -100.0)  # e^-100 is as good as 0, and -∞ has no gradient

    def coefficients(self, sums):
        """Return log a and log b, each (*, hidden_size).

        sums: (*, 2 * hidden_size), for z, then for n.
        """
        z, n = sums.chunk(2, dim=-1)
        # z_t = σ( W_iz x_t + b_iz ),   n_t = g( W_in x_t + b_in ),
        # where g(x) = x + 1/2 for x ≥ 0 and σ(x) below
        log_n = torch.where(n >= 0, torch.log(n.relu() + 0.5), F.logsigmoid(n))
        # h_t = z_t ⊙ h_{t-1}  +  ( 1 - z_t ) ⊙ n_t,   with 1 - σ(x) = σ(-x)
        return F.logsigmoid(z), F.logsigmoid(-z) + log_n

    def step(self, sums, state, w):
        """Return the new state (h,)."""
        log_a, log_b = self.coefficients(sums)
        return (log_a.exp() * state[0] + log_b.exp(),)


class MinLSTMStep(LinearStep):
    """An LSTM with one state, whose two gates do not depend on the state and sum to 1."""

    name = "MinLSTM"
    gates = 3

    def ahead(self, x: Tensor, w: Weights) -> Tensor:
        """Return W x + b for every row of `x`.

        Where σ of both i and f would underflow, both are raised: only their difference counts there.
        """
        sums = super().ahead(x, w)
        i, f, _ = sums.detach().chunk(3, dim=-1)
        more = (0.9 * math.log(torch.finfo(sums.dtype).tiny) - torch.maximum(i, f)).clamp(min=0)
        return sums + torch.cat([more, more, torch.zeros_like(more)], dim=-1)

    def coefficients(self, sums):
        """Return a and b, each (*, hidden_size).

        sums: (*, 3 * hidden_size), for i, f, g.
        """
        i, f, g = sums.chunk(3, dim=-1)
        # i_t = σ( W_ii x_t + b_ii ),   f_t = σ( W_if x_t + b_if )
        i, f = torch.sigmoid(i), torch.sigmoid(f)
        # h_t = f_t / ( f_t + i_t ) ⊙ h_{t-1}  +  i_t / ( f_t + i_t ) ⊙ ( W_ig x_t + b_ig )
        return f / (f + i), i / (f + i) * g


class MinimalLayer(RNNBase):
    """Base of `MinGRU` and `MinLSTM`, with the arguments of `GRU`."""

    def __init__(
        self,
        input_size: int,
        hidden_size: int,
        num_layers: int = 1,
        bias: bool = True,
        batch_first: bool = False,
        dropout: float = 0.0,
        bidirectional: bool = False,
        device: Device = None,
        dtype: torch.dtype | None = None,
    ) -> None:
        super().__init__(
            self._step.name,
            input_size,
            hidden_size,
            num_layers,
            bias,
            batch_first,
            dropout,
            bidirectional,
            device=device,
            dtype=dtype,
        )

    if TYPE_CHECKING:

        def __call__(self, input: Sequences, hx: Tensor | None = None) -> tuple[Sequences, Tensor]:
            """Call `forward`."""


class MinGRU(MinimalLayer):
    """A minimal gated recurrent unit over sequences, called as `torch.nn.GRU` is.

    Arguments as in `GRU`. bias: with `bias_ih`, or without.

    As in a GRU, z keeps the old state; in the paper it takes the new one. All time steps are computed by one scan.

    Parameters of layer k: `weight_ih_l{k}` (2 * hidden_size, input_size), from the second layer on (2 * hidden_size, D
    * hidden_size); `bias_ih_l{k}` (2 * hidden_size); the rows are those of z, n. Called as `output, h_n = layer(input,
    h_0)`; shapes at `RNNBase.forward`.
    """

    _step = MinGRUStep()


class LogMinGRU(MinimalLayer):
    """A minGRU as in the paper's appendix: its candidate is positive, and a scan over logarithms computes the steps.

        h_t = z_t ⊙ h_{t-1} + (1 - z_t) ⊙ g(W_in x_t + b_in),   g(x) = x + 1/2 for x ≥ 0, σ(x) below

    Arguments as in `GRU`. bias: with `bias_ih`, or without.

    Without h_0 it begins at 0, like every layer here; the paper's code begins at g(h_0).

    Parameters of layer k: `weight_ih_l{k}` (2 * hidden_size, input_size), from the second layer on (2 * hidden_size, D
    * hidden_size); `bias_ih_l{k}` (2 * hidden_size); the rows are those of z, n. Called as `output, h_n = layer(input,
    h_0)`; shapes at `RNNBase.forward`.
    """

    _step = LogMinGRUStep()


class MinLSTM(MinimalLayer):
    """A minimal LSTM over sequences, with one state; called as `torch.nn.GRU` is.

    Arguments as in `GRU`. bias: with `bias_ih`, or without.

    Parameters of layer k: `weight_ih_l{k}` (3 * hidden_size, input_size), from the second layer on (3 * hidden_size,
    D * hidden_size); `bias_ih_l{k}` (3 * hidden_size); the rows are those of i, f, g. Called as
    `output, h_n = layer(input, h_0)`.
    """

    _step = MinLSTMStep()
