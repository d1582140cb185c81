"""Question `recall`: train a network that remembers which of some symbols came last, despite the noise after it.

The student's own code trains a model on 3,000 sequences of 44 steps, in at most 8 seconds of processor time. A
hand-written LSTM or GRU of 24 units needs one to three for all points. Each run draws anew which number stands for
which symbol.
"""

import torch

from companion.check.engine.probe import Probe
from companion.check.engine.question import Question
from companion.check.engine.trained_network import Training, TrainingGoal, accuracy

SYMBOLS, NOISES, STEPS, FURTHEST = 6, 6, 44, 40  # the last number is the cue, which asks for the symbol


def sequences(draw, count, numbers):
    """Return sequences that end with the cue, and for each the last symbol, up to 40 steps before the cue.

    Other symbols may come before that one.
    """
    symbols, noise = draw.whole(SYMBOLS, count, STEPS), SYMBOLS + draw.whole(NOISES, count, STEPS)
    far = ((draw(count) + 1) / 2 * FURTHEST).long()
    last, step = STEPS - 2 - far[:, None], torch.arange(STEPS)
    is_symbol = (step == last) | (step < last) & (draw(count, STEPS) < -0.4)
    inputs = torch.where(is_symbol, symbols, noise)
    inputs[:, -1] = SYMBOLS + NOISES
    return numbers[inputs], symbols.gather(1, last).squeeze(1)


def draw_data(draw):
    """Return the probe and the targets."""
    numbers = draw(SYMBOLS + NOISES + 1).argsort()
    inputs, targets = sequences(draw, 3000, numbers)
    held_out, right = sequences(draw, 600, numbers)
    return Probe("data", {"inputs": inputs, "targets": targets, "held_out": held_out}, gradients=None), {
        "targets": right
    }


QUESTION = Question(
    name="recall", answer="train_recall", assignment="language_model", task=4, points=4, place="memory#recall",
    call=Training(("inputs", "targets")), truth=None, reference=None, mistakes={}, probes=None, forbidden=frozenset(),
    # the most frequent symbol of the sequence is right in 0.41 of all cases
    training_goal=TrainingGoal(
        draw_data, accuracy, ((0.5, 0.25), (0.8, 0.5), (0.95, 1.0)), guess=0.35, numbers=6000, seconds=8
    ),
)  # fmt: skip
