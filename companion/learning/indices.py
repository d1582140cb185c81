"""Checks of indices: classes, or entries of a vocabulary."""

from collections.abc import Sequence

import torch
from torch import Tensor


def whole(name: str, indices: Tensor | Sequence[int] | int) -> Tensor:
    """Return indices as a tensor of whole numbers, int64 if they are a list; ValueError if they are of another type.

    name: the caller's name for them.
    """
    indices = torch.as_tensor(indices)
    if indices.numel() == 0:
        return indices.to(torch.int64)  # torch makes [] float32
    if indices.is_floating_point() or indices.is_complex() or indices.dtype == torch.bool:
        raise ValueError(f"{name} must be whole numbers (int64), not {indices.dtype}")
    return indices


def check_indices(name: str, indices: Tensor | Sequence[int] | int, count: int) -> None:
    """Raise ValueError, with value and position, if one of `indices` is not a whole number from 0 to count - 1.

    name: the caller's name for them. indices: a sequence of numbers, or a tensor of any shape.
    """
    indices = whole(name, indices)
    wrong = (indices < 0).logical_or(indices >= count).nonzero().tolist()
    if wrong:
        where = "".join(f"[{number}]" for number in wrong[0])
        raise ValueError(f"{name}{where} is {indices[tuple(wrong[0])].item()}; only 0 to {count - 1} are allowed")
