"""What RNN, LSTM and GRU share: layers, directions, dropout, batches, packed sequences.

A recurrent layer is a step, repeated. The step is what `rnn.py`, `lstm.py` and `gru.py` are about; here is the
repetition, written once. Shapes: `T` time steps, `B` sequences in a batch, `D` directions (2 if
bidirectional, else 1), `L` layers.
"""

import math
from typing import NamedTuple

import torch
from torch import Tensor, nn
from torch.nn.utils.rnn import PackedSequence

from companion.layers import errors


class Weights(NamedTuple):
    """The parameters that one step needs: one layer's, in one direction.

    The matrices are transposed once, here, since a batch's vectors are rows: W h of every row is `h @ w.hh`.
    """

    ih: Tensor  # (input_size, gates * hidden_size)
    hh: Tensor  # (hidden_size, gates * hidden_size), or (proj_size, …) with a projection
    b_ih: Tensor | None = None  # (gates * hidden_size)
    b_hh: Tensor | None = None  # (gates * hidden_size)
    hr: Tensor | None = None  # (hidden_size, proj_size)

    @classmethod
    def of(cls, module, suffix=""):
        """The weights of a module under torch's names with this ending."""
        ih, hh, hr = (getattr(module, f"weight_{k}{suffix}", None) for k in ("ih", "hh", "hr"))
        b_ih, b_hh = (getattr(module, f"bias_{k}{suffix}", None) for k in ("ih", "hh"))
        return cls(ih.T, hh.T, b_ih, b_hh, None if hr is None else hr.T)


def affine(x, weight, bias=None):
    """W x + b for every row of `x`: `x` is (rows, in), `weight` (in, out), `bias` (out), (rows, out) or None."""
    return x @ weight if bias is None else torch.addmm(bias, x, weight)


def dropout(x, p):
    """Zero each number of `x` with probability `p` and scale the others by 1 / (1 - p) (Srivastava et al. 2014).

    Draws as many random numbers as `torch.nn.functional.dropout`, so that under one seed the masks are equal.
    """
    if p == 1:
        return x * 0
    # m_t ~ Bernoulli(1 - p)
    mask = torch.empty_like(x).bernoulli_(1 - p)
    return x * (mask / (1 - p))


def over_time(step, sizes, start, reverse=False):
    """Call `state = step(t, state)` for every time step t, forwards or in reverse; returns the last state.

    sizes: how many sequences still run at each time step. They are sorted by length, the longest first, so it is the
    first rows that run. start: the state before, a tuple of (B, …). Each sequence ends, or in reverse begins, at its
    own last element.
    """
    order = range(len(sizes))
    order = reversed(order) if reverse else order
    running = sizes[-1 if reverse else 0]
    state, ended = tuple(s[:running] for s in start), []
    for t in order:
        rows = sizes[t]
        if rows < running:  # forwards, the shorter sequences end first: put their last state aside
            ended.append(tuple(s[rows:] for s in state))
            state = tuple(s[:rows] for s in state)
        elif rows > running:  # in reverse, they begin later
            state = tuple(torch.cat([s, s0[running:rows]]) for s, s0 in zip(state, start, strict=True))
        running = rows
        state = step(t, state)
    return tuple(torch.cat(s) for s in zip(state, *reversed(ended), strict=True)) if ended else state


class Step:
    """What differs between the networks. A cell and a layer of one kind share one.

    A subclass adds `step(a, state, w)`, which takes what `ahead` has computed for this time step, the state before
    it and the weights, and returns the state after it.
    """

    name = ""  # what errors call it
    num_chunks = 1  # how many gates of hidden_size rows stand above each other in the weights
    is_pair = False  # whether the state is (h, c), or h alone

    def ahead(self, x, w):
        """W_ih x_t + b_ih + b_hh for every row of `x`: what a time step needs of its input, before any state."""
        biases = [b for b in (w.b_ih, w.b_hh) if b is not None]
        return affine(x, w.ih, sum(biases) if biases else None)


class RNNCellBase(nn.Module):
    """One time step, with its parameters: with a `Step` the base of `RNNCell`, `LSTMCell` and `GRUCell`."""

    __constants__ = ["input_size", "hidden_size", "bias"]

    def __init__(self, input_size, hidden_size, bias, num_chunks, device=None, dtype=None):
        super().__init__()
        self.input_size = input_size
        self.hidden_size = hidden_size
        self.bias = bias
        rows = num_chunks * hidden_size

        def parameter(*shape):
            return nn.Parameter(torch.empty(shape, device=device, dtype=dtype))

        self.weight_ih = parameter(rows, input_size)
        self.weight_hh = parameter(rows, hidden_size)
        self.register_parameter("bias_ih", parameter(rows) if bias else None)
        self.register_parameter("bias_hh", parameter(rows) if bias else None)
        self.reset_parameters()

    def reset_parameters(self):
        """Draw every parameter from U(-k, k) with k = 1 / sqrt(hidden_size)."""
        _uniform(self)

    def forward(self, input, hx=None):
        """Take one time step.

        input: (B, input_size) or (input_size). hx: the state, each tensor (B, hidden_size) or (hidden_size);
        zeros if None. Returns the new state in the same form.
        """
        batched = errors.cell_dimensions(f"{self.name}Cell", input, hx, self.is_pair)
        x = input if batched else input.unsqueeze(0)
        if hx is None:
            zeros = torch.zeros(x.size(0), self.hidden_size, dtype=x.dtype, device=x.device)
            state = (zeros, zeros) if self.is_pair else (zeros,)
        else:
            state = tuple(hx) if self.is_pair else (hx,)
            state = state if batched else tuple(s.unsqueeze(0) for s in state)
        errors.cell_sizes(x, state, self.input_size, self.hidden_size)
        errors.same_dtype((x, *state), self.weight_ih, self.bias)

        w = Weights.of(self)
        state = self.step(self.ahead(x, w), state, w)

        state = state if batched else tuple(s.squeeze(0) for s in state)
        return state if self.is_pair else state[0]

    def extra_repr(self):
        parts = [f"{self.input_size}, {self.hidden_size}"]
        if self.bias is not True:
            parts.append(f"bias={self.bias}")
        if getattr(self, "nonlinearity", "tanh") != "tanh":
            parts.append(f"nonlinearity={self.nonlinearity}")
        return ", ".join(parts)


class RNNBase(nn.Module):
    """A network over whole sequences: with a `Step` the base of `RNN`, `LSTM` and `GRU`."""

    __constants__ = [
        "mode", "input_size", "hidden_size", "num_layers", "bias", "batch_first", "dropout", "bidirectional",
        "proj_size",
    ]  # fmt: skip
    unroll_by_hand = None  # `companion.by_hand` puts a function here that takes the place of `_unroll`

    def __init__(
        self,
        mode,
        input_size,
        hidden_size,
        num_layers=1,
        bias=True,
        batch_first=False,
        dropout=0.0,
        bidirectional=False,
        proj_size=0,
        device=None,
        dtype=None,
    ):
        super().__init__()
        self.mode = mode
        self.input_size = input_size
        self.hidden_size = hidden_size
        self.num_layers = num_layers
        self.bias = bias
        self.batch_first = batch_first
        self.dropout = float(dropout)
        self.bidirectional = bidirectional
        self.proj_size = proj_size
        errors.layer_arguments(input_size, hidden_size, num_layers, bias, batch_first, dropout, proj_size)

        rows = self.num_chunks * hidden_size
        output_size = proj_size or hidden_size
        self._all_weights = []
        for layer in range(num_layers):
            for suffix in self._suffixes(layer):
                # a layer above the first reads both directions of the one below
                below = input_size if layer == 0 else output_size * (2 if bidirectional else 1)
                shapes = {"weight_ih": (rows, below), "weight_hh": (rows, output_size)}
                if bias:
                    shapes |= {"bias_ih": (rows,), "bias_hh": (rows,)}
                if proj_size:
                    shapes |= {"weight_hr": (proj_size, hidden_size)}
                for name, shape in shapes.items():
                    parameter = nn.Parameter(torch.empty(shape, device=device, dtype=dtype))
                    self.register_parameter(name + suffix, parameter)
                self._all_weights.append([name + suffix for name in shapes])
        self.reset_parameters()

    def reset_parameters(self):
        """Draw every parameter from U(-k, k) with k = 1 / sqrt(hidden_size)."""
        _uniform(self)

    @property
    def _flat_weights_names(self):
        return [name for names in self._all_weights for name in names]

    @property
    def _flat_weights(self):
        return [getattr(self, name, None) for name in self._flat_weights_names]

    @property
    def all_weights(self):
        """The parameters, a list for each layer and direction."""
        return [[getattr(self, name) for name in names] for names in self._all_weights]

    def flatten_parameters(self):
        """Do nothing: in torch it lays the weights out for cuDNN, which is not used here."""

    def forward(self, input, hx=None):
        """Run over whole sequences.

        input: (T, B, input_size), (B, T, input_size) with `batch_first`, (T, input_size) for one sequence
        without a batch, or a PackedSequence. hx: the initial state, each tensor (L * D, B, size), (L * D, size)
        without a batch; zeros if None.
        Returns `output`, the hidden states of the last layer, laid out as the input was, with D * size
        features; and the final state of every layer and direction, in the form of `hx`. `size` is `hidden_size`,
        for `h` and `output` of an LSTM with projection `proj_size`.
        """
        packed = isinstance(input, PackedSequence)
        if packed:
            x, batch_sizes, to_sorted, to_caller = input
            batched, sizes = True, batch_sizes.tolist()
            batch = sizes[0]
            errors.layer_input(x, self.input_size, self.weight_ih_l0, expected_dim=2)
        else:
            batched = errors.layer_dimensions(self.name, input, hx, self.is_pair)
            time_dim = 1 if batched and self.batch_first else 0
            x = input if batched else input.unsqueeze(1)
            x = x.transpose(0, time_dim)  # (T, B, input_size) from here on
            to_sorted = to_caller = None
            batch = x.size(1)
            sizes = [batch] * x.size(0)
            errors.layer_input(x, self.input_size, self.weight_ih_l0, expected_dim=3)
            x = x.flatten(0, 1)  # a padded batch is a packed one whose sequences all end together

        state = self._initial_state(x, hx, batch, batched, to_sorted)
        errors.layer_length(len(sizes))
        errors.same_dtype(state, self.weight_hh_l0, self.bias)
        if self.is_pair and (dtype := errors.autocast_dtype(x)):
            # of torch's layers autocast runs the LSTM alone in its precision from the first state on
            state = tuple(s.to(dtype) for s in state)

        output, state = self._layers(x, sizes, state)

        if to_caller is not None:
            state = tuple(s.index_select(1, to_caller) for s in state)
        if packed:
            output = PackedSequence(output, batch_sizes, to_sorted, to_caller)
        else:
            output = output.unflatten(0, (len(sizes), batch)).transpose(0, time_dim)
            if not batched:
                output, state = output.squeeze(1), tuple(s.squeeze(1) for s in state)
        return output, state if self.is_pair else state[0]

    def _layers(self, x, sizes, state):
        """Run every layer on the output of the one below.

        x: (sum(sizes), input_size), the rows of one time step after another's. state: a tuple of (L * D, B, size).
        """
        unroll = self.unroll_by_hand or RNNBase._unroll
        ends = []
        for layer in range(self.num_layers):
            if layer > 0 and self.training and self.dropout > 0:
                x = dropout(x, self.dropout)
            outputs = []
            for suffix in self._suffixes(layer):
                start = tuple(s[len(ends)] for s in state)
                w, reverse = Weights.of(self, suffix), suffix.endswith("reverse")
                output, end = unroll(self, x, sizes, start, w, reverse)
                outputs.append(output)
                ends.append(end)
            x = torch.cat(outputs, dim=-1)
        return x, tuple(torch.stack(s) for s in zip(*ends, strict=True))

    def _unroll(self, x, sizes, start, w, reverse):
        """Run one layer in one direction over time."""
        # one product for all time steps
        a = self.ahead(x, w).split(sizes)
        states = [None] * len(sizes)

        def step(t, state):
            states[t] = state = self.step(a[t], state, w)
            return state

        end = over_time(step, sizes, start, reverse)
        return torch.cat([h for h, *_ in states]), end

    def _initial_state(self, x, hx, batch, batched, to_sorted):
        """The state before the first step, a tuple of (L * D, B, size), in the order of the sorted batch."""
        states = self.num_layers * (2 if self.bidirectional else 1)
        shapes = [(states, batch, self.proj_size or self.hidden_size)]
        if self.is_pair:
            shapes.append((states, batch, self.hidden_size))
        if hx is None:
            return tuple(torch.zeros(s, dtype=x.dtype, device=x.device) for s in shapes)
        state = tuple(hx) if self.is_pair else (hx,)
        if not batched:
            state = tuple(s.unsqueeze(1) for s in state)
        if to_sorted is not None:
            state = tuple(s.index_select(1, to_sorted) for s in state)
        errors.layer_state(state, shapes)
        return state

    def _suffixes(self, layer):
        return [f"_l{layer}", f"_l{layer}_reverse"] if self.bidirectional else [f"_l{layer}"]

    def extra_repr(self):
        parts = [f"{self.input_size}, {self.hidden_size}"]
        usual = {"proj_size": 0, "num_layers": 1, "bias": True, "batch_first": False, "dropout": 0}
        usual["bidirectional"] = False
        parts += [f"{name}={getattr(self, name)}" for name, value in usual.items() if getattr(self, name) != value]
        return ", ".join(parts)


def _uniform(module):
    k = 1 / math.sqrt(module.hidden_size) if module.hidden_size > 0 else 0
    for parameter in module.parameters():
        nn.init.uniform_(parameter, -k, k)
