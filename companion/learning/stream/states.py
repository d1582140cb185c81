"""States of many users of one model, kept side by side: taken out by rows, and put back."""

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor

SAMPLE = 4, 3  # steps and rows of the inputs on which a model is tried


@dataclass
class User:
    """The row of a user's state, if it begins anew at the next value, and the last time and session."""

    row: int
    begins: bool = True
    time: float | None = None
    session: str | None = None


class States:
    """The states of a model, a row for each user.

    model: called as `model(inputs, state)`, inputs (T, B, …), state None to begin, returns outputs (T, B, …) and the
    state. inputs: a sample, (4, 3, …), of what the model reads. The model runs on it at once, step by step, and row by
    row. ValueError, with the cause, if the outputs differ: such a model cannot read what arrives one by one. Also for a
    state that grows, as that of attention does, and for one that does not keep rows apart.
    """

    def __init__(self, model: Any, inputs: Tensor) -> None:
        check_model(model)
        outputs, state = model(inputs, None)
        _, fewer = model(inputs[:, :2], None)
        leaves, self.like = [*tensors(state)], state
        _, longer = model(inputs, state)
        shapes = [[tuple(leaf.shape) for leaf in tensors(s)] for s in (state, longer)]
        if shapes[0] != shapes[1]:
            raise ValueError(
                f"the state grows: its shapes were {shapes[0]}, and after {SAMPLE[0]} more steps {shapes[1]}. A stream"
                " keeps states of one size"
            )
        # the dimension of the users is the one in which a batch of 3 and one of 2 differ
        self.users = [differing(*pair) for pair in zip(leaves, tensors(fewer), strict=True)]
        self.leaves = [leaf.movedim(dim, 0)[:0].clone() for leaf, dim in zip(leaves, self.users, strict=True)]
        check_steps(model, inputs, outputs)

    def __len__(self) -> int:
        return len(self.leaves[0])

    @property
    def numbers(self) -> int:
        """The count of numbers in one user's state."""
        return sum(math.prod(leaf.shape[1:]) for leaf in self.leaves)

    def make_room(self, rows: int) -> None:
        """Add rows until there are at least `rows`; their number doubles, so that adding many users stays cheap."""
        if rows > len(self):
            more = max(rows, 2 * len(self)) - len(self)
            self.leaves = [torch.cat([leaf, leaf.new_zeros(more, *leaf.shape[1:])]) for leaf in self.leaves]

    def take(self, rows: Tensor) -> Any:
        """Return the state of these rows, as the model reads it; a copy."""
        pairs = zip(self.leaves, self.users, strict=True)
        return rebuilt(self.like, (leaf[rows].movedim(0, dim).contiguous() for leaf, dim in pairs))

    def are_numbers(self, rows: Tensor) -> Tensor:
        """Return which of these rows have no nan, as booleans."""
        good = [~leaf[rows].flatten(1).isnan().any(1) for leaf in self.leaves]
        return torch.stack(good).all(0)

    def put(self, rows: Tensor, state: Any) -> None:
        """Store the state of these rows, as the model returned it."""
        for leaf, new, dim in zip(self.leaves, tensors(state), self.users, strict=True):
            if new.movedim(dim, 0).shape != (len(rows), *leaf.shape[1:]):
                raise ValueError(f"the state has changed its shape to {tuple(new.shape)}: it must keep its size")
            leaf[rows] = new.movedim(dim, 0)


def tensors(state: Any) -> Iterator[Tensor]:
    """Yield the tensors of a state, a tensor or a tuple of states."""
    if isinstance(state, Tensor):
        yield state
    else:
        for part in state:
            yield from tensors(part)


def rebuilt(like: Any, leaves: Iterator[Tensor]) -> Any:
    """Return a state built like another one, of the next tensors."""
    return next(leaves) if isinstance(like, Tensor) else tuple(rebuilt(part, leaves) for part in like)


def differing(leaf: Tensor, fewer: Tensor) -> int:
    """Return the dimension in which a state of three users and one of two differ."""
    dims = [d for d, (a, b) in enumerate(zip(leaf.shape, fewer.shape, strict=True)) if (a, b) == (3, 2)]
    if len(dims) != 1:
        raise ValueError(
            f"three users have a state of shape {tuple(leaf.shape)}, two of {tuple(fewer.shape)}: no single dimension"
            " is that of the users"
        )
    return dims[0]


def check_model(model: Any) -> None:
    """Raise ValueError for a layer that reads ahead, or whose batch comes first, by its name."""
    for name, module in model.named_modules():
        place = f"{name or 'the model'} ({type(module).__name__})"
        if getattr(module, "bidirectional", False):
            raise ValueError(f"{place} reads in two directions: the backward one needs values that have not arrived")
        if name in ("", "recurrent") and getattr(module, "batch_first", False):
            raise ValueError(f"{place} has batch_first=True: a stream needs time first, (T, B, features)")


def check_steps(model: Any, inputs: Tensor, outputs: Tensor) -> None:
    """Raise ValueError if a model's outputs differ when it reads step by step, or each row alone."""
    size = outputs.abs().max().item() + 1
    near = size * (1e-9 if outputs.dtype == torch.float64 else 1e-4)
    state, steps = None, []
    for x in inputs:
        y, after = model(x[None], state)
        if state is not None and [t.shape for t in tensors(after)] != [t.shape for t in tensors(state)]:
            raise ValueError("the state grows: after two steps it has other shapes than after one")
        state = after
        steps.append(y)
    if not torch.allclose(torch.cat(steps), outputs, rtol=0, atol=near):
        raise ValueError(
            "the model returns other outputs when it reads step by step: it reads ahead, or drops its state"
        )
    rows = [model(inputs[:, [b]], None)[0] for b in range(inputs.size(1))]
    if not torch.allclose(torch.cat(rows, dim=1), outputs, rtol=0, atol=near):
        raise ValueError("the model returns other outputs for a row alone: the rows of a batch touch each other")
