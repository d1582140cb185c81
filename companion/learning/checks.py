"""Checks for a network that does not learn and raises no error, in the order in which experienced people try them.

Each check is a function of a model and one batch, and returns numbers to be judged by eye; none of them changes the
model. A model is called as `model(inputs, state)`, state None for zeros, and returns outputs and the state after them,
as `SequenceModel` does and the layers of the companion and of `torch.nn` with time first. Wrap a model with batch first
in `TimeFirst`. T is the number of time steps, B the size of the batch. Targets are classes, and the loss is the cross
entropy; `overfit` and `norms` take another `loss_function(outputs, targets)`.
"""

import copy
import math
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, NamedTuple

import torch
from torch import Tensor, nn

from companion.layers.linear import Dropout
from companion.learning.sequence_model import in_few_threads
from companion.learning.training import IGNORED, clip_gradients, cross_entropy

Loss = Callable[[Tensor, Tensor], Tensor]


class TimeFirst(nn.Module):
    """A model that reads and returns (T, B, …), made from one that reads and returns (B, T, …).

    The state is passed unchanged.
    """

    def __init__(self, model: nn.Module) -> None:
        super().__init__()
        self.model = model

    def forward(self, inputs: Tensor, state: Any = None) -> tuple[Tensor, Any]:
        """Return the outputs (T, B, …) and the state."""
        outputs, state = run_model(self.model, inputs.transpose(0, 1), state)
        return outputs.transpose(0, 1), state


class FirstLoss(NamedTuple):
    """The loss of a model, and the loss of guessing among its outputs, in nats."""

    loss: float
    guessing: float


def first_loss(model: nn.Module, inputs: Tensor, targets: Tensor) -> FirstLoss:
    """Return a model's loss, and log V, the loss of guessing among V classes: about the same before learning.

    inputs: the model's inputs, T steps of B sequences. targets: (T, B), classes. A much larger loss means that the
    first weights or the inputs are too large; a much smaller one that the weights are not new, or the loss is wrong.
    """
    check_batch(inputs, targets)
    with evaluation_mode(model):
        outputs, _ = run_model(model, inputs)
        return FirstLoss(cross_entropy(outputs, targets).item(), math.log(outputs.shape[-1]))


@in_few_threads
def overfit(
    model: nn.Module,
    inputs: Tensor,
    targets: Tensor,
    *,
    learning_rate: float = 0.01,
    steps: int = 100,
    loss_function: Loss | None = None,
) -> list[float]:
    """Return the losses of a copy of the model that learns this one batch again and again, for `steps` steps of Adam.

    The copy learns without dropout, in a loop of this function. Its losses should come near 0. If they do not, the
    fault is in the model, and not in the data's difficulty.
    """
    check_batch(inputs, targets)
    if steps < 1:
        raise ValueError(f"steps must be at least 1, not {steps}")
    loss_function = loss_function or cross_entropy
    model = without_dropout(model).train()
    learnable = [parameter for parameter in model.parameters() if parameter.requires_grad]
    if not learnable:
        raise ValueError("the model has no parameter to learn: is a layer of it in a plain list, or frozen?")
    optimizer, losses = torch.optim.Adam(learnable, lr=learning_rate), []
    for _ in range(steps):
        outputs, _ = run_model(model, inputs)
        loss = loss_function(outputs, targets)
        optimizer.zero_grad()
        loss.backward()
        clip_gradients(learnable, 1.0)
        optimizer.step()
        losses.append(loss.item())
    return losses


class Norms(NamedTuple):
    """The norm of each parameter's gradient, None if it gets none, and the outputs' mean norm at each time step."""

    gradients: dict[str, float | None]
    outputs: list[float]


def norms(model: nn.Module, inputs: Tensor, targets: Tensor, loss_function: Loss | None = None) -> Norms:
    """Return the norms of the gradients, by parameter, and of the outputs, by time step.

    A parameter without a gradient does not affect the loss. Gradients that are all 0 or not finite, or outputs that
    grow from step to step, show where to look next.
    """
    check_batch(inputs, targets)
    named = {name: parameter for name, parameter in model.named_parameters() if parameter.requires_grad}
    outputs, _ = run_model(model, inputs)
    loss = (loss_function or cross_entropy)(outputs, targets)
    grads = torch.autograd.grad(loss, [*named.values()], allow_unused=True)
    gradients = {name: None if g is None else g.norm().item() for name, g in zip(named, grads, strict=True)}
    return Norms(gradients, outputs.detach().norm(dim=-1).mean(dim=-1).tolist())


class Past(NamedTuple):
    """The loss at the last time step, with its past in order and shuffled."""

    in_order: float
    shuffled: float


def shuffled_past(model: nn.Module, inputs: Tensor, targets: Tensor, *, keep: int = 1, seed: int = 0) -> Past:
    """Return the loss at the last step before and after shuffling its past, to see if the model uses the order.

    keep: the number of inputs at the end that stay in place. Those before them are shuffled, in each sequence
    differently. Equal losses mean that the model uses only the last inputs, or which inputs there were, and not their
    order.
    """
    check_batch(inputs, targets)
    check_time_first(model)
    if inputs.shape[:2] != targets.shape[:2]:
        raise ValueError(
            f"inputs and targets must have the same (T, B), not {describe(inputs)} and {describe(targets)}"
        )
    past = len(inputs) - keep
    if keep < 1 or past < 2:
        raise ValueError(
            f"keep={keep} leaves {past} of {len(inputs)} time steps to shuffle; keep must be at least 1, and leave 2"
        )
    random_keys = torch.rand(past, inputs.shape[1], generator=torch.Generator().manual_seed(seed))
    order = torch.cat(
        [random_keys.argsort(dim=0, stable=True), torch.arange(past, len(inputs))[:, None].expand(-1, inputs.shape[1])]
    )
    shuffled = inputs[order.to(inputs.device), torch.arange(inputs.shape[1], device=inputs.device)]
    with evaluation_mode(model):
        losses = [cross_entropy(run_model(model, x)[0][-1:], targets[-1:]).item() for x in (inputs, shuffled)]
    return Past(*losses)


class Carried(NamedTuple):
    """The largest difference from reading in one go: if the state is handed on, and if it is not."""

    handed_on: float
    from_zeros: float


def state_carried(model: nn.Module, inputs: Tensor) -> Carried:
    """Compare reading the inputs in one go with reading two halves, to see if the model carries its state.

    handed_on should be 0 up to rounding: else the returned state is not all that the model remembers, or the model does
    not read the state that it gets. from_zeros should not be 0: else the model remembers nothing. ValueError for a
    bidirectional layer: its outputs also depend on later steps, which the first half does not have.
    """
    check_batch(inputs)
    check_time_first(model)
    if any(getattr(module, "bidirectional", False) for module in model.modules()):
        raise ValueError("a bidirectional layer cannot carry a state: its outputs also depend on later steps")
    if len(inputs) < 2:
        raise ValueError(f"there must be at least 2 time steps, not {len(inputs)}")
    half = len(inputs) // 2
    with evaluation_mode(model):
        whole = run_model(model, inputs)[0][half:]
        _, state = run_model(model, inputs[:half])
        seconds = [run_model(model, inputs[half:], first)[0] for first in (state, None)]
    return Carried(*((second - whole).abs().max().item() for second in seconds))


def shift(inputs: Tensor, targets: Tensor, largest: int = 3) -> dict[int, float]:
    """Return {steps: share of places where the targets are that many steps ahead of the inputs}, from 0 to `largest`.

    inputs, targets: indices (T, B). For a model that predicts the next index, the share at 1 is 1. If the share at 0 is
    1, the targets are what the model has just read.
    """
    check_batch(inputs, targets)
    if inputs.shape != targets.shape or inputs.is_floating_point():
        raise ValueError(
            f"inputs and targets must be indices of one shape, not {describe(inputs)} and {describe(targets)}"
        )
    if len(inputs) <= largest:
        raise ValueError(f"there must be more than {largest} time steps, not {len(inputs)}")
    length = len(inputs)
    return {by: (inputs[by:] == targets[: length - by]).double().mean().item() for by in range(largest + 1)}


def without_dropout(model: nn.Module) -> nn.Module:
    """Return a copy of the model that drops nothing in training mode; a state that it keeps is detached."""
    kept = [value for part in model.modules() for value in vars(part).values()]
    kept += [x for value in kept if isinstance(value, tuple) for x in value]
    memo = {id(x): x.detach().clone() for x in kept if isinstance(x, Tensor) and not x.is_leaf}
    model = copy.deepcopy(model, memo)
    module: Any  # `dropout` has a different type in each class
    for module in model.modules():
        if isinstance(module, nn.modules.dropout._DropoutNd | Dropout):
            module.p = 0.0
        elif isinstance(getattr(module, "dropout", None), float):
            module.dropout = 0.0
    return model


@contextmanager
def evaluation_mode(model: nn.Module) -> Iterator[None]:
    """Turn off dropout and gradients within the context, and restore the mode of every module after it."""
    modes = {module: module.training for module in model.modules()}
    model.eval()
    try:
        with torch.no_grad():
            yield
    finally:
        for module, training in modes.items():
            module.training = training


def run_model(model: nn.Module, inputs: Tensor, state: Any = None) -> tuple[Tensor, Any]:
    """Return the model's outputs and state; TypeError if it does not return these two."""
    result = model(inputs, state)
    if not (isinstance(result, tuple) and len(result) == 2 and isinstance(result[0], torch.Tensor)):
        raise TypeError(f"a model must return a pair, outputs and state, not {type(result).__name__}")
    return result


def check_time_first(model: nn.Module) -> None:
    """Raise ValueError if a layer of the model takes the second dimension for time."""
    if not isinstance(model, TimeFirst) and any(getattr(module, "batch_first", False) for module in model.modules()):
        raise ValueError("the model reads batch first: give TimeFirst(model), and inputs and targets with time first")


def check_batch(inputs: Tensor, targets: Tensor | None = None) -> None:
    """Raise TypeError or ValueError if inputs and targets are not a batch."""
    for name, tensor in (("inputs", inputs), ("targets", targets))[: 1 if targets is None else 2]:
        if not isinstance(tensor, torch.Tensor):
            raise TypeError(f"{name} must be a tensor, not {type(tensor).__name__}")
        if tensor.numel() == 0:
            raise ValueError(f"{name} are empty: their shape is {tuple(tensor.shape)}")
    if inputs.dim() < 2:
        raise ValueError(f"inputs must be (T, B) or (T, B, input_size), not {tuple(inputs.shape)}")
    if targets is not None and not targets.is_floating_point() and bool((targets == IGNORED).all()):
        raise ValueError("all targets are IGNORED: nothing is asked")


def describe(tensor: Tensor) -> str:
    """Return the type and the shape of a tensor, for errors."""
    return f"{tensor.dtype} {tuple(tensor.shape)}"
