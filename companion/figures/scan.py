"""Figure of a linear recurrence of eight steps, computed by a loop, a tree or chunks in parallel rounds."""

import torch
from torch import Tensor
from traitlets import Enum, Int, List, TraitError, validate

from companion.figures.figure import Figure, Number, script
from companion.layers import scan

STEPS = 8


def eight(numbers: list[float]) -> List:
    """Return a trait of eight numbers from -2 to 2, one for each step."""
    return List(Number(min=-2, max=2), numbers, minlen=STEPS, maxlen=STEPS).tag(sync=True)


class Scan(Figure):
    """h_t = a_t · h_{t-1} + b_t over eight steps of single numbers.

    a, b: eight numbers each, from -2 to 2. h_0: from -2 to 2. way: "loop", "tree" or "chunks". cuts: the
    steps, 1 to 7, after which a chunk ends, increasing. t: the step whose numbers can be changed, 1 to 8. shown: the
    last round that is drawn, 1 to 8.
    """

    _esm = script("scan")
    # all joined steps and states of these are multiples of 0.5: one decimal is exact
    a = eight([1.0, -0.5, -1.0, 2.0, -1.0, 0.5, 1.0, 2.0])
    b = eight([-2.0, 0.0, -1.0, 1.0, 0.0, -1.0, 1.0, -0.5])
    h_0 = Number(1.0, min=-2, max=2).tag(sync=True)
    way = Enum(["loop", "tree", "chunks"], "chunks").tag(sync=True)
    cuts = List(Int(min=1, max=STEPS - 1), [3, 6]).tag(sync=True)
    t = Int(1, min=1, max=STEPS).tag(sync=True)
    shown = Int(1, min=1, max=STEPS).tag(sync=True)
    pictured = {"shown": STEPS}
    settings = ("a", "b", "h_0", "way", "cuts", "t", "shown")

    @validate("cuts")
    def _check_cuts(self, proposal):
        if proposal.value != sorted({*proposal.value}):
            raise TraitError(f"cuts must increase, not {proposal.value}")
        return proposal.value

    def states(self) -> Tensor:
        """Return h_1 … h_8 by the companion's loop, in float64, (8)."""
        return scan.loop(*(torch.tensor(values, dtype=torch.float64) for values in (self.a, self.b, self.h_0)))
