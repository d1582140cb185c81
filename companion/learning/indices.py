"""A range check for indices: classes, or entries of a vocabulary."""

from collections.abc import Sequence

import torch
from torch import Tensor


def check_indices(name: str, indices: Tensor | Sequence[int] | int, count: int) -> None:
    """Raise ValueError, with value and position, if one of `indices` is not from 0 to count - 1.

    name: the caller's name for them. indices: a sequence of numbers, or a tensor of any shape.
    """
    indices = torch.as_tensor(indices)
    wrong = (indices < 0).logical_or(indices >= count).nonzero().tolist()
    if wrong:
        where = "".join(f"[{number}]" for number in wrong[0])
        raise ValueError(f"{name}{where} is {indices[tuple(wrong[0])].item()}; only 0 to {count - 1} are allowed")
