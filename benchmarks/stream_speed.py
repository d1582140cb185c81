"""Time a step of a stream that keeps the states of 10,000 users: the median (p50), and what 99 of 100 steps take (p99).

    python benchmarks/stream_speed.py [--users 10000] [--steps 2000]

A step is one character of a text, read by a language model of 256 units. It arrives from one user, from 100 at once, or
from all. The last column is the time for each value that arrived, as a multiple of the model's own time for one.
"""

import argparse
import functools
import random
import tempfile
import time
from pathlib import Path

import torch
from torch import nn

import companion
from companion.learning.sequence_model import SequenceModel, evaluation_of
from companion.learning.stream import Stream
from companion.learning.text import Vocabulary, load_text

LAYERS = {
    "nn.LSTM": lambda: nn.LSTM(64, 256),
    "nn.GRU": lambda: nn.GRU(64, 256),
    "MinGRU": lambda: companion.MinGRU(64, 256),
    "GatedDeltaNet": lambda: companion.GatedDeltaNet(64, 256, num_heads=8),
}


def times(function, rounds):
    """Return the times of calls in milliseconds, shortest first. One call before them is not counted."""
    taken = []
    for _ in range(rounds + 1):
        began = time.perf_counter()
        function()
        taken.append(1000 * (time.perf_counter() - began))
    return sorted(taken[1:])


def push_from(stream, users, count, signs, text):
    """Let one character arrive from so many users, drawn at random."""
    stream.push([(user, signs.choice(text)) for user in signs.sample(users, count)])


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--users", type=int, default=10_000)
    parser.add_argument("--steps", type=int, default=2000, help="of one user; fewer of more users")
    options = parser.parse_args()
    torch.set_num_threads(1)
    text = load_text("en")
    vocabulary, signs = Vocabulary(text), random.Random(0)
    print("layer          numbers of state   users at once   p50 ms   p99 ms   a value ÷ the model's own step")
    for name, make in LAYERS.items():
        model = SequenceModel(nn.Embedding(len(vocabulary), 64), make(), len(vocabulary))
        stream = Stream(model, vocabulary=vocabulary)
        users = [f"user {k}" for k in range(options.users)]
        stream.push([(user, signs.choice(text)) for user in users])
        one = torch.tensor([[3]])
        with evaluation_of(model):
            _, state = model(one, None)
            own = times(functools.partial(model, one, state), options.steps)
        for count in sorted({1, min(100, options.users), options.users}):
            step = functools.partial(push_from, stream, users, count, signs, text)
            taken = times(step, max(3, options.steps // count))
            p50, p99 = taken[len(taken) // 2], taken[int(0.99 * (len(taken) - 1))]
            ratio = p50 / count / own[len(own) // 2]
            numbers = f"{stream.states.numbers:,}"
            print(f"{name:14} {numbers:>16} {count:15,} {p50:8.2f} {p99:8.2f}   {ratio:.2f}")
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "run.safetensors"
            saved = times(functools.partial(stream.save, path), 3)[0]
            loaded = times(functools.partial(Stream.load, path), 3)[0]
            print(f"{'':14} saved in {saved:.0f} ms, {path.stat().st_size / 1e6:.0f} MB, loaded in {loaded:.0f} ms")


if __name__ == "__main__":
    main()
