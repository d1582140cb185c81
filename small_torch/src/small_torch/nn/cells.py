"""RNN, LSTM and GRU cells: one time step per call."""

from ..autograd.profiler_legacy import note
from ..creation import empty, zeros
from ..tape import rename_node
from ..tensor import Tensor
from .module import Module
from .parameter import Parameter
from .recurrent import KINDS, check_dtypes, draw_parameters
from .through_time import Lstm, run


class RNNCellBase(Module):
    """Base class of the three cells. Their parameters are a layer's, without `_l0`."""

    def __init__(self, input_size, hidden_size, bias, num_chunks, device=None, dtype=None):
        super().__init__()
        self.input_size, self.hidden_size, self.bias = input_size, hidden_size, bias
        rows, factory = num_chunks * hidden_size, {"device": device, "dtype": dtype}
        self.weight_ih = Parameter(empty(rows, input_size, **factory))
        self.weight_hh = Parameter(empty(rows, hidden_size, **factory))
        for name in ("bias_ih", "bias_hh"):
            self.register_parameter(name, Parameter(empty(rows, **factory)) if bias else None)
        self.reset_parameters()

    def reset_parameters(self):
        """Draw the initial values."""
        draw_parameters(self)

    def _run(self, kind, input, hx):
        """Run one time step; return the new state, a tuple.

        input: (B, input_size) or (input_size). hx: a tuple, or None.
        """
        is_pair, name = isinstance(kind, Lstm), type(self).__name__
        if input.dim() not in (1, 2):
            raise ValueError(f"{name}: Expected input to be 1D or 2D, got {input.dim()}D instead")
        for k, tensor in enumerate(() if hx is None else hx):
            if tensor.dim() not in (1, 2):
                which = f"hx[{k}]" if is_pair else "hidden"
                raise ValueError(f"{name}: Expected {which} to be 1D or 2D, got {tensor.dim()}D instead")
        note(f"aten::{kind.name}_cell")
        batched = input.dim() == 2
        x = input if batched else input.unsqueeze(0)
        if is_pair and batched and isinstance(hx, Tensor):
            raise TypeError("lstm_cell(): argument 'hx' (position 2) must be tuple of Tensors, not Tensor")
        if hx is None:
            state = (zeros(x.size(0), self.hidden_size, dtype=x.dtype, device=x.device),) * (1 + is_pair)
        else:
            state = tuple(hx if batched else (tensor.unsqueeze(0) for tensor in hx))
        if len(state) != 1 + is_pair:
            raise RuntimeError("lstm_cell expects two hidden states")
        self._check_sizes(x, state)
        check_dtypes((x, *state), self.weight_ih, self.bias)
        weights = (self.weight_ih, self.weight_hh, self.bias_ih, self.bias_hh, None)
        _, state = run(kind, x, [len(x)], state, weights)
        names = {"LSTM": ("Mul", "Add"), "GRU": ("Add",), "RNN_RELU": ("Relu",), "RNN_TANH": ("Tanh",)}
        rename_node(state[0], ("Stack", *next(names[mode] for mode, other in KINDS.items() if other is kind)))
        return state if batched else tuple(tensor.squeeze(0) for tensor in state)

    def _check_sizes(self, x, state):
        if x.size(1) != self.input_size:
            raise RuntimeError(f"input has inconsistent input_size: got {x.size(1)} expected {self.input_size}")
        for k, tensor in enumerate(state):
            if tensor.size(0) != x.size(0):
                raise RuntimeError(f"Input batch size {x.size(0)} doesn't match hidden{k} batch size {tensor.size(0)}")
            if tensor.size(1) != self.hidden_size:
                raise RuntimeError(
                    f"hidden{k} has inconsistent hidden_size: got {tensor.size(1)}, expected {self.hidden_size}"
                )

    def extra_repr(self):
        parts = [f"{self.input_size}, {self.hidden_size}"]
        parts += [f"bias={self.bias}"] if self.bias is not True else []
        nonlinearity = getattr(self, "nonlinearity", "tanh")
        return ", ".join(parts + ([f"nonlinearity={nonlinearity}"] if nonlinearity != "tanh" else []))


class RNNCell(RNNCellBase):
    """One time step of `RNN`."""

    def __init__(self, input_size, hidden_size, bias=True, nonlinearity="tanh", device=None, dtype=None):
        super().__init__(input_size, hidden_size, bias, 1, device, dtype)
        self.nonlinearity = nonlinearity

    def forward(self, input, hx=None):
        """Return the new h.

        input: (B, input_size) or (input_size). hx: h, (B, hidden_size) or (hidden_size).
        """
        kind = KINDS.get(f"RNN_{self.nonlinearity.upper()}")
        if kind is None:
            raise RuntimeError(f"Unknown nonlinearity: {self.nonlinearity}")
        return self._run(kind, input, None if hx is None else (hx,))[0]


class LSTMCell(RNNCellBase):
    """One time step of `LSTM`."""

    def __init__(self, input_size, hidden_size, bias=True, device=None, dtype=None):
        super().__init__(input_size, hidden_size, bias, 4, device, dtype)

    def forward(self, input, hx=None):
        """Return the new (h, c).

        input: (B, input_size) or (input_size). hx: (h, c), each (B, hidden_size) or (hidden_size).
        """
        return self._run(KINDS["LSTM"], input, hx)


class GRUCell(RNNCellBase):
    """One time step of `GRU`."""

    def __init__(self, input_size, hidden_size, bias=True, device=None, dtype=None):
        super().__init__(input_size, hidden_size, bias, 3, device, dtype)

    def forward(self, input, hx=None):
        """Return the new h.

        input: (B, input_size) or (input_size). hx: h, (B, hidden_size) or (hidden_size).
        """
        return self._run(KINDS["GRU"], input, None if hx is None else (hx,))[0]
