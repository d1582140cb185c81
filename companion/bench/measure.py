"""Measurements of the bench: recall by the size of the state, three cups, copying, an English text, time and memory.

A run trains one network by Adam, whose learning rate rises and falls once. What it learns from, what its learning rate
is chosen by ("choose") and what is reported ("test") are three parts of the data.
"""

import functools
import math
import statistics
import time
from collections import Counter
from typing import Any, NamedTuple

import torch
from torch import Tensor, nn
from torch.autograd.graph import saved_tensors_hooks

from companion.bench.load import Make, Wrapped, count, size_of
from companion.learning.counts import KneserNey, best_order
from companion.learning.sequence_model import SequenceModel
from companion.learning.tasks import Copying, Cups, Rewritten, accuracy
from companion.learning.text import Vocabulary, load_text
from companion.learning.training import IGNORED, evaluate, train
from companion.learning.windows import ConsecutiveWindows

VERSION = 1  # increase when a run computes other numbers
PARTS = ("recall 64", "recall 256", "recall 1024", "cups", "copying", "text")  # recall with a state of so many numbers
TITLES = {
    "recall": "Recall of 16 keys, % right",
    "cups": "Shell game, three cups: 20 steps learned, 80 played, % right",
    "copying": "Copying 4 symbols after 8 steps, % right",
    "text": "English text, perplexity",
}
# input_size, and the units of the LSTM whose number of parameters a layer gets
SIZES = {"recall": (32, None), "cups": (16, 32), "copying": (16, 32), "text": (16, 48)}
WINDOW, BATCH, ORDER = 64, 16, 4  # ORDER: inputs that the counts look back, but for the text
COUNTS = "counts of the last inputs"


class Data(NamedTuple):
    """The batches of a part to learn from, to choose by and to report, and how often it is read."""

    learn: Any
    choose: Any
    test: Any
    vocab_size: int
    outputs: int
    epochs: int = 1


def data_of(name: str, seed: int) -> Data:
    """Return the data of a part. seed: of the batches to learn from."""
    if name == "text":
        text = load_text("en")
        indices = Vocabulary(text).encode(text)
        tenth, signs = len(indices) // 10, len(Vocabulary(text))
        cut = indices.split([len(indices) - 2 * tenth, tenth, tenth])
        learn, choose, test = (ConsecutiveWindows(part, BATCH, WINDOW) for part in cut)
        return Data(learn, choose, test, signs, signs, epochs=8)
    kind, learned, tested, batches, outputs = {
        "recall": (Rewritten, (16, 8, 16), (16, 8, 16), 300, 8),
        "cups": (Cups, (3, 20), (3, 80), 300, 3),
        "copying": (Copying, (4, 8), (4, 8), 800, 8),
    }[name]
    task = kind(*learned, batch_size=BATCH, batches=batches, seed=seed)
    choose, test = (kind(*tested, batches=20, seed=other) for other in (1_000_001, 1_000_002))
    return Data(task, choose, test, task.vocab_size, outputs)


def sizes_for(part: str, make: Make) -> tuple[int, int]:
    """Return input_size and hidden_size of a layer for a part."""
    name, _, numbers = part.partition(" ")
    input_size, units = SIZES[name]
    wanted = int(numbers) if numbers else count(nn.LSTM(input_size, units))
    return input_size, size_of(make, input_size, wanted, bool(numbers))


def run(part: str, make: Make, seed: int, learning_rate: float) -> dict[str, Any]:
    """Train and measure one network.

    Returns its sizes and the results of its best epoch: `loss` while learning, `choose` and `test`, shares of wrong
    answers, for the text losses. For the text also `time` and `kept`, see `cost`.
    """
    name, sizes = part.partition(" ")[0], sizes_for(part, make)
    data = data_of(name, seed)
    torch.manual_seed(seed)
    layer = Wrapped(make, *sizes)
    model = SequenceModel(nn.Embedding(data.vocab_size, sizes[0]), layer, data.outputs)
    optimizer = torch.optim.Adam(model.parameters(), lr=learning_rate)
    scheduler = torch.optim.lr_scheduler.OneCycleLR(
        optimizer, learning_rate, data.epochs * len(data.learn), pct_start=0.1, cycle_momentum=False
    )
    results = []
    for _ in range(data.epochs):
        (epoch,) = train(model, data.learn, optimizer, 1, scheduler=scheduler, progress=False)
        tested = (evaluate(model, part) if name == "text" else 1 - accuracy(model, part) for part in data[1:3])
        results.append(dict(zip(("loss", "choose", "test"), (round(value, 4) for value in (epoch.loss, *tested)))))
    best = min(results, key=lambda result: result["choose"])
    counted = {"hidden_size": sizes[1], "parameters": count(layer), "state": layer.numbers}
    return counted | best | (cost(layer) if name == "text" else {})


@functools.cache
def baselines(part: str) -> dict[str, float]:
    """Return the results of guessing, and of counts of what followed the last four inputs.

    For the text `KneserNey`, with as many characters as predict the part for choosing best.
    """
    name = part.partition(" ")[0]
    data = data_of(name, 0)
    if name == "text":
        learned, choose, test = (batches.inputs.T.flatten() for batches in data[:3])
        counts = best_order(KneserNey, learned, choose, data.outputs)
        return {"guessing": math.log(data.outputs), COUNTS: math.log(counts.perplexity(test))}
    seen: dict[tuple, Counter] = {}
    for past, target in answers(data.learn):
        for start in range(ORDER):
            seen.setdefault(past[start:], Counter())[target] += 1
    wrong = []
    for past, target in answers(data.test):
        longest = next((past[start:] for start in range(ORDER) if past[start:] in seen), past)
        wrong.append(longest not in seen or seen[longest].most_common(1)[0][0] != target)
    return {"guessing": 1 - 1 / data.outputs, COUNTS: statistics.mean(wrong)}


def answers(task):
    """Yield the last inputs and the target, for all targets of a task that count."""
    for inputs, targets in task.epoch(0):
        for read, wanted in zip(inputs.T.tolist(), targets.T.tolist()):
            for t, target in enumerate(wanted):
                if target != IGNORED:
                    yield tuple([None] * (ORDER - 1) + read)[t : t + ORDER], target


def cost(layer: Wrapped, rounds: int = 9) -> dict[str, float]:
    """Return the time of forward and backward, as a multiple of an `nn.LSTM`'s of as many parameters, and `kept`.

    Both take turns, and the shortest times are compared. kept: bytes that a step of one sequence keeps for the backward
    pass.
    """
    lstm = Wrapped(nn.LSTM, layer.input_size, size_of(nn.LSTM, layer.input_size, count(layer), of_state=False))
    x = torch.randn(WINDOW, BATCH, layer.input_size, requires_grad=True)
    times: dict[Wrapped, list[float]] = {layer: [], lstm: []}
    for _ in range(rounds + 1):
        for one, took in times.items():
            began = time.perf_counter()
            one(x)[0].sum().backward()
            took.append(time.perf_counter() - began)
    mine, base = (min(took[1:]) for took in times.values())
    return {"time": round(mine / base, 2), "kept": round(kept_bytes(layer, x) / (WINDOW * BATCH))}


def kept_bytes(layer: nn.Module, x: Tensor) -> int:
    """Return the bytes of all tensors that autograd keeps after a forward pass, each storage counted once."""
    storages = {}

    def hold(tensor):
        storages[tensor.untyped_storage().data_ptr()] = tensor
        return tensor

    with saved_tensors_hooks(hold, lambda tensor: tensor):
        layer(x)
    for tensor in (x, *layer.parameters()):
        storages.pop(tensor.untyped_storage().data_ptr(), None)
    return sum(tensor.untyped_storage().nbytes() for tensor in storages.values())
