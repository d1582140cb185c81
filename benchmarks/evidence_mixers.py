"""Evidence on the parts of a released layer, and on layers that follow a ball.

    python benchmarks/evidence_mixers.py           compute missing runs; an interrupted call can be repeated
    python benchmarks/evidence_mixers.py --again   recompute all runs

Every kind of layer has as many parameters as an LSTM of 32 units, on the text of 48. In `apart`, keys and values are
written in steps of their own, and the last value of each of eight keys is asked; `text` is the book's English text, as
in `companion.bench`: both have the gated delta rule with all parts of a released layer, without each, and alone. The
shell games with two to five cups are learned over 20 steps and played over 80; layers that follow them also learn
`rewritten`, recall with key and value in one step. Output: companion/learning/evidence/mixers.json.
"""

import functools
import sys
from unittest import mock

import torch
from evidence_protocol import count, main, numbers_of_state, sized
from torch import nn

import companion
from companion.bench import measure
from companion.layers import delta_mixer
from companion.layers.delta_mixer import DeltaMixer, KimiMixer
from companion.layers.slstm import SLSTM
from companion.layers.tracking import DeltaProduct, RotaryLinearAttention
from companion.learning.sequence_model import SequenceModel
from companion.learning.tasks import Cups, Rewritten, accuracy
from companion.learning.training import train

NAME, VERSION = "mixers", 1  # increase when the program computes something else
METHOD = ("experiment", "kind")
BATCHES, BATCH_SIZE, EMBEDDING_DIM, HIDDEN_SIZE, HEADS = 400, 32, 16, 32, 2
PARTS = {"choose": {"seed": 2000, "batches": 20}, "test": {"seed": 1000, "batches": 50}}


class WithoutConvolution(DeltaMixer):
    """A mixer whose convolution sees the current step alone."""

    def reset_parameters(self):
        super().reset_parameters()
        self.conv_weight.data[:] = torch.tensor([0.0, 0, 0, 1])
        self.conv_weight.requires_grad_(False)


class WithoutUnitKeys(DeltaMixer):
    """A mixer whose queries and keys have any length."""

    def run_padded(self, *arguments):
        with mock.patch.object(delta_mixer, "unit", lambda x: x):
            return super().run_padded(*arguments)


class WithoutNorm(DeltaMixer):
    """A mixer without a norm of the output."""

    def run_padded(self, *arguments):
        with mock.patch.object(delta_mixer, "rms_norm", lambda x, weight, eps: x):
            return super().run_padded(*arguments)


class WithoutGate(DeltaMixer):
    """A mixer without a gate of the output."""

    def rows(self):
        q, k, v, _, b, a = super().rows()
        return [q, k, v, 0, b, a]

    def gate(self, z):
        return 1.0


class WithoutDecay(DeltaMixer):
    """A mixer that forgets only by the delta rule."""

    def rows(self):
        return [*super().rows()[:-1], 0]

    def log_alpha(self, a):
        return a.new_zeros(*a.shape[:-1], self.num_heads)


class EvenStart(DeltaMixer):
    """A mixer whose decays begin near one half, as gates of an LSTM do."""

    def reset_parameters(self):
        super().reset_parameters()
        self.A_log.data.zero_()
        self.dt_bias.data.zero_()


KINDS = {
    "all parts": DeltaMixer,
    "no convolution": WithoutConvolution,
    "keys of any length": WithoutUnitKeys,
    "no norm": WithoutNorm,
    "no output gate": WithoutGate,
    "no decay": WithoutDecay,
    "decay begins at 1/2": EvenStart,
    "a decay for each feature": KimiMixer,
    "the rule alone": companion.GatedDeltaNet,
}
TRACKING = {
    "sLSTM": SLSTM,
    "delta rule": companion.DeltaNet,
    "delta rule, β to 2": functools.partial(companion.DeltaNet, most=2.0),
    "two delta steps, β to 2": DeltaProduct,
    "rotations": RotaryLinearAttention,
}
MAKERS = {kind: functools.partial(layer, num_heads=HEADS) for kind, layer in (KINDS | TRACKING).items()}
MAKERS["LSTM"] = nn.LSTM
CUPS = {f"{cups} cups": cups for cups in (2, 3, 4, 5)}


def task_of(experiment, steps=20, **options):
    """Return a task; steps: of a shell game."""
    if experiment in CUPS:
        return Cups(CUPS[experiment], steps, **options)
    return Rewritten(8, 8, 16, apart=experiment == "apart", **options)


def run(settings):
    """Train one network, and return its sizes, its result on new sequences, and that by which its rate is chosen.

    settings: the values of `METHOD`, a seed and a learning rate.
    """
    experiment, kind, seed, learning_rate = settings
    torch.set_num_threads(1)
    if experiment == "text":
        return measure.run("text", MAKERS[kind], seed, learning_rate)
    torch.manual_seed(seed)
    task = task_of(experiment, batch_size=BATCH_SIZE, batches=BATCHES, seed=seed)
    embedding = companion.Embedding(task.vocab_size, EMBEDDING_DIM)
    wanted, multiple = count(nn.LSTM(EMBEDDING_DIM, HIDDEN_SIZE)), 4 if kind == "rotations" else 2
    layer = sized(lambda size: MAKERS[kind](EMBEDDING_DIM, size), wanted, multiple)
    model = SequenceModel(embedding, layer, CUPS.get(experiment, 8))
    optimizer = torch.optim.Adam(model.parameters(), lr=learning_rate)
    history = train(model, task, optimizer, 1, progress=False)
    wrong = {part: round(1 - accuracy(model, task_of(experiment, 80, **options)), 4) for part, options in PARTS.items()}
    _, state = layer(torch.zeros(1, 1, EMBEDDING_DIM))
    sizes = {"parameters": count(layer), "state": numbers_of_state(state)}
    return sizes | {"loss": round(history[0].loss, 5)} | wrong


def rank(run):
    """Return what decides between learning rates: the result on the part for choosing, then the loss."""
    return run["choose"], run["loss"]


def methods():
    """Return the kinds of each task."""
    parts = [(experiment, kind) for experiment in ("apart", "text") for kind in (*KINDS, "LSTM")]
    return parts + [(experiment, kind) for experiment in ("rewritten", *CUPS) for kind in (*TRACKING, "LSTM")]


if __name__ == "__main__":
    main(sys.modules[__name__])
