"""Evidence for two chapters, on training and on step sizes: optimizers and learning rates; a quarter hour on one core.

    python benchmarks/evidence_training.py           compute missing runs; an interrupted call can be repeated
    python benchmarks/evidence_training.py --again   recompute all runs

The chapters' RNN learns the English text for one epoch and for ten, by three optimizers, and for forty by Adam. A
larger one reads a tenth of the text twenty times, and overfits. The text has three parts. A learning rate is chosen by
networks that learn from the first part, by their loss on the second, the validation part. The five networks that are
reported learn from both and are measured on the third. The larger network always learns from the beginning of the first
part, and the second chooses its epoch. Output: companion/learning/evidence/training.json, with the losses after each
epoch.
"""

import sys

import torch
from evidence_protocol import count, main

import companion
from companion.learning import protocol
from companion.learning.sequence_model import SequenceModel
from companion.learning.text import Vocabulary, load_text
from companion.learning.training import evaluate, train
from companion.learning.windows import ConsecutiveWindows, split

NAME, VERSION = "training", 2  # increase when the program computes something else
METHOD = ("experiment", "optimizer")
# experiment → characters learned from, batch_size, hidden_size, epochs
FEW = "few characters"
EXPERIMENTS = {
    "one epoch": (None, 32, 64, 1),
    "ten epochs": (None, 32, 64, 10),
    "forty epochs": (None, 32, 64, 40),
    FEW: (5000, 8, 128, 20),
}
# optimizer → its class, its options, the first learning rates of its search
OPTIMIZERS = {
    "descent": (torch.optim.SGD, {}, protocol.GRID[7:14]),  # 0.03 … 30
    "momentum": (torch.optim.SGD, {"momentum": 0.9}, protocol.GRID[5:12]),  # 0.003 … 3
    "Adam": (torch.optim.Adam, {}, protocol.GRID[3:10]),  # 0.0003 … 0.3
}
EMBEDDING_DIM, WINDOW_SIZE = 16, 32
float64 = {"dtype": torch.float64}


def parts():
    """Return the vocabulary, and three parts of the text: to learn from, to choose by, to report."""
    text = load_text("en")
    vocabulary = Vocabulary(text)
    rest, test = split(vocabulary.encode(text), held_out=0.1)
    return vocabulary, *split(rest, held_out=1 / 9), test


def methods():
    """Return the experiments, each with its optimizers."""
    compared = [(experiment, name) for experiment in ("one epoch", "ten epochs") for name in OPTIMIZERS]
    return *compared, ("forty epochs", "Adam"), (FEW, "Adam")


def start(method):
    """Return the first rates of a search; where optimizers are compared, enough of them to be drawn."""
    experiment, name = method
    rates = {"one epoch": OPTIMIZERS[name][2], "ten epochs": OPTIMIZERS[name][2][1:-1]}
    return rates.get(experiment, protocol.START)


def rank(run):
    """Return the loss on the validation part: after the last epoch, or the lowest where the epoch is chosen."""
    return (min(run["validation"]) if run["experiment"] == FEW else run["validation"][-1],)


def run(settings, epochs=None):
    """Train and measure one network, and return its measurements.

    settings: the values of `METHOD`, a seed and a learning rate. epochs: stop earlier.
    """
    experiment, name, seed, learning_rate = settings
    length, batch_size, hidden_size, all_epochs = EXPERIMENTS[experiment]
    vocabulary, learned_from, validation, test = parts()
    measured_on = {"validation": validation}
    if seed not in protocol.CHOOSING:
        measured_on = {"validation": validation, "test": test} if experiment == FEW else {"test": test}
        learned_from = torch.cat([learned_from, validation])
    torch.manual_seed(seed)
    embedding = companion.Embedding(len(vocabulary), EMBEDDING_DIM, **float64)
    layer = companion.by_hand(companion.RNN(EMBEDDING_DIM, hidden_size, **float64))
    model = SequenceModel(embedding, layer, len(vocabulary))
    optimizer_class, options, _ = OPTIMIZERS[name]
    optimizer = optimizer_class(model.parameters(), lr=learning_rate, **options)
    batches = ConsecutiveWindows(learned_from[:length], batch_size, WINDOW_SIZE)
    windows = {part: ConsecutiveWindows(one, batch_size=1, window_size=500) for part, one in measured_on.items()}
    losses = {"learned_from": []} | {part: [] for part in windows}
    for _ in range(epochs or all_epochs):
        (epoch,) = train(model, batches, optimizer, epochs=1, progress=False)
        losses["learned_from"].append(round(epoch.loss, 4))
        for part, its_windows in windows.items():
            losses[part].append(round(evaluate(model, its_windows), 4))
    return {"parameters": count(model), **losses}


if __name__ == "__main__":
    main(sys.modules[__name__])
