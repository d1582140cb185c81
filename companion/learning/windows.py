"""Windows: a long sequence of indices, cut into batches for a recurrent network.

The input of a window is a piece of the sequence, its target the same piece moved on by one: at each time step the
network predicts the next index. Shapes: (window_size, batch_size), time first. An epoch's batches depend only on its
number, so that an interrupted training can go on in the middle of an epoch.
"""

from collections.abc import Iterator

import torch
from torch import Tensor


def split(indices: Tensor, held_out: float | tuple[int, int] = 0.1) -> tuple[Tensor, Tensor]:
    """Divide a sequence by position, and return the part for training and the held-out part.

    indices: (length). held_out: the share at the end that is held out, or its position (start, stop); then the parts
    before and after it are joined. Windows chosen at random would not do: held-out ones would overlap with the others.
    """
    length = len(indices)
    if isinstance(held_out, tuple):
        start, stop = held_out
    else:
        start, stop = length - round(length * held_out), length
    if not 0 <= start < stop <= length or stop - start == length:
        raise ValueError(f"cannot hold out {held_out} of {length:,} indices: both parts need some")
    return torch.cat([indices[:start], indices[stop:]]), indices[start:stop]


class ConsecutiveWindows:
    """Windows that follow one another, so that the state after one is the state before the next.

    The sequence is cut into `batch_size` rows, which are read side by side from beginning to end. At most `batch_size`
    indices at the end are left over; the last window may be shorter. ValueError for too short a sequence.
    """

    carried = True  # the state of one batch is handed on to the next

    def __init__(self, indices: Tensor, batch_size: int, window_size: int) -> None:
        check(indices, batch_size, window_size, at_least=batch_size + 1)
        length = (len(indices) - 1) // batch_size
        self.inputs = indices[: length * batch_size].view(batch_size, length).T
        self.targets = indices[1 : length * batch_size + 1].view(batch_size, length).T
        self.window_size = window_size

    def __len__(self) -> int:
        """Return the number of batches in an epoch."""
        return -(-len(self.inputs) // self.window_size)

    def epoch(self, number: int) -> Iterator[tuple[Tensor, Tensor]]:
        """Yield the batches of an epoch: (inputs, targets), each (window_size, batch_size)."""
        return zip(self.inputs.split(self.window_size), self.targets.split(self.window_size), strict=True)


class RandomWindows:
    """Windows in random order, each with a new state. Each epoch cuts the sequence at other positions.

    seed: with the number of the epoch it decides positions and order. ValueError for too short a sequence.
    """

    carried = False

    def __init__(self, indices: Tensor, batch_size: int, window_size: int, seed: int = 0) -> None:
        check(indices, batch_size, window_size, at_least=2 * window_size)
        self.indices, self.batch_size, self.window_size, self.seed = indices, batch_size, window_size, seed
        self.count = len(indices) // window_size - 1

    def __len__(self) -> int:
        """Return the number of batches in an epoch."""
        return -(-self.count // self.batch_size)

    def epoch(self, number: int) -> Iterator[tuple[Tensor, Tensor]]:
        """Yield the batches of an epoch: (inputs, targets), each (window_size, batch_size); the last may be smaller."""
        generator = generator_of(self.seed, number)
        room = len(self.indices) - self.count * self.window_size
        offset = torch.randint(room, (1,), generator=generator)
        starts = offset + self.window_size * torch.randperm(self.count, generator=generator)
        return windows_at(self.indices, starts, self.batch_size, self.window_size)


def windows_at(indices: Tensor, starts: Tensor, batch_size: int, window_size: int) -> Iterator[tuple[Tensor, Tensor]]:
    """Yield batches of the windows that begin at `starts`: (inputs, targets), each (window_size, batch_size)."""
    steps = torch.arange(window_size)[:, None]
    for places in starts.split(batch_size):
        yield indices[places + steps], indices[places + steps + 1]


def generator_of(seed: int, epoch: int) -> torch.Generator:
    """Return a random generator for one epoch: the same for the same seed and epoch, on every machine."""
    return torch.Generator().manual_seed(seed * 1_000_003 + epoch)


def check(indices: Tensor, batch_size: int, window_size: int, at_least: int) -> None:
    """Raise ValueError if no window can be cut from the indices."""
    if indices.dim() != 1 or indices.dtype != torch.int64:
        raise ValueError(f"indices must be int64 of one dimension, not {indices.dtype} {tuple(indices.shape)}")
    if batch_size < 1 or window_size < 1:
        raise ValueError(f"batch_size and window_size must be at least 1, not {batch_size} and {window_size}")
    if len(indices) < at_least:
        raise ValueError(
            f"{len(indices):,} indices are too few for windows of {window_size} in batches of {batch_size}: "
            f"at least {at_least:,} are needed"
        )
