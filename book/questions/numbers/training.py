"""Numbers of the questions about *Training*."""

import math

from book.questions.parts import Numbers


def first_loss(rng):
    size = rng.randint(25, 99)
    mistakes = {
        "perplexity": float(size),
        "in_bits": math.log2(size),
        "base_ten": math.log10(size),
        "probability": 1 / size,
    }
    return Numbers(math.log(size), mistakes, {"size": size}, digits=2)


def updates(rng):
    rows, window = rng.choice((4, 8, 10, 20)), rng.choice((10, 20, 25, 50))
    whole = rng.randint(3, 9)  # windows; the last is shorter
    steps = whole * window + rng.randint(1, window - 1)
    mistakes = {
        "last_window_dropped": whole,
        "each_row_alone": rows * (whole + 1),
        "each_time_step": steps,
        "once_an_epoch": 1,
    }
    values = {"predictions": rows * steps, "rows": rows, "window": window, "steps": steps}
    return Numbers(whole + 1, mistakes, values)
