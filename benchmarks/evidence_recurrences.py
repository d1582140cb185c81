"""Evidence for the chapters on layers after the LSTM, on tasks and on the text: forty minutes on one core.

    python benchmarks/evidence_recurrences.py           compute missing runs; an interrupted call can be repeated
    python benchmarks/evidence_recurrences.py --again   recompute all runs

Every kind of layer has as many parameters as an LSTM of 32 units, within 3 %; on the text the whole model has as many
as one with an LSTM of 72 units. For each kind the learning rate is chosen first, on a seed of its own, by the result
that is shown, and among equals by the training loss. Five networks with other seeds use it. Output:
companion/learning/evidence/recurrences.json.
"""

import itertools
import sys
import time

import torch
from evidence_runs import main
from torch import nn

import companion
from companion.learning import evidence
from companion.learning.sequence_model import SequenceModel
from companion.learning.tasks import Adding, Brackets, Cups, Recall, Rewritten, accuracy
from companion.learning.text import Vocabulary, load_text
from companion.learning.training import evaluate, train
from companion.learning.windows import ConsecutiveWindows, split

NAME, VERSION = "recurrences", 1  # increase when the program computes something else
NAMES = ("experiment", "kind", "seed", "learning_rate")
SEEDS, FIRST_SEED, LEARNING_RATES = (0, 1, 2, 3, 4), 100, (0.003, 0.01, 0.03)
BATCHES, BATCH_SIZE, EMBEDDING_DIM, HIDDEN_SIZE = 400, 32, 16, 32
# experiment → the tasks for training and for testing
TASKS = {
    "recall": lambda **options: (Recall((1, 40), **options), Recall(40)),
    "brackets": lambda **options: (Brackets(40, **options), Brackets(40)),
    "adding": lambda **options: (Adding(50, **options), Adding(50, seed=1000)),
    "two cups": lambda **options: (Cups(2, 20, **options), Cups(2, 80)),
    "three cups": lambda **options: (Cups(3, 20, **options), Cups(3, 80)),
    "rewritten": lambda **options: (Rewritten(8, 8, 16, **options), Rewritten(8, 8, 16)),
}
EXPERIMENTS = (*TASKS, "text")
TEXT_EPOCHS, TEXT_BATCH, TEXT_WINDOW, TEXT_HIDDEN_SIZE, HEADS = 24, 16, 64, 72, 2

# torch's layers where they compute the same numbers faster
LAYERS = {
    "LSTM": nn.LSTM,
    "GRU": nn.GRU,
    "MinGRU": companion.MinGRU,
    "MinGRU, two layers": lambda *sizes: companion.MinGRU(*sizes, num_layers=2),
    "MinLSTM": companion.MinLSTM,
    "SelectiveSSM": companion.SelectiveSSM,
    "LinearAttention": lambda *sizes: companion.LinearAttention(*sizes, HEADS),
    "GatedLinearAttention": lambda *sizes: companion.GatedLinearAttention(*sizes, HEADS),
    "MLSTM": lambda *sizes: companion.MLSTM(*sizes, HEADS),
    "DeltaNet": lambda *sizes: companion.DeltaNet(*sizes, HEADS),
    "DeltaNet, β to 2": lambda *sizes: companion.DeltaNet(*sizes, HEADS, most=2.0),
    "GatedDeltaNet, β to 2": lambda *sizes: companion.GatedDeltaNet(*sizes, HEADS, most=2.0),
}
IN_BLOCKS = ("LSTM", "MinGRU", "MLSTM", "GatedDeltaNet, β to 2")
KINDS = {task: tuple(LAYERS) for task in TASKS}
KINDS["text"] = (
    "LSTM",
    "GRU",
    "MinGRU",
    "MinGRU, two layers",
    "MinLSTM",
    *(f"{kind}, in blocks" for kind in IN_BLOCKS),
)


def count(module):
    return sum(parameter.numel() for parameter in module.parameters())


def sized(make, wanted):
    """Return `make(size)` with about `wanted` parameters.

    An even size, which two heads need, is preferred if one is near enough.
    """
    with torch.device("meta"):
        off = lambda size: abs(count(make(size)) - wanted)  # noqa: E731
        size = min(range(2, 400, 2), key=off)
        if off(size) > 0.04 * wanted:
            size = min((size - 1, size + 1), key=off)
    return make(size)


def recurrent_of(kind):
    wanted = count(nn.LSTM(EMBEDDING_DIM, HIDDEN_SIZE))
    return sized(lambda size: LAYERS[kind](EMBEDDING_DIM, size), wanted)


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
    experiment, _, seed, _ = settings
    torch.manual_seed(seed)
    measured = text_run(settings, epochs) if experiment == "text" else task_run(settings)
    return dict(zip(NAMES, settings, strict=True)) | {"chosen": seed in SEEDS} | measured


def task_run(settings):
    experiment, kind, seed, learning_rate = settings
    task, tested = TASKS[experiment](batch_size=BATCH_SIZE, batches=BATCHES, seed=seed)
    is_adding = experiment == "adding"
    embedding = nn.Linear(2, EMBEDDING_DIM) if is_adding else companion.Embedding(task.vocab_size, EMBEDDING_DIM)
    layer = recurrent_of(kind)
    model = SequenceModel(embedding, layer, 1 if is_adding else 8)
    optimizer = torch.optim.Adam(model.parameters(), lr=learning_rate)
    loss_function = Adding.loss if is_adding else None
    began = time.perf_counter()
    history = train(model, task, optimizer, 1, loss_function=loss_function, progress=False)
    per_step = (time.perf_counter() - began) / BATCHES
    result = {"error": evaluate(model, tested, loss_function)} if is_adding else {"accuracy": accuracy(model, tested)}
    result = {name: round(number, 4) for name, number in result.items()}
    sizes = {"hidden_size": layer.hidden_size, "parameters": count(layer), "per_step": round(per_step, 4)}
    return sizes | {"loss": round(history[0].loss, 5)} | result


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
    for kind, rate in itertools.product(KINDS[experiment], LEARNING_RATES):
        yield experiment, kind, FIRST_SEED, rate


def rank(run):
    """Return a sort key, smaller for a better run: the result that is shown, then the loss."""
    return run.get("best", run.get("error", -run.get("accuracy", 0))), run["loss"]


def chosen_runs(experiment, first):
    """Yield the settings of the final runs, with the learning rates chosen by `first`."""
    for kind in KINDS[experiment]:
        best = min(evidence.having(first, kind=kind), key=rank)
        for seed in SEEDS:
            yield experiment, kind, seed, best["learning_rate"]


if __name__ == "__main__":
    main(sys.modules[__name__])
