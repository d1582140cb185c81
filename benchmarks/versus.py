"""Time the companion's layers against those of an earlier commit, in turns.

    python benchmarks/versus.py 3c58a79            forward with backward, on one thread of the processor
    python benchmarks/versus.py 3c58a79 --repeat 50

Each commit's package runs in a process of its own; the two take turns, so that a machine that slows down slows both.
The output is the median of the times of this tree, divided by that of the commit: below 1, this tree is faster.
"""

import argparse
import io
import json
import statistics
import subprocess
import sys
import tarfile
import tempfile
import time
from pathlib import Path

import torch

ROOT = Path(__file__).parent.parent
LAYERS = ("RNN", "GRU", "LSTM", "MinGRU", "MinLSTM", "SelectiveSSM", "LinearAttention", "DeltaNet", "GatedDeltaNet")
LAYERS += ("MLSTM",)
SIZES = ((64, 16, 32, 32), (512, 4, 64, 64), (2048, 1, 64, 64))  # time steps, batch, input_size, hidden_size


def serve():
    """Answer lines, each the name of a layer and a size, with seconds. The package is the first on the path."""
    import companion

    torch.set_num_threads(1)
    torch.manual_seed(0)
    made = {}
    for line in sys.stdin:
        name, size = json.loads(line)
        steps, batch, input_size, hidden_size = size
        if line not in made:
            made[line] = getattr(companion, name)(input_size, hidden_size), torch.randn(steps, batch, input_size)
        layer, x = made[line]
        began = time.perf_counter()
        layer(x)[0].sum().backward()
        print(time.perf_counter() - began, flush=True)


def start(folder):
    """Return a process that times the package in a folder."""
    code = f"import sys; sys.path[:0] = [{str(folder)!r}, {str(ROOT / 'benchmarks')!r}]; import versus; versus.serve()"
    return subprocess.Popen(
        [sys.executable, "-c", code], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, cwd=folder
    )


def ask(process, name, size):
    """Return the seconds that a process measures."""
    process.stdin.write(json.dumps([name, size]) + "\n")
    process.stdin.flush()
    return float(process.stdout.readline())


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("commit")
    parser.add_argument("--repeat", type=int, default=15, help="rounds that count, after two to warm up")
    options = parser.parse_args()
    archive = subprocess.run(
        ["git", "archive", options.commit, "companion"], cwd=ROOT, capture_output=True, check=True
    ).stdout
    with tempfile.TemporaryDirectory() as folder:
        with tarfile.open(fileobj=io.BytesIO(archive)) as files:
            files.extractall(folder, filter="data")
        processes = now, before = start(ROOT), start(folder)
        print(f"time ÷ that of {options.commit}", *map(str, SIZES), sep="   ")
        for name in LAYERS:
            ratios = []
            for size in SIZES:
                rounds = [(ask(now, name, size), ask(before, name, size)) for _ in range(options.repeat + 2)]
                mine, other = (statistics.median(times) for times in zip(*rounds[2:], strict=True))
                ratios.append(f"{mine / other:.2f}")
            print(f"{name:20}", *ratios, sep="   ", flush=True)
        for process in processes:
            process.stdin.close()
            process.wait()


if __name__ == "__main__":
    main()
