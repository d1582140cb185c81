"""Numbers of the questions about *What single numbers keep*."""

import math

import torch

from book.questions.parts import Numbers


def expected_marks(rng):
    p = [place / 10 for place in rng.sample(range(1, 10), 4)]
    mistakes = {
        "mean": sum(p) / 4,
        "likely_places": float(sum(place > 0.5 for place in p)),
        "at_least_one": 1 - math.prod(1 - place for place in p),
        "largest": max(p),
    }
    return Numbers(sum(p), mistakes, {"p": torch.tensor(p, dtype=torch.float64)}, digits=2)
