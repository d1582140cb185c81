"""Figure of backpropagation through time in an RNN and an LSTM: each step's share of ∂L/∂W_hh."""

from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional as F
from traitlets import Dict, Int, TraitError, validate

from companion.figures.figure import Figure, Number, script
from companion.figures.numbers import uniform
from companion.figures.training import initial_model
from companion.layers.gru import GRU
from companion.layers.lstm import LSTM
from companion.layers.recurrent import RNNBase
from companion.layers.rnn import RNN
from companion.learning.sequence_model import SequenceModel

STEPS, SYMBOLS = 24, 4
MOST = 200  # steps of a reader's sequence
Loss = Callable[[Tensor], Tensor]
SIZES = {"vocab_size": 2 * SYMBOLS + 1, "embedding_dim": 4, "hidden_size": 8, "num_outputs": SYMBOLS}


class Shares(Figure):
    """Two untrained networks of 8 units that read the same 24 symbols: noise, the target symbol, noise, the question.

    gap: steps between the target symbol and the question, 1 to 23. scale: a factor for the recurrent weights W_hh, as
    torch draws them, 0.2 to 3. bias: of the LSTM's forget gates, 0 to 5. window: the number of steps that the gradient
    goes back, 1 to 24. shown: the number of last steps that are drawn, 1 to 24. seed: of weights and symbols, 0 to 99.
    `Shares.of` shows a layer of your own.
    """

    _esm = script("shares")
    gap = Int(16, min=1, max=STEPS - 1).tag(sync=True)
    scale = Number(1.0, min=0.2, max=3).tag(sync=True)
    bias = Number(3.0, min=0, max=5).tag(sync=True)
    window = Int(STEPS, min=1, max=MOST).tag(sync=True)
    shown = Int(1, min=1, max=MOST).tag(sync=True)
    seed = Int(0, min=0, max=99).tag(sync=True)
    own = Dict(read_only=True).tag(sync=True)  # the results of a reader's layer
    pictured = {"shown": STEPS}
    settings = ("gap", "scale", "bias", "window", "shown", "seed")

    @classmethod
    def of(
        cls, layer: nn.Module, inputs: Any, loss: Loss | None = None, depth: int = 0, language: str = "en"
    ) -> "Shares":
        """Return the figure of a layer of your own on a sequence of your own.

        layer: an `RNN`, `GRU` or `LSTM` of the companion or of torch, in one direction. It is not changed; the figure
        is computed in float64, from a state of zeros, without dropout. inputs: (T, input_size) or (T, 1, input_size),
        2 to 200 steps, also for a layer with `batch_first`. loss: a function from the output, (T, size) or (T, 1, size)
        as the inputs, to a tensor with one number; None: the sum of the last output. depth: the layer whose W_hh is
        shown, 0 to num_layers - 1.

        TypeError for another kind of layer. ValueError for a bidirectional layer, for inputs of another shape or with
        NaN, and for a loss without a gradient of W_hh.
        """
        x = check_inputs(layer, inputs, depth)

        def loss_of(output):
            output = output.reshape(*x.shape[:-1], -1).to(layer.weight_hh_l0)  # its dtype and its device
            return loss(output) if loss else output[-1].sum()

        results = backpropagate(float64_copy(layer), x.flatten(0, -2), loss_of, depth)
        if not all(result.isfinite().all() for result in results):
            raise ValueError(f"the gradient of weight_hh_l{depth} is 0 or not finite: it has no shares")
        figure = cls(language)
        own = dict(zip(("shares", "lengths", "lost"), (result.tolist() for result in results), strict=True))
        figure.set_trait("own", own | {"kind": str(layer.mode).split("_")[0], "name": f"weight_hh_l{depth}"})
        figure._show_own(f"<Shares of {figure.own['kind']}, {len(x)} steps>")
        figure.window = figure.shown = len(x)
        return figure

    @property
    def steps(self) -> int:
        """The number of time steps."""
        return len(self.own["shares"]) if self.own else STEPS

    @validate("window", "shown")
    def _check_steps(self, proposal):
        if proposal.value > self.steps:
            raise TraitError(f"{proposal.trait.name} must be from 1 to {self.steps}, not {proposal.value}")
        return proposal.value

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

    def backpropagated(self, kind: str) -> tuple[Tensor, Tensor, Tensor]:
        """Return the results of `backpropagate` for the "RNN" or "LSTM"."""
        model, indices = self.model(kind), torch.tensor(self.indices())
        target = indices[STEPS - 1 - self.gap]
        embedded = model.embedding(indices)
        return backpropagate(model.recurrent, embedded, lambda y: F.cross_entropy(model.linear(y[-1]), target))

    def shares(self, kind: str) -> Tensor:
        """Return each step's share of ∂L/∂W_hh, (24)."""
        return self.backpropagated(kind)[0]

    def lost(self, kind: str) -> float:
        """Return the norm of the part of ∂L/∂W_hh outside the window, divided by the norm of the whole."""
        return self.backpropagated(kind)[2][self.window - 1].item()


def check_inputs(layer: Any, inputs: Any, depth: int) -> Tensor:
    """Return the inputs in float64; refuse what the figure cannot show."""
    if not isinstance(layer, (RNNBase, nn.RNNBase)) or not hasattr(layer, "weight_hh_l0"):
        raise TypeError(f"layer must be an RNN, GRU or LSTM of the companion or torch, not {type(layer).__name__}")
    if layer.bidirectional:
        raise ValueError("layer is bidirectional; the figure shows layers of one direction")
    if depth not in range(layer.num_layers):
        raise ValueError(f"depth must be from 0 to {layer.num_layers - 1}, not {depth}")
    x, size = torch.as_tensor(inputs).detach().to("cpu", torch.float64), layer.input_size
    if tuple(x.shape[1:]) not in ((size,), (1, size)):
        raise ValueError(f"inputs must be (T, {size}) or (T, 1, {size}), not {tuple(x.shape)}")
    if not 2 <= len(x) <= MOST:
        raise ValueError(f"inputs has {len(x)} steps; the figure shows 2 to {MOST}")
    if len(places := (~x.isfinite()).nonzero().tolist()):
        raise ValueError(f"inputs{places[0]} is {x[tuple(places[0])]}")
    return x


def float64_copy(layer: Any) -> RNNBase:
    """Return a companion layer in float64 with the weights of an RNN, GRU or LSTM, and biases in any case."""
    kind = str(layer.mode).split("_")[0]
    options = {"RNN": ("nonlinearity",), "GRU": (), "LSTM": ("proj_size",)}[kind]
    options = {name: getattr(layer, name) for name in options} | {"num_layers": layer.num_layers}
    with torch.no_grad(), torch.random.fork_rng(devices=[]):
        copy = {"RNN": RNN, "GRU": GRU, "LSTM": LSTM}[kind](
            layer.input_size, layer.hidden_size, dtype=torch.float64, **options
        )
        for name, parameter in copy.named_parameters():
            parameter.copy_(getattr(layer, name, torch.zeros(())))
    return copy


@torch.enable_grad()
def backpropagate(layer: Any, x: Tensor, loss: Loss, depth: int = 0) -> tuple[Tensor, Tensor, Tensor]:
    """Run a layer over x, (T, input_size), and differentiate the loss of its output, (T, size).

    Return three tensors (T): the share ⟨ G_t, G ⟩ / ⟨ G, G ⟩ of each step's term G_t in their sum G = ∂L/∂W_hh; the
    lengths ‖∂L/∂x_t‖; and, for windows of 1 to T steps, the length of the terms left out, divided by that of G.
    """
    x = x.detach().requires_grad_()
    # each step has its own copy of b_hh, whose gradient is δ_t: G_t = δ_t h_{t-1}ᵀ
    name = f"bias_hh_l{depth}"
    copies = [getattr(layer, name).detach().clone().requires_grad_() for _ in x]
    outputs: list[Tensor] = []
    states, state = [torch.zeros(layer.weight_hh_l0.size(1), dtype=x.dtype)], ()
    for x_t, copy in zip(x, copies, strict=True):
        output, last = torch.func.functional_call(layer, {name: copy}, (x_t[None], *state))
        outputs, state = [*outputs, output], (last,)
        states.append((last[0] if isinstance(last, tuple) else last)[depth].detach())
    value = loss(torch.cat(outputs))
    if not isinstance(value, Tensor) or value.numel() != 1 or not value.requires_grad:
        raise ValueError("loss must return a tensor with one number that depends on the output")
    *rest, dx = torch.autograd.grad(value.sum(), [*copies, x], materialize_grads=True)
    δ, h = torch.stack(rest), torch.stack(states[:-1])
    products = (δ @ δ.T) * (h @ h.T)  # ⟨ G_s, G_t ⟩
    squares = products.cumsum(0).cumsum(1).diagonal()  # ‖G_1 + … + G_t‖²
    outside = torch.cat([squares[:-1].flip(0), squares[:1] * 0]).clamp(min=0)
    return products.sum(1) / squares[-1], dx.norm(dim=1), (outside / squares[-1]).sqrt()
