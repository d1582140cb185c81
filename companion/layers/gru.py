"""The gated recurrent unit: one state, which a gate blends with a new candidate.

Kyunghyun Cho et al., "Learning phrase representations using RNN encoder-decoder for statistical machine translation"
(2014), arXiv 1406.1078. There the reset gate acts on the state before the product, `W_hn (r_t ⊙ h_{t-1})`; in torch,
and here, after it: `r_t ⊙ (W_hn h_{t-1} + b_hn)`. So all three products are one. Here z_t keeps the old state, as in
the paper's equation 7; in some texts it takes the new one.
"""

from typing import TYPE_CHECKING

import torch
from torch import Tensor

from companion.layers import errors
from companion.layers.recurrent import RNNBase, RNNCellBase, declared
from companion.layers.step import Step, Weights, affine
from companion.layers.types import Device, Sequences


class GRUStep(Step):
    """One time step of `GRUCell` and `GRU`."""

    name = "GRU"
    gates = 3

    def ahead(self, x: Tensor, w: Weights) -> Tensor:
        """Return W_ih x_t + b_ih for every row of `x`.

        b_hh is added later, because the reset gate multiplies its last third.
        """
        return affine(x, w.ih, w.b_ih)

    def step(self, a, state, w):
        """Return the new state (h,).

        a: W_ih x_t + b_ih, (B, 3 * hidden_size). state: (h,), (B, hidden_size).
        """
        (h,) = state

        # what the state gives to the three sums:  u_t = W_hh h_{t-1} + b_hh
        u = affine(h, w.hh, w.b_hh)
        # torch stacks them in the order r, z, n
        a_r, a_z, a_n = a.chunk(3, dim=-1)
        u_r, u_z, u_n = u.chunk(3, dim=-1)

        # r_t = σ( W_ir x_t + b_ir  +  W_hr h_{t-1} + b_hr )
        r = torch.sigmoid(a_r + u_r)
        # z_t = σ( W_iz x_t + b_iz  +  W_hz h_{t-1} + b_hz )
        z = torch.sigmoid(a_z + u_z)
        # n_t = tanh( W_in x_t + b_in  +  r_t ⊙ ( W_hn h_{t-1} + b_hn ) )
        n = torch.tanh(a_n + r * u_n)
        # h_t = ( 1 - z_t ) ⊙ n_t  +  z_t ⊙ h_{t-1}
        h = (1 - z) * n + z * h

        return (h,)


class GRUCell(RNNCellBase):
    """One step of a GRU, as `torch.nn.GRUCell`.

    input_size: features of the input. hidden_size: features of the hidden state. bias: with `bias_ih` and
    `bias_hh`, or without.

    Parameters: `weight_ih` (3 * hidden_size, input_size), `weight_hh` (3 * hidden_size, hidden_size), `bias_ih` and
    `bias_hh` (3 * hidden_size); the rows are those of r, z, n. Called with an input (B, input_size) and a state h
    (B, hidden_size), returns the new h. RuntimeError for sizes that do not fit.
    """

    _step = GRUStep()

    def __init__(
        self,
        input_size: int,
        hidden_size: int,
        bias: bool = True,
        device: Device = None,
        dtype: torch.dtype | None = None,
    ) -> None:
        super().__init__(input_size, hidden_size, bias, device, dtype)

    def forward(self, input: Tensor, hx: Tensor | None = None) -> Tensor:
        """Return h_1 from the input and hx = h_0; shapes at `RNNCellBase.forward`."""
        return super().forward(input, hx)

    if TYPE_CHECKING:
        __call__ = forward


class GRU(RNNBase):
    """A GRU over sequences, as `torch.nn.GRU`.

    input_size, hidden_size, bias: as in `GRUCell`. num_layers, batch_first, dropout, bidirectional: as in `RNN`.

    Parameters of layer k: `weight_ih_l{k}` (3 * hidden_size, input_size), from the second layer on (3 * hidden_size,
    D * hidden_size); `weight_hh_l{k}` (3 * hidden_size, hidden_size); `bias_ih_l{k}`, `bias_hh_l{k}`
    (3 * hidden_size); with the ending `_reverse` those of the backward direction. Called as
    `output, h_n = gru(input, h_0)`; shapes at `RNNBase.forward`.
    """

    _step = GRUStep()

    @declared
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
    ) -> None: ...

    def _with_mode(self, args, kwargs):
        """Return the mode and the positional arguments of `RNNBase`."""
        errors.no_projection(kwargs)
        return "GRU", *args

    def forward(self, input: Sequences, hx: Tensor | None = None) -> tuple[Sequences, Tensor]:
        """Return output, h_n from the input and hx = h_0; shapes at `RNNBase.forward`."""
        return super().forward(input, hx)

    if TYPE_CHECKING:
        __call__ = forward
