"""Evidence for the chapters on attention and transformers: numerals, with and without attention; an hour on one core.

    python benchmarks/evidence_numerals.py           compute missing runs; an interrupted call can be repeated
    python benchmarks/evidence_numerals.py --again   recompute all runs

*words*: encoders and decoders read English numerals of up to nine digits in words and write digits, without attention
at three sizes, and with attention, dot products or additive, with as many parameters as the second of these. *joined*:
the same as one sequence, by a language model, an LSTM (also with twice the steps, since its steps take half the time)
or a transformer. Of the numbers that no network learns from, one half chooses learning rates, by the share of numbers
with a mistake, then by the loss, and the other half is reported. Output: companion/learning/evidence/numerals.json.
"""

import sys

import torch
from evidence_protocol import count, main, train_in_one_cycle
from torch import nn

from companion.layers.additive import AdditiveAttention
from companion.layers.embedding import Embedding
from companion.learning.encoder_decoder import EncoderDecoder
from companion.learning.numerals import TRAINED, JoinedNumerals, Numerals, all_right
from companion.learning.sequence_model import SequenceModel, evaluation_of
from companion.learning.training import cross_entropy
from companion.learning.transformer_model import TransformerModel

NAME, VERSION = "numerals", 1  # increase when the program computes something else
METHOD = ("experiment", "kind")
EPOCHS, BATCHES, ASKED = 20, 100, 300  # ASKED: numbers of each length
# hidden_size of the decoder, or d_model
KINDS = {
    "words": {"fixed 16": 16, "fixed 42": 42, "fixed 128": 128, "dot product": 32, "additive": 34},
    "joined": {"LSTM": 57, "LSTM, twice the steps": 57, "transformer": 32},
}
EMBEDDING_DIM, HEADS, BLOCKS = 16, 4, 2


def methods():
    """Return the settings of every method."""
    return [(experiment, kind) for experiment, kinds in KINDS.items() for kind in kinds]


def start(method):
    """Return the learning rates with which the search begins; they rise to their highest value and fall again."""
    return 0.01, 0.03, 0.1


def rank(run):
    """Return the numbers that choose a learning rate: the percentage of numbers with a mistake, then the loss."""
    return run["mistakes"], 1000 * run["loss"]


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
    encoder, decoder = nn.LSTM(EMBEDDING_DIM, size // 2, bidirectional=True), nn.LSTM(EMBEDDING_DIM, size)
    source, written = Embedding(num_inputs, EMBEDDING_DIM), Embedding(num_outputs, EMBEDDING_DIM)
    return EncoderDecoder(source, encoder, written, decoder, num_outputs, attention)


def held_out(task, length, part):
    """Return the numbers of a length that are asked: part 0 chooses learning rates, part 1 is reported."""
    numbers = task.held_out(length, 4 * ASKED, seed=1)
    return [number for number in numbers if number * 2654435761 // 1280 % 2 == part][:ASKED]


def run(settings, epochs=None):
    """Train and measure one network, and return the measurements.

    epochs: stop after so many, to compute a run's beginning again.
    """
    experiment, kind, seed, learning_rate = settings
    torch.manual_seed(seed)
    task = (Numerals if experiment == "words" else JoinedNumerals)("en", batches=BATCHES, seed=seed)
    model = new_model(experiment, kind, len(task.words) if experiment == "words" else task.vocab_size, len(task.signs))
    planned = EPOCHS * (2 if "twice" in kind else 1)
    optimizer = torch.optim.Adam(model.parameters(), lr=learning_rate)
    history, per_step = train_in_one_cycle(model, task, optimizer, planned, epochs)
    results = {"parameters": count(model), "per_step": per_step}
    results["learned"] = [round(epoch.loss, 3) for epoch in history[:2]]
    asked = [measured(model, task, length, part=0) for length in range(4, TRAINED + 1)]
    results["mistakes"] = round(100 - 100 * sum(right for right, _ in asked) / len(asked), 3)
    results["loss"] = round(sum(loss for _, loss in asked) / len(asked), 6)
    return results | {"right": [round(measured(model, task, length, part=1)[0], 4) for length in range(4, TRAINED + 4)]}


def measured(model, task, length, part):
    """Return the share of numbers that are written without a mistake, and the loss."""
    inputs, targets = task.batch(held_out(task, length, part))
    with evaluation_of(model):
        logits = model(inputs)[0]
        return all_right(logits, targets).double().mean().item(), cross_entropy(logits, targets).item()


if __name__ == "__main__":
    main(sys.modules[__name__])
