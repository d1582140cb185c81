"""Evidence for the chapter "A series of numbers": networks beside linear models; ten minutes on one core.

    python benchmarks/evidence_series.py           compute missing runs; an interrupted call can be repeated
    python benchmarks/evidence_series.py --again   recompute all runs

The series are the weather of Seattle and the artificial tank. A network is trained on the first part of a series, in
windows of 28 steps; the second part decides after which of 25 epochs it was best (of 40 if "longer"); its error is
measured on the third. Two networks choose the one of three learning rates with the smallest mean error on the second
part; five others use it, from five other seeds. Output: companion/learning/evidence/series.json, with mean absolute
errors in the unit of the series.
"""

import sys

import torch
from evidence_runs import equal_size, main, parameters
from torch import nn

from companion.learning import evidence
from companion.learning.series import (
    Forecaster,
    Scaling,
    ask,
    fed_back,
    fit,
    load_series,
    mean_absolute_error,
    water_tank,
    windows,
)

NAME, VERSION = "series", 1  # increase when the program computes something else
NAMES = ("experiment", "kind", "learning_rate", "seed")
ALL = ("temp_max", "temp_min", "precipitation", "wind")
# experiment → variables of the weather, or None for the tank; horizon, from_last, epochs, kinds
EXPERIMENTS = {
    "tomorrow": (ALL[:1], 1, False, 25, ("LSTM", "GRU", "RNN")),
    "tank": (None, 1, False, 25, ("LSTM", "GRU", "RNN")),
    "tomorrow, from four variables": (ALL, 1, False, 25, ("LSTM",)),
    "seven days": (ALL[:1], 7, False, 25, ("LSTM",)),
    "tomorrow, as a change": (ALL[:1], 1, True, 25, ("LSTM",)),
    "tomorrow, longer": (ALL[:1], 1, False, 40, ("LSTM",)),
}
RATES, WINDOW, UNITS = (0.003, 0.01, 0.03), 28, 12
TRIALS = (10, 11)  # seeds of the networks that choose learning rates
float64 = {"dtype": torch.float64}


def series_of(experiment):
    """Return the series, and the positions where its second and third parts begin."""
    variables = EXPERIMENTS[experiment][0]
    return (load_series("seattle", variables), (731, 1096)) if variables else (water_tank(2000), (1000, 1400))


def parts(series, cuts, length, horizon):
    """Return (inputs, targets) of three parts.

    The first windows of a part reach back into the part before; no target does.
    """
    bounds = [0, *cuts, len(series)]
    return [windows(series[max(a - length, 0) : b], length, horizon) for a, b in zip(bounds, bounds[1:], strict=False)]


def run(settings, epochs=None):
    """Train and measure one network, and return its settings and results.

    settings: the values of `NAMES`.
    """
    torch.set_num_threads(1)
    experiment, kind, learning_rate, seed = settings
    _, horizon, from_last, all_epochs, _ = EXPERIMENTS[experiment]
    series, cuts = series_of(experiment)
    scaling = Scaling(series[: cuts[0]])
    learned_from, second, third = parts(scaling.there(series), cuts, WINDOW, horizon)
    variables = series.shape[1]
    torch.manual_seed(seed)
    units = equal_size(kind, variables, UNITS)
    model = Forecaster(getattr(nn, kind)(variables, units, **float64), horizon, from_last)
    history = fit(model, learned_from, second, learning_rate, epochs or all_epochs, seed=seed)
    unit = scaling.std[0].item()
    results = dict(zip(NAMES, settings, strict=True)) | {"chosen": seed not in TRIALS, "hidden_size": units}
    results |= {"parameters": parameters(kind, variables, units), "best_epoch": history.index(min(history)) + 1}
    results |= {"epochs": [round(error * unit, 4) for error in history], "second": round(min(history) * unit, 4)}
    results |= {"third": round(mean_absolute_error(ask(model, third[0]), third[1]) * unit, 4)}
    if experiment == "tomorrow":  # seven days by the same network, which reads its own forecasts
        *_, (inputs, targets) = parts(scaling.there(series), cuts, WINDOW, 7)
        results["fed_back"] = round(mean_absolute_error(fed_back(model, inputs, 7), targets) * unit, 4)
    return results


def first_runs(experiment):
    """Yield the settings of the runs that choose learning rates."""
    for kind in EXPERIMENTS[experiment][-1]:
        yield from ((experiment, kind, rate, seed) for rate in RATES for seed in TRIALS)


def chosen_runs(experiment, first):
    """Yield the settings of the final runs, with the learning rates chosen by `first`."""
    for kind in EXPERIMENTS[experiment][-1]:
        errors = evidence.spread(evidence.having(first, kind=kind), "second", "learning_rate")
        (best,) = min(errors, key=lambda rate: errors[rate].mean)
        yield from ((experiment, kind, best, seed) for seed in range(5))


if __name__ == "__main__":
    main(sys.modules[__name__])
