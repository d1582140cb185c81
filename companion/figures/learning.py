"""Figure of two networks that learn a recall task: one starts with torch's defaults, one with a long memory."""

import json
from typing import Any

from traitlets import Bool, Dict, Enum, Int, List, TraitError, validate

from companion.figures.figure import FOLDER, Figure, Number, script
from companion.figures.training import LAYERS, build_model
from companion.learning.sequence_model import SequenceModel

EMBEDDING_DIM, HIDDEN_SIZE, SYMBOLS = 8, 16, 4  # as in learner.js


class Learning(Figure):
    """Two models of a kind that learn the same task from the same data, in a worker thread of the page.

    A model is an embedding of 8, a recurrent layer of 16 units and a linear layer. The optimizer is Adam, with batches
    of 16 and gradients clipped to norm 1.

    kind: "RNN", "GRU" or "LSTM". gap: steps of noise between symbol and question, 1 to 60; the task is
    `companion.tasks.Recall` with 4 symbols. learning_rate: 0.001, 0.003, 0.01 or 0.03. start: of the second model:
    "chrono", memories of 2 to 2 · gap steps, or "bias", all forget gates' biases (a GRU's update gates') at `bias`, 0
    to 6; an RNN starts with W_hh = I. seed: of weights and data, 0 to 99. examples: pairs (indices, target) to
    learn from instead of that task; the target follows the last index. begin_with: initial weights of both models,
    in the form of `weights`. goal: learn up to this step; 0 is until the reader stops it.

    The page sets when it pauses: steps, losses (of both, one a step), weights (of both, in the order of the
    parameters) and memories, the gate values that it draws. stored: whether to show a run of 300 steps with the default
    settings from learned.json, which `python -m book.tools.draw learning` makes.
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
    stored = Bool(False).tag(sync=True)
    goal = Int(0, min=0, max=100_000).tag(sync=True)
    symbols = Int(SYMBOLS, read_only=True).tag(sync=True)
    steps = Int(0).tag(sync=True)
    losses: List = List().tag(sync=True)
    weights: List = List().tag(sync=True)
    memories: List = List().tag(sync=True)
    ended = Dict(read_only=True).tag(sync=True)
    settings = ("kind", "gap", "learning_rate", "start", "bias", "seed", "examples", "begin_with", "stored", "goal")
    pictured = {"stored": True}

    def __init__(self, language: str = "en", **values: Any) -> None:
        super().__init__(language, **values)
        self.set_trait("ended", json.loads((FOLDER / "learned.json").read_text(encoding="utf-8")))

    def models(self) -> list[SequenceModel]:
        """Return both models as `companion.SequenceModel` in float64, with the weights of the page.

        Raises RuntimeError before the page has sent weights.
        """
        if not self.weights:
            raise RuntimeError("the page has not sent its weights yet: start the training and stop it")
        return [self._model(values) for values in self.weights]

    def _model(self, values=None):
        tokens = [index for indices, _ in self.examples for index in indices]
        vocab_size = max(tokens) + 1 if tokens else 2 * SYMBOLS + 1
        answers = max(target for _, target in self.examples) + 1 if tokens else SYMBOLS
        sizes = {
            "vocab_size": vocab_size,
            "embedding_dim": EMBEDDING_DIM,
            "hidden_size": HIDDEN_SIZE,
            "num_outputs": answers,
        }
        return build_model(self.kind, sizes, values)

    @validate("examples")
    def _check_examples(self, proposal):
        for number, example in enumerate(proposal.value):
            try:
                indices, target = example
                fits = len(indices) > 0 and all(type(k) is int and 0 <= k < 1000 for k in (*indices, target))
            except (TypeError, ValueError):
                fits = False
            if not fits:
                raise TraitError(
                    f"examples[{number}] must be (indices, target), all whole numbers from 0 to 999, not {example!r}"
                )
        return [[list(indices), target] for indices, target in proposal.value]

    @validate("begin_with")
    def _check_begin_with(self, proposal):
        size = sum(p.numel() for p in self._model().parameters())
        if proposal.value and [len(values) for values in proposal.value] != [size, size]:
            raise TraitError(f"begin_with must have {size} numbers for each of two models of this kind")
        return [[float(value) for value in values] for values in proposal.value]
