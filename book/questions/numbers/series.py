"""Numbers of the questions about *A series of numbers*."""

import torch

from book.questions.parts import Numbers
from companion.learning.series import mean_absolute_error, persistence, windows


def shape_of_windows(rng):
    steps, variables, length = rng.choice((60, 80, 100, 200)), rng.randint(2, 4), rng.choice((5, 7, 10, 14))
    inputs, _ = windows(torch.zeros(steps, variables), length)
    mistakes = {
        "batch_first": (steps - length, length, variables),
        "no_room_for_target": (length, steps - length + 1, variables),
        "window_as_variables": (variables, steps - length, length),
        "windows_side_by_side": (length, steps // length, variables),
    }
    return Numbers(tuple(inputs.shape), mistakes, {"steps": steps, "variables": variables, "length": length})


def error_of_persistence(rng):
    series = torch.tensor(rng.sample(range(8, 21), 5), dtype=torch.float64)
    inputs, targets = windows(series[:, None], 1)
    differences = series.diff()
    mistakes = {
        "signed": differences.mean().item(),
        "squared": differences.square().mean().item(),
        "five_days": differences.abs().sum().item() / 5,
        "distance_from_mean": (series - series.mean()).abs().mean().item(),
    }
    values = {"temperatures": series, "distances": differences.abs()}
    return Numbers(mean_absolute_error(persistence(inputs), targets), mistakes, values, digits=2)
