"""The Elman network: one hidden state, rewritten at every step.

Jeffrey L. Elman, "Finding structure in time", Cognitive Science 14 (1990). The two biases are torch's.
"""

from typing import TYPE_CHECKING

import torch
from torch import Tensor

from companion.layers import errors
from companion.layers.recurrent import RNNBase, RNNCellBase, declared
from companion.layers.step import Step, affine
from companion.layers.types import Device, Sequences


class ElmanStep(Step):
    """One time step of `RNNCell` and `RNN`."""

    name = "RNN"

    def __init__(self, nonlinearity: str = "tanh") -> None:
        self.nonlinearity = nonlinearity

    def step(self, a, state, w):
        """Return the new state (h,).

        a: W_ih x_t + b_ih + b_hh, (B, hidden_size). state: (h,), (B, hidden_size).
        """
        (h,) = state
        f = {"tanh": torch.tanh, "relu": torch.relu}[self.nonlinearity]

        # h_t = f( W_ih x_t + b_ih + b_hh  +  W_hh h_{t-1} )
        h = f(affine(h, w.hh, a))

        return (h,)


class RNNCell(RNNCellBase):
    """One step of an Elman network, as `torch.nn.RNNCell`.

    input_size: features of the input. hidden_size: features of the hidden state. bias: with `bias_ih` and
    `bias_hh`, or without. nonlinearity: "tanh" or "relu".

    Parameters: `weight_ih` (hidden_size, input_size), `weight_hh` (hidden_size, hidden_size), `bias_ih` and
    `bias_hh` (hidden_size). Called with an input (B, input_size) and a state h (B, hidden_size), returns the
    new h. RuntimeError for sizes that do not fit and for an unknown nonlinearity, both at the call.
    """

    __constants__ = [*RNNCellBase.__constants__, "nonlinearity"]

    def __init__(
        self,
        input_size: int,
        hidden_size: int,
        bias: bool = True,
        nonlinearity: str = "tanh",
        device: Device = None,
        dtype: torch.dtype | None = None,
    ) -> None:
        self.nonlinearity = nonlinearity
        super().__init__(input_size, hidden_size, bias, device, dtype)

    @property
    def _step(self) -> ElmanStep:
        return ElmanStep(self.nonlinearity)

    def forward(self, input: Tensor, hx: Tensor | None = None) -> Tensor:
        """Return h_1 from the input and hx = h_0; shapes at `RNNCellBase.forward`."""
        if self.nonlinearity not in ("tanh", "relu"):
            raise RuntimeError(f"Unknown nonlinearity: {self.nonlinearity}")
        return super().forward(input, hx)

    if TYPE_CHECKING:
        __call__ = forward


class RNN(RNNBase):
    """An Elman network over sequences, as `torch.nn.RNN`.

    input_size, hidden_size, nonlinearity, bias: as in `RNNCell`. num_layers: how many are stacked, each reading
    the output of the one below. batch_first: input and output are (B, T, features); the states are not moved.
    dropout: probability of zeroing a number between two layers while training. bidirectional: a second set of
    weights reads each sequence from its end.

    Parameters of layer k: `weight_ih_l{k}` (hidden_size, input_size), from the second layer on (hidden_size,
    D * hidden_size); `weight_hh_l{k}` (hidden_size, hidden_size), `bias_ih_l{k}`, `bias_hh_l{k}` (hidden_size);
    with the ending `_reverse` those of the backward direction. Called as `output, h_n = rnn(input, h_0)`; shapes
    at `RNNBase.forward`. ValueError for an unknown nonlinearity.
    """

    @declared
    def __init__(
        self,
        input_size: int,
        hidden_size: int,
        num_layers: int = 1,
        nonlinearity: str = "tanh",
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
        if len(args) > 3:
            self.nonlinearity, args = args[3], args[:3] + args[4:]
        else:
            self.nonlinearity = kwargs.pop("nonlinearity", "tanh")
        if self.nonlinearity not in ("tanh", "relu"):
            raise ValueError(f"Unknown nonlinearity '{self.nonlinearity}'. Select from 'tanh' or 'relu'.")
        return f"RNN_{self.nonlinearity.upper()}", *args

    @property
    def _step(self) -> ElmanStep:
        # as in torch, `mode` decides, even if `nonlinearity` is changed later
        return ElmanStep(self.mode.removeprefix("RNN_").lower())

    def forward(self, input: Sequences, hx: Tensor | None = None) -> tuple[Sequences, Tensor]:
        """Return output, h_n from the input and hx = h_0; shapes at `RNNBase.forward`."""
        return super().forward(input, hx)

    if TYPE_CHECKING:
        __call__ = forward
