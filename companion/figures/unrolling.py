"""Figure of an RNN unrolled over 50 steps: how the spectral radius of W_hh acts on state and gradient."""

import torch
from torch import Tensor
from traitlets import Enum, Int, List, TraitError, validate

from companion.figures.figure import Figure, Number, script
from companion.layers.rnn import RNN

STEPS, SIZE = 50, 8

# Q is a rotation: it keeps the length of vectors. As a product of eight reflections in vectors of four ones and
# minus ones, it is exact in 64ths. It rotates four planes by 13, 63, 120 and 139 degrees, chosen so that no vector
# stands still or soon comes round again. Above r = 1.3 the tanh states settle, and forget their beginning.
SIXTY_FOURTHS = [
    [-6, 8, -30, 12, 2, -32, 18, -40],
    [-36, 16, 12, 40, -20, 0, 12, 16],
    [-23, -12, -3, -34, -3, -32, 21, 28],
    [-18, -8, -26, 4, 38, 32, 22, 8],
    [-5, 28, -41, -6, -9, 0, -33, 20],
    [42, 8, -14, 12, -14, 0, 34, 24],
    [-11, 4, -7, -26, -39, 32, 17, -20],
    [-1, -52, -21, 18, -21, 0, -13, 4],
]


class Unrolling(Figure):
    """An RNN of 8 units that reads one impulse and then 49 zeros, with its gradients.

    W_hh = radius · Q. radius: from 0 to 2, the spectral radius of W_hh. Q: (8, 8), of spectral radius 1, which may be
    wrong by 1e-6. nonlinearity: "tanh" or "relu". impulse: the input at step 1, one of 1, 0.1, 0.01, 0.001; only the
    first unit reads it, with weight 1. There are no biases. t: the step that is drawn in detail, 1 to 50. shown: how
    much is drawn, 1 to 100: the states of 50 steps, and then the gradients, back from step 50; always the states up to
    t. The loss L reads only h_50: it is the sum of the units divided by √8, so that dL/dh_50 has length 1.
    """

    _esm = script("unrolling")
    radius = Number(0.9, min=0, max=2).tag(sync=True)
    nonlinearity = Enum(["tanh", "relu"], "tanh").tag(sync=True)
    impulse = Enum([1.0, 0.1, 0.01, 0.001], 1.0).tag(sync=True)
    t = Int(1, min=1, max=STEPS).tag(sync=True)
    shown = Int(1, min=1, max=2 * STEPS).tag(sync=True)
    Q = List(
        List(Number(), minlen=SIZE, maxlen=SIZE),
        [[entry / 64 for entry in row] for row in SIXTY_FOURTHS],
        minlen=SIZE,
        maxlen=SIZE,
    ).tag(sync=True)
    pictured = {"shown": 2 * STEPS}
    settings = ("radius", "nonlinearity", "impulse", "t", "shown", "Q")

    @validate("Q")
    def _check_radius(self, proposal):
        Q = torch.tensor(proposal.value, dtype=torch.float64)
        if not torch.isfinite(Q).all():
            raise TraitError("Q must have finite numbers")
        largest = float(torch.linalg.eigvals(Q).abs().max())
        if abs(largest - 1) > 1e-6:
            raise TraitError(f"the spectral radius of Q must be 1, not {largest:.6g}: divide Q by it")
        return proposal.value

    def rnn(self) -> RNN:
        """Return a `companion.RNN` in float64 with the figure's weights; its W_hh is radius · Q."""
        network = RNN(1, SIZE, nonlinearity=self.nonlinearity, bias=False, dtype=torch.float64)
        with torch.no_grad():
            network.weight_ih_l0.zero_()[0] = 1
            network.weight_hh_l0[:] = self.radius * torch.tensor(self.Q, dtype=torch.float64)
        return network

    def inputs(self) -> Tensor:
        """Return the input sequence, (50, 1) in float64: the impulse, then zeros."""
        x = torch.zeros(STEPS, 1, dtype=torch.float64)
        x[0] = self.impulse
        return x
