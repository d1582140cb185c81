"""What to look at when a network does not learn and nothing complains, in the order in which experience looks.

Each check is a function of a model and one batch, and returns numbers to be judged by eye; none of them changes the
model. A model is called as `model(inputs, state)`, state None for zeros, and returns outputs and the state after them,
as `SequenceModel` does and the layers of the companion and of `torch.nn` with time first. One with batch first is put
into `TimeFirst`. T is the number of time steps, B the size of the batch. Targets are classes, and the loss is the cross
entropy; `overfit` and `norms` take another `loss_function(outputs, targets)`.
"""

import copy
import math
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, NamedTuple

import torch
from torch import Tensor, nn

from companion.learning.training import IGNORED, clip_gradients, cross_entropy

Loss = Callable[[Tensor, Tensor], Tensor]


class TimeFirst(nn.Module):
    """A model that reads and returns (B, T, …), as one that reads and returns (T, B, …). Its state stays as it is."""

    def __init__(self, model: nn.Module) -> None:
        super().__init__()
        self.model = model

    def forward(self, inputs: Tensor, state: Any = None) -> tuple[Tensor, Any]:
        outputs, state = answer(self.model, inputs.transpose(0, 1), state)
        return outputs.transpose(0, 1), state


class FirstLoss(NamedTuple):
    """The loss of a model, and the loss of guessing among its outputs, in nats."""

    loss: float
    guessing: float


def first_loss(model: nn.Module, inputs: Tensor, targets: Tensor) -> FirstLoss:
    """Before it has learned anything, a model that is to tell V classes apart has a loss of about log V.

    inputs: what the model reads, T steps of B sequences. targets: (T, B), classes. Much more says that the first
    weights are too large, or inputs; much less that the answer is among the inputs.
    """
    check_batch(inputs, targets)
    with asking(model):
        outputs, _ = answer(model, inputs)
        return FirstLoss(cross_entropy(outputs, targets).item(), math.log(outputs.shape[-1]))


def overfit(
    model: nn.Module,
    inputs: Tensor,
    targets: Tensor,
    *,
    learning_rate: float = 0.01,
    steps: int = 100,
    loss_function: Loss | None = None,
) -> list[float]:
    """The losses of a copy of the model that learns this one batch over and over, `steps` of them, with Adam.

    The copy learns without dropout. Its losses should come near 0. Where they do not, the fault is in the model or the
    loop, and not in the data's difficulty.
    """
    check_batch(inputs, targets)
    if steps < 1:
        raise ValueError(f"steps must be at least 1, not {steps}")
    loss_function = loss_function or cross_entropy
    model = copy.deepcopy(model).train()
    module: Any  # what `dropout` is differs from class to class
    for module in model.modules():
        if isinstance(module, nn.modules.dropout._DropoutNd):
            module.p = 0.0
        elif isinstance(getattr(module, "dropout", None), float):
            module.dropout = 0.0
    learnable = [parameter for parameter in model.parameters() if parameter.requires_grad]
    if not learnable:
        raise ValueError("the model has no parameter to learn: is a layer of it in a plain list, or frozen?")
    optimizer, losses = torch.optim.Adam(learnable, lr=learning_rate), []
    for _ in range(steps):
        outputs, _ = answer(model, inputs)
        loss = loss_function(outputs, targets)
        optimizer.zero_grad()
        loss.backward()
        clip_gradients(learnable, 1.0)
        optimizer.step()
        losses.append(loss.item())
    return losses


class Norms(NamedTuple):
    """The norm of each parameter's gradient, None where none arrives, and the mean norm of the outputs at each time
    step."""

    gradients: dict[str, float | None]
    outputs: list[float]


def norms(model: nn.Module, inputs: Tensor, targets: Tensor, loss_function: Loss | None = None) -> Norms:
    """How large the gradients are, by parameter, and the outputs, by time step.

    A parameter without a gradient takes no part in the loss. Gradients that are all 0, or no numbers, or outputs that
    grow from step to step, say where to look next.
    """
    check_batch(inputs, targets)
    named = {name: parameter for name, parameter in model.named_parameters() if parameter.requires_grad}
    outputs, _ = answer(model, inputs)
    loss = (loss_function or cross_entropy)(outputs, targets)
    found = torch.autograd.grad(loss, [*named.values()], allow_unused=True)
    gradients = {name: None if g is None else g.norm().item() for name, g in zip(named, found, strict=True)}
    return Norms(gradients, outputs.detach().norm(dim=-1).mean(dim=-1).tolist())


class Past(NamedTuple):
    """The loss at the last time step, with its past as it is and with the past in another order."""

    in_order: float
    shuffled: float


def shuffled_past(model: nn.Module, inputs: Tensor, targets: Tensor, *, keep: int = 1, seed: int = 0) -> Past:
    """Does the model use the order of what came before? The loss at the last step, before and after shuffling its past.

    keep: how many inputs at the end stay where they are. Those before them change places, in each sequence in another
    way. Equal losses: what the model makes use of is in the last inputs, or in which inputs there were, and not in
    their order.
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
            f"of {len(inputs)} time steps {keep} are to stay: at least 1 must, and 2 must be left to be shuffled"
        )
    chances = torch.rand(past, inputs.shape[1], generator=torch.Generator().manual_seed(seed))
    order = torch.cat(
        [chances.argsort(dim=0, stable=True), torch.arange(past, len(inputs))[:, None].expand(-1, inputs.shape[1])]
    )
    mixed = inputs[order.to(inputs.device), torch.arange(inputs.shape[1], device=inputs.device)]
    with asking(model):
        losses = [cross_entropy(answer(model, one)[0][-1:], targets[-1:]).item() for one in (inputs, mixed)]
    return Past(*losses)


class Carried(NamedTuple):
    """The largest difference from reading in one go: when the state is handed on, and when it is not."""

    handed_on: float
    from_zeros: float


def state_carried(model: nn.Module, inputs: Tensor) -> Carried:
    """Is the state carried? Reads the inputs in one go, and in two halves.

    handed_on should be 0 up to rounding: else the state that the model returns is not all that it remembers, or it does
    not read the state that it is given. from_zeros should not be 0: else it remembers nothing. ValueError for a layer
    of two
    directions: what it answers hangs on what follows, which the first half does not have.
    """
    check_batch(inputs)
    check_time_first(model)
    if any(getattr(module, "bidirectional", False) for module in model.modules()):
        raise ValueError("a bidirectional layer has no state to hand on: its answers hang on what follows, too")
    if len(inputs) < 2:
        raise ValueError(f"there must be at least 2 time steps, not {len(inputs)}")
    half = len(inputs) // 2
    with asking(model):
        whole = answer(model, inputs)[0][half:]
        _, state = answer(model, inputs[:half])
        seconds = [answer(model, inputs[half:], one)[0] for one in (state, None)]
    return Carried(*((second - whole).abs().max().item() for second in seconds))


def shift(inputs: Tensor, targets: Tensor, largest: int = 3) -> dict[int, float]:
    """By how many steps the targets are ahead of the inputs, from 0 to `largest`: {steps: share of places where it
    fits}.

    inputs, targets: indices (T, B). For a model that predicts the next one, the share at 1 is 1. If it is the one at 0,
    the model is asked for what it has just read.
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


@contextmanager
def asking(model: nn.Module) -> Iterator[None]:
    """Without dropout and gradients. Afterwards every part of the model is in the mode in which it was."""
    modes = {module: module.training for module in model.modules()}
    model.eval()
    try:
        with torch.no_grad():
            yield
    finally:
        for module, training in modes.items():
            module.training = training


def answer(model: nn.Module, inputs: Tensor, state: Any = None) -> tuple[Tensor, Any]:
    """Outputs and state, if the model returns these two."""
    found = model(inputs, state)
    if not (isinstance(found, tuple) and len(found) == 2 and isinstance(found[0], torch.Tensor)):
        raise TypeError(f"a model must return a pair, outputs and state, not {type(found).__name__}")
    return found


def check_time_first(model: nn.Module) -> None:
    """Refuse a layer that takes the second dimension for time."""
    if not isinstance(model, TimeFirst) and any(getattr(module, "batch_first", False) for module in model.modules()):
        raise ValueError("the model reads batch first: give TimeFirst(model), and inputs and targets with time first")


def check_batch(inputs: Tensor, targets: Tensor | None = None) -> None:
    """Refuse what is no batch, before anything is computed."""
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
    """The type and the shape of a tensor, for errors."""
    return f"{tensor.dtype} {tuple(tensor.shape)}"
