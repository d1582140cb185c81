"""Evidence for the chapter on sizes: kind of layer, units, layers and dropout; about an hour on one core.

    python benchmarks/evidence_sizes.py           compute missing runs; an interrupted call can be repeated
    python benchmarks/evidence_sizes.py --again   recompute all runs

A layer of torch (float32) learns the English text by the recipe of the chapter on language models: AdamW, OneCycleLR,
clipped gradients. The RNN and the GRU have as many parameters as the LSTM of 128 units, within 2 %. For each size the
learning rate is chosen first, by the loss on a validation part, on a seed of its own. Then five other seeds use it. The
validation part lies before the held-out part, which chooses nothing.
Output: companion/learning/evidence/sizes.json, with the losses of each run on all three parts.
"""

import itertools
import sys

import torch
from evidence_protocol import count, equal_size
from evidence_runs import main
from torch import nn
from torch.nn import functional as F

from companion.learning import evidence
from companion.learning.sequence_model import SequenceModel
from companion.learning.text import Vocabulary, load_text
from companion.learning.training import evaluate, train
from companion.learning.windows import ConsecutiveWindows, split

NAME, VERSION = "sizes", 2  # increase when the program computes something else
NAMES = ("kind", "hidden_size", "num_layers", "dropout", "seed", "learning_rate")
SEEDS, FIRST_SEED = (0, 1, 2, 3, 4), 100
LEARNING_RATES = {"RNN": (0.004, 0.01, 0.025), "GRU": (0.01, 0.025, 0.06), "LSTM": (0.01, 0.025, 0.06)}
EXPERIMENTS = ("all sizes",)
EPOCHS, BATCH_SIZE, WINDOW_SIZE, EMBEDDING_DIM = 8, 8, 32, 24
SIZES = (  # kind, hidden_size, num_layers, dropout
    ("LSTM", 32, 1, 0.0),
    ("LSTM", 64, 1, 0.0),
    ("LSTM", 128, 1, 0.0),
    ("LSTM", 256, 1, 0.0),
    ("LSTM", 256, 1, 0.5),
    ("LSTM", 128, 2, 0.0),
    ("LSTM", 128, 2, 0.2),
    ("LSTM", 128, 2, 0.5),
    ("LSTM", 128, 3, 0.0),
    ("RNN", equal_size("RNN", EMBEDDING_DIM, 128), 1, 0.0),
    ("GRU", equal_size("GRU", EMBEDDING_DIM, 128), 1, 0.0),
)


class LSTM(nn.LSTM):
    """An LSTM with dropout after every layer, the last one included; `nn.LSTM` leaves out the last."""

    def __init__(self, input_size, hidden_size, num_layers, dropout):
        super().__init__(input_size, hidden_size, num_layers, dropout=dropout if num_layers > 1 else 0.0)
        self.last_dropout = dropout

    def forward(self, x, state=None):
        """Return the outputs, with dropout while training, and the state."""
        output, state = super().forward(x, state)
        return F.dropout(output, self.last_dropout, self.training), state


def parts():
    """Return the vocabulary, and the parts for training, validation and the last measurement, as indices."""
    text = load_text("en")
    vocabulary = Vocabulary(text)
    rest, held_out = split(vocabulary.encode(text), held_out=0.1)
    learned_from, validation = split(rest, held_out=1 / 9)
    return vocabulary, learned_from, validation, held_out


def run(settings, epochs=EPOCHS):
    """Train and measure one network, and return its settings and results.

    settings: the values of `NAMES`. epochs: fewer than `EPOCHS` stop early, with the same learning rates until then.
    """
    torch.set_num_threads(1)
    kind, hidden_size, num_layers, dropout, seed, learning_rate = settings
    vocabulary, *texts = parts()
    torch.manual_seed(seed)
    size = len(vocabulary)
    if kind == "LSTM":
        layer = LSTM(EMBEDDING_DIM, hidden_size, num_layers, dropout)
    else:
        layer = getattr(nn, kind)(EMBEDDING_DIM, hidden_size, num_layers)
    model = SequenceModel(nn.Embedding(size, EMBEDDING_DIM), layer, size)
    batches = ConsecutiveWindows(texts[0], BATCH_SIZE, WINDOW_SIZE)
    optimizer = torch.optim.AdamW(model.parameters(), lr=learning_rate, weight_decay=0.1)
    scheduler = torch.optim.lr_scheduler.OneCycleLR(
        optimizer, learning_rate, EPOCHS * len(batches), pct_start=0.1, cycle_momentum=False
    )
    again, validation, unread = (ConsecutiveWindows(one, 1, 500) for one in texts)
    options = {"held_out": validation, "scheduler": scheduler, "progress": False}
    losses = [round(epoch.held_out, 4) for epoch in train(model, batches, optimizer, epochs, **options)]
    results = dict(zip(NAMES, settings, strict=True)) | {"chosen": seed in SEEDS}
    results |= {"parameters": count(model)}
    results |= {"loss": round(evaluate(model, again), 4), "held_out": round(evaluate(model, unread), 4)}
    return results | {"validation": losses, "best": min(losses), "last": losses[-1]}


def first_runs(_):
    """Yield the settings of the runs that choose learning rates."""
    for size in SIZES:
        for rate in LEARNING_RATES[size[0]]:
            yield *size, FIRST_SEED, rate


def chosen_runs(_, first):
    """Yield the settings of the final runs, with the learning rates chosen by `first`."""
    for seed, size in itertools.product(SEEDS, SIZES):
        settings = dict(zip(NAMES[:4], size, strict=True))
        yield *size, seed, min(evidence.having(first, **settings), key=lambda run: run["last"])["learning_rate"]


if __name__ == "__main__":
    main(sys.modules[__name__])
