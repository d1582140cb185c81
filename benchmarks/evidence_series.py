"""Evidence for the chapters on series: networks and boosted trees beside linear models; twenty minutes on one core.

    python benchmarks/evidence_series.py --workers 1   compute missing runs; an interrupted call can be repeated
    python benchmarks/evidence_series.py --again       recompute all runs

The weather of Seattle is measured with a rolling origin: the test part is each half of 2014 and of 2015, a model is
chosen on the year before it, and learns from all days before that year. The artificial tank has one origin. The
learning rate (and the number of leaves of the trees) is chosen at the first origin, the epoch (the number of trees) at
each. Networks and trees read 14 steps, as many as the linear model of temperatures chooses at the first origin.

A run has lists with a number for each origin: the best epoch, and the mean absolute errors on the choosing part and
the test part, in the unit of the series. Output: companion/learning/evidence/series.json. The trees need scikit-learn:
pip install "unrolled[trees]". They do not depend on the seed.
"""

import functools
import importlib.util
import math
import sys

import torch
from evidence_protocol import count, equal_size, main
from torch import nn

from companion.learning import protocol
from companion.learning.series import (
    ORIGINS,
    Forecaster,
    Scaling,
    ask,
    fed_back,
    fit,
    load_series,
    mean_absolute_error,
    water_tank,
    windows,
    with_season,
)

NAME, VERSION = "series", 2  # increase when the program computes something else
METHOD = ("experiment", "reads", "kind", "forecasts")
COLUMNS = ("temp_max", "temp_min", "precipitation", "wind")
READS = ("lags", "lags, season", "four variables", "four variables, season")
PERIOD = {"weather": 365.25, "tank": 24}
STEPS, UNITS, EPOCHS, PATIENCE = 14, 12, 60, 10
LEAVES, TREES = (4, 8, 16, 31), 300
float64 = {"dtype": torch.float64}


def methods():
    """Yield what is compared: the series, what a model reads of it, the model, and what it forecasts."""
    for reads in READS:
        for kind, forecasts in (("LSTM", "value"), ("LSTM", "change"), ("trees", "value")):
            yield "weather", reads, kind, forecasts
    for reads in READS[:2]:
        yield "weather", reads, "LSTM", "week"
        yield "weather", reads, "LSTM", "week, change"
        yield "tank", reads, "LSTM", "value"
        yield "tank", reads, "trees", "value"
    for kind in ("GRU", "RNN"):
        yield "weather", "lags", kind, "value"
        yield "tank", "lags", kind, "value"


def start(method):
    """Return the learning rates with which a search begins."""
    return (0.03, 0.1, 0.3) if "trees" in method else (0.01, 0.03, 0.1)


def seeds(method):
    """Return the seeds that are reported."""
    return protocol.REPORTED[:1] if "trees" in method else protocol.REPORTED


def rank(run):
    """Return the number by which a learning rate is chosen: the error before the first test part."""
    return run["choose"][:1]


def series_of(experiment, reads):
    """Return the variables that a model reads, (time, variables); the first is forecast."""
    columns = COLUMNS if reads.startswith("four") else COLUMNS[:1]
    series = water_tank(2000) if experiment == "tank" else load_series("seattle", columns)
    return with_season(series, PERIOD[experiment]) if reads.endswith("season") else series


def parts(series, cuts, length, horizon=1):
    """Return (inputs, targets) of three parts.

    The first windows of a part reach back into the part before; no target does.
    """
    return [windows(series[max(a - length, 0) : b], length, horizon) for a, b in zip((0, *cuts), cuts, strict=False)]


def run(settings, epochs=EPOCHS):
    """Train and measure a model at each origin, or only at the first to choose a learning rate.

    settings: the values of `METHOD`, a seed and a learning rate.
    """
    torch.set_num_threads(1)
    experiment, reads, kind, forecasts, seed, rate = settings
    origins = ORIGINS[experiment][: 1 if seed in protocol.CHOOSING else None]
    if kind == "trees":
        return trees(experiment, reads, rate, origins)
    found = [network(series_of(experiment, reads), cuts, kind, forecasts, seed, rate, epochs) for cuts in origins]
    results = {name: [one[name] for one in found] for name in found[0]}
    return results | {"parameters": results["parameters"][0], "units": results["units"][0]}


def network(series, cuts, kind, forecasts, seed, rate, epochs):
    """Train a network at an origin, and return its measurements."""
    horizon = 7 if forecasts.startswith("week") else 1
    scaling = Scaling(series[: cuts[0]])
    scaled, unit = scaling.there(series), scaling.std[0].item()
    learned_from, choose, test = parts(scaled, cuts, STEPS, horizon)
    torch.manual_seed(seed)
    units = equal_size(kind, series.shape[1], UNITS)
    model = Forecaster(getattr(nn, kind)(series.shape[1], units, **float64), horizon, forecasts.endswith("change"))
    history = fit(model, learned_from, choose, rate, epochs, seed=seed, patience=PATIENCE)
    if not math.isfinite(sum(history)):
        raise FloatingPointError
    results = {"parameters": count(model), "units": units, "epoch": history.index(min(history)) + 1}
    results |= {"choose": round(min(history) * unit, 4)}
    results |= {"test": round(mean_absolute_error(ask(model, test[0]), test[1]) * unit, 4)}
    if series.shape[1] == 1 and forecasts == "value" and kind == "LSTM":  # a week, from its own forecasts
        inputs, targets = parts(scaled, cuts, STEPS, 7)[2]
        results["fed_back"] = round(mean_absolute_error(fed_back(model, inputs, 7), targets) * unit, 4)
    return results


def rows(inputs, reads):
    """Return windows as rows for the trees, with the season only of the day that is forecast, (N, numbers)."""
    if not reads.endswith("season"):
        return inputs.transpose(0, 1).flatten(1).numpy()
    return torch.cat([inputs[:, :, :-2].transpose(0, 1).flatten(1), inputs[-1, :, -2:]], dim=1).numpy()


@functools.lru_cache
def trees(experiment, reads, rate, origins):
    """Fit gradient-boosted trees at each origin, and return their measurements, which depend on no seed."""
    from sklearn.ensemble import HistGradientBoostingRegressor

    series, results = series_of(experiment, reads), {"epoch": [], "choose": [], "test": []}
    leaves = LEAVES
    for cuts in origins:
        data = [(rows(inputs, reads), targets[:, 0].numpy()) for inputs, targets in parts(series, cuts, STEPS)]
        tried = []
        for number in leaves:
            model = HistGradientBoostingRegressor(
                learning_rate=rate, max_iter=TREES, max_leaf_nodes=number, early_stopping=False, random_state=0
            ).fit(*data[0])
            choose, test = ([abs(forecast - y).mean() for forecast in model.staged_predict(x)] for x, y in data[1:])
            tried.append((min(choose), choose.index(min(choose)), test, number))
        error, place, test, number = min(tried, key=lambda one: one[0])
        leaves = (number,)  # chosen at the first origin
        results["epoch"].append(place + 1)
        results["choose"].append(round(float(error), 4))
        results["test"].append(round(float(test[place]), 4))
    return results | {"leaves": leaves[0]}


if __name__ == "__main__":
    if not importlib.util.find_spec("sklearn"):
        sys.exit('The trees need scikit-learn: pip install "unrolled[trees]"')
    main(sys.modules[__name__])
