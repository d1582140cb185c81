"""RNN, LSTM and GRU cells: one time step per call."""

from ..creation import zeros
from ..messages import refuse
from .parameter import add_parameters, show_changed
from .recurrent import _Recurrent, run_cell


class RNNCellBase(_Recurrent):
    """Base class of the three cells. Their parameters are a layer's, without `_l0`."""

    def __init__(self, input_size, hidden_size, bias, num_chunks, device=None, dtype=None):
        super().__init__()
        self.input_size, self.hidden_size, self.bias = input_size, hidden_size, bias
        rows = num_chunks * hidden_size
        shapes = {"weight_ih": (rows, input_size), "weight_hh": (rows, hidden_size)}
        shapes |= dict.fromkeys(("bias_ih", "bias_hh"), (rows,) if bias else None)
        add_parameters(self, device, dtype, **shapes)
        self.reset_parameters()

    def forward(self, input, hx=None):
        """Return the new state: h, or (h, c) of an LSTM.

        input: (B, input_size) or (input_size). hx: h, (B, hidden_size) or (hidden_size), or (h, c); zeros if None.
        """
        is_pair, batched, name = self._mode == "LSTM", input.dim() == 2, type(self).__name__
        refuse(input.dim() not in (1, 2), "cell axes", name, "input", input.dim())
        if hx is None:
            shape = (*input.shape[:-1], self.hidden_size)
            hx = zeros(shape, dtype=input.dtype, device=input.device)
            hx = (hx, hx) if is_pair else hx
        for k, part in enumerate(hx if is_pair else (hx,)):
            refuse(part.dim() not in (1, 2), "cell axes", name, f"hx[{k}]" if is_pair else "hidden", part.dim())
        if not batched:
            input = input.unsqueeze(0)
            hx = tuple(part.unsqueeze(0) for part in hx) if is_pair else hx.unsqueeze(0)
        state = run_cell(self._mode, input, hx, self.weight_ih, self.weight_hh, self.bias_ih, self.bias_hh)
        if batched:
            return state
        return tuple(part.squeeze(0) for part in state) if is_pair else state.squeeze(0)

    def extra_repr(self):
        return f"{self.input_size}, {self.hidden_size}{show_changed(self, bias=True)}"


class RNNCell(RNNCellBase):
    """One time step of `RNN`."""

    def __init__(self, input_size, hidden_size, bias=True, nonlinearity="tanh", device=None, dtype=None):
        super().__init__(input_size, hidden_size, bias, 1, device, dtype)
        self.nonlinearity = nonlinearity

    @property
    def _mode(self):
        refuse(self.nonlinearity not in ("tanh", "relu"), "Unknown nonlinearity: {}", self.nonlinearity)
        return f"RNN_{self.nonlinearity.upper()}"

    def extra_repr(self):
        return super().extra_repr() + show_changed(self, nonlinearity="tanh")


class LSTMCell(RNNCellBase):
    """One time step of `LSTM`."""

    _mode = "LSTM"

    def __init__(self, input_size, hidden_size, bias=True, device=None, dtype=None):
        super().__init__(input_size, hidden_size, bias, 4, device, dtype)


class GRUCell(RNNCellBase):
    """One time step of `GRU`."""

    _mode = "GRU"

    def __init__(self, input_size, hidden_size, bias=True, device=None, dtype=None):
        super().__init__(input_size, hidden_size, bias, 3, device, dtype)
