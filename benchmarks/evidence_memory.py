"""Evidence for the chapter "Memory, measured": which layers learn to remember; twenty minutes on one core.

    python benchmarks/evidence_memory.py           compute missing runs; an interrupted call can be repeated
    python benchmarks/evidence_memory.py --again   recompute all runs

Every kind of network has as many parameters in its recurrent layer as the others, within 2 %, and is trained with each
of four learning rates, from five seeds, all of which are shown. Only for recall, which has many gaps, two seeds choose
the rate: the one with the best mean, and among equals the one with the lowest training loss. Five networks with other
seeds use it. Output: companion/learning/evidence/memory.json.
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

NAME, VERSION = "memory", 1  # increase when the program computes something else
NAMES = ("experiment", "kind", "start", "length", "seed", "learning_rate")
SEEDS = {"recall": range(5), "recall, four times as long": range(5)}
FIRST_SEEDS = {"recall": range(100, 102), "recall, four times as long": range(100, 102)}  # elsewhere five
LEARNING_RATES = (0.001, 0.003, 0.01, 0.03)
FIRST_LENGTHS = {"recall": (20, 40)}  # elsewhere all
BATCHES, BATCH_SIZE = {"recall, four times as long": 1600}, 32  # elsewhere 400
HIDDEN_SIZE = 32  # of the LSTM; the others have as many parameters
float64 = {"dtype": torch.float64}

# initialisation: torch's own, W_hh the identity, forget gates at b = 1, or chrono for the length of the task
STARTS = {"RNN": ["torch", "identity"], "GRU": ["torch", "chrono"], "LSTM": ["torch", "b_f = 1", "chrono"]}
KINDS = [(kind, start) for kind, starts in STARTS.items() for start in starts]
FROM_TORCH = [(kind, "torch") for kind in STARTS]
# experiment → input_size, number of outputs, gaps or lengths, measurement, kinds
EXPERIMENTS = {
    "recall": (16, 8, (5, 10, 20, 40, 100), "accuracy", KINDS),
    "recall, four times as long": (16, 8, (100,), "accuracy", [("LSTM", "torch")]),
    "only long gaps": (16, 8, (50,), "accuracy", KINDS),
    "adding": (2, 1, (50,), "error", [*FROM_TORCH, ("RNN", "identity")]),
    "brackets": (8, 3, (40,), "accuracy", FROM_TORCH),
}


def network(experiment, kind, start, length, seed):
    """Return a new model with a recurrent layer of this kind and initialisation."""
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
    """Return the task for training and the one for testing."""
    if experiment == "adding":
        return Adding(length, batch_size=BATCH_SIZE, **float64, **options), Adding(length, seed=1000, **float64)
    if experiment == "brackets":
        return Brackets(length, batch_size=BATCH_SIZE, **options), Brackets(length)
    gap = length if experiment == "only long gaps" else (1, length)
    return Recall(gap, batch_size=BATCH_SIZE, **options), Recall(gap=length)


def run(settings):
    """Train and measure one network, and return its settings and results.

    settings: the values of `NAMES`.
    """
    torch.set_num_threads(1)
    experiment, kind, start, length, seed, learning_rate = settings
    input_size, _, _, measured, _ = EXPERIMENTS[experiment]
    model = network(experiment, kind, start, length, seed)
    batches = BATCHES.get(experiment, 400)
    task, test_task = task_of(experiment, length, seed=seed, batches=batches)
    optimizer = torch.optim.Adam(model.parameters(), lr=learning_rate)
    loss_function = Adding.loss if experiment == "adding" else None
    history = train(model, task, optimizer, epochs=1, loss_function=loss_function, progress=False)
    result = accuracy(model, test_task) if measured == "accuracy" else evaluate(model, test_task, loss_function)
    size = model.recurrent.hidden_size
    results = dict(zip(NAMES, settings, strict=True)) | {"chosen": seed < 100, "hidden_size": size}
    results |= {"parameters": parameters(kind, input_size, size), "batches": batches}
    return results | {"loss": round(history[0].loss, 5), measured: round(result, 5)}


def first_runs(experiment):
    """Yield the settings of the networks that are trained with all learning rates."""
    _, _, lengths, _, kinds = EXPERIMENTS[experiment]
    for kind, length in itertools.product(kinds, FIRST_LENGTHS.get(experiment, lengths)):
        for rate, seed in itertools.product(LEARNING_RATES, FIRST_SEEDS.get(experiment, range(100, 105))):
            yield experiment, *kind, length, seed, rate


def chosen_runs(experiment, first):
    """Yield the settings of the final runs: the best learning rate of each layer in the runs `first`."""
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
