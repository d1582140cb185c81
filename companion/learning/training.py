"""Training: the loop in which a recurrent network learns, its loss, and the clipping of gradients."""

import math
from collections.abc import Callable
from itertools import islice
from typing import Any, NamedTuple

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from companion.learning.checkpoint import Checkpoint, held_interrupts
from companion.learning.progress import progress_bar
from companion.learning.sequence_model import evaluation_of, in_few_threads

IGNORED = -100  # a target that does not count; torch's default `ignore_index`


class Epoch(NamedTuple):
    """The mean loss of an epoch's steps, and the mean loss on held-out data after it, if there is any."""

    loss: float
    held_out: float | None = None


def train(
    model,
    batches,
    optimizer,
    epochs,
    *,
    clip=1.0,
    held_out=None,
    scheduler=None,
    loss_function=None,
    checkpoint=None,
    progress=True,
):
    """Train a model, and return a list of `Epoch`.

    model: called as `model(inputs, state)`, returns outputs and the state after them. batches: such as
    `ConsecutiveWindows`, with `epoch(number)`, `len()` and `carried`. optimizer, scheduler: of `torch.optim`; the
    scheduler moves at every step. epochs: the total number. clip: the largest norm of the gradients, None for any.
    held_out: batches that are evaluated after every epoch. loss_function: (outputs, targets) → mean loss;
    `cross_entropy` if None. checkpoint: the path of a file in which the run is stored. progress: show the epoch, the
    loss and the time left.

    A stored run that was interrupted continues when the same call is made again with a new model and optimizer, and
    ends with the same weights, bit for bit. FloatingPointError once the loss or the gradients' norm is not finite,
    before the weights change; ValueError for batches without a step or a target, and for a file that stores another run
    or more epochs. Threads: `in_few_threads`.
    """
    loss_function = loss_function or cross_entropy
    clip = math.inf if clip is None else clip
    kept = Checkpoint(checkpoint, model, optimizer, scheduler, batches, clip)
    history, losses, state = kept.load(epochs) or ([], [], None)
    history = [Epoch(*epoch) for epoch in history]
    steps, done = epochs * len(batches), len(history) * len(batches) + len(losses)
    with held_interrupts() as interrupts, progress_bar(steps, done, progress) as bar:
        for epoch in range(len(history), epochs):
            model.train()
            for inputs, targets in islice(batches.epoch(epoch), len(losses), None):
                # forward through time, from where the last window ended or from zeros
                outputs, state = model(inputs, state if batches.carried else None)
                loss = loss_function(outputs, targets)
                check(loss, "loss", epoch, len(losses))

                # backward through time, to where this window began
                optimizer.zero_grad()
                loss.backward()
                norm = clip_gradients(model.parameters(), clip)
                check(norm, "norm of the gradients", epoch, len(losses))
                optimizer.step()
                if scheduler is not None:
                    scheduler.step()
                state = detach(state)

                losses.append(loss.item())
                bar.update()
                if interrupts or kept.is_due():
                    kept.save(history, losses, state)
                if interrupts:
                    raise KeyboardInterrupt

            mean = sum(losses) / len(losses)
            unseen = None
            if held_out is not None:
                unseen = evaluate(model, held_out, loss_function)
            history.append(Epoch(mean, unseen))
            losses, state = [], None
            kept.save(history, losses, state)
            bar.set_postfix_str(f"epoch {epoch + 1}/{epochs}, loss {mean:.2f}")
    if interrupts:
        raise KeyboardInterrupt
    return history


train = in_few_threads(train)  # no decorator, because a chapter prints the function


@in_few_threads
def evaluate(model: nn.Module, batches: Any, loss_function: Callable[[Tensor, Tensor], Tensor] | None = None) -> float:
    """Return the mean loss over the targets of `batches`, without dropout and without learning.

    ValueError if there is no target that counts. Threads: `in_few_threads`.
    """
    loss_function = loss_function or cross_entropy
    total, count, state = 0.0, 0, None
    with evaluation_of(model):
        for inputs, targets in batches.epoch(0):
            outputs, state = model(inputs, state if batches.carried else None)
            asked = int((targets != IGNORED).sum())
            total, count = total + loss_function(outputs, targets).item() * asked, count + asked
    if count == 0:
        raise ValueError(f"the batches have no target to evaluate: there is none, or all are {IGNORED}")
    return total / count


def cross_entropy(logits: Tensor, targets: Tensor) -> Tensor:
    """Return the mean of -log p(target), in nats.

    logits: (T, B, vocab_size). targets: indices (T, B); those equal to `IGNORED` do not count.
    """
    return F.cross_entropy(logits.flatten(0, 1), targets.flatten(), ignore_index=IGNORED)


def perplexity(loss: float) -> float:
    """Return exp of a mean loss in nats: the number of equally likely outcomes with the same loss."""
    return math.exp(loss) if loss < 700 else math.inf


def detach(state: Any) -> Any:
    """Return the state cut off from its past, so that gradients end here.

    state: a tensor, or a tuple of states.
    """
    return state.detach() if isinstance(state, torch.Tensor) else tuple(detach(s) for s in state)


@torch.no_grad()
def clip_gradients(parameters, max_norm):
    """Shorten the gradients of all parameters, taken as one vector, in place, to a norm of at most `max_norm`.

    Returns the norm before (Pascanu, Mikolov and Bengio 2013, arXiv 1211.5063, section 3.2).
    """
    gradients = [p.grad for p in parameters if p.grad is not None]
    # ‖g‖ = √ Σ_p ‖g_p‖²
    norm = torch.stack([g.norm() for g in gradients]).norm()
    # g ← g · max_norm / ‖g‖   where ‖g‖ > max_norm
    if norm > max_norm:
        for g in gradients:
            g.mul_(max_norm / norm)
    return norm


def check(value: Tensor, name: str, epoch: int, step: int) -> None:
    """Raise FloatingPointError if the value is not finite."""
    if not torch.isfinite(value):
        raise FloatingPointError(
            f"the {name} is {value.item()} in epoch {epoch + 1}, step {step + 1}. The weights are still those of the "
            "step before. Try a smaller learning rate, shorter windows, or clip the gradients"
        )
