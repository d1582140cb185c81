"""Evidence for the chapters on layers after the LSTM: fifteen layers on six tasks; about three hours on one core.

    python benchmarks/evidence_layers.py           compute missing runs; an interrupted call can be repeated
    python benchmarks/evidence_layers.py --again   recompute all runs

Every kind of layer has as many parameters as an LSTM of 32 units, within 3 %. Each begins as published: the LSTM both
as in torch and with a forget bias of 1 (Gers, Schmidhuber and Cummins 2000; Jozefowicz et al. 2015). The learning rate
of each kind and task is chosen by `companion.learning.protocol`, on sequences of their own, and among equal results by
the training loss. Output: companion/learning/evidence/layers.json.
"""

import itertools
import math
import sys
import time

import torch
from evidence_protocol import count, main, numbers_of_state, sized
from torch import nn

import companion
from companion.learning.sequence_model import SequenceModel
from companion.learning.tasks import Adding, Brackets, Cups, Recall, Rewritten, accuracy
from companion.learning.training import evaluate, train

NAME, VERSION = "layers", 1  # increase when the program computes something else
METHOD = ("experiment", "kind")
BATCHES, BATCH_SIZE, EMBEDDING_DIM, HIDDEN_SIZE, HEADS = 400, 32, 16, 32, 2
# experiment → the task for training; for choosing and testing, the same task or a longer one
TASKS = {
    "recall": (lambda **options: Recall((1, 40), **options), lambda **options: Recall(40, **options)),
    "brackets": (lambda **options: Brackets(40, **options),) * 2,
    "adding": (lambda **options: Adding(50, **options),) * 2,
    "two cups": (lambda **options: Cups(2, 20, **options), lambda **options: Cups(2, 80, **options)),
    "three cups": (lambda **options: Cups(3, 20, **options), lambda **options: Cups(3, 80, **options)),
    "rewritten": (lambda **options: Rewritten(8, 8, 16, **options),) * 2,
}
CHOOSE, TEST = {"seed": 2000, "batches": 20}, {"seed": 1000, "batches": 50}


def lstm_with_forget_bias(*sizes):
    """Return torch's LSTM with a forget bias of 1."""
    layer = nn.LSTM(*sizes)
    nn.init.ones_(layer.bias_ih_l0.data.chunk(4)[1])
    nn.init.zeros_(layer.bias_hh_l0.data.chunk(4)[1])
    return layer


# torch's layers where they compute the same numbers faster
LAYERS = {
    "LSTM": nn.LSTM,
    "LSTM, b_f = 1": lstm_with_forget_bias,
    "GRU": nn.GRU,
    "MinGRU": companion.MinGRU,
    "MinGRU, two layers": lambda *sizes: companion.MinGRU(*sizes, num_layers=2),
    "MinLSTM": companion.MinLSTM,
    "LinearAttention": lambda *sizes: companion.LinearAttention(*sizes, HEADS),
    "DeltaNet": lambda *sizes: companion.DeltaNet(*sizes, HEADS),
    "DeltaNet, β to 2": lambda *sizes: companion.DeltaNet(*sizes, HEADS, most=2.0),
    "GatedLinearAttention": lambda *sizes: companion.GatedLinearAttention(*sizes, HEADS),
    "GatedLinearAttention, per head": lambda *sizes: companion.GatedLinearAttention(*sizes, HEADS, per_key=False),
    "MLSTM": lambda *sizes: companion.MLSTM(*sizes, HEADS),
    "GatedDeltaNet, β to 2": lambda *sizes: companion.GatedDeltaNet(*sizes, HEADS, most=2.0),
    "LogMinGRU": companion.LogMinGRU,
    "SelectiveSSM": companion.SelectiveSSM,
}


def layer_of(kind):
    """Return a layer with as many parameters as the others."""
    wanted = count(nn.LSTM(EMBEDDING_DIM, HIDDEN_SIZE))
    return sized(lambda size: LAYERS[kind](EMBEDDING_DIM, size), wanted)


def run(settings):
    """Train one network, and return its sizes, its result on new sequences, and that by which its rate is chosen.

    settings: the values of `METHOD`, a seed and a learning rate.
    """
    experiment, kind, seed, learning_rate = settings
    torch.manual_seed(seed)
    trained, tested = TASKS[experiment]
    task = trained(batch_size=BATCH_SIZE, batches=BATCHES, seed=seed)
    is_adding = experiment == "adding"
    embedding = nn.Linear(2, EMBEDDING_DIM) if is_adding else companion.Embedding(task.vocab_size, EMBEDDING_DIM)
    layer = layer_of(kind)
    model = SequenceModel(embedding, layer, 1 if is_adding else 8)
    optimizer = torch.optim.Adam(model.parameters(), lr=learning_rate)
    loss_function = Adding.loss if is_adding else None
    began = time.perf_counter()
    history = train(model, task, optimizer, 1, loss_function=loss_function, progress=False)
    results = {"per_step": round((time.perf_counter() - began) / BATCHES, 4), "loss": round(history[0].loss, 5)}
    for part, options in (("choose", CHOOSE), ("test", TEST)):
        data = tested(**options)
        result = evaluate(model, data, loss_function) if is_adding else accuracy(model, data)
        results[part] = round(result, 4)
    _, state = layer(torch.zeros(1, 1, layer.input_size))
    return {"parameters": count(layer), "state": numbers_of_state(state)} | results


def rank(run):
    """Return the numbers by which a rate is chosen: error, or accuracy with a minus sign; then the training loss."""
    result = run["choose"] if run["experiment"] == "adding" else -run["choose"]
    return (result, run["loss"]) if math.isfinite(result) else (math.inf, math.inf)


def methods():
    """Return all kinds with all tasks."""
    return ((experiment, kind) for kind, experiment in itertools.product(LAYERS, TASKS))


if __name__ == "__main__":
    main(sys.modules[__name__])
