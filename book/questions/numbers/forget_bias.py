"""Numbers of the questions about *Which number decides: the forget bias*."""

import math

from book.questions.parts import Numbers


def direct_path(rng):
    f, steps = rng.choice([(0.6, 2), (0.7, 2), (0.8, 2), (0.9, 2), (0.7, 3), (0.8, 3), (0.9, 3)])
    mistakes = {
        "one_step": f,
        "losses_added": 1 - steps * (1 - f),
        "forgotten_share": (1 - f) ** steps,
        "divided": f / steps,
    }
    return Numbers(f**steps, mistakes, {"f": f, "steps": steps})


def bias_for_a_lifetime(rng):
    steps = rng.choice((5, 6, 11, 16, 21, 26, 31, 41, 51, 81, 101))
    right = math.log(steps - 1)
    mistakes = {
        "share_for_bias": 1 - 1 / steps,
        "bias_of_the_input_gate": -right,
        "log_of_the_share": math.log(1 - 1 / steps),
        "decimal_logarithm": math.log10(steps - 1),
    }
    return Numbers(right, mistakes, {"steps": steps}, digits=2)
