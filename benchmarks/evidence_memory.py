"""Which layer learns to remember? The runs on which the chapter "Memory, measured" rests: twenty minutes on one core.

    python benchmarks/evidence_memory.py           compute what is missing; it may be stopped and started again
    python benchmarks/evidence_memory.py --again   compute all of it anew

Every kind of network gets as many parameters in its recurrent layer as the others, within 2 %, and learns with each of
four learning rates: from five seeds, and all are shown. Only for recall, which has many gaps, they learn from two
seeds, and these choose the rate: the one with the best mean, and among equals the one with the lowest loss while
learning. With it five networks learn from five other seeds. Written is companion/learning/evidence/memory.json.
"""

import itertools
import sys

import torch
from evidence_runs import equal_size, main, parameters
from torch import nn

import companion
from companion.layers.initialisation import chrono_
from companion.learning import evidence
from companion.learning.sequence_model import SequenceModel
from companion.learning.tasks import Adding, Brackets, Recall, accuracy
from companion.learning.training import evaluate, train

NAME, VERSION = "memory", 1  # another version when something else is computed
NAMES = ("experiment", "kind", "start", "length", "seed", "learning_rate")
SEEDS = {"recall": range(5), "recall, four times as long": range(5)}
FIRST_SEEDS = {"recall": range(100, 102), "recall, four times as long": range(100, 102)}  # elsewhere five
LEARNING_RATES = (0.001, 0.003, 0.01, 0.03)
FIRST_LENGTHS = {"recall": (20, 40)}  # elsewhere all
BATCHES, BATCH_SIZE = {"recall, four times as long": 1600}, 32  # elsewhere 400
HIDDEN_SIZE = 32  # of the LSTM; the others have as many parameters
float64 = {"dtype": torch.float64}

# what a network begins with: torch's own weights, W_hh the identity, forget gates at b = 1, or memories for the task
STARTS = {"RNN": ["torch", "identity"], "GRU": ["torch", "chrono"], "LSTM": ["torch", "b_f = 1", "chrono"]}
KINDS = [(kind, start) for kind, starts in STARTS.items() for start in starts]
FROM_TORCH = [(kind, "torch") for kind in STARTS]
# experiment → input_size, number of outputs, gaps or lengths, what is measured, and the kinds that take part
EXPERIMENTS = {
    "recall": (16, 8, (5, 10, 20, 40, 100), "accuracy", KINDS),
    "recall, four times as long": (16, 8, (100,), "accuracy", [("LSTM", "torch")]),
    "only long gaps": (16, 8, (50,), "accuracy", KINDS),
    "adding": (2, 1, (50,), "error", [*FROM_TORCH, ("RNN", "identity")]),
    "brackets": (8, 3, (40,), "accuracy", FROM_TORCH),
}


def network(experiment, kind, start, length, seed):
    """A new model, whose recurrent layer is of the given kind and begins in the given way."""
    input_size, num_outputs = EXPERIMENTS[experiment][:2]
    torch.manual_seed(seed)
    layer = getattr(companion, kind)(input_size, equal_size(kind, input_size, HIDDEN_SIZE), **float64)
    reads_vectors = experiment == "adding"
    signs = (Brackets if experiment == "brackets" else Recall).vocab_size
    embedding = nn.Identity() if reads_vectors else companion.Embedding(signs, input_size, **float64)
    model = SequenceModel(embedding, companion.by_hand(layer), num_outputs)
    if start == "chrono":
        chrono_(layer, 2 * length, torch.Generator().manual_seed(seed))
    elif start == "identity":
        nn.init.eye_(layer.weight_hh_l0)
    elif start == "b_f = 1":
        nn.init.ones_(layer.bias_ih_l0.data.chunk(4)[1])
        nn.init.zeros_(layer.bias_hh_l0.data.chunk(4)[1])
    return model


def task_of(experiment, length, **options):
    """What is learned, and what is asked afterwards."""
    if experiment == "adding":
        return Adding(length, batch_size=BATCH_SIZE, **float64, **options), Adding(length, seed=1000, **float64)
    if experiment == "brackets":
        return Brackets(length, batch_size=BATCH_SIZE, **options), Brackets(length)
    gap = length if experiment == "only long gaps" else (1, length)
    return Recall(gap, batch_size=BATCH_SIZE, **options), Recall(gap=length)


def run(settings):
    """One network, from new to measured: a dictionary of settings and results. settings: the values of `NAMES`."""
    torch.set_num_threads(1)
    experiment, kind, start, length, seed, learning_rate = settings
    input_size, _, _, measured, _ = EXPERIMENTS[experiment]
    model = network(experiment, kind, start, length, seed)
    batches = BATCHES.get(experiment, 400)
    learned, asked = task_of(experiment, length, seed=seed, batches=batches)
    optimizer = torch.optim.Adam(model.parameters(), lr=learning_rate)
    loss_function = Adding.loss if experiment == "adding" else None
    history = train(model, learned, optimizer, epochs=1, loss_function=loss_function, progress=False)
    result = accuracy(model, asked) if measured == "accuracy" else evaluate(model, asked, loss_function)
    size = model.recurrent.hidden_size
    found = dict(zip(NAMES, settings, strict=True)) | {"chosen": seed < 100, "hidden_size": size}
    found |= {"parameters": parameters(kind, input_size, size), "batches": batches}
    return found | {"loss": round(history[0].loss, 5), measured: round(result, 5)}


def first_runs(experiment):
    """The settings of the networks that learn with all learning rates."""
    _, _, lengths, _, kinds = EXPERIMENTS[experiment]
    for kind, length in itertools.product(kinds, FIRST_LENGTHS.get(experiment, lengths)):
        for rate, seed in itertools.product(LEARNING_RATES, FIRST_SEEDS.get(experiment, range(100, 105))):
            yield experiment, *kind, length, seed, rate


def chosen_runs(experiment, first):
    """The settings of those that learn from other seeds, with the learning rates that the first have chosen."""
    _, _, lengths, measured, kinds = EXPERIMENTS[experiment]
    sign = 1 if measured == "error" else -1
    for kind, start in kinds:
        tried = evidence.having(first, experiment=experiment, kind=kind, start=start)
        results = evidence.spread(tried, measured, "learning_rate")
        losses = evidence.spread(tried, "loss", "learning_rate")
        (rate,) = min(results, key=lambda rate: (sign * results[rate].mean, losses[rate].mean))
        for length, seed in itertools.product(lengths, SEEDS.get(experiment, ())):
            yield experiment, kind, start, length, seed, rate


if __name__ == "__main__":
    main(sys.modules[__name__])
