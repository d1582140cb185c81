"""Evidence on a hybrid, three delta layers and one of attention in blocks, beside four layers of one kind.

    python benchmarks/evidence_hybrid.py           compute missing runs; an interrupted call can be repeated
    python benchmarks/evidence_hybrid.py --again   recompute all runs

Every network has 32 features, and about as many parameters as four blocks of `DeltaMixer`. In recall, a key and its
value are written in steps of their own, twice as many pairs as keys, and the last value of each key is asked. The text
is that of `evidence_text.py`. The delta layers and the hybrid carry their states from window to window, and the
attention of the hybrid sees the last 64 steps; the transformer, which needs positions, reads windows of 64. `state` is
the count of numbers that one sequence has stored at its end, `per_step` the processor's seconds for a batch. Output:
companion/learning/evidence/hybrid.json.
"""

import sys

import torch
from evidence_protocol import count, main, nearest, train_in_one_cycle
from evidence_text import SecondHalves, parts, state_size
from torch import nn

import companion
from companion.learning.sequence_model import SequenceModel
from companion.learning.tasks import Rewritten, accuracy
from companion.learning.training import evaluate
from companion.learning.transformer_model import TransformerModel
from companion.learning.windows import ConsecutiveWindows, RandomWindows

NAME, VERSION = "hybrid", 1  # increase when the program computes something else
METHOD = ("experiment", "kind")
KINDS = {"4 delta": "dddd", "3 delta, 1 attention": "ddda", "4 attention": "aaaa"}
LONGER = "8 keys, 3,000 batches"
KEYS = {"8 keys": 8, "16 keys": 16, LONGER: 8}
HEADS, WINDOW, BATCHES, BATCH_SIZE, EPOCHS, SIZE = 4, 64, 500, 32, 8, 32
TESTED = {"choose": {"seed": 2000, "batches": 20}, "test": {"seed": 1000, "batches": 50}}


def task_of(experiment, **options):
    """Return a task of recall."""
    return Rewritten(KEYS[experiment], 8, 2 * KEYS[experiment], apart=True, **options)


def new_model(kind, signs, outputs, window=None, between=2 * SIZE):
    """Return a network of four blocks. between: features between the linear layers of a transformer's block."""
    embedding = companion.Embedding(signs, SIZE)
    if kind == "4 attention":
        layers = [nn.TransformerEncoderLayer(SIZE, HEADS, between, dropout=0, norm_first=True) for _ in KINDS[kind]]
        model = TransformerModel(embedding, layers, outputs)
        model.linear = nn.Sequential(nn.LayerNorm(SIZE), model.linear)  # as in GPT
        return model
    attention = lambda: companion.CausalAttention(SIZE, SIZE, HEADS, window)  # noqa: E731
    layers = [companion.DeltaMixer(SIZE, SIZE, HEADS) if one == "d" else attention() for one in KINDS[kind]]
    return SequenceModel(embedding, companion.Blocks(layers), outputs)


def equal_model(kind, *sizes):
    """Return a network with about as many parameters as four delta layers in blocks."""
    with torch.device("meta"):
        wanted = count(new_model("4 delta", *sizes))
        between = nearest(
            range(SIZE, 8 * SIZE), lambda size: count(new_model("4 attention", *sizes, between=size)), wanted
        )
    return new_model(kind, *sizes, between=between)


def run(settings):
    """Train one network, and return its sizes, its result on new data, and that by which its rate is chosen.

    settings: the values of `METHOD`, a seed and a learning rate.
    """
    experiment, kind, seed, learning_rate = settings
    torch.set_num_threads(1)
    torch.manual_seed(seed)
    if experiment == "text":
        signs, learn, *others = parts()
        model, steps, epochs = equal_model(kind, signs, signs, WINDOW), 10 * WINDOW, EPOCHS
        if kind == "4 attention":
            task, steps = RandomWindows(learn, BATCH_SIZE // 2, WINDOW, seed=seed), WINDOW
            tested = [SecondHalves(part, WINDOW) for part in others]
        else:
            task = ConsecutiveWindows(learn, BATCH_SIZE // 2, WINDOW)
            tested = [ConsecutiveWindows(part, 1, 500) for part in others]
    else:
        batches = 3000 if experiment == LONGER else BATCHES
        task = task_of(experiment, batch_size=BATCH_SIZE, batches=batches, seed=seed)
        model, steps, epochs = equal_model(kind, task.vocab_size, 8), 5 * KEYS[experiment], 1
    optimizer = torch.optim.AdamW(model.parameters(), lr=learning_rate, weight_decay=0.1)
    history, per_step = train_in_one_cycle(model, task, optimizer, epochs)
    if experiment == "text":
        results = [evaluate(model, part) for part in tested]
    else:
        results = [1 - accuracy(model, task_of(experiment, **options)) for options in TESTED.values()]
    sizes = {"parameters": count(model), "state": state_size(model, steps), "per_step": per_step}
    return sizes | {"loss": round(history[-1].loss, 5)} | dict(zip(TESTED, (round(x, 4) for x in results)))


def start(method):
    """Return the rates with which the search begins: it goes on to lower and higher ones."""
    return 0.001, 0.003, 0.01


def rank(run):
    """Return what decides between learning rates: the result on the part for choosing, then the loss."""
    return run["choose"], run["loss"]


def methods():
    """Return the kinds of each task, and the transformer, which learns recall late, with more batches."""
    return [(task, kind) for task in ("8 keys", "16 keys", "text") for kind in KINDS] + [(LONGER, "4 attention")]


if __name__ == "__main__":
    main(sys.modules[__name__])
