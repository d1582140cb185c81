"""Long short-term memory: a hidden state for output, and a cell state for memory.

Sepp Hochreiter and Jürgen Schmidhuber, "Long short-term memory", Neural Computation 9 (1997); the forget gate is from
Gers, Schmidhuber and Cummins, "Learning to forget", Neural Computation 12 (2000). The projection is from Sak, Senior
and Beaufays (2014), arXiv 1402.1128. The order of the gates and the two biases are torch's.
"""

from typing import TYPE_CHECKING

import torch
from torch import Tensor

from companion.layers.recurrent import RNNBase, RNNCellBase, declared
from companion.layers.step import Step, affine
from companion.layers.types import Device, Sequences


class LSTMStep(Step):
    """One time step of `LSTMCell` and `LSTM`."""

    name = "LSTM"
    gates = 4
    is_pair = True

    def shapes(self, below: int, hidden_size: int, size: int, bias: bool) -> dict[str, tuple[int, ...] | None]:
        """Return the parameters' shapes, with `weight_hr` (size, hidden_size) if there is a projection."""
        # with a projection `h` has fewer features than `c`
        hr = (size, hidden_size) if size < hidden_size else None
        return super().shapes(below, hidden_size, size, bias) | {"weight_hr": hr}

    def step(self, a, state, w):
        """Return the new state (h, c).

        a: W_ih x_t + b_ih + b_hh, (B, 4 * hidden_size). state: (h, c), (B, size) and (B, hidden_size).
        """
        h, c = state

        # the four gates' sums at once:  a_t = W_ih x_t + b_ih + b_hh  +  W_hh h_{t-1}
        a = affine(h, w.hh, a)
        # torch stacks them in the order i, f, g, o
        a_i, a_f, a_g, a_o = a.chunk(4, dim=-1)

        # i_t = σ( W_ii x_t + b_ii  +  W_hi h_{t-1} + b_hi )
        i = torch.sigmoid(a_i)
        # f_t = σ( W_if x_t + b_if  +  W_hf h_{t-1} + b_hf )
        f = torch.sigmoid(a_f)
        # g_t = tanh( W_ig x_t + b_ig  +  W_hg h_{t-1} + b_hg )
        g = torch.tanh(a_g)
        # o_t = σ( W_io x_t + b_io  +  W_ho h_{t-1} + b_ho )
        o = torch.sigmoid(a_o)

        # c_t = f_t ⊙ c_{t-1}  +  i_t ⊙ g_t
        c = f * c + i * g
        # h_t = o_t ⊙ tanh( c_t )
        h = o * torch.tanh(c)

        # with a projection:  h_t = W_hr h_t
        if w.hr is not None:
            h = affine(h, w.hr)
        return h, c


class LSTMCell(RNNCellBase):
    """One step of an LSTM, as `torch.nn.LSTMCell`.

    input_size: features of the input. hidden_size: features of the hidden state and of the cell state.
    bias: with `bias_ih` and `bias_hh`, or without.

    Parameters: `weight_ih` (4 * hidden_size, input_size), `weight_hh` (4 * hidden_size, hidden_size), `bias_ih` and
    `bias_hh` (4 * hidden_size); the rows are those of the gates i, f, g, o. Called with an input (B, input_size)
    and a state (h, c), each (B, hidden_size), returns the new (h, c). RuntimeError for sizes that do not fit.
    """

    _step = LSTMStep()

    def __init__(
        self,
        input_size: int,
        hidden_size: int,
        bias: bool = True,
        device: Device = None,
        dtype: torch.dtype | None = None,
    ) -> None:
        super().__init__(input_size, hidden_size, bias, device, dtype)

    def forward(self, input: Tensor, hx: tuple[Tensor, Tensor] | None = None) -> tuple[Tensor, Tensor]:
        """Return (h_1, c_1) from the input and hx = (h_0, c_0); shapes at `RNNCellBase.forward`."""
        return super().forward(input, hx)

    if TYPE_CHECKING:
        __call__ = forward


class LSTM(RNNBase):
    """An LSTM over sequences, as `torch.nn.LSTM`.

    input_size, hidden_size, bias: as in `LSTMCell`. num_layers: how many are stacked, each reading the output of
    the one below. batch_first: input and output are (B, T, features); the states are not moved. dropout: probability
    of zeroing a number between two layers while training. bidirectional: a second set of weights reads each
    sequence from its end. proj_size: if above 0, `h` is multiplied down to so many features after each step.

    Parameters of layer k: `weight_ih_l{k}` (4 * hidden_size, input_size), from the second layer on (4 * hidden_size,
    D * size); `weight_hh_l{k}` (4 * hidden_size, size); `bias_ih_l{k}`, `bias_hh_l{k}` (4 * hidden_size);
    `weight_hr_l{k}` (proj_size, hidden_size) with a projection; with the ending `_reverse` those of the backward
    direction. `size` is `proj_size` with a projection, else `hidden_size`. Called as
    `output, (h_n, c_n) = lstm(input, (h_0, c_0))`; shapes at `RNNBase.forward`. ValueError for a proj_size
    below 0 or not below hidden_size.
    """

    _step = LSTMStep()

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
        proj_size: int = 0,
        device: Device = None,
        dtype: torch.dtype | None = None,
    ) -> None: ...

    def _with_mode(self, args, kwargs):
        """Return the mode and the positional arguments of `RNNBase`."""
        return "LSTM", *args

    def forward(
        self, input: Sequences, hx: tuple[Tensor, Tensor] | None = None
    ) -> tuple[Sequences, tuple[Tensor, Tensor]]:
        """Return output, (h_n, c_n) from the input and hx = (h_0, c_0); shapes at `RNNBase.forward`."""
        return super().forward(input, hx)

    if TYPE_CHECKING:
        __call__ = forward
