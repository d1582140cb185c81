"""RNN, LSTM and GRU layers: directions, dropout, batches, packed sequences and torch's errors.

Their computation is in `through_time.py`. L layers, D directions (2 if bidirectional, else 1), T time steps, B
sequences.
"""

import math
import warnings
from numbers import Number

from ..autograd.profiler_legacy import note
from ..creation import zeros
from ..dtypes import bool_, promote
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
from .through_time import Elman, Gru, Lstm, run
from .utils.rnn import PackedSequence

KINDS = {"RNN_TANH": Elman(), "RNN_RELU": Elman(relu=True), "LSTM": Lstm(), "GRU": Gru()}


def check_rows(sizes, rows):
    """Raise torch's error if packed data have fewer rows than the batch sizes need, as with too large a length."""
    start = 0
    for size in sizes:
        refuse(start + size > rows, "start ({}) + length ({}) exceeds dimension size ({}).", start, size, rows)
        start += size


def draw_parameters(module):
    """Draw every parameter from U(-k, k) with k = 1 / √hidden_size."""
    k = 1 / math.sqrt(module.hidden_size) if module.hidden_size > 0 else 0
    for parameter in module.parameters():
        init.uniform_(parameter, -k, k)


def check_dtypes(tensors, weight, bias):
    """Raise torch's RuntimeError for tensors of other types than the weight's."""
    for tensor in tensors:
        if tensor.dtype is not weight.dtype:
            refuse(bias, "product types", "mat1", tensor.dtype.title, weight.dtype.title)
            check_same_type(tensor, weight)


class RNNBase(Module):
    """Base class of the three layers; mode is "RNN_TANH", "RNN_RELU", "LSTM" or "GRU".

    Parameters, for layer k, all from U(-1/√hidden_size, 1/√hidden_size): `weight_ih_l{k}` (gates · hidden_size,
    features of its input), `weight_hh_l{k}` (gates · hidden_size, size), `bias_ih_l{k}` and `bias_hh_l{k}` (gates ·
    hidden_size) and, with a projection, `weight_hr_l{k}` (proj_size, hidden_size); with `_reverse` those of the other
    direction. size is proj_size, or hidden_size without one.
    """

    def __init__(
        self, mode, input_size, hidden_size, num_layers=1, bias=True, batch_first=False, dropout=0.0,
        bidirectional=False,
        proj_size=0, device=None, dtype=None,
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
            for suffix in self._suffixes(layer):
                add_parameters(self, device, dtype, **{name + suffix: shape for name, shape in shapes.items()})
                self._all_weights.append([name + suffix for name in shapes])
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
            refuse(kind is int and value <= 0, "{} must be greater than zero", name, kind=ValueError)
        refuse(self.num_layers <= 0, "num_layers must be greater than zero", kind=ValueError)
        refuse(self.proj_size < 0, "projection")
        refuse(self.proj_size >= self.hidden_size, "proj_size has to be smaller than hidden_size", kind=ValueError)
        if self.mode not in KINDS:
            raise ValueError("Unrecognized RNN mode: " + self.mode)

    def _suffixes(self, layer):
        return [f"_l{layer}", f"_l{layer}_reverse"] if self.bidirectional else [f"_l{layer}"]

    def reset_parameters(self):
        """Draw the initial values."""
        draw_parameters(self)

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
        packed, is_pair = isinstance(input, PackedSequence), self.mode == "LSTM"
        sorted_indices = unsorted_indices = None
        if packed:
            x, batch_sizes, sorted_indices, unsorted_indices = input
            batched, sizes = True, batch_sizes.tolist()
        else:
            batched = self._check_dimensions(input, hx, is_pair)
            x = input if batched else input.unsqueeze(1)
            time_first = not (batched and self.batch_first)
            x = x if time_first else x.transpose(0, 1)
        weight = getattr(self, self._all_weights[0][0])
        if packed and is_pair:  # torch checks less here
            gates, features = weight.shape
            fits = x.ndim != 2 or x.size(-1) == features
            refuse(not fits, "packed sizes", len(x), x.size(-1), features, gates)
        self._check_input(x, weight, 2 if packed else 3)
        sizes = sizes if packed else [x.size(1)] * x.size(0)
        state = self._first_state(x, hx, sizes[0] if packed else x.size(1), batched, is_pair, sorted_indices)
        note(f"aten::{self.mode.lower()}")  # errors after this point come from torch's operation
        if not packed:
            for name, tensors in (("hidden", state), ("parameter", [weight])):
                for tensor in tensors:
                    refuse(tensor.device != x.device, "devices", name, x.device, name, tensor.device)
        refuse(not sizes, "Expected sequence length to be larger than 0 in RNN")
        check_dtypes(state, weight, self.bias)
        if packed:
            check_rows(sizes, len(x))

        output, ends = self._run(x, sizes, state)

        state = tuple(stack(parts) if batched else rename_node(cat(parts), "Squeeze.1") for parts in zip(*ends))
        if unsorted_indices is not None:
            state = tuple(part.index_select(1, unsorted_indices) for part in state)
        if packed:
            output = PackedSequence(output, batch_sizes, sorted_indices, unsorted_indices)
        elif not batched:
            output = output.squeeze(1)
        elif not time_first:
            output = rename_node(
                output.transpose(0, 1), "Transpose" if is_pair and weight.dtype.name == "float32" else "Transpose.1"
            )
        return output, state if is_pair else state[0]

    def _run(self, x, sizes, state):
        """Run all layers, each on the output of the one below; return the last output and all final states."""
        ends = []
        for layer in range(self.num_layers):
            if layer and self.dropout and self.training:
                x = F.dropout(x, self.dropout)
            outputs = []
            for suffix in self._suffixes(layer):
                names = ("weight_ih", "weight_hh", "bias_ih", "bias_hh", "weight_hr")
                names = [name + suffix if name + suffix in self._all_weights[len(ends)] else None for name in names]
                weights = [None if name is None else getattr(self, name) for name in names]
                start = tuple(part[len(ends)] for part in state)
                reverse = suffix.endswith("reverse")
                output, end = run(KINDS[self.mode], x, sizes, start, weights, reverse)
                outputs.append(output)
                ends.append(end)
            x = outputs[0] if len(outputs) == 1 else cat(outputs, dim=-1)
        return x, ends

    def _check_dimensions(self, input, hx, is_pair):
        """Check the numbers of axes; return True if there is a batch."""
        name, dim = self.mode.partition("_")[0], input.dim()
        if dim not in (2, 3):
            got = f"{dim}D tensor" if name == "RNN" else f"{dim}D"
            raise error("recurrent axes", name, got)
        kind = "batched" if dim == 3 else "unbatched"
        if hx is None:
            pass
        elif is_pair:
            refuse(hx[0].dim() != dim or hx[1].dim() != dim, "pair axes", kind, dim, dim, hx[0].dim(), hx[1].dim())
        elif hx.dim() != dim:
            raise error("state axes", kind, dim, dim, hx.dim())
        return dim == 3

    def _check_input(self, x, weight, dim):
        refuse(x.dtype is not weight.dtype, "recurrent input type", x.dtype, weight.dtype, weight.dtype, x.dtype)
        refuse(x.dim() != dim, "input must have {} dimensions, got {}", dim, x.dim())
        refuse(x.size(-1) != self.input_size, "recurrent input size", self.input_size, x.size(-1))

    def _first_state(self, x, hx, batch, batched, is_pair, sorted_indices):
        """Return the initial state: a tuple of (L D, B, …), in the order of the sorted batch."""
        count = self.num_layers * (2 if self.bidirectional else 1)
        shapes = [(count, batch, self.proj_size or self.hidden_size), (count, batch, self.hidden_size)][: 1 + is_pair]
        if hx is None:
            return tuple(zeros(shape, dtype=x.dtype, device=x.device) for shape in shapes)
        state = tuple(hx) if is_pair else (hx,)
        if not batched:
            state = tuple(part.unsqueeze(1) for part in state)
        if sorted_indices is not None:
            state = tuple(part.index_select(1, sorted_indices) for part in state)
        for k, (part, shape) in enumerate(zip(state, shapes)):
            if part.shape != shape:
                which = f"hidden[{k}]" if is_pair else "hidden"
                raise error("state size", which, shape, list(part.shape))
        refuse(len(state) != len(shapes), "lstm expects two hidden states")
        return state

    def extra_repr(self):
        changed = show_changed(
            self, proj_size=0, num_layers=1, bias=True, batch_first=False, dropout=0, bidirectional=False
        )
        return f"{self.input_size}, {self.hidden_size}{changed}"


def refuse_projection(options):
    """Raise torch's ValueError for a projection."""
    refuse("proj_size" in options, "proj_size argument is only supported for LSTM, not RNN or GRU", kind=ValueError)


class RNN(RNNBase):
    """h_t = tanh( W_ih x_t + b_ih + W_hh h_{t-1} + b_hh ), or with relu; the arguments are `RNNBase`'s."""

    def __init__(self, *args, **kwargs):
        refuse_projection(kwargs)
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
        refuse_projection(kwargs)
        super().__init__("GRU", *args, **kwargs)


# Functions with the parameters as arguments: torch.lstm, torch.lstm_cell, …


def check_cell(gates, input, state, w_ih, w_hh):
    """Return tensors of a step in one type; raise torch's errors if their sizes or types do not fit."""
    refuse(input.size(1) != w_ih.size(1), "cell input size", input.size(1), w_ih.size(1))
    hidden = w_hh.size(1)

    def check_state():
        for k, part in enumerate(state):
            refuse(part.size(0) != input.size(0), "cell batch size", input.size(0), k, part.size(0))
            refuse(part.size(1) != hidden, "cell hidden size", k, part.size(1), hidden)

    if gates == 3:  # torch checks them in this order
        check_state()
    for name, weight in (("ih", w_ih), ("hh", w_hh)):
        refuse(weight.size(0) != gates * hidden, "cell weight rows", name, gates, gates * hidden, weight.size(0))
    check_state()
    for x, weight in ((input, w_ih), (state[0], w_hh)):
        refuse(x.dtype is not weight.dtype, "matrix types", x.dtype.c_name, weight.dtype.c_name)
        refuse(x.dtype is bool_, "kernel", "addmm_impl_cpu_", "Bool")
    refuse(w_hh.dtype.kind < w_ih.dtype.kind, "cast", w_ih.dtype.title, w_hh.dtype.title)
    dtype = promote(promote(w_ih.dtype, w_hh.dtype), state[-1].dtype)
    return [x.to(dtype) for x in (input, *state, w_ih, w_hh)]


def make_cell_function(mode):
    """Make the function of one cell's step, such as torch.lstm_cell.

    input: (B, input_size). hx: (B, hidden_size), for an LSTM a pair of them.
    """

    def cell(input, hx, w_ih, w_hh, b_ih=None, b_hh=None):
        note(f"aten::{mode.lower()}_cell")
        is_pair = mode == "LSTM"
        refuse(is_pair and isinstance(hx, Tensor), "cell state type")
        state = tuple(hx) if is_pair else (hx,)
        refuse(is_pair and len(state) != 2, "lstm_cell expects two hidden states")
        input, *state, w_ih, w_hh = check_cell(KINDS[mode].gates, input, state, w_ih, w_hh)
        _, state = run(KINDS[mode], input, [len(input)], tuple(state), (w_ih, w_hh, b_ih, b_hh, None))
        return state if is_pair else state[0]

    cell.__name__ = f"{mode.lower()}_cell"
    return cell


def make_layer_function(mode):
    """Make the function of layers over time, such as torch.lstm.

    Its arguments: (input, state, parameters, has_biases, num_layers, dropout, train, bidirectional, batch_first), or,
    for packed sequences, (data, batch_sizes, state, parameters, has_biases, num_layers, dropout, train, bidirectional).
    """
    layer = {"LSTM": LSTM, "GRU": GRU}.get(mode, RNN)

    def layers(input, second, third, *options):
        packed = isinstance(options[0], (tuple, list))
        hx, params, options = (third, options[0], options[1:]) if packed else (second, third, options)
        for x, weight in ((input, params[0]), (hx[0] if mode == "LSTM" else hx, params[1])):
            refuse(x.dtype is not weight.dtype, "matrix types", x.dtype.c_name, weight.dtype.c_name)
        has_biases, num_layers, dropout, train, bidirectional, *batch_first = options
        per_layer = len(params) // (num_layers * (1 + bidirectional))
        projected = per_layer - 2 * has_biases == 3
        hidden_size = params[1].size(0) // KINDS[mode].gates
        layer_options = {"proj_size": params[1].size(1)} if projected else {}
        layer_options |= {"nonlinearity": mode[4:].lower()} if layer is RNN else {}
        layer_options |= {"bias": has_biases, "batch_first": any(batch_first)}
        layer_options |= {"dropout": dropout, "bidirectional": bidirectional}
        with fork_rng():  # the initial values are replaced
            module = layer(params[0].size(1), hidden_size, num_layers, dtype=params[0].dtype, **layer_options)
        module.train(train)
        for name, value in zip([name for name, _ in module.named_parameters()], params):
            module._parameters[name] = value
        output, state = module(PackedSequence(input, second) if packed else input, tuple(hx) if mode == "LSTM" else hx)
        state = state if mode == "LSTM" else (state,)
        return (output.data if packed else output, *state)

    layers.__name__ = mode.lower()
    return layers


FUNCTIONS = {f"{mode.lower()}_cell": make_cell_function(mode) for mode in KINDS} | {
    mode.lower(): make_layer_function(mode) for mode in KINDS
}
