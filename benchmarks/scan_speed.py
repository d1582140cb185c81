"""What does it save not to wait? A minimal gated unit by loop, tree and chunks, beside GRU and LSTM: ratios of time.

    python benchmarks/scan_speed.py               forward with backward, at four sizes, then ever longer sequences
    python benchmarks/scan_speed.py --repeat 9    more rounds: steadier medians

All take turns, so that a machine that slows down slows all; printed are medians over the rounds, as multiples of torch's fused
`nn.LSTM`. One thread, float32; as many features go in as come out.
"""

import argparse
import copy
import statistics

import torch
from lstm_speed import seconds
from torch import nn

from companion import MinGRU
from companion.layers import scan

SIZES = [(256, 32, 128), (1024, 8, 128), (4096, 2, 128), (4096, 2, 512)]  # time steps, batch, features
LONGER = [(256, 4, 64), (1024, 4, 64), (4096, 4, 64), (16384, 4, 64)]


def by(way):
    """A maker of layers that take their time steps in this way: a function of scan.py, or None for the loop of a layer."""

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


WAYS = {"scan": by(scan.scan), "chunks": by(scan.chunks), "tree": by(scan.pairs), "loop": by(None), "nn.GRU": nn.GRU}


def ratios(size, ways, repeat):
    """The median time of each way, divided by that of `nn.LSTM`; and the LSTM's own, in seconds."""
    steps, batch, features = size
    layers = {"nn.LSTM": nn.LSTM(features, features)} | {name: ways[name](features, features) for name in ways}
    x = torch.randn(steps, batch, features, requires_grad=True)
    times = {name: [] for name in layers}
    for round_ in range(repeat + 1):
        for name, layer in layers.items():
            took = seconds(layer, x, backward=True)
            if round_:  # one round to warm up
                times[name].append(took)
    medians = {name: statistics.median(kept) for name, kept in times.items()}
    return {name: medians[name] / medians["nn.LSTM"] for name in ways}, medians


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--repeat", type=int, default=5, help="rounds that count")
    repeat = parser.parse_args().repeat
    torch.set_num_threads(1)
    torch.manual_seed(0)
    print("time as a multiple of nn.LSTM's, forward with backward\n(time steps, batch, features)")
    for size in SIZES:
        found, _ = ratios(size, WAYS, repeat)
        print(f"  {size!s:15}", "   ".join(f"{name} {ratio:.2f}" for name, ratio in found.items()), flush=True)
    print("time of the scan as a multiple of that at the first length")
    first = None
    for size in LONGER:
        _, medians = ratios(size, {"scan": WAYS["scan"]}, repeat)
        first = first or medians["scan"]
        print(f"  {size!s:15} {medians['scan'] / first:6.1f}   (length × {size[0] // LONGER[0][0]})", flush=True)


if __name__ == "__main__":
    main()
