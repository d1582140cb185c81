"""Question `characters`: train a small language model on a text that a random source draws anew for each run.

The student's own code trains on 16,000 characters, in at most 8 seconds of processor time. In the source, the scores of
the next character are a sum over the three characters before it, so the lowest possible loss is known. A hand-written
RNN of 48 units needs less than a second for all points; counts of order 3 earn two thirds, and mixed with lower orders
sometimes all.
"""

import bisect

import torch
from torch.nn import functional as F

from companion.check.engine.probe import Probe
from companion.check.engine.question import Question
from companion.check.engine.trained_network import Training, TrainingGoal

CHARACTERS, TEXT, HELD_OUT, PREFIX = 12, 16_000, 1200, 12


def source(draw):
    """Return the log-probabilities of the next character after three characters, the farthest first."""
    scores = sum(
        2.1
        * draw(CHARACTERS, CHARACTERS).reshape(*(CHARACTERS if place == back else 1 for place in range(3)), CHARACTERS)
        for back in range(3)
    )
    return torch.log_softmax(scores, dim=-1)


def text(draw, log_p, count):
    """Return `count` characters that the source draws."""
    edges = log_p.exp().cumsum(-1).tolist()
    drawn = [0, 1, 2]
    for chance in ((draw(count) + 1) / 2).tolist():
        row = edges[drawn[-3]][drawn[-2]][drawn[-1]]
        drawn.append(min(bisect.bisect(row, chance), CHARACTERS - 1))
    return torch.tensor(drawn[3:])


def draw_data(draw):
    """Return the probe, and the targets with the losses of the source and of counts of order 1."""
    log_p = source(draw)
    learned_from, rest = text(draw, log_p, TEXT), text(draw, log_p, HELD_OUT * (PREFIX + 1)).reshape(HELD_OUT, -1)
    held_out, targets = rest[:, :-1], rest[:, -1]
    pairs = torch.full((CHARACTERS, CHARACTERS), 0.5, dtype=torch.float64)
    pairs.index_put_((learned_from[:-1], learned_from[1:]), torch.ones(TEXT - 1, dtype=torch.float64), accumulate=True)
    counted = (pairs / pairs.sum(1, keepdim=True)).log()[held_out[:, -1]]
    own = log_p[tuple(held_out[:, -3:].T)]
    losses = {"counts": F.cross_entropy(counted, targets).item(), "source": F.cross_entropy(own, targets).item()}
    probe = Probe("data", {"text": learned_from, "held_out": held_out}, gradients=None)
    return probe, {"targets": targets, "mistaken": {"targets_not_shifted": held_out[:, -1]}} | losses


def share_learned(right, logits):
    """Return the score of logits between counts of order 1, which score 0, and the source itself, which scores 1."""
    loss = F.cross_entropy(logits, right["targets"]).item()
    return (right["counts"] - loss) / (right["counts"] - right["source"])


QUESTION = Question(
    name="characters", answer="train_characters", assignment="language_model", task=5, points=3, stretch=True,
    place="language_model#learning", call=Training(("text",)), truth=None, reference=None, mistakes={}, probes=None,
    forbidden=frozenset(),
    training_goal=TrainingGoal(
        draw_data, share_learned, ((0.3, 1 / 3), (0.55, 2 / 3), (0.75, 1.0)), guess=0.0, numbers=8000, seconds=8
    ),
)  # fmt: skip
