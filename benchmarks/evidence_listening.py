"""Evidence on networks that read Morse signals: how many letters are wrong, by speed, unevenness and length.

    python benchmarks/evidence_listening.py           compute missing runs; an interrupted call can be repeated
    python benchmarks/evidence_listening.py --again   recompute all runs

All kinds have about as many parameters, learn from 6,500 batches of 32 signals, and are tested on a hundred signals for
each of `TESTED`; thresholds, which learn nothing, read the same signals on the page. `no start` learns whole texts from
the first batch on, without the batches of single signs. Output: companion/learning/evidence/listening.json.
"""

import functools
import sys

import torch
from evidence_protocol import count, main, nearest
from torch import nn

from companion.learning import listening
from companion.learning.listening import Listener

NAME, VERSION = "listening", 1  # increase when the program computes something else
METHOD = ("kind",)
KINDS = ["one direction", "two directions", "convolution", "one direction, no start"]
KERNEL = 9  # steps that a layer of the convolution sees
NUMBER, SEED, CHOOSING = 100, 1, 2


class Convolution(nn.Module):
    """Two layers of convolution, called like a recurrent layer."""

    def __init__(self, size):
        super().__init__()
        self.layers = nn.ModuleList(nn.Conv1d(n, size, KERNEL, padding=KERNEL // 2) for n in (2, size))

    def forward(self, x):
        """Return the outputs, (T, N, size), and no state."""
        x = x.movedim(0, -1)
        for layer in self.layers:
            x = torch.relu(layer(x))
        return x.movedim(-1, 0), None


def maker(kind):
    """Return a function from a size to a listener of a kind."""
    if kind == "convolution":
        return lambda size: Listener(Convolution(size), size)
    two = kind == "two directions"
    return lambda size: Listener(nn.LSTM(2, size, bidirectional=two), size * (1 + two))


def new_model(kind):
    """Return a listener with about as many parameters as the stored one with two directions."""
    with torch.device("meta"):
        wanted = count(maker("two directions")(listening.KINDS["two directions"][0]))
        size = nearest(range(8, 200), lambda size: count(maker(kind)(size)), wanted)
    return maker(kind)(size)


@functools.cache
def signals(name, seed=SEED):
    """Return the signals of a test."""
    return list(listening.held_out(NUMBER, seed=seed, **listening.TESTED[name]))


def run(settings):
    """Train one network, and return its letter error rates and that by which its rate is chosen.

    settings: a kind, a seed and a learning rate.
    """
    kind, seed, learning_rate = settings
    torch.set_num_threads(1)
    torch.manual_seed(seed)
    model = new_model(kind)
    losses = listening.learn(
        model, learning_rate=learning_rate, seed=seed, progress=False, alone=0 if "no start" in kind else 0.1
    )

    def rate(tested):
        return round(listening.error_rate([text for text, *_ in tested], listening.read(model, tested)), 4)

    results = {name: rate(signals(name)) for name in listening.TESTED}
    last = {"loss": round(sum(losses[-100:]) / 100, 4), "choose": rate(signals("test", CHOOSING))}
    return {"parameters": count(model)} | last | results


def rank(run):
    """Return what decides between learning rates: the result on the signals for choosing, then the loss."""
    return run["choose"], run["loss"]


def methods():
    """Return the kinds."""
    return [(kind,) for kind in KINDS]


if __name__ == "__main__":
    main(sys.modules[__name__])
