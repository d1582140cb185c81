"""Numbers of the questions about *What gates between 0 and 1 cannot do*."""

import math

import torch

from book.questions.parts import Numbers
from companion.layers.selective import discretised


def constant_input(rng):
    z = rng.choice((2, 3, 4, 6, 7, 8)) / 10
    n, h = rng.sample(range(1, 11), 2)
    h *= rng.choice((-1, 1))

    def after(steps, keep, write):
        state = h
        for _ in range(steps):
            state = keep * state + write * n
        return state

    mistakes = {
        "share_inverted": after(2, 1 - z, z),
        "one_step": after(1, z, 1 - z),
        "candidate_not_gated": after(2, z, 1),
        "arrived": float(n),
    }
    return Numbers(after(2, z, 1 - z), mistakes, {"z": z, "n": n, "h": h}, digits=2)


def held_input(rng):
    A = rng.choice((-0.5, -1.0, -2.0))
    delta = rng.choice((0.5, 1.5, 2.0)) / -A
    x = rng.randint(1, 6)
    goal = -x / A
    h = rng.choice([number for number in range(1, 6) if number != goal])
    a, b = discretised(*(torch.tensor(number, dtype=torch.float64) for number in (delta, A, 1.0)))
    mistakes = {
        "decay_only": math.exp(delta * A) * h,
        "one_straight_step": h + delta * (A * h + x),
        "input_times_delta": math.exp(delta * A) * h + delta * x,
        "arrived": goal,
    }
    values = {"A": A, "h": h, "x": x, "delta": delta, "goal": goal}
    return Numbers((a * h + b * x).item(), mistakes, values, digits=1)
