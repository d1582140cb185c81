"""Evidence from a graphics card: one step while writing, by the number of steps read, and a whole sequence in training.

    python benchmarks/evidence_card.py               measure, print and store: three minutes on a card
    python benchmarks/evidence_card.py --device cpu  try it without one; nothing is stored

One sequence, 512 features, 8 heads, float32, medians. "step": one more step of a layer that has a state, or one query
of attention over cached keys and values; "megabytes": what is carried. "sequence": forward and backward over all steps.
Attention is torch's function alone, without the linear maps around it. What is stored was measured once, on the card
that each run names, by a trial of this program at commit 3c58a79. Output: companion/learning/evidence/card.json.
"""

import argparse
import statistics
import time
from functools import partial
from itertools import chain

import torch
from evidence_protocol import numbers_of_state
from torch import nn
from torch.nn.functional import scaled_dot_product_attention as attention

import companion
from companion.learning import evidence

NAME, VERSION = "card", 1  # increase when the program measures something else
SIZE, HEADS = 512, 8
MATRIX = {"num_heads": HEADS}
LAYERS = {"nn.LSTM": (nn.LSTM, {}), "MinGRU": (companion.MinGRU, {}), "SelectiveSSM": (companion.SelectiveSSM, {})}
LAYERS |= {name: (getattr(companion, name), MATRIX) for name in ("GatedDeltaNet", "MLSTM")}
READ = 1024, 16384, 131072, 1048576  # steps that attention looks back at
LENGTHS = 1024, 4096, 16384  # steps of a sequence in training


def milliseconds(call, device, repeat=20):
    """Return the median time of a call, after three to warm up."""
    wait = torch.cuda.synchronize if device == "cuda" else int
    times = []
    for _ in range(repeat + 3):
        wait()
        began = time.perf_counter()
        call()
        wait()
        times.append(1000 * (time.perf_counter() - began))
    return round(statistics.median(times[3:]), 3)


@torch.no_grad()
def steps(device, read):
    x = torch.randn(1, 1, SIZE, device=device)
    for name, (kind, options) in LAYERS.items():
        layer = kind(SIZE, SIZE, **options).to(device)
        _, state = layer(x)
        numbers = numbers_of_state(state)
        took = milliseconds(partial(layer, x, state), device)
        yield {"what": "step", "kind": name, "milliseconds": took, "megabytes": numbers * 4 / 1e6}
    for length in read:
        key, value = torch.randn(2, 1, HEADS, length, SIZE // HEADS, device=device)
        query = torch.randn(1, HEADS, 1, SIZE // HEADS, device=device)
        took = milliseconds(partial(attention, query, key, value), device)
        megabytes = (key.numel() + value.numel()) * 4 / 1e6
        yield {"what": "step", "kind": "attention", "steps": length, "milliseconds": took, "megabytes": megabytes}


def sequences(device, lengths):
    layers = {name: LAYERS[name][0](SIZE, SIZE).to(device) for name in ("nn.LSTM", "SelectiveSSM")}
    for length in lengths:
        x = torch.randn(length, 1, SIZE, device=device, requires_grad=True)
        parts = x.view(length, 1, HEADS, SIZE // HEADS).permute(1, 2, 0, 3)
        calls = {name: partial(layer, x) for name, layer in layers.items()}
        for kind, q in (("attention", parts), ("attention, bfloat16", parts.bfloat16())):
            calls[kind] = partial(attention, q, q, q, is_causal=True)
        for name, call in calls.items():
            took = milliseconds(partial(forward_and_backward, call), device)
            yield {"what": "sequence", "kind": name, "steps": length, "milliseconds": took}


def forward_and_backward(call):
    output = call()
    output = output[0] if isinstance(output, tuple) else output
    output.sum().backward(retain_graph=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--device", default="cuda")
    device = parser.parse_args().device
    on_card = device == "cuda"
    name = torch.cuda.get_device_name() if on_card else device
    read, lengths, runs = (READ, LENGTHS, []) if on_card else (READ[:1], LENGTHS[:1], [])
    for run in chain(steps(device, read), sequences(device, lengths)):
        runs.append({"card": name, **run})
        print(*runs[-1].values(), flush=True)
    if on_card:
        evidence.store(NAME, VERSION, runs)


if __name__ == "__main__":
    main()
