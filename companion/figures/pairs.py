"""Figure of a matrix state: key-value pairs are written into it, and one key is looked up."""

import torch
from torch import Tensor
from traitlets import Bool, Int, List, TraitError, validate

from companion.figures.figure import Figure, Number, script
from companion.layers import matrix_state

# Seven keys of length 1. The first four are orthogonal, and no fifth can be in four dimensions.
KEYS = [
    [1, 0, 0, 0],
    [0, 1, 0, 0],
    [0, 0, 1, 0],
    [0, 0, 0, 1],
    [0.5, 0.5, 0.5, 0.5],
    [0.8, 0.6, 0, 0],
    [0, 0, 0.6, -0.8],
]
# A value for each key, which the reader can change before writing it.
VALUES = [
    [2, 1, -1, 0], [0, -2, 1, 1], [1, 0, 2, -1], [-1, 1, 0, 2], [1, -1, 1, -2], [0, 1, -1, 2], [2, 0, -2, 1],
]  # fmt: skip
MAX_WRITES = 10


class Pairs(Figure):
    """A state S of four by four numbers, S ← α S + u kᵀ with u = β v, or by the delta rule u = β ( v - α S k ).

    writes: up to 10 pairs [key, value], a key from 0 to 6 and four whole numbers from -2 to 2. asked: the key that is
    written and read, 0 to 6. value: the value that is written next. delta: whether writes use the delta rule. alpha:
    from 0.5 to 1. beta: from 0 to 2.
    """

    _esm = script("pairs")
    writes = List(List(), [], maxlen=MAX_WRITES).tag(sync=True)
    asked = Int(0, min=0, max=6).tag(sync=True)
    value = List(Int(min=-2, max=2), VALUES[0], minlen=4, maxlen=4).tag(sync=True)
    delta = Bool(False).tag(sync=True)
    alpha = Number(1.0, min=0.5, max=1).tag(sync=True)
    beta = Number(1.0, min=0, max=2).tag(sync=True)
    supply = List([KEYS, VALUES]).tag(sync=True)
    pictured = {"writes": [[key, VALUES[key]] for key in range(5)]}
    settings = ("writes", "asked", "value", "delta", "alpha", "beta")

    @validate("writes")
    def _check_writes(self, proposal):
        for pair in proposal.value:
            try:
                key, value = pair
                valid = key in range(len(KEYS)) and len(value) == 4 and all(v in range(-2, 3) for v in value)
            except (TypeError, ValueError):
                valid = False
            if not valid:
                raise TraitError(f"writes must be pairs of a key from 0 to 6 and four numbers from -2 to 2, not {pair}")
        return proposal.value

    def state(self) -> Tensor:
        """Return S after all writes, by the companion's loop in float64, (4, 4): values by keys."""
        S = torch.zeros(4, 4, dtype=torch.float64)
        if not self.writes:
            return S
        k = torch.tensor([KEYS[key] for key, _ in self.writes], dtype=torch.float64)
        v = torch.tensor([value for _, value in self.writes], dtype=torch.float64)
        alpha, beta = (torch.full((len(k),), value, dtype=torch.float64) for value in (self.alpha, self.beta))
        return matrix_state.loop(k, k, v, alpha.log(), beta, S, corrects=self.delta)[1]
