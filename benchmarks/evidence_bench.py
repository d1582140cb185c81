"""Evidence that `python -m companion.bench` prints beside a reader's layer: the rows of the companion's layers.

    python benchmarks/evidence_bench.py           compute missing runs; an interrupted call can be repeated
    python benchmarks/evidence_bench.py --again   recompute all runs
    python benchmarks/evidence_bench.py --omitted list what is left out, and why

`companion/bench/measure.py` defines the runs, which are the command's. Recall has more sizes of the state here. Layers
with a matrix as state have two heads, in recall one. torch's layers stand for the companion's
where they compute the same numbers faster. Output: companion/learning/evidence/bench.json.
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
STATES = (16, 64, 256, 1024, 4096, 16384)
MOST_WEIGHTS, MOST_NUMBERS = 3_500_000, 4096  # of a layer's weights, and of a vector that is its state, in recall


def matrix(kind, **options):
    """Return two constructors of a layer with a matrix as state: with two heads, and with one."""
    return tuple(functools.partial(getattr(companion, kind), num_heads=heads, **options) for heads in (2, 1))


# kind → constructors of its layer: for recall the second
KINDS = {kind: (getattr(nn, kind),) * 2 for kind in ("LSTM", "GRU", "RNN")}
KINDS |= {kind: (getattr(companion, kind),) * 2 for kind in ("MinGRU", "MinLSTM", "SelectiveSSM")}
KINDS |= {kind: matrix(kind) for kind in ("LinearAttention", "GatedLinearAttention", "MLSTM", "DeltaNet")}
KINDS |= {f"{kind}, β to 2": matrix(kind, most=2.0) for kind in ("DeltaNet", "GatedDeltaNet")}
# weights of a layer with n numbers of state, for the layers whose units see each other
SQUARES = {"LSTM": lambda n: 4 * (n // 2) ** 2, "GRU": lambda n: 3 * n**2, "RNN": lambda n: n**2}
VECTORS = ("MinGRU", "MinLSTM", "SelectiveSSM")


def reason(kind, numbers):
    """Return why a size of the state is left out; None for one that is measured."""
    if kind in SQUARES and (weights := SQUARES[kind](numbers)) > MOST_WEIGHTS:
        return f"{weights / 1e6:.0f} million weights between units"
    if kind in VECTORS and numbers > MOST_NUMBERS:
        return f"{numbers:,} numbers that change one by one at each step take minutes a run"
    return None


def methods():
    """Yield the part and the kind of each comparison."""
    for kind in KINDS:
        for numbers in STATES:
            if reason(kind, numbers) is None:
                yield f"recall {numbers}", kind
        for part in ("cups", "copying", "text"):
            yield part, kind


def rank(run):
    """Return what decides between learning rates: the result on the part for choosing, then the loss."""
    return run["choose"], run["loss"]


def run(settings):
    """Train and measure one network."""
    part, kind, seed, learning_rate = settings
    torch.set_num_threads(1)
    return measure.run(part, KINDS[kind][part.startswith("recall")], seed, learning_rate)


if __name__ == "__main__":
    if "--omitted" in sys.argv:
        print(*(f"{k}, recall {n:,}: {why}" for k in KINDS for n in STATES if (why := reason(k, n))), sep="\n")
    else:
        main(sys.modules[__name__])
