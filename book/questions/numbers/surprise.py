"""Numbers of the questions about *Surprise, and counting as a rival*."""

import math

from book.questions.parts import Numbers
from companion.learning.training import perplexity

PAIRS = [(2, 8), (2, 18), (2, 32), (3, 12), (3, 27), (4, 9), (4, 16), (4, 25), (5, 20)]  # a · b is a square


def perplexity_by_hand(rng):
    a, b = rng.sample(rng.choice(PAIRS), 2)
    right = perplexity((math.log(a) + math.log(b)) / 2)
    mistakes = {
        "mean_of_exponentials": (a + b) / 2,
        "mean_of_probabilities": 2 / (1 / a + 1 / b),
        "sum_for_mean": float(a * b),
        "bits_returned": math.log2(right),
    }
    return Numbers(right, mistakes, {"a": a, "b": b}, digits=1)
