"""RNN, LSTM and GRU layers: directions, dropout, batches, packed sequences and torch's errors.

Their computation is in `through_time.py`. L layers, D directions (2 if bidirectional, else 1), T time steps, B
sequences.
"""

import math
import warnings
from functools import partial
from itertools import accumulate
from numbers import Number

from ..autograd.profiler_legacy import note
from ..creation import zeros
from ..dtypes import bool_, promote
from ..elementwise import alias
from ..joining import cat, stack
from ..matrices import check_same_type
from ..messages import error, refuse
from ..random import fork_rng
from ..tape import rename_node
from ..tensor import Tensor
from . import functional as F
from . import init
from .module import Module
from .parameter import add_parameters, show_changed
from .through_time import FUSED, Elman, Gru, Lstm, run
from .utils.rnn import PackedSequence

KINDS = {"RNN_TANH": Elman(), "RNN_RELU": Elman(relu=True), "LSTM": Lstm(), "GRU": Gru()}
CELL_NODES = {"RNN_TANH": ("Tanh",), "RNN_RELU": ("Relu",), "LSTM": ("Mul", "Add"), "GRU": ("Add",)}  # of new states
PARAMETERS, DIRECTIONS = ("weight_ih", "weight_hh", "bias_ih", "bias_hh", "weight_hr"), ("", "_reverse")
NO_PROJECTION = "proj_size argument is only supported for LSTM, not RNN or GRU"


class _Recurrent(Module):
    """Base class of recurrent layers and cells."""

    def reset_parameters(self):
        """Draw every parameter from U(-k, k) with k = 1 / √hidden_size."""
        k = 1 / math.sqrt(self.hidden_size) if self.hidden_size > 0 else 0
        for parameter in self.parameters():
            init.uniform_(parameter, -k, k)


def check_types(x, weight, bias):
    """Raise torch's RuntimeError if a tensor and the bias, which may be None, have other types than the weight."""
    for name, tensor in () if bias is None else (("self", bias), ("mat1", x)):
        if tensor.dtype is not weight.dtype:
            raise error("product types", name, tensor.dtype.title, weight.dtype.title)
    check_same_type(x, weight)


class RNNBase(_Recurrent):
    """Base class of the three layers; mode is "RNN_TANH", "RNN_RELU", "LSTM" or "GRU".

    Parameters, for layer k, all from U(-1/√hidden_size, 1/√hidden_size): `weight_ih_l{k}` (gates · hidden_size,
    features of its input), `weight_hh_l{k}` (gates · hidden_size, size), `bias_ih_l{k}` and `bias_hh_l{k}` (gates ·
    hidden_size) and, with a projection, `weight_hr_l{k}` (proj_size, hidden_size); with `_reverse` those of the other
    direction. size is proj_size, or hidden_size without one.
    """

    def __init__(
        self, mode, input_size, hidden_size, num_layers=1, bias=True, batch_first=False, dropout=0.0,
        bidirectional=False, proj_size=0, device=None, dtype=None,
    ):  # fmt: skip
        super().__init__()
        self.mode, self.input_size, self.hidden_size, self.num_layers = mode, input_size, hidden_size, num_layers
        self.bias, self.batch_first, self.dropout, self.bidirectional = bias, batch_first, float(dropout), bidirectional
        self.proj_size = proj_size
        self._check_arguments(dropout)
        size, rows = proj_size or hidden_size, KINDS[mode].gates * hidden_size
        self._all_weights = []
        for layer in range(num_layers):
            below = input_size if layer == 0 else size * (2 if bidirectional else 1)
            shapes = {"weight_ih": (rows, below), "weight_hh": (rows, size)}
            shapes |= {"bias_ih": (rows,), "bias_hh": (rows,)} if bias else {}
            shapes |= {"weight_hr": (proj_size, hidden_size)} if proj_size else {}
            for direction in DIRECTIONS[: 1 + bidirectional]:
                named = {f"{name}_l{layer}{direction}": shape for name, shape in shapes.items()}
                add_parameters(self, device, dtype, **named)
                self._all_weights.append([*named])
        self.reset_parameters()

    def _check_arguments(self, dropout):
        refuse(not isinstance(dropout, Number) or not 0 <= dropout <= 1 or isinstance(dropout, bool), "dropout")
        if dropout > 0 and self.num_layers == 1:
            warnings.warn(
                "dropout option adds dropout after all but last recurrent layer, so non-zero dropout expects"
                f" num_layers greater than 1, but got dropout={dropout} and num_layers={self.num_layers}",
                stacklevel=4,  # the line that makes the layer
            )
        for name, kind in (("bias", bool), ("batch_first", bool), ("input_size", int), ("hidden_size", int)):
            value = getattr(self, name)
            refuse(not isinstance(value, kind), "argument type", name, kind.__name__, type(value).__name__)
        for name in ("input_size", "hidden_size", "num_layers"):
            refuse(getattr(self, name) <= 0, "{} must be greater than zero", name, kind=ValueError)
        fits = 0 <= self.proj_size < self.hidden_size
        refuse(not fits, "proj_size has to be smaller than hidden_size", kind=ValueError)

    def flatten_parameters(self):
        """Do nothing: torch's method arranges the weights for a graphics card."""

    @property
    def all_weights(self):
        """The parameters, a list for each layer and direction."""
        return [[getattr(self, name) for name in names] for names in self._all_weights]

    def forward(self, input, hx=None):
        """Return the output of the last layer, and the final state of all layers and directions.

        input: (T, B, input_size), (B, T, input_size) with batch_first, (T, input_size) for one sequence, or a
        `PackedSequence`. hx: the initial state, (L D, B, size), (L D, size) for one sequence; for an LSTM a pair, c
        with hidden_size; zeros if None. The output has the input's layout, with D size features, and the final state
        that of hx.
        """
        is_pair, packed = self.mode == "LSTM", isinstance(input, PackedSequence)
        sorted_indices = unsorted_indices = None
        if packed:
            x, batch_sizes, sorted_indices, unsorted_indices = input
            batched, sizes = True, batch_sizes.tolist()
        else:
            self._check_axes(input, hx)
            batched = input.dim() == 3
            x = input if batched else input.unsqueeze(1)
            x = (x.transpose(0, 1) if batched and self.batch_first else x).contiguous()
            sizes = [x.size(1)] * x.size(0)
        weight, dim = getattr(self, self._all_weights[0][0]), 2 if packed else 3
        refuse(x.dtype is not weight.dtype, "recurrent input type", x.dtype, weight.dtype, weight.dtype, x.dtype)
        refuse(x.dim() != dim, "input must have {} dimensions, got {}", dim, x.dim())
        refuse(x.size(-1) != self.input_size, "recurrent input size", self.input_size, x.size(-1))
        state = self._first_state(x, hx, sizes[0] if packed else x.size(1), batched, sorted_indices)
        note(f"aten::{self.mode.lower()}")  # errors after this point come from torch's operation
        for tensor in (*state, weight):
            name = "parameter" if tensor is weight else "hidden"
            refuse(tensor.device != x.device, "devices", name, x.device, name, tensor.device)
        refuse(not sizes, "Expected sequence length to be larger than 0 in RNN")
        for part in state:
            check_types(part, weight, self.bias_ih_l0 if self.bias else None)
        for size, end in zip(sizes, accumulate(sizes)) if packed else ():
            refuse(end > len(x), "start ({}) + length ({}) exceeds dimension size ({}).", end - size, size, len(x))

        is_fused = is_pair and weight.dtype.name == "float32" and not packed and not self.proj_size
        output, ends = self._run(x, sizes, state, FUSED if is_fused else "Stack")

        state = tuple(stack(parts) if batched else rename_node(cat(parts), "Squeeze.1") for parts in zip(*ends))
        if unsorted_indices is not None:
            state = tuple(part.index_select(1, unsorted_indices) for part in state)
        if packed:
            output = PackedSequence(output, batch_sizes, sorted_indices, unsorted_indices)
        elif not batched:
            output = output.squeeze(1)
        elif self.batch_first:
            output = rename_node(output.transpose(0, 1), "Transpose" if is_fused else "Transpose.1")
        return output, state if is_pair else state[0]

    def _run(self, x, sizes, state, title):
        """Run all layers, each on the output of the one below; return the last output and all final states."""
        ends = []
        for layer in range(self.num_layers):
            if layer and self.dropout and self.training:
                x = F.dropout(x, self.dropout)
            outputs = []
            for direction in DIRECTIONS[: 1 + self.bidirectional]:
                names = [f"{name}_l{layer}{direction}" for name in PARAMETERS]
                weights = [getattr(self, name) if name in self._all_weights[len(ends)] else None for name in names]
                start = tuple(part[len(ends)] for part in state)
                output, end = run(KINDS[self.mode], x, sizes, start, weights, direction == "_reverse", title)
                outputs.append(output)
                ends.append(end)
            x = outputs[0] if len(outputs) == 1 else cat(outputs, dim=-1)
        return x, ends

    def _check_axes(self, input, hx):
        name, dim = self.mode.partition("_")[0], input.dim()
        refuse(dim not in (2, 3), "recurrent axes", name, f"{dim}D tensor" if name == "RNN" else f"{dim}D")
        kind = "batched" if dim == 3 else "unbatched"
        if hx is not None and self.mode == "LSTM":
            refuse(hx[0].dim() != dim or hx[1].dim() != dim, "pair axes", kind, dim, dim, hx[0].dim(), hx[1].dim())
        elif hx is not None:
            refuse(hx.dim() != dim, "state axes", kind, dim, dim, hx.dim())

    def _first_state(self, x, hx, batch, batched, sorted_indices):
        """Return the initial state: a tuple of (L D, B, …), in the order of the sorted batch."""
        count, is_pair = self.num_layers * (2 if self.bidirectional else 1), self.mode == "LSTM"
        shapes = [(count, batch, self.proj_size or self.hidden_size), (count, batch, self.hidden_size)][: 1 + is_pair]
        if hx is None:
            return tuple(zeros(shape, dtype=x.dtype, device=x.device) for shape in shapes)
        state = tuple(hx) if is_pair else (hx,)
        if not batched:
            state = tuple(part.unsqueeze(1) for part in state)
        if sorted_indices is not None:
            state = tuple(part.index_select(1, sorted_indices) for part in state)
        for k, (part, shape) in enumerate(zip(state, shapes)):
            refuse(part.shape != shape, "state size", f"hidden[{k}]" if is_pair else "hidden", shape, list(part.shape))
        refuse(len(state) != len(shapes), "lstm expects two hidden states")
        return state

    def extra_repr(self):
        defaults = {"proj_size": 0, "num_layers": 1, "bias": True, "batch_first": False, "dropout": 0}
        return f"{self.input_size}, {self.hidden_size}{show_changed(self, **defaults, bidirectional=False)}"


class RNN(RNNBase):
    """h_t = tanh( W_ih x_t + b_ih + W_hh h_{t-1} + b_hh ), or with relu; the arguments are `RNNBase`'s."""

    def __init__(self, *args, **kwargs):
        refuse("proj_size" in kwargs, NO_PROJECTION, kind=ValueError)
        if len(args) > 3:
            nonlinearity, args = args[3], args[:3] + args[4:]
        else:
            nonlinearity = kwargs.pop("nonlinearity", "tanh")
        refuse(nonlinearity not in ("tanh", "relu"), "nonlinearity", nonlinearity)
        super().__init__(f"RNN_{nonlinearity.upper()}", *args, **kwargs)
        self.nonlinearity = nonlinearity


class LSTM(RNNBase):
    """Long short-term memory; the arguments are those of `RNNBase`."""

    def __init__(self, *args, **kwargs):
        super().__init__("LSTM", *args, **kwargs)


class GRU(RNNBase):
    """A gated recurrent unit; the arguments are those of `RNNBase`."""

    def __init__(self, *args, **kwargs):
        refuse("proj_size" in kwargs, NO_PROJECTION, kind=ValueError)
        super().__init__("GRU", *args, **kwargs)


# Cells, and functions with the parameters as arguments: torch.lstm, torch.lstm_cell, …


def run_cell(mode, input, hx, w_ih, w_hh, b_ih=None, b_hh=None):
    """Compute one time step, as torch.lstm_cell; return the new state.

    input: (B, input_size). hx: (B, hidden_size), for an LSTM a pair of them.
    """
    note(f"aten::{mode.lower()}_cell")
    is_pair, kind, batch, size = mode == "LSTM", KINDS[mode], input.size(0), w_hh.size(1)
    refuse(is_pair and isinstance(hx, Tensor), "cell state type")
    state = tuple(hx) if is_pair else (hx,)
    refuse(is_pair and len(state) != 2, "lstm_cell expects two hidden states")
    refuse(input.size(1) != w_ih.size(1), "cell input size", input.size(1), w_ih.size(1))
    for k, part in enumerate(state):
        rows, columns = part.size(0), part.size(1)
        refuse(rows != batch, "cell batch size", batch, k, rows)
        refuse(columns != size, "cell hidden size", k, columns, size)
    for name, x, weight, bias in (("ih", input, w_ih, b_ih), ("hh", state[0], w_hh, b_hh)):
        rows, expected = weight.size(0), kind.gates * size
        refuse(rows != expected, "cell weight rows", name, kind.gates, expected, rows)
        check_types(x, weight, bias)
        refuse(x.dtype is bool_, "kernel", "addmm_impl_cpu_", "Bool")
    weights = [w_ih, w_hh, b_ih, b_hh, None]
    if not w_ih.dtype is w_hh.dtype is state[-1].dtype:
        refuse(w_hh.dtype.kind < w_ih.dtype.kind, "cast", w_ih.dtype.title, w_hh.dtype.title)
        dtype = promote(w_hh.dtype, state[-1].dtype)
        input, *state = (x.to(dtype) for x in (input, *state))
        weights = [x if x is None else x.to(dtype) for x in weights]
    _, state = run(kind, input, [batch], tuple(state), weights, title=("Stack", *CELL_NODES[mode]))
    if mode.startswith("RNN") and state[0]._grad_fn:  # as in torch, the result must not change before the backward pass
        result = alias(state[0])
        result._made_by = CELL_NODES[mode][0]
        state[0]._grad_fn.saved.append((result, result._changes[0]))
    return state if is_pair else state[0]


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


def run_layers(mode, input, second, third, *options):
    """Compute layers over time, as torch.lstm.

    The arguments: (input, state, parameters, has_biases, num_layers, dropout, train, bidirectional, batch_first), or,
    for packed sequences, (data, batch_sizes, state, parameters, has_biases, num_layers, dropout, train, bidirectional).
    """
    packed, is_pair = isinstance(options[0], (tuple, list)), mode == "LSTM"
    hx, params, options = (third, options[0], options[1:]) if packed else (second, third, options)
    check_same_type(input, params[0])
    has_biases, num_layers, dropout, train, bidirectional, *batch_first = options
    per_layer = len(params) // (num_layers * (1 + bidirectional))
    proj_size = params[1].size(1) if per_layer - 2 * has_biases == 3 else 0
    sizes = (params[0].size(1), params[1].size(0) // KINDS[mode].gates)
    options = (num_layers, has_biases, any(batch_first), dropout, bidirectional, proj_size)
    with fork_rng():  # the initial values are replaced
        module = RNNBase(mode, *sizes, *options).train(train)
    module._parameters.update(zip([*module._parameters], params))
    output, state = module(PackedSequence(input, second) if packed else input, tuple(hx) if is_pair else hx)
    return (output.data if packed else output, *(state if is_pair else (state,)))


FUNCTIONS = {f"{mode.lower()}_cell": partial(run_cell, mode) for mode in KINDS} | {
    mode.lower(): partial(run_layers, mode) for mode in KINDS
}
