"""Evidence for the chapters on attention: numerals, with and without attention; an hour on one core.

    python benchmarks/evidence_attention.py           compute missing runs; an interrupted call can be repeated
    python benchmarks/evidence_attention.py --again   recompute all runs

*words*: encoders and decoders read English numerals of up to nine digits in words and write digits, without attention
at four sizes, and with attention, dot products or additive, with as many parameters as the second of these. *joined*:
the same as one sequence, by a language model, an LSTM (also with twice the steps, since its steps take half the time)
or a transformer. For each kind the learning rate is chosen first, on a seed of its own, by the held-out loss; then five
other seeds use it. Output: companion/learning/evidence/attention.json.
"""

import itertools
import sys
import time

import torch
from evidence_protocol import count
from evidence_runs import main
from torch import nn

from companion.layers.additive import AdditiveAttention
from companion.layers.embedding import Embedding
from companion.learning import evidence
from companion.learning.encoder_decoder import EncoderDecoder
from companion.learning.numerals import TRAINED, JoinedNumerals, Numerals, all_right
from companion.learning.sequence_model import SequenceModel, evaluation_of
from companion.learning.training import evaluate, train
from companion.learning.transformer_model import TransformerModel

NAME, VERSION = "attention", 1  # increase when the program computes something else
NAMES = ("experiment", "kind", "seed", "learning_rate")
SEEDS, FIRST_SEED, LEARNING_RATES = (0, 1, 2, 3, 4), 100, (0.001, 0.003, 0.01, 0.02)
EPOCHS, BATCHES, TESTED = 20, 100, 300  # TESTED: held-out numbers of each length
# hidden_size of the decoder, or d_model
KINDS = {
    "words": {"fixed 16": 16, "fixed 42": 42, "fixed 64": 64, "fixed 128": 128, "dot product": 32, "additive": 34},
    "joined": {"LSTM": 57, "LSTM, twice the steps": 57, "transformer": 32},
}
EXPERIMENTS = tuple(KINDS)
EMBEDDING_DIM, HEADS, BLOCKS = 16, 4, 2


def new_model(experiment, kind, num_inputs, num_outputs):
    """Return a new network of this kind, of torch's layers, which compute the same numbers faster."""
    size = KINDS[experiment][kind]
    if kind == "transformer":
        blocks = [nn.TransformerEncoderLayer(size, HEADS, 2 * size, dropout=0.0) for _ in range(BLOCKS)]
        return TransformerModel(Embedding(num_inputs, size), blocks, num_outputs)
    if experiment == "joined":
        return SequenceModel(Embedding(num_inputs, EMBEDDING_DIM), nn.LSTM(EMBEDDING_DIM, size), num_outputs)
    attention = None
    if kind == "dot product":
        attention = nn.MultiheadAttention(size, 1)
    elif kind == "additive":
        attention = AdditiveAttention(size, size, size)
    encoder = nn.LSTM(EMBEDDING_DIM, size // 2, bidirectional=True)
    decoder = nn.LSTM(EMBEDDING_DIM, size)
    return EncoderDecoder(
        Embedding(num_inputs, EMBEDDING_DIM),
        encoder,
        Embedding(num_outputs, EMBEDDING_DIM),
        decoder,
        num_outputs,
        attention,
    )


def run(settings):
    """Train and measure one network, and return its settings and results. settings: the values of `NAMES`."""
    torch.set_num_threads(1)
    seed = settings[2]
    torch.manual_seed(seed)
    return dict(zip(NAMES, settings, strict=True)) | {"chosen": seed in SEEDS} | measured(*settings)


def learn(model, batches, learning_rate, epochs):
    """Train with a rising and falling learning rate, and return the seconds per step."""
    optimizer, steps = torch.optim.Adam(model.parameters(), lr=learning_rate), epochs * len(batches)
    scheduler = torch.optim.lr_scheduler.OneCycleLR(
        optimizer, learning_rate, steps, pct_start=0.1, cycle_momentum=False
    )
    began = time.perf_counter()
    train(model, batches, optimizer, epochs, scheduler=scheduler, progress=False)
    return (time.perf_counter() - began) / steps


def measured(experiment, kind, seed, learning_rate):
    task = (Numerals if experiment == "words" else JoinedNumerals)("en", batches=BATCHES, seed=seed)
    num_inputs = len(task.words) if experiment == "words" else task.vocab_size
    model = new_model(experiment, kind, num_inputs, len(task.signs))
    per_step = learn(model, task, learning_rate, EPOCHS * (2 if "twice" in kind else 1))
    right, losses = {}, []
    for length in range(4, TRAINED + 4):
        batch = task.batch(task.held_out(length, TESTED))
        with evaluation_of(model):
            right[length] = round(all_right(model(batch[0])[0], batch[1]).double().mean().item(), 4)
        losses.append(evaluate(model, Once(batch)))
    held_out = sum(losses[: TRAINED - 3]) / (TRAINED - 3)  # of the lengths in training
    sizes = {"parameters": count(model), "per_step": round(per_step, 4)}
    return sizes | {"right": [right[length] for length in sorted(right)], "best": round(held_out, 5)}


class Once:
    """One batch in the form that `evaluate` needs."""

    carried = False

    def __init__(self, batch):
        self.batch = batch

    def epoch(self, number):
        return [self.batch]


def first_runs(experiment):
    """Yield the settings of the runs that choose learning rates."""
    for kind, rate in itertools.product(KINDS[experiment], LEARNING_RATES):
        yield experiment, kind, FIRST_SEED, rate


def chosen_runs(experiment, first):
    """Yield the settings of the final runs, with the learning rates chosen by `first`."""
    for kind in KINDS[experiment]:
        best = min(evidence.having(first, kind=kind), key=lambda run: run["best"])
        for seed in SEEDS:
            yield experiment, kind, seed, best["learning_rate"]


if __name__ == "__main__":
    main(sys.modules[__name__])
