"""Evidence that `python -m companion.bench` prints beside a reader's layer: the rows of the companion's layers.

    python benchmarks/evidence_bench.py           compute missing runs; an interrupted call can be repeated
    python benchmarks/evidence_bench.py --again   recompute all runs

`companion/bench/measure.py` defines the runs, which are the command's. Recall has one more size of the state here, and
some parts are left out (`reason`). Layers with a matrix as state have two heads, in recall one. torch's layers stand
for the companion's where they compute the same numbers faster. It takes hours. Output:
companion/learning/evidence/bench.json.
"""

import functools
import sys

import torch
from evidence_protocol import main
from torch import nn

import companion
from companion.bench import measure

NAME, VERSION = "bench", measure.VERSION
METHOD = ("part", "kind")
STATES = (16, 64, 256, 1024)
MOST_WEIGHTS = 300_000  # between the units of a layer, in recall


def matrix(kind, **options):
    """Return two constructors of a layer with a matrix as state: with two heads, and with one."""
    return tuple(functools.partial(getattr(companion, kind), num_heads=heads, **options) for heads in (2, 1))


# kind → constructors of its layer: for recall the second
KINDS = {kind: (getattr(nn, kind),) * 2 for kind in ("LSTM", "GRU", "RNN")}
KINDS |= {kind: (getattr(companion, kind),) * 2 for kind in ("MinGRU", "MinLSTM", "SelectiveSSM")}
KINDS |= {kind: matrix(kind) for kind in ("LinearAttention", "GatedLinearAttention", "MLSTM", "DeltaNet")}
KINDS |= {"GatedDeltaNet, β to 2": matrix("GatedDeltaNet", most=2.0)}
RECALL_ONLY = ("MinLSTM", "LinearAttention", "DeltaNet")  # which have a near relative in the other parts
# weights of a layer with n numbers of state, for the layers whose units see each other
SQUARES = {"LSTM": lambda n: 4 * (n // 2) ** 2, "GRU": lambda n: 3 * n**2, "RNN": lambda n: n**2}


def reason(kind, part):
    """Return why a part is left out for a kind; None for one that is measured."""
    name, _, numbers = part.partition(" ")
    if name != "recall":
        return f"{kind} has rows of recall only" if kind in RECALL_ONLY else None
    weights = SQUARES.get(kind, lambda n: 0)(int(numbers))
    return f"{weights / 1e6:.0f} million weights between units" if weights > MOST_WEIGHTS else None


def methods():
    """Yield the part and the kind of each comparison."""
    parts = [*(f"recall {numbers}" for numbers in STATES), "cups", "copying", "text"]
    return ((part, kind) for kind in KINDS for part in parts if reason(kind, part) is None)


def rank(run):
    """Return what decides between learning rates: the result on the part for choosing, then the loss."""
    return run["choose"], run["loss"]


def run(settings):
    """Train and measure one network."""
    part, kind, seed, learning_rate = settings
    torch.set_num_threads(1)
    return measure.run(part, KINDS[kind][part.startswith("recall")], seed, learning_rate)


if __name__ == "__main__":
    main(sys.modules[__name__])
