"""One time step: the part that differs between the networks. A cell runs it once, a layer at every time step.

A new kind of network is a subclass of `Step` that defines its parameters (`shapes`) and how a state follows from the
one before (`step`). A layer of it is a subclass of `RNNBase` whose `_step` is such an object:

    class Mine(RNNBase):
        _step = MyStep()

    layer = Mine("mine", input_size, hidden_size, num_layers=2)

The layer then has several layers, directions, dropout, batches, packed sequences and a `state_dict`.
`tests/layers/test_own_step.py` has two examples, a peephole LSTM and a unit with one gate.
"""

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Self

import torch
from torch import Tensor, nn

from companion.layers.types import State


class Weights:
    """The parameters of one step, for one layer and direction: `weight_hh` is `w.hh`, `bias_hh` is `w.b_hh`.

    The matrices are transposed once, here, since a batch's vectors are rows: W h of every row is `h @ w.hh`. Optional
    parameters that a layer lacks are None.
    """

    def __init__(self, **tensors: Tensor | None) -> None:
        for name, tensor in tensors.items():
            setattr(self, name, tensor)

    if TYPE_CHECKING:

        def __getattr__(self, name: str) -> Any: ...

    @classmethod
    def of(cls, module: nn.Module, names: list[str], suffix: str = "") -> Self:
        """Return the parameters of a module that have these names with this ending."""
        tensors = {}
        for name in names:
            tensor = getattr(module, name + suffix, None)
            is_matrix = tensor is not None and tensor.dim() == 2
            tensors[name.removeprefix("weight_").replace("bias_", "b_")] = tensor.T if is_matrix else tensor
        return cls(**tensors)


def affine(x: Tensor, weight: Tensor, bias: Tensor | None = None) -> Tensor:
    """Return W x + b for every row of `x`.

    x: (rows, in). weight: (in, out). bias: (out), (rows, out) or None.
    """
    return x @ weight if bias is None else torch.addmm(bias, x, weight)


class Step:
    """One time step of a network, without its parameters, which are passed as `w`, a `Weights`.

    A subclass adds `step(a, state, w)`, which takes the result of `ahead` for this time step, the state before it and
    the weights, and returns the state after it. Both states are tuples of (B, size), and `h` comes first.
    """

    name = ""  # the name in errors
    gates = 1  # blocks of hidden_size rows in the weights
    is_pair = False  # whether the state is (h, c), or h alone
    # replaces the loop over time where a step allows it: see `scan.py`
    unroll: Callable[..., tuple[Tensor, State]] | None = None

    if TYPE_CHECKING:

        def step(self, a: Tensor, state: State, w: Weights) -> State:
            """Return the state after one time step."""

    def shapes(self, below: int, hidden_size: int, size: int, bias: bool) -> dict[str, tuple[int, ...] | None]:
        """Return the parameters' shapes by name, in torch's order; None for one that is left out.

        There must be a `weight_ih`. below: features of the layer's input. size: features of `h`, hidden_size or fewer.
        """
        rows = self.gates * hidden_size
        b = (rows,) if bias else None
        return {"weight_ih": (rows, below), "weight_hh": (rows, size), "bias_ih": b, "bias_hh": b}

    def ahead(self, x: Tensor, w: Weights) -> Tensor:
        """Return W_ih x_t + b_ih + b_hh for every row of `x`: the part of a time step that needs no state."""
        biases = [b for b in (w.b_ih, w.b_hh) if b is not None]
        return affine(x, w.ih, sum(biases) if biases else None)
