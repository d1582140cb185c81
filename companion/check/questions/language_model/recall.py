"""A network that remembers: which of some symbols came last, however much noise has followed.

What is run: the student's own code trains a model on 3,000 sequences of 44 steps, 8 seconds of the processor at most. A
hand-written LSTM or GRU of 24 units needs one to three for all marks. Which number stands for which symbol is drawn
anew.
"""

import torch

from companion.check.engine.probe import Probe
from companion.check.engine.question import Question
from companion.check.engine.trained_network import Reach, Training, accuracy

SYMBOLS, NOISES, STEPS, FURTHEST = 6, 6, 44, 40  # the last number of all is the cue, which asks for the symbol


def sequences(draw, count, numbers):
    """Each ends with the cue. The symbol that counts stands up to 40 steps before it, and others stand before that
    one."""
    symbols, noise = draw.whole(SYMBOLS, count, STEPS), SYMBOLS + draw.whole(NOISES, count, STEPS)
    far = ((draw(count) + 1) / 2 * FURTHEST).long()
    last, step = STEPS - 2 - far[:, None], torch.arange(STEPS)
    there = (step == last) | (step < last) & (draw(count, STEPS) < -0.4)
    found = torch.where(there, symbols, noise)
    found[:, -1] = SYMBOLS + NOISES
    return numbers[found], symbols.gather(1, last).squeeze(1)


def drawn(draw):
    numbers = draw(SYMBOLS + NOISES + 1).argsort()
    inputs, targets = sequences(draw, 3000, numbers)
    held_out, right = sequences(draw, 600, numbers)
    return Probe("data", {"inputs": inputs, "targets": targets, "held_out": held_out}, gradients=None), {
        "targets": right
    }


QUESTION = Question(
    name="recall", answer="train_recall", assignment="language_model", task=4, points=4, place="memory#recall",
    call=Training(("inputs", "targets")), truth=None, reference=None, mistakes={}, probes=None, forbidden=frozenset(),
    # whoever knows the symbols, and takes the most frequent, finds 0.41
    reach=Reach(drawn, accuracy, ((0.5, 0.25), (0.8, 0.5), (0.95, 1.0)), guess=0.35, numbers=6000, seconds=8),
)  # fmt: skip
