"""Evidence from a graphics card: training by size, length and type of number, beside a processor, and writing.

    python benchmarks/evidence_card.py               measure, print and store
    python benchmarks/evidence_card.py --device cpu  try it without one, at small sizes; nothing is stored

Milliseconds, medians, float32 unless named. "size", "type" and "processor": forward and backward over (time steps,
batch, features). "sequence": the same for one sequence of 512 features, matrix states with 8 heads; attention is
torch's function alone, without the linear maps around it. "again": one of these once more, which shows how much times
differ. "loop": a readable loop, compiled, and as a CUDA graph. "scan": all states of a recurrence, only forward.
"step": one more step of a layer with a state, or one query of attention over cached keys and values; "megabytes" is
what is carried. A case that fails, such as for want of memory, is left out.

Each run names its source: this program, or the trial by which the stored runs were measured, once, on the card that
"machine" names, before there was this program. Output: companion/learning/evidence/card.json.
"""

import argparse
import datetime
import importlib.util
import statistics
import sys
import time
from functools import partial
from pathlib import Path

import torch
from evidence_protocol import numbers_of_state
from evidence_speed import layer_by
from torch import nn
from torch.nn.functional import scaled_dot_product_attention

import companion
from companion.layers import scan
from companion.learning import evidence

NAME, VERSION = "card", 2  # increase when the program measures something else
SOURCE = "benchmarks/evidence_card.py"
SIZE, HEADS = 512, 8
LENGTHS = 256, 1024, 4096, 16384, 32768, 65536
AGAIN = 4096  # steps of the sequence that is measured twice
SIZES = [(256, 32, 128), (512, 64, 256), (1024, 8, 128), (4096, 2, 128), (4096, 2, 512), (1024, 64, 1024)]
TYPE_SIZES = [(512, 64, 256), (1024, 64, 1024)]
TYPES = {
    "float32": (torch.float32, {"allow_tf32": False}),
    "TF32": (torch.float32, {}),  # torch allows it by default
    "float16": (torch.float16, {}),
    "bfloat16": (torch.bfloat16, {}),
    "cuDNN off": (torch.float32, {"enabled": False}),
}
PROCESSOR_SIZES = [(32, 16, 32), (32, 16, 128), (100, 32, 128), (100, 32, 512), (100, 128, 1024)]
LOOPS = [("loop", (64, 32, 128)), ("compiled", (64, 32, 128)), ("loop", (256, 32, 128)), ("CUDA graph", (256, 32, 128))]
SCAN_SIZE = 4096, 1024
READ = 1024, 16384, 131072, 1048576  # steps that attention looks back at
SECONDS, REPEAT = 2, 20  # a median is of so many calls, or of those that fit into so many seconds


def attention(x):
    """Return causal attention of x with itself. x: (T, B, SIZE)."""
    heads = x.unflatten(-1, (HEADS, -1)).permute(1, 2, 0, 3)
    return scaled_dot_product_attention(heads, heads, heads, is_causal=True)


# kind → constructor, and the longest sequence: cuDNN refuses more than 65,535 steps, and loops take long
BY_SIZE = {
    "nn.LSTM": (nn.LSTM, 32768),
    "nn.GRU": (nn.GRU, 32768),
    "companion.LSTM": (companion.LSTM, 4096),
    "by hand": (lambda *sizes: companion.by_hand(companion.LSTM(*sizes)), 4096),
    "MinGRU, loop": (layer_by(None), 4096),
    "MinGRU, chunks": (layer_by(scan.chunks), LENGTHS[-1]),
    "MinGRU, scan": (companion.MinGRU, LENGTHS[-1]),
}
BY_LENGTH = BY_SIZE | {"SelectiveSSM": (companion.SelectiveSSM, LENGTHS[-1])}
for name in ("LinearAttention", "GatedLinearAttention", "DeltaNet", "GatedDeltaNet", "MLSTM"):
    BY_LENGTH[name] = partial(getattr(companion, name), num_heads=HEADS), LENGTHS[-1]
WRITING = {name: BY_LENGTH[name][0] for name in ("nn.LSTM", "companion.LSTM", "SelectiveSSM", "GatedDeltaNet", "MLSTM")}
WRITING["MinGRU"] = companion.MinGRU


def milliseconds(call, device):
    """Return the median time of a call, after one to warm up."""
    wait = torch.cuda.synchronize if device == "cuda" else int
    times, end = [], 0.0
    while len(times) <= REPEAT and (len(times) < 3 or time.perf_counter() < end):
        wait()
        began = time.perf_counter()
        call()
        wait()
        times.append(1000 * (time.perf_counter() - began))
        end = end or time.perf_counter() + SECONDS
    return round(statistics.median(times[1:]), 3)


def training(make, size, device, dtype=torch.float32):
    """Return a function that runs a new layer, or a function, forward and backward. size: (T, B, features)."""
    x = torch.randn(size, device=device, dtype=dtype, requires_grad=True)
    layer, leaves = make, [x]
    if make is not attention:
        layer = make(size[-1], size[-1]).to(device, dtype)
        leaves += layer.parameters()

    def call():
        for leaf in leaves:
            leaf.grad = None
        output = layer(x)
        (output[0] if isinstance(output, tuple) else output).sum().backward()

    return call


# Each of these functions yields runs, and for each a function that returns the call to be measured.
def by_size(device, few):
    for size in SIZES[:few]:
        for kind, (make, _longest) in BY_SIZE.items():
            yield {"what": "size", "kind": kind, "size": size}, partial(training, make, size, device)


def by_length(device, few):
    for steps in LENGTHS[:few]:
        cases = [(kind, make, torch.float32) for kind, (make, longest) in BY_LENGTH.items() if steps <= longest]
        cases += [("attention", attention, torch.float32), ("attention, bfloat16", attention, torch.bfloat16)]
        for kind, make, dtype in cases:
            run = {"what": "sequence", "kind": kind, "steps": steps}
            yield run, partial(training, make, (steps, 1, SIZE), device, dtype)
    yield {"what": "again", "kind": "nn.LSTM", "steps": AGAIN}, partial(training, nn.LSTM, (AGAIN, 1, SIZE), device)


def by_type(device, few):
    """Yield an LSTM with each type of number, and without cuDNN."""
    for size in TYPE_SIZES[:few]:
        for kind, (dtype, options) in TYPES.items():
            run = {"what": "type", "kind": kind, "size": size}
            with torch.backends.cudnn.flags(**{"enabled": True, **options}):
                yield run, partial(training, nn.LSTM, size, device, dtype)


def by_machine(device, few):
    for size in PROCESSOR_SIZES[:few]:
        for kind, place in (("processor", "cpu"), ("card", device)):
            yield {"what": "processor", "kind": kind, "size": size}, partial(training, nn.LSTM, size, place)


def loops(device, few):
    def graphed(*sizes):
        x = torch.randn(LOOPS[-1][1], device=device, requires_grad=True)
        return torch.cuda.make_graphed_callables(companion.LSTM(*sizes).to(device), (x,))

    ways = {"compiled": lambda *sizes: torch.compile(companion.LSTM(*sizes)), "CUDA graph": graphed}
    for kind, size in LOOPS[:few]:
        make = ways.get(kind, companion.LSTM)
        yield {"what": "loop", "kind": kind, "size": size}, partial(training, make, size, device)


def scans(device, _few):
    a, b = torch.rand(2, *SCAN_SIZE, device=device)
    ways = {"tree": scan.pairs}
    if device == "cuda" and importlib.util.find_spec("triton"):
        sys.path.append(str(Path(__file__).parents[1] / "book" / "programs"))
        ways["Triton"] = importlib.import_module("triton_scan").triton_scan
    for kind, way in ways.items():
        call = partial(way, a, b, torch.zeros_like(b[0]))
        yield {"what": "scan", "kind": kind, "size": SCAN_SIZE}, partial(partial, call)


def writing(device, few):
    x = torch.randn(1, 1, SIZE, device=device)
    for kind, make in WRITING.items():
        layer = make(SIZE, SIZE).to(device).requires_grad_(False)
        state = layer(x)[1]
        run = {"what": "step", "kind": kind, "megabytes": numbers_of_state(state) * 4 / 1e6}
        yield run, partial(partial, layer, x, state)
    for steps in READ[:few]:
        key, value = torch.randn(2, 1, HEADS, steps, SIZE // HEADS, device=device)
        run = {"what": "step", "kind": "attention", "steps": steps, "megabytes": 2 * key.numel() * 4 / 1e6}
        yield run, partial(partial, scaled_dot_product_attention, key[:, :, :1], key, value)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--device", default="cuda")
    device = parser.parse_args().device
    on_card, few = (True, None) if device == "cuda" else (False, 1)  # few: cases of each kind
    machine = {"torch": torch.__version__, "cudnn": torch.backends.cudnn.version(), "date": f"{datetime.date.today()}"}
    machine["card"] = torch.cuda.get_device_name() if on_card else device
    runs = [{"what": "machine", **machine, "source": SOURCE}]
    for measurements in (by_size, by_length, by_type, by_machine, loops, scans, writing):
        for run, prepare in measurements(device, few):
            try:
                took = milliseconds(prepare(), device)
            except RuntimeError as error:
                print("left out:", *run.values(), str(error)[:200], flush=True)
                continue
            runs.append({**run, "milliseconds": took, "source": SOURCE})
            print(*runs[-1].values(), flush=True)
    if on_card:
        evidence.store(NAME, VERSION, runs)


if __name__ == "__main__":
    main()
