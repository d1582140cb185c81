"""RNN, LSTM and GRU cells: one time step per call."""

from ..autograd.profiler_legacy import note
from ..creation import zeros
from ..messages import error, refuse
from ..tape import rename_node
from ..tensor import Tensor
from .module import Module
from .parameter import add_parameters, show_changed
from .recurrent import KINDS, check_dtypes, draw_parameters
from .through_time import Lstm, run


class RNNCellBase(Module):
    """Base class of the three cells. Their parameters are a layer's, without `_l0`."""

    def __init__(self, input_size, hidden_size, bias, num_chunks, device=None, dtype=None):
        super().__init__()
        self.input_size, self.hidden_size, self.bias = input_size, hidden_size, bias
        rows = num_chunks * hidden_size
        shapes = {"weight_ih": (rows, input_size), "weight_hh": (rows, hidden_size)}
        shapes |= dict.fromkeys(("bias_ih", "bias_hh"), (rows,) if bias else None)
        add_parameters(self, device, dtype, **shapes)
        self.reset_parameters()

    def reset_parameters(self):
        """Draw the initial values."""
        draw_parameters(self)

    def _run(self, kind, input, hx):
        """Run one time step; return the new state, a tuple.

        input: (B, input_size) or (input_size). hx: a tuple, or None.
        """
        is_pair, name = isinstance(kind, Lstm), type(self).__name__
        refuse(input.dim() not in (1, 2), "cell axes", name, "input", input.dim())
        for k, tensor in enumerate(() if hx is None else hx):
            if tensor.dim() not in (1, 2):
                which = f"hx[{k}]" if is_pair else "hidden"
                raise error("cell axes", name, which, tensor.dim())
        note(f"aten::{kind.name}_cell")
        batched = input.dim() == 2
        x = input if batched else input.unsqueeze(0)
        refuse(is_pair and batched and isinstance(hx, Tensor), "cell state type")
        if hx is None:
            state = (zeros(x.size(0), self.hidden_size, dtype=x.dtype, device=x.device),) * (1 + is_pair)
        else:
            state = tuple(hx if batched else (tensor.unsqueeze(0) for tensor in hx))
        refuse(len(state) != 1 + is_pair, "lstm_cell expects two hidden states")
        self._check_sizes(x, state)
        check_dtypes((x, *state), self.weight_ih, self.bias)
        weights = (self.weight_ih, self.weight_hh, self.bias_ih, self.bias_hh, None)
        _, state = run(kind, x, [len(x)], state, weights)
        names = {"LSTM": ("Mul", "Add"), "GRU": ("Add",), "RNN_RELU": ("Relu",), "RNN_TANH": ("Tanh",)}
        rename_node(state[0], ("Stack", *next(names[mode] for mode, other in KINDS.items() if other is kind)))
        return state if batched else tuple(tensor.squeeze(0) for tensor in state)

    def _check_sizes(self, x, state):
        refuse(x.size(1) != self.input_size, "cell input size", x.size(1), self.input_size)
        for k, tensor in enumerate(state):
            refuse(tensor.size(0) != x.size(0), "cell batch size", x.size(0), k, tensor.size(0))
            refuse(tensor.size(1) != self.hidden_size, "cell hidden size", k, tensor.size(1), self.hidden_size)

    def extra_repr(self):
        options = {"bias": True} | ({"nonlinearity": "tanh"} if hasattr(self, "nonlinearity") else {})
        return f"{self.input_size}, {self.hidden_size}{show_changed(self, **options)}"


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
        refuse(kind is None, "Unknown nonlinearity: {}", self.nonlinearity)
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
