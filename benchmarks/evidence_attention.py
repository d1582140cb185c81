"""Evidence for the chapter on attention: with and without attention, and transformers; an hour on one core.

    python benchmarks/evidence_attention.py           compute missing runs; an interrupted call can be repeated
    python benchmarks/evidence_attention.py --again   recompute all runs

*words*: encoders and decoders read English numerals of up to nine digits in words and write digits, without attention
at four sizes, and with attention, dot products or additive, with as many parameters as the second of these. *joined*:
the same as one sequence, by a language model, an LSTM (also with twice the steps, since its steps take half the time)
or a transformer. *text*: these two on the English text. For each kind the learning rate is chosen first, on a seed of
its own, by the held-out loss; then five other seeds use it. Output: companion/learning/evidence/attention.json.
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
from companion.learning.text import Vocabulary, load_text
from companion.learning.training import IGNORED, evaluate, train
from companion.learning.transformer_model import TransformerModel
from companion.learning.windows import ConsecutiveWindows, RandomWindows, split

NAME, VERSION = "attention", 1  # increase when the program computes something else
NAMES = ("experiment", "kind", "seed", "learning_rate")
SEEDS, FIRST_SEED, LEARNING_RATES = (0, 1, 2, 3, 4), 100, (0.001, 0.003, 0.01, 0.02)
EPOCHS, BATCHES, TESTED = 20, 100, 300  # TESTED: held-out numbers of each length
# hidden_size of the decoder, or d_model
KINDS = {
    "words": {"fixed 16": 16, "fixed 42": 42, "fixed 64": 64, "fixed 128": 128, "dot product": 32, "additive": 34},
    "joined": {"LSTM": 57, "LSTM, twice the steps": 57, "transformer": 32},
    "text": {"LSTM": 72, "transformer": 40},
}
EXPERIMENTS = tuple(KINDS)
EMBEDDING_DIM, HEADS, BLOCKS = 16, 4, 2
TEXT_EPOCHS, TEXT_BATCH, TEXT_WINDOW = 24, 16, 64


def new_model(experiment, kind, num_inputs, num_outputs):
    """Return a new network of this kind, of torch's layers, which compute the same numbers faster."""
    size = KINDS[experiment][kind]
    if kind == "transformer":
        blocks = [nn.TransformerEncoderLayer(size, HEADS, 2 * size, dropout=0.0) for _ in range(BLOCKS)]
        return TransformerModel(Embedding(num_inputs, size), blocks, num_outputs)
    if experiment != "words":
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


def run(settings, epochs=None):
    """Train and measure one network, and return its settings and results.

    settings: the values of `NAMES`. epochs: for the text, all if None.
    """
    torch.set_num_threads(1)
    experiment, _, seed, _ = settings
    torch.manual_seed(seed)
    measured = text_run(settings, epochs) if experiment == "text" else numerals_run(settings)
    return dict(zip(NAMES, settings, strict=True)) | {"chosen": seed in SEEDS} | measured


def learn(model, batches, learning_rate, planned, epochs=None, **options):
    """Train with a rising and falling learning rate, and return the history and the seconds per step.

    The schedule covers `planned` epochs; training stops after `epochs`, after all of them if None.
    """
    optimizer = torch.optim.Adam(model.parameters(), lr=learning_rate)
    steps, epochs = planned * len(batches), epochs or planned
    scheduler = torch.optim.lr_scheduler.OneCycleLR(
        optimizer, learning_rate, steps, pct_start=0.1, cycle_momentum=False
    )
    began = time.perf_counter()
    history = train(model, batches, optimizer, epochs, scheduler=scheduler, progress=False, **options)
    return history, (time.perf_counter() - began) / (epochs * len(batches))


def numerals_run(settings):
    experiment, kind, seed, learning_rate = settings
    task = (Numerals if experiment == "words" else JoinedNumerals)("en", batches=BATCHES, seed=seed)
    num_inputs = len(task.words) if experiment == "words" else task.vocab_size
    model = new_model(experiment, kind, num_inputs, len(task.signs))
    _, per_step = learn(model, task, learning_rate, EPOCHS * (2 if "twice" in kind else 1))
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


class SecondHalves:
    """Windows that overlap by half, for a model without a state: only the second half of each is predicted."""

    carried = False

    def __init__(self, indices, window_size):
        half = window_size // 2
        starts = torch.arange(0, len(indices) - window_size, half)
        positions = starts + torch.arange(window_size)[:, None]
        self.inputs, self.targets = indices[positions], indices[positions + 1]
        self.targets[:half] = IGNORED

    def epoch(self, number):
        return [(self.inputs, self.targets)]


def text_run(settings, epochs):
    experiment, kind, seed, learning_rate = settings
    text = load_text("en")
    vocabulary = Vocabulary(text)
    learned_from, held_out = split(vocabulary.encode(text), held_out=0.1)
    model = new_model(experiment, kind, len(vocabulary), len(vocabulary))
    if kind == "LSTM":  # trained and evaluated with a carried state
        batches, unread = (
            ConsecutiveWindows(learned_from, TEXT_BATCH, TEXT_WINDOW),
            ConsecutiveWindows(held_out, 1, 500),
        )
    else:  # without a state: it predicts the second half of each window, after reading at least the first
        batches, unread = (
            RandomWindows(learned_from, TEXT_BATCH, TEXT_WINDOW, seed=seed),
            SecondHalves(held_out, TEXT_WINDOW),
        )
    history, per_step = learn(model, batches, learning_rate, TEXT_EPOCHS, epochs, held_out=unread)
    losses = [round(epoch.held_out, 4) for epoch in history]
    sizes = {"parameters": count(model), "per_step": round(per_step, 4)}
    return sizes | {"held_out": losses, "best": min(losses)}


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
