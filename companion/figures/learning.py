"""Two networks that learn to recall while one watches: one begins as torch's do, the other so that it remembers."""

import json
from typing import Any

from traitlets import Dict, Enum, Int, List, TraitError, validate

from companion.figures.figure import Figure, Number, read, script
from companion.figures.networks import LAYERS, model_of
from companion.learning.sequence_model import SequenceModel

EMBEDDING_DIM, HIDDEN_SIZE, SYMBOLS = 8, 16, 4  # as in learner.js


class Learning(Figure):
    """Two models of a kind (embedding of 8, recurrent layer of 16 units, linear layer) that learn the same task from
    the same data by Adam, with batches of 16 and gradients no longer than 1, in the page and beside its own thread.

    kind: "RNN", "GRU" or "LSTM". gap: steps of noise between symbol and question, 1 to 60; the task is
    `companion.tasks.Recall` with 4 symbols. learning_rate: 0.001, 0.003, 0.01 or 0.03. start: of the second model:
    "chrono", memories of 2 to 2 · gap steps, or "bias", all forget gates' biases (a GRU's update gates') at `bias`, 0
    to 6; an RNN begins with the identity. seed: of weights and data, 0 to 99. examples: pairs (indices, target) to
    learn from in place of that task; the target is asked after the last index. begin_with: weights of both models to
    begin with, as `weights` has them. goal: learn up to this step; 0 is until the reader stops it.

    What the page tells when it rests: steps, losses (of both, one a step), weights (of both, in the order of the
    parameters) and memories, what it draws of the gates. Before anybody has moved anything it shows how it ends:
    learned.json, which `python -m book.tools.draw learning` learns.
    """

    _esm = script("learning")
    kind = Enum([*LAYERS], "LSTM").tag(sync=True)
    gap = Int(20, min=1, max=60).tag(sync=True)
    learning_rate = Enum([0.001, 0.003, 0.01, 0.03], 0.01).tag(sync=True)
    start = Enum(["chrono", "bias"], "chrono").tag(sync=True)
    bias = Number(1.0, min=0, max=6).tag(sync=True)
    seed = Int(0, min=0, max=99).tag(sync=True)
    examples: List = List().tag(sync=True)
    begin_with: List = List().tag(sync=True)
    goal = Int(0, min=0, max=100_000).tag(sync=True)
    symbols = Int(SYMBOLS, read_only=True).tag(sync=True)
    steps = Int(0).tag(sync=True)
    losses: List = List().tag(sync=True)
    weights: List = List().tag(sync=True)
    memories: List = List().tag(sync=True)
    ended = Dict(read_only=True).tag(sync=True)
    moved = ("kind", "gap", "learning_rate", "start", "bias", "seed", "examples", "begin_with", "goal")

    def __init__(self, language: str = "en", **values: Any) -> None:
        super().__init__(language, **values)
        if repr(self) == "Learning()":
            self.set_trait("ended", json.loads(read("learned.json")))

    def models(self) -> list[SequenceModel]:
        """Both models with the weights that the page has told, in float64: `companion.SequenceModel`. RuntimeError
        before."""
        if not self.weights:
            raise RuntimeError("the page has not told its weights yet: let it learn, and stop it")
        return [self._model(values) for values in self.weights]

    def _model(self, values=None):
        words = [index for indices, _ in self.examples for index in indices]
        vocab_size = max(words) + 1 if words else 2 * SYMBOLS + 1
        answers = max(target for _, target in self.examples) + 1 if words else SYMBOLS
        sizes = {
            "vocab_size": vocab_size,
            "embedding_dim": EMBEDDING_DIM,
            "hidden_size": HIDDEN_SIZE,
            "num_outputs": answers,
        }
        return model_of(self.kind, sizes, values)

    @validate("examples")
    def _can_be_learned(self, proposal):
        for number, one in enumerate(proposal.value):
            try:
                indices, target = one
                fits = len(indices) > 0 and all(type(k) is int and 0 <= k < 1000 for k in (*indices, target))
            except (TypeError, ValueError):
                fits = False
            if not fits:
                raise TraitError(
                    f"examples[{number}] must be (indices, target), all whole numbers from 0 to 999, not {one!r}"
                )
        return [[list(indices), target] for indices, target in proposal.value]

    @validate("begin_with")
    def _fits(self, proposal):
        size = sum(p.numel() for p in self._model().parameters())
        if proposal.value and [len(values) for values in proposal.value] != [size, size]:
            raise TraitError(f"begin_with must have {size} numbers for each of two models of this kind")
        return [[float(value) for value in values] for values in proposal.value]
