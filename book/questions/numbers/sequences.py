"""Numbers of the questions about *Sequences of different lengths*."""

import torch

from book.questions.parts import Numbers


def steps_saved(rng):
    lengths = rng.sample(range(2, 11), 4)
    longest, packed = max(lengths), sum(lengths)
    mistakes = {
        "packed_steps": packed,
        "padded_steps": 4 * longest,
        "one_sequence": longest - min(lengths),
        "time_steps": 0,
    }
    values = {"lengths": torch.tensor(lengths), "longest": longest, "packed": packed}
    return Numbers(4 * longest - packed, mistakes, values)


def mean_over_time(rng):
    length, steps = rng.choice(((2, 4), (2, 5), (4, 5), (4, 8), (5, 8), (5, 10)))
    outputs = [number / 5 for number in rng.sample((-2, -1, 1, 2, 3, 4), length)]
    mistakes = {
        "divided_by_steps": sum(outputs) / steps,
        "not_divided": sum(outputs),
        "last_element": outputs[-1],
        "last_step": 0.0,
    }
    values = {"length": length, "steps": steps, "outputs": torch.tensor(outputs, dtype=torch.float64)}
    return Numbers(sum(outputs) / length, mistakes, values, digits=2)
