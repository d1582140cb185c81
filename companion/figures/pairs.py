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
# Two values for each key: the one written first, and another.
VALUES = [
    [[2, 1, -1, 0], [-1, 0, 2, 1]], [[0, -2, 1, 1], [1, 1, 0, -2]], [[1, 0, 2, -1], [0, 2, -2, 1]], [[-1, 1, 0, 2], [2,
    -1, 1, 0]],
    [[1, -1, 1, -2], [-2, 0, 1, 1]], [[0, 1, -1, 2], [1, -2, 0, 1]], [[2, 0, -2, 1], [-1, 1, 1, 0]],
]  # fmt: skip
MAX_WRITES = 10


class Pairs(Figure):
    """A state S of four by four numbers, S ← α S + u kᵀ with u = β v, or by the delta rule u = β ( v - α S k ).

    writes: up to 10 pairs [key, value], key 0 to 6, value 0 or 1 of the two that the key has. asked: the key that is
    looked up, 0 to 6. delta: whether writes use the delta rule. alpha: from 0.5 to 1. beta: from 0 to 2.
    """

    _esm = script("pairs")
    writes = List(List(Int(), minlen=2, maxlen=2), [[0, 0], [1, 0], [2, 0], [4, 0]], maxlen=MAX_WRITES).tag(sync=True)
    asked = Int(1, min=0, max=6).tag(sync=True)
    delta = Bool(False).tag(sync=True)
    alpha = Number(1.0, min=0.5, max=1).tag(sync=True)
    beta = Number(1.0, min=0, max=2).tag(sync=True)
    supply = List([KEYS, VALUES]).tag(sync=True)
    settings = ("writes", "asked", "delta", "alpha", "beta")

    @validate("writes")
    def _check_writes(self, proposal):
        for key, value in proposal.value:
            if not (0 <= key < len(KEYS) and 0 <= value < 2):
                raise TraitError(
                    f"writes must be pairs of a key from 0 to {len(KEYS) - 1} and a value 0 or 1, not {[key, value]}"
                )
        return proposal.value

    def state(self) -> Tensor:
        """Return S after all writes, by the companion's loop in float64, (4, 4): values by keys."""
        S = torch.zeros(4, 4, dtype=torch.float64)
        if not self.writes:
            return S
        k = torch.tensor([KEYS[key] for key, _ in self.writes], dtype=torch.float64)
        v = torch.tensor([VALUES[key][value] for key, value in self.writes], dtype=torch.float64)
        alpha, beta = (torch.full((len(k),), value, dtype=torch.float64) for value in (self.alpha, self.beta))
        return matrix_state.loop(k, k, v, alpha.log(), beta, S, corrects=self.delta)[1]
