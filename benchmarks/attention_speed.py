"""Speed of the companion's attention, forward with backward, as a multiple of torch's.

    python benchmarks/attention_speed.py                 the layer, with weights and without, and a transformer's block
    python benchmarks/attention_speed.py --repeat 30     more rounds: steadier medians
    python benchmarks/attention_speed.py --device cuda   on a graphics card

Both take turns, so that a machine that slows down slows both; the output is medians over the rounds. torch runs without
its fused kernels (`SDPBackend.MATH`), and with them where it can use them: when no weights are needed. One thread,
float32.
"""

import argparse
import statistics
import time
from contextlib import nullcontext

import torch
from lstm_speed import compute_on, wait
from torch import nn
from torch.nn.attention import SDPBackend, sdpa_kernel

import companion

SIZES = [(64, 32, 128), (512, 4, 256)]  # time steps, batch, features
HEADS = 4


def seconds(module, inputs, call):
    """Return the seconds of one forward and backward pass."""
    leaves = [x.detach().requires_grad_() for x in inputs]
    wait()
    began = time.perf_counter()
    result = module(*leaves, **call)
    output = result if isinstance(result, torch.Tensor) else result[0]
    output.backward(torch.ones_like(output))
    wait()
    return time.perf_counter() - began


def ratio(make, count, size, repeat, call, backend):
    """Return the companion's median time divided by torch's."""
    steps, batch, features = size
    modules = [make(source, features) for source in (companion, nn)]
    inputs = [torch.randn(steps, batch, features) for _ in range(count)]
    times = [[], []]
    with backend():
        for round_ in range(repeat + 3):
            for module, kept in zip(modules, times, strict=True):
                took = seconds(module, inputs, call)
                if round_ >= 3:  # three rounds to warm up
                    kept.append(took)
    return statistics.median(times[0]) / statistics.median(times[1])


def unfused():
    return sdpa_kernel(SDPBackend.MATH)


def layer(source, features):
    return source.MultiheadAttention(features, HEADS)


def block(source, features):
    return source.TransformerEncoderLayer(features, HEADS, 2 * features, dropout=0.0)


# name → constructor, number of inputs, arguments of the call, torch's kernels
CASES = {
    "layer, with weights": (layer, 3, {}, unfused),
    "layer, without weights": (layer, 3, {"need_weights": False}, unfused),
    "layer, torch fused": (layer, 3, {"need_weights": False}, nullcontext),
    "block": (block, 1, {}, unfused),
    "block, torch fused": (block, 1, {}, nullcontext),
}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--repeat", type=int, default=15, help="rounds that count")
    parser.add_argument("--device", default="cpu")
    arguments = parser.parse_args()
    compute_on(arguments.device)
    torch.set_num_threads(1)
    torch.manual_seed(0)
    print("time of ours as a multiple of torch's, forward with backward\n(time steps, batch, features)")
    for name, (make, count, call, backend) in CASES.items():
        ratios = (f"{size} {ratio(make, count, size, arguments.repeat, call, backend):.2f}" for size in SIZES)
        print(f"  {name:24}", "   ".join(ratios))


if __name__ == "__main__":
    main()
