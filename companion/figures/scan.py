"""Eight steps of a linear recurrence, by loop, by tree, or cut into chunks: what is computed at the same time."""

import torch
from torch import Tensor
from traitlets import Enum, Int, List, TraitError, validate

from companion.figures.figure import Figure, Number, script
from companion.layers import scan

STEPS = 8


def eight(numbers: list[float]) -> List:
    """A number for each step, from -2 to 2."""
    return List(Number(min=-2, max=2), numbers, minlen=STEPS, maxlen=STEPS).tag(sync=True)


class Scan(Figure):
    """h_t = a_t · h_{t-1} + b_t over eight steps, one number in each place.

    a, b: eight numbers each, from -2 to 2. h_0: from -2 to 2. way: "loop", "tree" or "chunks". cuts: after which of the
    steps 1 to 7 the chunks are cut, increasing. t: the step whose numbers can be changed, 1 to 8. shown: up to which
    round the drawing shows what is computed, 0 to 8.
    """

    _esm = script("scan")
    a = eight([0.5, 1.0, -1.0, 0.5, 2.0, 0.5, -0.5, 1.0])
    b = eight([1.0, 0.0, 0.5, -1.0, 0.0, 1.0, 0.5, -0.5])
    h_0 = Number(1.0, min=-2, max=2).tag(sync=True)
    way = Enum(["loop", "tree", "chunks"], "chunks").tag(sync=True)
    cuts = List(Int(min=1, max=STEPS - 1), [3, 6]).tag(sync=True)
    t = Int(1, min=1, max=STEPS).tag(sync=True)
    shown = Int(STEPS, min=0, max=STEPS).tag(sync=True)
    moved = ("a", "b", "h_0", "way", "cuts", "t", "shown")

    @validate("cuts")
    def _increase(self, proposal):
        if proposal.value != sorted({*proposal.value}):
            raise TraitError(f"cuts must increase, not {proposal.value}")
        return proposal.value

    def states(self) -> Tensor:
        """h_1 … h_8 by the companion's loop, in float64, (8)."""
        return scan.loop(*(torch.tensor(one, dtype=torch.float64) for one in (self.a, self.b, self.h_0)))
