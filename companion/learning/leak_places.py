"""Where a leak begins: the first part of a model that moves more than it may, for `companion.learning.leaks`.

The calls of all parts are recorded in a run with the inputs and in one with changed inputs, and compared. T is the
number of time steps, B that of rows.
"""

import itertools
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn.utils.rnn import PackedSequence, pad_packed_sequence


class Call:
    """A call of a part of a model: its name and class, its inputs and first output, and when it begins and ends."""

    def __init__(self, name: str, module: nn.Module, inputs: list[Tensor], begin: int) -> None:
        kind = type(module).__name__
        flags = [flag for flag in ("bidirectional", "batch_first") if getattr(module, flag, False) is True]
        self.name, self.inputs, self.begin, self.end = name, inputs, begin, begin
        self.label = f"{name} ({', '.join([kind, *flags])})" if name else f"{kind}.forward"
        self.output: Tensor | None = None


def watch(model: nn.Module, T: int) -> list[Call]:
    """Return a list to which each later call of a part of the model is added, in the order in which they begin."""
    calls: list[Call] = []
    running: list[Call] = []
    clock = itertools.count()

    def watch_part(name, module):
        def before(module, args, kwargs):
            running.append(Call(name, module, [x.clone() for x in tensors((args, kwargs), T)], next(clock)))
            calls.append(running[-1])

        def after(module, args, kwargs, output):
            call = running.pop()
            call.output, call.end = next((x.clone() for x in tensors(output, T)), None), next(clock)

        module.register_forward_pre_hook(before, with_kwargs=True)
        module.register_forward_hook(after, with_kwargs=True)

    for name, module in model.named_modules():
        watch_part(name, module)
    return calls


class Trace:
    """The parts of a model that a change moves, from their calls before and after it.

    The change is in the last `size` steps of one row. In a sound part one row moves, too, in at most as many steps up
    to the end, or from the beginning if the model has reversed them.
    """

    def __init__(self, kind: str, before: list[Call], after: list[Call], size: int, shape: tuple[int, int]) -> None:
        self.kind, self.size, self.calls = kind, size, before
        self.moves = {
            call: (
                [ways(d, *shape) for x, y in zip(call.inputs, other.inputs) if (d := distance(x, y)).any()],
                []
                if call.output is None or other.output is None
                else ways(distance(call.output, other.output), *shape),
            )
            for call, other in zip(before, after)
            if call.name == other.name
        }

    def place(self) -> str:
        """Return the first part that leaks, and between which of its own parts, if that is known."""
        first = min((call for call in self.moves if self.leaks(call)), key=lambda call: call.end, default=self.calls[0])
        own = [call for call in self.calls if first.begin < call.begin and call.end < first.end]
        late = next((call for call in own if self.is_late(call)), None)
        early = max((call for call in own if late and call.end < late.begin), key=lambda call: call.end, default=None)
        if late is None or (early is None and first.name):
            return self.label(first)
        where = f"between {self.label(early)} and" if early else "before"
        return f"{self.label(first)}, {where} {self.label(late)}"

    def label(self, call: Call) -> str:
        """Return the name and the class of a part, and which of its calls this is."""
        calls = [other for other in self.calls if other.name == call.name]
        return call.label + (f", call {calls.index(call) + 1}" if len(calls) > 1 else "")

    def is_sound(self, way: Tensor) -> bool:
        """Return whether no more moves than was changed. way: bool (T, B), or (1, B) for a tensor without steps."""
        steps = way.any(dim=1).nonzero()
        span = min(len(way) - int(steps[0]), int(steps[-1]) + 1) if len(way) > 1 and len(steps) else 0
        return int(way.any(dim=0).sum()) <= 1 and span <= self.size

    def leaks(self, call: Call) -> bool:
        """Return whether a part moves more than its inputs do, whichever dimensions are steps and rows."""
        inputs, output = self.moves[call]
        for found in inputs:
            if not any(self.is_sound(way) for way in found if self.kind == "rows" or len(way) > 1):
                return False
        is_answer = self.kind == "padding" and any(len(way) == 1 and bool(way.any()) for way in output)
        return bool(inputs and output) and (is_answer or not any(self.is_sound(way) for way in output))

    def is_late(self, call: Call) -> bool:
        """Return whether a part gets what has moved too far already."""
        once = [other.name for other in self.calls].count(call.name) == 1
        for found in self.moves.get(call, ([],))[0]:
            is_summary = self.kind != "rows" and once and all(len(way) == 1 for way in found)
            if found and (is_summary or not any(self.is_sound(way) for way in found)):
                return True
        return False


def ways(sizes: Tensor, T: int, B: int) -> list[Tensor]:
    """Return which steps and rows move, bool (T, B), for each choice of the dimensions that may be steps and rows.

    (1, B) for a tensor without steps; an empty list for one without rows.
    """
    move, shape = sizes != 0, sizes.shape
    pairs = [(i, j) for i, j in itertools.permutations(range(len(shape)), 2) if (shape[i], shape[j]) == (T, B)]
    found = [move.movedim(pair, (0, 1)).reshape(T, B, -1).any(dim=-1) for pair in pairs]
    flat = [move.movedim(i, 0).reshape(T * B, -1).any(dim=-1) for i, n in enumerate(shape) if n == T * B and not found]
    found += [way for rows in flat for way in (rows.reshape(T, B), rows.reshape(B, T).T)]
    return found or [move.movedim(j, 0).reshape(B, -1).any(dim=-1)[None] for j, n in enumerate(shape) if n == B]


def distance(x: Tensor, y: Tensor) -> Tensor:
    """Return how far each number is from the other tensor's, 0 if rounding explains it or their shapes differ."""
    if x.shape != y.shape:
        return torch.zeros_like(x)
    if not x.is_floating_point():
        return (x != y).double()
    limit = torch.finfo(x.dtype).eps ** 0.75
    x, y = x.double(), y.double()
    usual = x.abs()[x.abs() < 1e6]  # neither infinity nor the large numbers of a mask
    scale = usual.max() if len(usual) else 0
    sizes = (x - y).abs().nan_to_num(torch.inf).masked_fill((x == y) | (x.isnan() & y.isnan()), 0)
    return sizes.masked_fill(sizes <= limit * x.abs().clamp(min=scale), 0)


def tensors(value: Any, T: int) -> list[Tensor]:
    """Return all tensors in a tensor, a tuple, a list or a dictionary; packed sequences are unpacked to T steps."""
    if isinstance(value, PackedSequence):
        return [pad_packed_sequence(value, total_length=max(T, len(value.batch_sizes)))[0]]
    if isinstance(value, Tensor):
        return [value]
    parts = value.values() if isinstance(value, dict) else value if isinstance(value, tuple | list) else ()
    return [x for part in parts for x in tensors(part, T)]
