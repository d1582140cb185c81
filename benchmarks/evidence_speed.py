"""Evidence on speed: ratios of time and memory of a minimal gated unit by loop, tree and chunks, GRU and LSTM.

    python benchmarks/evidence_speed.py               measure, print and store: a quarter of an hour on one core
    python benchmarks/evidence_speed.py --repeat 9    more rounds: steadier medians

Forward with backward, float32, one thread; as many features go in as come out. All take turns, so that a machine that
slows down slows all; stored are medians over the rounds, as multiples of torch's fused `nn.LSTM`. "kept": the megabytes
that the forward pass keeps for the backward pass, which do not depend on the machine. For sequences of growing length
there are also seconds, which do. Output: companion/learning/evidence/speed.json.
"""

import argparse
import copy
import statistics
import sys

import torch
from lstm_speed import seconds
from torch import nn

from companion import MinGRU
from companion.bench.measure import kept_bytes
from companion.layers import scan
from companion.learning import evidence

NAME, VERSION = "speed", 1  # increase when the program measures something else
NAMES = ("what", "size")
SIZES = [(256, 32, 128), (1024, 8, 128), (4096, 2, 128), (4096, 2, 512)]  # time steps, batch, features
LONGER = [(256, 4, 64), (1024, 4, 64), (4096, 4, 64), (16384, 4, 64)]


def layer_by(way):
    """Return a constructor of layers that run over time by `way`.

    way: a function of scan.py, or None for the loop of a layer.
    """

    def make(*sizes):
        layer = MinGRU(*sizes)
        layer._step = copy.copy(layer._step)
        if way is None:
            layer._step.unroll = None
        elif way is not scan.scan:
            layer._step.unroll = lambda step, x, sizes, start, w, _: over(way, step, x, sizes, start, w)
        return layer

    return make


def over(way, step, x, sizes, start, w):
    a, b = (part.unflatten(0, (len(sizes), sizes[0])) for part in step.coefficients(step.ahead(x, w)))
    h = way(a, b, start[0])
    return h.flatten(0, 1), (h[-1],)


WAYS = {
    "nn.LSTM": nn.LSTM,
    "nn.GRU": nn.GRU,
    "loop": layer_by(None),
    "chunks": layer_by(scan.chunks),
    "tree": layer_by(scan.pairs),
    "scan": layer_by(scan.scan),
}


def measure(size, ways, repeat):
    """Return the median seconds, and the megabytes kept for the backward pass, for each way."""
    steps, batch, features = size
    layers = {name: WAYS[name](features, features) for name in ways}
    x = torch.randn(steps, batch, features, requires_grad=True)
    times = {name: [] for name in layers}
    for round_ in range(repeat + 1):
        for name, layer in layers.items():
            took = seconds(layer, x, backward=True)
            if round_:  # one round to warm up
                times[name].append(took)
    return {name: (statistics.median(times[name]), kept_bytes(layer, x) / 1e6) for name, layer in layers.items()}


def main(arguments=None):
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--repeat", type=int, default=5, help="rounds that count")
    repeat = parser.parse_args(arguments).repeat
    torch.set_num_threads(1)
    torch.manual_seed(0)
    runs = []
    print(
        "multiples of nn.LSTM's time, forward with backward, and in brackets of what it keeps\n(time steps, batch,"
        " features)"
    )
    for size in SIZES:
        results = measure(size, WAYS, repeat)
        took, memory = results["nn.LSTM"]
        for what, k, whole in (("time", 0, took), ("kept", 1, memory)):
            ratios = {name: round(values[k] / whole, 3) for name, values in results.items()}
            runs.append({"what": what, "size": size} | ratios)
        print(
            f"  {size!s:15}",
            "   ".join(
                f"{name} {duration / took:.2f} ({size_kept / memory:.2f})"
                for name, (duration, size_kept) in results.items()
            ),
            flush=True,
        )
    print("the scan over ever longer sequences, as multiples of the first length: time (kept)")
    for size in LONGER:
        took, memory = measure(size, ["scan"], repeat)["scan"]
        runs.append({"what": "length", "size": size, "seconds": round(took, 4), "kept": round(memory, 2)})
        first = runs[2 * len(SIZES)]
        ratios = f"{took / first['seconds']:6.1f} ({memory / first['kept']:.1f})"
        print(f"  {size!s:15}", ratios, f"  length × {size[0] // LONGER[0][0]}", flush=True)
    evidence.store(NAME, VERSION, runs)


if __name__ == "__main__":
    main(sys.argv[1:])
