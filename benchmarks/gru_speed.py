"""Speed of the GRU as a share of the LSTM of the same size, in torch and in the companion.

    python benchmarks/gru_speed.py                 forward with backward, at four sizes
    python benchmarks/gru_speed.py --repeat 30     more rounds: steadier medians
    python benchmarks/gru_speed.py --device cuda   on a graphics card

GRU and LSTM take turns, so that a machine that slows down slows both. The output is medians over the rounds. One
thread, float32.
"""

import argparse
import statistics

import torch
from lstm_speed import SIZES, compute_on, seconds
from torch import nn

import companion


def by_hand(name):
    return lambda *sizes: companion.by_hand(getattr(companion, name)(*sizes))


# implementation → (GRU, LSTM)
PAIRS = {
    "torch.nn": (nn.GRU, nn.LSTM),
    "companion": (companion.GRU, companion.LSTM),
    "companion, by hand": (by_hand("GRU"), by_hand("LSTM")),
}


def share(pair, size, repeat):
    """Return the median time of the GRU divided by that of the LSTM."""
    steps, batch, input_size, hidden_size = size
    layers = [make(input_size, hidden_size) for make in pair]
    x = torch.randn(steps, batch, input_size, requires_grad=True)
    times = [[], []]
    for round_ in range(repeat + 2):
        for layer, kept in zip(layers, times, strict=True):
            took = seconds(layer, x, backward=True)
            if round_ >= 2:  # two rounds to warm up
                kept.append(took)
    return statistics.median(times[0]) / statistics.median(times[1])


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--repeat", type=int, default=15, help="rounds that count")
    parser.add_argument("--device", default="cpu")
    arguments = parser.parse_args()
    compute_on(arguments.device)
    torch.set_num_threads(1)
    torch.manual_seed(0)
    print("time of the GRU as a share of the LSTM's, forward with backward\n(time steps, batch, input, hidden)")
    for size in SIZES:
        shares = {name: share(pair, size, arguments.repeat) for name, pair in PAIRS.items()}
        print(f"  {size!s:20}", "   ".join(f"{name} {value:.2f}" for name, value in shares.items()))


if __name__ == "__main__":
    main()
