"""Base class of the layers after the LSTM: one linear map of the input, a state of any shape, and the checks.

A new layer is a subclass that defines how many rows of the linear map each part has (`rows`), which numbers change
nothing (`still`), the shapes of its state (`state_shapes`) and the computation (`run`). It is called like the recurrent
layers.

Shapes: T time steps, B sequences in a batch.
"""

import math
from typing import TYPE_CHECKING, Any

import torch
from torch import Tensor, nn
from torch.nn.utils.rnn import PackedSequence

from companion.layers import errors
from companion.layers.linear import affine
from companion.layers.scan import rectangle
from companion.layers.types import Device, Sequences, State


class SequenceLayer(nn.Module):
    """Base of a layer called as `output, state = layer(input, state)`, one layer in one direction.

    `state` is the state returned by the call before; zeros if None. input_size: features of the input. hidden_size:
    features of the output. batch_first: batches are (B, T, features). shapes: of a subclass's own parameters, by name;
    its `reset_parameters` draws them. Parameters: `weight_ih_l0` (rows, input_size) and `bias_ih_l0` (rows), from U(-k,
    k) with k = 1/√input_size; no bias in a subclass whose `bias` is False. TypeError for sizes that are not integers.
    ValueError for sizes below 1.
    """

    num_layers, bidirectional, proj_size = 1, False, 0
    bias = True
    bias_ih_l0: Tensor | None

    def __init__(
        self,
        input_size: int,
        hidden_size: int,
        batch_first: bool = False,
        device: Device = None,
        dtype: torch.dtype | None = None,
        shapes: dict[str, tuple[int, ...]] | None = None,
    ) -> None:
        super().__init__()
        errors.integers(input_size=input_size, hidden_size=hidden_size)
        if min(input_size, hidden_size) < 1:
            raise ValueError(f"input_size and hidden_size must be 1 or more, got {input_size} and {hidden_size}")
        self.input_size, self.hidden_size, self.batch_first = input_size, hidden_size, batch_first
        self.parts = self.rows()
        self.weight_ih_l0 = nn.Parameter(torch.empty(sum(self.parts), input_size, device=device, dtype=dtype))
        bias = nn.Parameter(torch.empty(sum(self.parts), device=device, dtype=dtype)) if self.bias else None
        self.register_parameter("bias_ih_l0", bias)
        for name, shape in (shapes or {}).items():
            self.register_parameter(name, nn.Parameter(torch.empty(shape, device=device, dtype=dtype)))
        self.reset_parameters()

    def reset_parameters(self) -> None:
        """Draw the weights and biases of the linear map from U(-k, k) with k = 1 / sqrt(input_size)."""
        k = 1 / math.sqrt(self.input_size)
        for parameter in (self.weight_ih_l0, self.bias_ih_l0):
            if parameter is not None:
                nn.init.uniform_(parameter, -k, k)

    def rows(self) -> list[int]:
        """Return the number of rows of the linear map for each part."""
        raise NotImplementedError

    def still(self) -> list[float]:
        """Return for each part the number with which a time step leaves the state as it is: so padding does."""
        raise NotImplementedError

    def state_shapes(self) -> list[tuple[int, ...]]:
        """Return the shapes of the state's tensors for one sequence."""
        raise NotImplementedError

    def run(self, *parts_and_state: Any) -> tuple[Tensor, State]:
        """Return the output and the new state.

        The parts of the linear map are (T, B, rows) each; the state is a tuple of (B, *shape).
        """
        raise NotImplementedError

    def run_padded(self, lengths: Tensor | None, *parts_and_state: Any) -> tuple[Tensor, State]:
        """Do as `run`. lengths: the steps of each sequence, (B), where the others are padding; None if all are steps.

        A layer that `still` does not keep from changing its state in padding uses them.
        """
        return self.run(*parts_and_state)

    def forward(self, input: Sequences, state: Tensor | State | None = None) -> tuple[Sequences, Any]:
        """Run over whole sequences.

        input: (T, B, input_size), (B, T, input_size) with `batch_first`, (T, input_size) for one sequence without a
        batch, or a PackedSequence. state: a tensor, or a tuple if the layer has several, (B, *) each, (*) for one
        sequence. Returns the output, laid out as the input, with hidden_size features, and the state after the last
        time step of each sequence, a tensor or a tuple. ValueError for an input that has neither 2 nor 3 dimensions,
        and for an input or a state whose dtype is not that of the parameters. RuntimeError for an input without time
        steps or with another number of features, and for a state of another shape.

        Note: Pack sequences of different lengths, as for `torch.nn.LSTM`. If they are only padded at the end, with
        finite numbers, the outputs are right, too, but the state is the one after the padding.
        """
        x, state = self._checked(input, state)
        dtype = self.weight_ih_l0.dtype
        # half precision has too few digits for gates and for sums over time
        wide = torch.promote_types(dtype, torch.float32)
        # W x_t + b, in its parts
        sums, lengths = affine(x, self.weight_ih_l0, self.bias_ih_l0).to(wide), None
        if isinstance(input, PackedSequence):
            # pad the batch to a rectangle with steps that change nothing
            T, B = len(input.batch_sizes), len(state[0])
            places = rectangle(input.batch_sizes.tolist(), x.device)
            lengths = (input.batch_sizes[:, None] > torch.arange(B)).sum(0).to(x.device)
            still = torch.cat([sums.new_full((rows,), x) for rows, x in zip(self.parts, self.still(), strict=True)])
            sums = still.repeat(T * B, 1).index_copy(0, places, sums).unflatten(0, (T, B))
        state = tuple(s.to(wide) for s in state)
        output, state = self.run_padded(lengths, *sums.split(self.parts, dim=-1), state)
        output, state = output.to(dtype), tuple(s.to(dtype) for s in state)
        if isinstance(input, PackedSequence):
            output = PackedSequence(output.flatten(0, 1).index_select(0, places), *input[1:])
            state = tuple(_reordered(s, input.unsorted_indices) for s in state)
        elif input.dim() == 2:
            output, state = output[:, 0], tuple(s[0] for s in state)
        elif self.batch_first:
            output = output.transpose(0, 1)
        return output, state if len(state) > 1 else state[0]

    if TYPE_CHECKING:
        __call__ = forward

    def _checked(self, input, state):
        """Check the arguments; return the input as (T, B, input_size) and the state as a tuple of (B, *).

        The input of a PackedSequence is its data, (N, input_size), and the state has the order of the sorted batch.
        """
        name, weight = type(self).__name__, self.weight_ih_l0
        order, packed = None, isinstance(input, PackedSequence)
        if packed:
            B, order, input = int(input.batch_sizes[0]), input.sorted_indices, input.data
        if input.dim() not in (2, 3):
            raise ValueError(f"{name}: Expected input to be 2D or 3D, got {input.dim()}D instead")
        input = self._cast_back(input)
        if input.dtype != weight.dtype:
            raise ValueError(
                f"{name}: input is {input.dtype}, the weights are {weight.dtype}. Convert input:"
                f" input.to({weight.dtype})"
            )
        if input.size(-1) != self.input_size:
            raise RuntimeError(
                f"input.size(-1) must be equal to input_size. Expected {self.input_size}, got {input.size(-1)}"
            )
        alone = input.dim() == 2 and not packed
        if packed:
            x = input
        else:
            x = input[:, None] if alone else input.transpose(0, 1) if self.batch_first else input
            B = x.size(1)
        if len(x) == 0:
            raise RuntimeError("Expected sequence length to be larger than 0")
        shapes = self.state_shapes()
        if state is None:
            return x, self.first_state(x, [(B, *shape) for shape in shapes])
        state = tuple(state) if len(shapes) > 1 else (state,)
        expected = [shape if alone else (B, *shape) for shape in shapes]
        got = [tuple(s.shape) if isinstance(s, torch.Tensor) else type(s).__name__ for s in state]
        if got != expected:
            raise RuntimeError(
                f"{name}: Expected state of {expected}, got {got}. The second argument is the state that an earlier"
                " call returned"
            )
        state = tuple(map(self._cast_back, state))
        for s in state:
            if s.dtype != weight.dtype:
                raise ValueError(
                    f"{name}: state is {s.dtype}, the weights are {weight.dtype}. Convert state:"
                    f" state.to({weight.dtype})"
                )
        return x, tuple(s[None] if alone else _reordered(s, order) for s in state)

    def _cast_back(self, x):
        """Return what autocast converted to half precision in the weights' type, and other tensors as they are."""
        return x.to(self.weight_ih_l0.dtype) if x.dtype == errors.autocast_dtype(x) else x

    def first_state(self, x: Tensor, shapes: list[tuple[int, ...]]) -> State:
        """Return a batch's initial state: zeros of these shapes."""
        return tuple(x.new_zeros(shape) for shape in shapes)

    def extra_repr(self) -> str:
        """Return the arguments that `repr` shows."""
        return f"{self.input_size}, {self.hidden_size}" + (", batch_first=True" if self.batch_first else "")


def _reordered(x, order):
    """Return the sequences of a batch, (B, *), in an order of indices; as they are if it is None."""
    return x if order is None else x.index_select(0, order)
