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


def loss_of_held_out_text(rng):
    long, (first, second) = 500, rng.sample([1.4, 1.6, 1.8, 2.0, 2.2, 2.4], 2)
    short = rng.choice((50, 125, 200))
    mistakes = {
        "windows_count_equally": (first + second) / 2,
        "weights_exchanged": (short * first + long * second) / (long + short),
        "losses_added": first + second,
        "last_window_dropped": first,
    }
    values = {"long": long, "short": short, "first": first, "second": second}
    return Numbers((long * first + short * second) / (long + short), mistakes, values, digits=2)
