"""Evidence for the page on why: an LSTM and a transformer's block follow a ball; four minutes on one core.

    python benchmarks/evidence_cups.py           compute missing runs; an interrupted call can be repeated
    python benchmarks/evidence_cups.py --again   recompute all runs

Both learn from 200 batches of games with two cups over 20 steps. New games of this length choose the learning rate, by
the share of steps at which the ball is not found, then by the loss. Other new games, over 80 steps, are reported, with
the accuracy at each step. Output: companion/learning/evidence/cups.json.
"""

import sys

import torch
from evidence_protocol import count, main
from torch import nn

from companion.learning.sequence_model import SequenceModel, evaluation_of
from companion.learning.tasks import Cups
from companion.learning.training import cross_entropy, train
from companion.learning.transformer_model import TransformerModel

NAME, VERSION = "cups", 1  # increase when the program computes something else
METHOD = ("kind",)
STEPS, BATCHES, LONGER, GAMES = 20, 200, 80, 500


def methods():
    """Return the settings of every method."""
    return [("LSTM",), ("transformer",), ("transformer, two blocks",)]


def start(method):
    """Return the learning rates with which the search begins."""
    return 0.003, 0.01


def rank(run):
    """Return the numbers that choose a learning rate: the percentage of wrong answers, then the loss."""
    return run["wrong"], run["loss"]


def new_model(kind):
    """Return a new network, of torch's layers, which compute the same numbers faster."""
    if kind == "LSTM":
        return SequenceModel(nn.Embedding(2, 16), nn.LSTM(16, 32), 2)
    blocks = [nn.TransformerEncoderLayer(32, 4, 64, 0.0, norm_first=True) for _ in range(2 if "two" in kind else 1)]
    return TransformerModel(nn.Embedding(2, 32), blocks, 2)


def run(settings):
    """Train and measure one network, and return the measurements."""
    kind, seed, learning_rate = settings
    torch.manual_seed(seed)
    model = new_model(kind)
    optimizer = torch.optim.Adam(model.parameters(), lr=learning_rate)
    train(model, Cups(2, STEPS, batch_size=32, batches=BATCHES, seed=seed), optimizer, 1, progress=False)
    chosen_by, loss = measured(model, STEPS, -1)
    reported, _ = measured(model, LONGER, -2)
    return {
        "parameters": count(model),
        "wrong": round(100 - 100 * chosen_by.mean().item(), 3),
        "loss": round(loss, 4),
        "right": [round(share, 4) for share in reported.tolist()],
    }


def measured(model, steps, epoch):
    """Return the share of new games in which the answer is right, by step, and the loss. epoch: which games."""
    inputs, targets = next(Cups(2, steps, batch_size=GAMES).epoch(epoch))
    with evaluation_of(model):
        logits = model(inputs)[0]
        return (logits.argmax(-1) == targets).double().mean(1), cross_entropy(logits, targets).item()


if __name__ == "__main__":
    main(sys.modules[__name__])
