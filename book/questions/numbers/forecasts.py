"""Numbers of the questions about *Many steps ahead, and how sure*."""

import torch

from book.questions.parts import Numbers
from companion.learning.series import fed_back as feed_back
from companion.learning.series import half_width


def fed_back(rng):
    x, b = rng.sample(range(1, 6), 2)
    a, x, b = rng.choice(((0.5, 8 * x, 4 * b), (3, x, b)))
    window = torch.full((1, 1, 1), x, dtype=torch.float64)
    first, second, right = (round(step) for step in feed_back(lambda inputs: a * inputs[-1] + b, window, 3)[0].tolist())
    mistakes = {
        "one_step": first,
        "two_steps": second,
        "straight_line": x + 3 * (first - x),
        "constant_once": round(a**3 * x) + b,
    }
    return Numbers(right, mistakes, {"a": a, "b": b, "x": x, "first": first, "second": second})


def interval(rng):
    sizes = torch.tensor([size / 10 for size in sorted(rng.sample(range(3, 60), 9))], dtype=torch.float64)
    # the two errors before the largest are negative, so that those who keep the signs find another one
    signs = [rng.choice((-1, 1)) for _ in range(5)] + [1, -1, -1, 1]
    errors = torch.tensor(rng.sample((sizes * torch.tensor(signs)).tolist(), 9), dtype=torch.float64)
    mistakes = {
        "largest": sizes[8].item(),
        "rank_too_small": sizes[6].item(),
        "signs_kept": errors.sort().values[7].item(),
        "median": sizes[4].item(),
    }
    return Numbers(half_width(errors, 0.8), mistakes, {"errors": errors, "sizes": sizes}, digits=1)
