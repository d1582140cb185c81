"""Time of training on small_torch as a multiple of torch's, measured side by side in one run.

    python -m benchmarks.small_torch                      all rows
    python -m benchmarks.small_torch LSTM --repeat 20     rows with this word; more rounds: steadier numbers
    python -m benchmarks.small_torch --package PATH       another small_torch: the folder that holds its `__init__.py`

Each torch runs in a process of its own with one thread. The two take turns, row by row and round by round. The output
is the best processor time of all rounds, in milliseconds, and the ratio.
"""

import argparse
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent


def make_rows(torch):
    """Return name → a function that makes a model and returns a function that trains it."""
    import companion

    nn, optim = torch.nn, torch.optim

    def train(model, x, target, steps, optimizer=optim.SGD, loss=nn.functional.mse_loss):
        """Return a function that runs so many training steps."""
        steps_of = optimizer(model.parameters(), lr=0.01)

        def run():
            for _ in range(steps):
                steps_of.zero_grad()
                y = model(x)
                loss(y[0] if isinstance(y, tuple) else y, target).backward()
                steps_of.step()

        return run

    def linear():
        x = torch.randn(100, 3)
        return train(nn.Linear(3, 1), x, x.sum(1, keepdim=True), 300)

    def perceptron():
        model = nn.Sequential(nn.Linear(20, 64), nn.ReLU(), nn.Linear(64, 64), nn.ReLU(), nn.Linear(64, 3))
        classes = torch.randint(0, 3, (128,))
        return train(model, torch.randn(128, 20), classes, 200, optim.Adam, nn.functional.cross_entropy)

    def recurrent(layer, steps):
        return lambda: train(layer(8, 32), torch.randn(32, 16, 8), torch.randn(32, 16, 32), steps)

    class Loop(nn.Module):
        def __init__(self):
            super().__init__()
            self.cell = nn.GRUCell(8, 32)

        def forward(self, inputs):
            h, outputs = torch.zeros(16, 32), []
            for x in inputs:
                h = self.cell(x, h)
                outputs.append(h)
            return torch.stack(outputs)

    class Characters(nn.Module):
        def __init__(self):
            super().__init__()
            self.embed, self.lstm, self.head = nn.Embedding(60, 32), nn.LSTM(32, 64), nn.Linear(64, 60)

        def forward(self, indices):
            return self.head(self.lstm(self.embed(indices))[0]).flatten(0, 1)

    def characters():
        indices = torch.randint(0, 60, (63, 16))
        return train(Characters(), indices, indices.flatten(), 30, optim.Adam, nn.functional.cross_entropy)

    def transformer():
        x = torch.randn(20, 16, 32)
        return train(nn.TransformerEncoderLayer(32, 4, 64), x, x.flip(0), 30)

    class ByHand(nn.Module):
        def __init__(self):
            super().__init__()
            self.W, self.U = nn.Parameter(torch.randn(8, 32) / 3), nn.Parameter(torch.randn(32, 32) / 6)
            self.b = nn.Parameter(torch.zeros(32))

        def forward(self, inputs):
            h, outputs = torch.zeros(16, 32), []
            for x in inputs:
                h = torch.tanh(x @ self.W + h @ self.U + self.b)
                outputs.append(h)
            return torch.stack(outputs)

    def by_hand():
        return train(ByHand(), torch.randn(32, 16, 8), torch.randn(32, 16, 32), 20)

    return {
        "linear regression, 300 steps": linear,
        "MLP 20-64-64-3, batch 128, 200 steps": perceptron,
        "nn.RNN(8, 32), T 32, B 16, 50 steps": recurrent(nn.RNN, 50),
        "nn.LSTM, same": recurrent(nn.LSTM, 50),
        "nn.GRU, same": recurrent(nn.GRU, 50),
        "companion.LSTM, 20 steps": recurrent(companion.LSTM, 20),
        "by_hand(companion.LSTM), 20 steps": recurrent(lambda *sizes: companion.by_hand(companion.LSTM(*sizes)), 20),
        "GRUCell in a loop, 20 steps": lambda: train(Loop(), torch.randn(32, 16, 8), torch.randn(32, 16, 32), 20),
        "characters, LSTM 60-32-64-60, T 63, 30 steps": characters,
        "TransformerEncoderLayer(32, 4, 64), 30 steps": transformer,
        "RNN by hand, tensor by tensor, 20 steps": by_hand,
    }


def answer():
    """Print the processor time of each row whose number comes in."""
    import torch

    torch.manual_seed(0)
    if hasattr(torch, "set_num_threads"):
        torch.set_num_threads(1)
    runs = [make() for make in make_rows(torch).values()]
    for line in sys.stdin:
        start = time.process_time()
        runs[int(line)]()
        print(time.process_time() - start, flush=True)


class Side:
    """A process that runs rows with one torch. path: a folder that holds another `torch`."""

    def __init__(self, *path):
        environment = os.environ | {"PYTHONPATH": os.pathsep.join([*path, str(ROOT)]), "OMP_NUM_THREADS": "1"}
        command = [sys.executable, "-c", "from benchmarks import small_torch; small_torch.answer()"]
        pipe = subprocess.PIPE
        self.process = subprocess.Popen(command, stdin=pipe, stdout=pipe, text=True, env=environment, cwd=ROOT)

    def seconds(self, row):
        print(row, file=self.process.stdin, flush=True)
        return float(self.process.stdout.readline())


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("word", nargs="?", default="")
    parser.add_argument("--repeat", type=int, default=5)
    parser.add_argument("--package", type=Path, default=ROOT / "small_torch" / "src" / "small_torch")
    options = parser.parse_args()
    import torch

    with tempfile.TemporaryDirectory() as folder:
        (Path(folder) / "torch").symlink_to(options.package.resolve(), target_is_directory=True)
        sides = Side(), Side(folder)
        print(f"{'':46}{'torch':>8}{'small':>8}  ratio")
        for row, name in enumerate(make_rows(torch)):
            if options.word in name:
                rounds = [[side.seconds(row) for side in sides] for _ in range(options.repeat + 1)]
                theirs, ours = (min(times) * 1e3 for times in zip(*rounds, strict=True))
                print(f"{name:46}{theirs:8.1f}{ours:8.1f}{ours / theirs:7.2f}", flush=True)
        for side in sides:
            side.process.stdin.close()
            side.process.wait()


if __name__ == "__main__":
    main()
