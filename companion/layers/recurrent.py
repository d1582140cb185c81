"""Base classes of RNN, LSTM and GRU: layers, directions, dropout, batches, packed sequences.

A recurrent layer repeats a step. The step, `_step`, is defined in `rnn.py`, `lstm.py` and `gru.py`; the repetition is
here. Shapes: `T` time steps, `B` sequences in a batch, `D` directions (2 if bidirectional, else 1), `L` layers.
"""

import functools
import math
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, ParamSpec

import torch
from torch import Tensor, nn
from torch.nn.utils.rnn import PackedSequence

from companion.layers import errors
from companion.layers.step import Step, Weights
from companion.layers.types import Device, State

P = ParamSpec("P")


def dropout(x: Tensor, p: float) -> Tensor:
    """Zero each number of `x` with probability `p` and scale the others by 1 / (1 - p) (Srivastava et al. 2014).

    Draws as many random numbers as `torch.nn.functional.dropout`, so that under one seed the masks are equal.
    """
    if p == 1:
        return x * 0
    # m_t ~ Bernoulli(1 - p)
    mask = torch.empty_like(x).bernoulli_(1 - p)
    return x * (mask / (1 - p))


def over_time(step: Callable[[int, State], State], sizes: list[int], start: State, reverse: bool = False) -> State:
    """Call `state = step(t, state)` for every time step t, forwards or in reverse, and return the last state.

    sizes: the number of sequences that are still running at each time step. The longest sequences come first, so the
    running ones are the first rows. start: the initial state, a tuple of (B, …). Each sequence ends, or in reverse
    begins, at its own last element.
    """
    order = range(len(sizes))
    order = reversed(order) if reverse else order
    running = sizes[-1 if reverse else 0]
    state, ended = tuple(s[:running] for s in start), []
    for t in order:
        rows = sizes[t]
        if rows < running:  # forwards, shorter sequences end first: keep their last state
            ended.append(tuple(s[rows:] for s in state))
            state = tuple(s[:rows] for s in state)
        elif rows > running:  # in reverse, shorter sequences begin later
            state = tuple(torch.cat([s, s0[running:rows]]) for s, s0 in zip(state, start, strict=True))
        running = rows
        state = step(t, state)
    return tuple(torch.cat(s) for s in zip(state, *reversed(ended), strict=True)) if ended else state


def unroll(step: Step, x: Tensor, sizes: list[int], start: State, w: Weights, reverse: bool) -> tuple[Tensor, State]:
    """Run one layer in one direction, and return its output (N, size) and last state, a tuple of (B, size)."""
    # one product for all time steps
    a = step.ahead(x, w).split(sizes)
    states: list[Any] = [None] * len(sizes)

    def take(t, state):
        states[t] = state = step.step(a[t], state, w)
        return state

    end = over_time(take, sizes, start, reverse)
    return torch.cat([h for h, *_ in states]), end


class RNNCellBase(nn.Module):
    """Base of `RNNCell`, `LSTMCell` and `GRUCell`: one time step with its parameters."""

    __constants__ = ["input_size", "hidden_size", "bias"]

    if TYPE_CHECKING:

        @property
        def _step(self) -> Step: ...

        def __getattr__(self, name: str) -> Tensor: ...  # a parameter

    def __init__(
        self, input_size: int, hidden_size: int, bias: bool, device: Device = None, dtype: torch.dtype | None = None
    ) -> None:
        super().__init__()
        self.input_size = input_size
        self.hidden_size = hidden_size
        self.bias = bias
        shapes = self._step.shapes(input_size, hidden_size, hidden_size, bias)
        self._weight_names = [*shapes]
        for name, shape in shapes.items():
            if shape is not None:
                self.register_parameter(name, nn.Parameter(torch.empty(shape, device=device, dtype=dtype)))
            elif name.startswith("bias"):  # torch's cells have the attribute without a bias, its layers do not
                self.register_parameter(name, None)
        self.reset_parameters()

    def reset_parameters(self) -> None:
        """Draw every parameter from U(-k, k) with k = 1 / sqrt(hidden_size)."""
        _uniform(self)

    def forward(self, input: Tensor, hx: Any = None) -> Any:
        """Run one time step, and return the new state in the form of `hx`.

        input: (B, input_size) or (input_size). hx: the state, each tensor (B, hidden_size) or (hidden_size); zeros if
        None.
        """
        step = self._step
        batched = errors.cell_dimensions(f"{step.name}Cell", input, hx, step.is_pair)
        x = input if batched else input.unsqueeze(0)
        if hx is None:
            zeros = torch.zeros(x.size(0), self.hidden_size, dtype=x.dtype, device=x.device)
            state = (zeros, zeros) if step.is_pair else (zeros,)
        else:
            state = (hx[0], hx[1]) if step.is_pair else (hx,)
            state = state if batched else tuple(s.unsqueeze(0) for s in state)
        errors.cell_sizes(x, state, self.input_size, self.hidden_size)
        w = Weights.of(self, self._weight_names)
        errors.same_dtype((x, *state), w.ih, self.bias)

        state = step.step(step.ahead(x, w), state, w)

        state = state if batched else tuple(s.squeeze(0) for s in state)
        return state if step.is_pair else state[0]

    def extra_repr(self) -> str:
        """Return the arguments that `repr` shows."""
        parts = [f"{self.input_size}, {self.hidden_size}"]
        if self.bias is not True:
            parts.append(f"bias={self.bias}")
        if getattr(self, "nonlinearity", "tanh") != "tanh":
            parts.append(f"nonlinearity={self.nonlinearity}")
        return ", ".join(parts)


def declared(init: Callable[P, None]) -> Callable[P, None]:
    """Return an `__init__` with the signature of `init` that passes its arguments to `RNNBase` as they are.

    So `RNNBase` refuses wrong arguments in torch's words; the `__init__` of torch's layers also takes any arguments.
    """

    @functools.wraps(init)
    def construct(self, *args, **kwargs):
        RNNBase.__init__(self, *self._with_mode(args, kwargs), **kwargs)

    return construct  # type: ignore[return-value]


class RNNBase(nn.Module):
    """Base of `RNN`, `LSTM` and `GRU`: a `_step` repeated over whole sequences.

    TypeError for a size, bias or batch_first of another type. ValueError for sizes below 1 and a dropout that is no
    probability.
    """

    __constants__ = [
        "mode", "input_size", "hidden_size", "num_layers", "bias", "batch_first", "dropout", "bidirectional",
        "proj_size",
    ]  # fmt: skip
    # `companion.by_hand` stores a function here that replaces `unroll`
    unroll_by_hand: Callable[..., tuple[Tensor, State]] | None = None

    if TYPE_CHECKING:

        @property
        def _step(self) -> Step: ...

        def __getattr__(self, name: str) -> Tensor: ...  # a parameter

    def __init__(
        self,
        mode: str,
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
    ) -> None:
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

        size = proj_size or hidden_size
        self._all_weights = []
        for layer in range(num_layers):
            for suffix in self._suffixes(layer):
                # layers above the first read both directions of the layer below
                below = input_size if layer == 0 else size * (2 if bidirectional else 1)
                shapes = self._step.shapes(below, hidden_size, size, bias)
                self._weight_names = [*shapes]
                own_shapes = {name + suffix: shape for name, shape in shapes.items() if shape is not None}
                for name, shape in own_shapes.items():
                    self.register_parameter(name, nn.Parameter(torch.empty(shape, device=device, dtype=dtype)))
                self._all_weights.append([*own_shapes])
        self.reset_parameters()

    def reset_parameters(self) -> None:
        """Draw every parameter from U(-k, k) with k = 1 / sqrt(hidden_size)."""
        _uniform(self)

    @property
    def _flat_weights_names(self):
        return [name for names in self._all_weights for name in names]

    @property
    def _flat_weights(self):
        return [getattr(self, name, None) for name in self._flat_weights_names]

    @property
    def all_weights(self) -> list[list[nn.Parameter]]:
        """Return the parameters, a list for each layer and direction."""
        return [[getattr(self, name) for name in names] for names in self._all_weights]

    def flatten_parameters(self) -> None:
        """Do nothing: torch lays the weights out for cuDNN here, which this package does not use."""

    def forward(self, input: Any, hx: Any = None) -> Any:
        """Run over whole sequences.

        input: (T, B, input_size), (B, T, input_size) with `batch_first`, (T, input_size) for one sequence
        without a batch, or a PackedSequence. hx: the initial state, each tensor (L * D, B, size), (L * D, size)
        without a batch; zeros if None.
        Returns `output`, the hidden states of the last layer, laid out as the input was, with D * size
        features; and the final state of every layer and direction, in the form of `hx`. `size` is `hidden_size`,
        for `h` and `output` of an LSTM with projection `proj_size`.
        ValueError for an input with neither 2 nor 3 dimensions or of another dtype than the parameters. RuntimeError
        for other sizes or devices, for no time step, and for a state of another dtype. The messages are torch's.
        """
        step, packed = self._step, isinstance(input, PackedSequence)
        suffixes = [suffix for layer in range(self.num_layers) for suffix in self._suffixes(layer)]
        weights = [Weights.of(self, self._weight_names, suffix) for suffix in suffixes]
        w = weights[0]
        if packed:
            x, batch_sizes, to_sorted, to_caller = input
            batched, sizes = True, batch_sizes.tolist()
            batch = sizes[0]
            errors.layer_input(x, self.input_size, w.ih, expected_dim=2)
        else:
            batched = errors.layer_dimensions(step.name, input, hx, step.is_pair)
            time_dim = 1 if batched and self.batch_first else 0
            x = input if batched else input.unsqueeze(1)
            x = x.transpose(0, time_dim)  # (T, B, input_size) from here on
            to_sorted = to_caller = None
            batch = x.size(1)
            sizes = [batch] * x.size(0)
            errors.layer_input(x, self.input_size, w.ih, expected_dim=3)
            x = x.flatten(0, 1)  # a padded batch equals a packed one whose sequences all end together

        state = self._initial_state(x, hx, batch, batched, to_sorted)
        if not packed:
            errors.layer_devices(x, state, w.ih)
        errors.layer_length(len(sizes))
        errors.same_dtype(state, w.ih, self.bias)
        if (dtype := errors.autocast_dtype(x)) and self._is_fused_in_torch(x, sizes):
            # autocast converts the first state of a fused layer, too
            state = tuple(s.to(dtype) for s in state)

        outputs, ends = self._run_layers(x, sizes, state, weights)

        # new tensors instead of views, so that callers can change them in place
        join = torch.stack if batched else torch.cat
        state = tuple(join(s) for s in zip(*ends, strict=True))
        if to_caller is not None:
            state = tuple(s.index_select(1, to_caller) for s in state)
        if batched and not packed:
            outputs = [y.unflatten(0, (len(sizes), batch)).transpose(0, time_dim) for y in outputs]
        output = torch.cat(outputs, dim=-1)
        if packed:
            output = PackedSequence(output, batch_sizes, to_sorted, to_caller)
        return output, state if step.is_pair else state[0]

    def _run_layers(self, x, sizes, state, weights):
        """Run every layer on the output of the one below.

        x: (sum(sizes), input_size), the rows of one time step after another's. state: a tuple of (L * D, B, size).
        Returns the last layer's outputs, one for each direction, and the last state of every layer and direction.
        """
        run = self.unroll_by_hand or self._step.unroll or unroll
        ends = []
        for layer in range(self.num_layers):
            if layer > 0:
                x = torch.cat(outputs, dim=-1)
                if self.training and self.dropout > 0:
                    x = dropout(x, self.dropout)
            outputs = []
            for suffix in self._suffixes(layer):
                start = tuple(s[len(ends)] for s in state)
                w, reverse = weights[len(ends)], suffix.endswith("reverse")
                output, end = run(self._step, x, sizes, start, w, reverse)
                outputs.append(output)
                ends.append(end)
        return outputs, ends

    def _initial_state(self, x, hx, batch, batched, to_sorted):
        """Return the state before the first step, a tuple of (L * D, B, size), in the order of the sorted batch."""
        states = self.num_layers * (2 if self.bidirectional else 1)
        shapes = [(states, batch, self.proj_size or self.hidden_size)]
        if self._step.is_pair:
            shapes.append((states, batch, self.hidden_size))
        if hx is None:
            return tuple(torch.zeros(s, dtype=x.dtype, device=x.device) for s in shapes)
        state = tuple(hx) if self._step.is_pair else (hx,)
        if not batched:
            state = tuple(s.unsqueeze(1) for s in state)
        if to_sorted is not None:
            state = tuple(s.index_select(1, to_sorted) for s in state)
        errors.layer_state(state, shapes)
        return state

    def _is_fused_in_torch(self, x, sizes):
        """Return True if torch runs the layer as one fused function, in which autocast converts all inputs."""
        if self.mode != "LSTM" or self.proj_size or x.dtype not in (torch.float32, torch.bfloat16):
            return False
        onednn = torch.backends.mkldnn.is_available() and torch._C._get_mkldnn_enabled()
        return x.device.type != "cpu" or (onednn and 0 < sizes[0] == sizes[-1])

    def _suffixes(self, layer):
        return [f"_l{layer}", f"_l{layer}_reverse"] if self.bidirectional else [f"_l{layer}"]

    def extra_repr(self) -> str:
        """Return the arguments that `repr` shows."""
        parts = [f"{self.input_size}, {self.hidden_size}"]
        usual = {"proj_size": 0, "num_layers": 1, "bias": True, "batch_first": False, "dropout": 0}
        usual["bidirectional"] = False
        parts += [f"{name}={getattr(self, name)}" for name, value in usual.items() if getattr(self, name) != value]
        return ", ".join(parts)


def _uniform(module):
    k = 1 / math.sqrt(module.hidden_size) if module.hidden_size > 0 else 0
    for parameter in module.parameters():
        nn.init.uniform_(parameter, -k, k)
