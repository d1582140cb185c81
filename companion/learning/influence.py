"""Two measures of how much each earlier character matters for a model's prediction; they need not agree."""

from typing import Any

import torch
from torch import Tensor
from torch.nn import functional as F

from companion.learning.sequence_model import evaluation_of


def gradients(model: Any, past: Tensor, target: Tensor) -> Tensor:
    """Return ‖∂(-log p)/∂x_t‖ for each character: the effect of a small change of its embedding vector, (T, B).

    model: a `SequenceModel`. past: indices (T, B), the characters read. target: indices (B), the next characters, to
    which the model gave the probability p.
    """
    with torch.enable_grad():
        x = model.embedding(past).detach().requires_grad_()
        h, _ = model.recurrent(x)
        # the sum over B texts, which do not affect each other's gradients
        losses = F.cross_entropy(model.linear(h[-1]), target, reduction="sum")
        (dx,) = torch.autograd.grad(losses, x)
    return dx.norm(dim=-1)


def taken_away(model: Any, past: Tensor, target: Tensor | int) -> Tensor:
    """Return how much -log p rises when one character is left out, for each of them, (T).

    past: indices (T). target: an index, the next character. A value below zero means that the model predicts better
    without the character.
    """
    length = len(past)
    without = torch.stack([torch.cat([past[:t], past[t + 1 :]]) for t in range(length)], dim=1)
    return surprise(model, without, target) - surprise(model, past[:, None], target)


def surprise(model: Any, past: Tensor, target: Tensor | int) -> Tensor:
    """Return -log p of an index, after pasts (T, B), which may be empty: (B)."""
    with evaluation_of(model):
        if len(past):
            y = model(past)[0][-1]
        else:
            y = model.linear(zero_states(model, past.size(1)))
        return -torch.log_softmax(y, dim=-1)[:, target]


def zero_states(model: Any, batch: int) -> Tensor:
    """Return the state before the first character, (batch, hidden_size)."""
    return model.linear.weight.new_zeros(batch, model.linear.in_features)


def at_all_places(model: Any, indices: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    """Return -log p of each character but the first, (T), and both measures for the characters before it, (T, T).

    indices: of the text, (T + 1). Row k of `gradients` and of `taken_away` is for character k + 1: it has k + 1 values,
    then zeros. All rows need one pass forwards and backwards each, since the texts without a character form a batch.
    """
    past, targets, T = indices[:-1], indices[1:], len(indices) - 1
    with evaluation_of(model):
        with torch.enable_grad():
            # in sequence k the loss is that of character k + 1
            x = model.embedding(past)[:, None].detach().repeat(1, T, 1).requires_grad_()
            h, _ = model.recurrent(x)
            losses = F.cross_entropy(model.linear(h.diagonal().T), targets, reduction="none")
            (dx,) = torch.autograd.grad(losses.sum(), x)
        # sequence t lacks character t; its state k has read k characters
        h = zero_states(model, T)[None]
        if T > 1:
            without = torch.stack([torch.cat([past[:t], past[t + 1 :]]) for t in range(T)], dim=1)
            h = torch.cat([h, model.recurrent(model.embedding(without))[0]])
        rises = [
            F.cross_entropy(model.linear(h[k]), targets[k].expand(T), reduction="none") - losses[k] for k in range(T)
        ]
    return losses.detach(), dx.norm(dim=-1).T, torch.stack(rises).detach().tril()


def reach(values: Tensor, share: float) -> Tensor:
    """Return how many of the last characters have this share of the sum of all absolute values (T, …): (…)."""
    from_the_end = values.abs().flip(0).cumsum(0)
    return 1 + (from_the_end < share * from_the_end[-1]).sum(0)
