"""Evidence for the chapter on today's models, on the text: layers after the LSTM, alone and in blocks.

    python benchmarks/evidence_recurrences.py           compute missing runs; an interrupted call can be repeated
    python benchmarks/evidence_recurrences.py --again   recompute all runs

Every model has about as many parameters as one with an LSTM of 72 units. For each kind the learning rate is chosen
first, on a seed of its own, by the result that is shown. Five networks with other seeds use it. Output:
companion/learning/evidence/recurrences.json.
"""

import itertools
import sys
import time

import torch
from evidence_protocol import count, sized
from evidence_runs import main
from torch import nn

import companion
from companion.learning import evidence
from companion.learning.sequence_model import SequenceModel
from companion.learning.text import Vocabulary, load_text
from companion.learning.training import train
from companion.learning.windows import ConsecutiveWindows, split

NAME, VERSION = "recurrences", 1  # increase when the program computes something else
NAMES = ("experiment", "kind", "seed", "learning_rate")
SEEDS, FIRST_SEED, LEARNING_RATES = (0, 1, 2, 3, 4), 100, (0.003, 0.01, 0.03)
EXPERIMENTS, EMBEDDING_DIM = ("text",), 16
TEXT_EPOCHS, TEXT_BATCH, TEXT_WINDOW, TEXT_HIDDEN_SIZE, HEADS = 24, 16, 64, 72, 2

# torch's layers where they compute the same numbers faster
LAYERS = {
    "LSTM": nn.LSTM,
    "GRU": nn.GRU,
    "MinGRU": companion.MinGRU,
    "MinGRU, two layers": lambda *sizes: companion.MinGRU(*sizes, num_layers=2),
    "MinLSTM": companion.MinLSTM,
    "MLSTM": lambda *sizes: companion.MLSTM(*sizes, HEADS),
    "GatedDeltaNet, β to 2": lambda *sizes: companion.GatedDeltaNet(*sizes, HEADS, most=2.0),
}
IN_BLOCKS = ("LSTM", "MinGRU", "MLSTM", "GatedDeltaNet, β to 2")
KINDS = ("LSTM", "GRU", "MinGRU", "MinGRU, two layers", "MinLSTM", *(f"{kind}, in blocks" for kind in IN_BLOCKS))


def text_model(kind, signs):
    """Return a model of the text, with one layer or two blocks of it."""

    def of_layer(layer, size):
        return SequenceModel(companion.Embedding(signs, EMBEDDING_DIM), LAYERS[layer](EMBEDDING_DIM, size), signs)

    def of_blocks(size):
        blocks = companion.Blocks([LAYERS[kind.removesuffix(", in blocks")](size, size) for _ in range(2)])
        return SequenceModel(companion.Embedding(signs, size), blocks, signs)

    wanted = count(of_layer("LSTM", TEXT_HIDDEN_SIZE))
    return sized(of_blocks if kind.endswith("in blocks") else lambda size: of_layer(kind, size), wanted)


def run(settings, epochs=TEXT_EPOCHS):
    """Train and measure one network, and return its settings and results.

    settings: the values of `NAMES`.
    """
    torch.set_num_threads(1)
    torch.manual_seed(seed := settings[2])
    measured = text_run(settings, epochs)
    return dict(zip(NAMES, settings, strict=True)) | {"chosen": seed in SEEDS} | measured


def text_run(settings, epochs):
    _, kind, _, learning_rate = settings
    text = load_text("en")
    vocabulary = Vocabulary(text)
    learned_from, held_out = split(vocabulary.encode(text), held_out=0.1)
    model = text_model(kind, len(vocabulary))
    batches, unread = ConsecutiveWindows(learned_from, TEXT_BATCH, TEXT_WINDOW), ConsecutiveWindows(held_out, 1, 500)
    optimizer = torch.optim.Adam(model.parameters(), lr=learning_rate)
    steps = TEXT_EPOCHS * len(batches)
    scheduler = torch.optim.lr_scheduler.OneCycleLR(
        optimizer, learning_rate, steps, pct_start=0.1, cycle_momentum=False
    )
    began = time.perf_counter()
    history = train(model, batches, optimizer, epochs, scheduler=scheduler, held_out=unread, progress=False)
    per_step = (time.perf_counter() - began) / (epochs * len(batches))
    losses = [round(epoch.held_out, 4) for epoch in history]
    sizes = {"hidden_size": model.recurrent.hidden_size, "parameters": count(model), "per_step": round(per_step, 4)}
    return sizes | {"held_out": losses, "best": min(losses), "loss": round(history[-1].loss, 5)}


def first_runs(experiment):
    """Yield the settings of the runs that choose learning rates."""
    for kind, rate in itertools.product(KINDS, LEARNING_RATES):
        yield experiment, kind, FIRST_SEED, rate


def rank(run):
    """Return a sort key, smaller for a better run: the result that is shown, then the loss."""
    return run["best"], run["loss"]


def chosen_runs(experiment, first):
    """Yield the settings of the final runs, with the learning rates chosen by `first`."""
    for kind in KINDS:
        best = min(evidence.having(first, kind=kind), key=rank)
        for seed in SEEDS:
            yield experiment, kind, seed, best["learning_rate"]


if __name__ == "__main__":
    main(sys.modules[__name__])
