"""Figure of backpropagation through time in an RNN and an LSTM: each step's share of ∂L/∂W_hh."""

import torch
from torch import Tensor
from torch.nn import functional as F
from traitlets import Int

from companion.figures.figure import Figure, Number, script
from companion.figures.numbers import uniform
from companion.figures.training import initial_model
from companion.learning.sequence_model import SequenceModel

STEPS, SYMBOLS = 24, 4
SIZES = {"vocab_size": 2 * SYMBOLS + 1, "embedding_dim": 4, "hidden_size": 8, "num_outputs": SYMBOLS}
KINDS = ["RNN", "LSTM"]


class Shares(Figure):
    """Two untrained networks of 8 units that read the same 24 symbols: noise, the target symbol, noise, the question.

    gap: steps between the target symbol and the question, 1 to 23. scale: a factor for the recurrent weights W_hh, as
    torch draws them, 0.2 to 3. bias: of the LSTM's forget gates, 0 to 5. window: the number of steps that the gradient
    goes back, 1 to 24. seed: of weights and symbols, 0 to 99.
    """

    _esm = script("shares")
    gap = Int(16, min=1, max=STEPS - 1).tag(sync=True)
    scale = Number(1.0, min=0.2, max=3).tag(sync=True)
    bias = Number(3.0, min=0, max=5).tag(sync=True)
    window = Int(STEPS, min=1, max=STEPS).tag(sync=True)
    seed = Int(0, min=0, max=99).tag(sync=True)
    settings = ("gap", "scale", "bias", "window", "seed")

    def indices(self) -> list[int]:
        """Return the 24 indices that both networks read: symbols are 0 to 3, noise 4 to 7, the question 8."""
        drawn = [int(SYMBOLS * uniform(self.seed, 1000 + t)) for t in range(STEPS)]
        return [
            drawn[t] if t == STEPS - 1 - self.gap else 2 * SYMBOLS if t == STEPS - 1 else SYMBOLS + drawn[t]
            for t in range(STEPS)
        ]

    def model(self, kind: str) -> SequenceModel:
        """Return the "RNN" or "LSTM" with the figure's weights: a `companion.SequenceModel` in float64."""
        model = initial_model(kind, SIZES, self.seed)
        layer, size = model.recurrent, SIZES["hidden_size"]
        with torch.no_grad():
            layer.weight_hh_l0 *= self.scale
            if kind == "LSTM":
                layer.bias_ih_l0[size : 2 * size] = self.bias
                layer.bias_hh_l0[size : 2 * size] = 0
        return model

    def gradients(self, kind: str) -> Tensor:
        """Return each step's term of ∂L/∂W_hh, by autograd: (24, rows of W_hh, 8). Their sum is the gradient."""
        model, indices = self.model(kind), torch.tensor(self.indices())
        # each step gets its own copy of W_hh, so that autograd keeps the terms apart
        copies = [model.recurrent.weight_hh_l0.detach().clone().requires_grad_() for _ in indices]
        state = None
        for x, weight_hh in zip(model.embedding(indices), copies, strict=True):
            call = (x[None, None],) if state is None else (x[None, None], state)
            output, state = torch.func.functional_call(model.recurrent, {"weight_hh_l0": weight_hh}, call)
        target = indices[STEPS - 1 - self.gap]
        return torch.stack(torch.autograd.grad(F.cross_entropy(model.linear(output[-1, 0]), target), copies))

    def shares(self, kind: str) -> Tensor:
        """Return each step's share of ∂L/∂W_hh, (24): ⟨ G_t, G ⟩ / ⟨ G, G ⟩, where G is the sum of all G_t."""
        parts = self.gradients(kind)
        whole = parts.sum(0)
        return (parts * whole).sum(dim=(1, 2)) / (whole * whole).sum()

    def lost(self, kind: str) -> float:
        """Return the norm of the part of ∂L/∂W_hh outside the window, divided by the norm of the whole."""
        parts = self.gradients(kind)
        return (parts[: STEPS - self.window].sum(0).norm() / parts.sum(0).norm()).item()
