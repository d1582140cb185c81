"""Which of the characters before a place mattered for what a model expects there? Two ways to ask, which need not
agree."""

from typing import Any

import torch
from torch import Tensor
from torch.nn import functional as F

from companion.learning.sequence_model import evaluation_of


def gradients(model: Any, past: Tensor, target: Tensor) -> Tensor:
    """‖∂(-log p)/∂x_t‖ for each character that was read: what a small change of its embedding vector would do.

    model: a `SequenceModel`. past: indices (T, B), what was read. target: indices (B), what came next; p is the
    probability that the model gave it. Returns (T, B).
    """
    with torch.enable_grad():
        x = model.embedding(past).detach().requires_grad_()
        h, _ = model.recurrent(x)
        losses = F.cross_entropy(
            model.linear(h[-1]), target, reduction="sum"
        )  # of B texts that know nothing of each other
        (dx,) = torch.autograd.grad(losses, x)
    return dx.norm(dim=-1)


def taken_away(model: Any, past: Tensor, target: Tensor | int) -> Tensor:
    """By how much -log p rises when one character is taken out and the rest is read anew: for each of them, (T).

    past: indices (T). target: an index, what came next. Below zero: without the character the model would have done
    better.
    """
    length = len(past)
    without = torch.stack([torch.cat([past[:t], past[t + 1 :]]) for t in range(length)], dim=1)
    return surprise(model, without, target) - surprise(model, past[:, None], target)


def surprise(model: Any, past: Tensor, target: Tensor | int) -> Tensor:
    """-log p of an index, after pasts (T, B), that may have no characters: (B)."""
    with evaluation_of(model):
        if len(past):
            y = model(past)[0][-1]
        else:  # a state of zeros
            y = model.linear.bias.expand(past.size(1), -1)
        return -torch.log_softmax(y, dim=-1)[:, target]


def reach(values: Tensor, share: float) -> Tensor:
    """How many of the last characters have this share of the sum of all absolute values (T, …): (…)."""
    from_the_end = values.abs().flip(0).cumsum(0)
    return 1 + (from_the_end < share * from_the_end[-1]).sum(0)
