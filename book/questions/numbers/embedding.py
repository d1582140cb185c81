"""Numbers of the questions about *Embedding*."""

from math import hypot

import torch

from book.questions.parts import Numbers
from companion import Embedding

WHOLE_LENGTHS = [(3, 4), (4, 3), (6, 8), (8, 6), (5, 12), (12, 5), (5, 0), (0, 5)]  # rows whose length is an integer


def bytes_of_one_hot(rng):
    vocabulary, tokens = 40 * rng.randint(2, 12), rng.choice([16, 20, 24, 40, 60])
    mistakes = {
        "bytes_not_counted": vocabulary,
        "bytes_exchanged": vocabulary * 8 // 4,
        "one_byte_a_number": vocabulary // 8,
        "text_for_vocabulary": tokens * 4 // 8,
        "length_counted": tokens * vocabulary * 4 // 8,
    }
    return Numbers(vocabulary * 4 // 8, mistakes, {"vocabulary": vocabulary, "tokens": tokens})


def step_of_a_row(rng):
    row, rate, times = rng.randrange(4), rng.choice([0.1, 0.2, 0.5]), rng.randint(2, 3)
    others = [index for index in range(4) if index != row]
    indices = torch.tensor(rng.sample([row] * times + rng.choices(others, k=5 - times), 5))
    embedding = Embedding(4, 2, dtype=torch.float64)
    embedding(indices).sum().backward()
    gradient = embedding.weight.grad[row]
    right = -rate * gradient[0].item()
    mistakes = {
        "repeats_lost": -rate,
        "gradient_averaged": right / len(indices),
        "stepped_up": -right,
        "columns_added": -rate * gradient.sum().item(),
    }
    return Numbers(right, mistakes, {"indices": indices, "rate": rate, "row": row, "times": times}, digits=2)


def cosine_by_hand(rng):
    (a, b), (c, d) = rng.sample(WHOLE_LENGTHS, 2)
    dot, first, second = a * c + b * d, hypot(a, b), hypot(c, d)
    mistakes = {
        "not_divided": float(dot),
        "one_length_only": dot / first,
        "roots_missing": dot / (first * second) ** 2,
        "lengths_added": dot / (first + second),
        "products_averaged": dot / 2 / (first * second),
    }
    return Numbers(dot / (first * second), mistakes, {"a": a, "b": b, "c": c, "d": d}, digits=2)
