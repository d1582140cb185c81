"""Test the stored runs of the chapters on series: they are complete, repeat, and look at no test part to choose."""

import statistics

import pytest
import torch

from companion.learning import evidence, protocol
from companion.learning.series import (
    ORIGINS,
    linear_forecasts,
    load_series,
    mean_absolute_error,
    rolling_errors,
    water_tank,
    with_season,
)

KINDS, SETTINGS = ("LSTM", "GRU", "RNN"), ("kind", "reads", "forecasts")
COLUMNS = ("temp_max", "temp_min", "precipitation", "wind")


@pytest.fixture
def module(program):
    """Import the program that computes the runs."""
    return program("series")


def test_every_origin_is_tested_by_networks_of_one_size(module):
    for method in module.methods():
        runs = evidence.load("series", chosen=True, **dict(zip(module.METHOD, method, strict=True)))
        assert {len(run["test"]) for run in runs} == {len(module.ORIGINS[method[0]])}
        assert max(run["epoch"][0] for run in runs) <= (module.TREES if "trees" in method else module.EPOCHS)
    sizes = {run["parameters"] for run in evidence.load("series", reads="lags", forecasts="value") if "units" in run}
    assert len(sizes) == 3 and max(sizes) / min(sizes) < 1.01


@pytest.mark.parametrize(
    ("experiment", "kind"), [("weather", "GRU"), ("weather", "trees"), ("tank", "RNN"), ("tank", "trees")]
)
def test_a_run_of_each_table_is_computed_again(module, experiment, kind):
    """Repeat the first run of the search for a learning rate, at one origin."""
    stored = evidence.load("series", experiment=experiment, kind=kind, reads="lags", seed=100)[0]
    again = module.run([*(stored[name] for name in module.METHOD), stored["seed"], stored["learning_rate"]])
    for measured in ("choose", "test"):
        assert again[measured] == pytest.approx(stored[measured], abs=2e-3)
    assert again.get("parameters") == stored.get("parameters") and again.get("leaves") == stored.get("leaves")


@pytest.mark.parametrize("kind", ["LSTM", "trees"])
def test_nothing_is_chosen_by_the_test_part(module, monkeypatch, kind):
    """Compute a run with another test part: it chooses the same."""
    cuts = module.ORIGINS["weather"][0]
    weather = module.load_series("seattle", ["temp_max"])
    settings = ("weather", "lags", kind, "value", protocol.CHOOSING[0], 0.1)
    results = []
    for change in (0, 5):
        series = torch.cat([weather[: cuts[1]], weather[cuts[1] :] + change])
        monkeypatch.setattr(module, "load_series", lambda name, columns: series)
        module.trees.cache_clear()
        results.append(module.run(settings, epochs=3))
    assert results[0]["choose"] == results[1]["choose"] and results[0]["epoch"] == results[1]["epoch"]
    assert results[0]["test"] != results[1]["test"]


def means(**settings):
    """Return the mean error over the origins of each reported run, in order."""
    return sorted(statistics.mean(run["test"]) for run in evidence.load("series", chosen=True, **settings))


def last(learned, start, stop, setting):
    return load_series("seattle", "temp_max")[start - 1 : stop - 1]


def linear(columns, has_season, horizon=1):
    """Return the mean test error of the linear model over the origins of the weather."""
    weather = load_series("seattle", columns)
    reads = with_season(weather) if has_season else weather
    lengths = (1, 2, 3, 7, 14, 28)
    forecast = linear_forecasts(reads, horizon)
    return statistics.mean(rolling_errors(forecast, weather, ORIGINS["weather"], lengths, horizon)[1])


def test_what_the_chapters_say_of_the_weather():
    """Check the verdicts of series#table-said, forecasts#several-variables-said and forecasts#many-steps-said."""
    weather = {"experiment": "weather", "kind": "LSTM"}
    one, with_its_season = linear(["temp_max"], False), linear(["temp_max"], True)
    assert f"{one:.2f}" == f"{with_its_season:.2f}" == "2.17"
    kinds = [statistics.mean(means(**weather | {"kind": kind}, reads="lags", forecasts="value")) for kind in KINDS]
    assert f"{min(kinds):.2f} {max(kinds):.2f}" == "2.16 2.19" and abs(min(kinds) - one) < 0.01
    best = means(**weather, reads="lags, season", forecasts="change")
    assert f"{best[0]:.2f} {best[-1]:.2f}" == "2.09 2.12" and 0.03 <= 1 - statistics.mean(best) / one < 0.035
    others = [
        means(experiment="weather", kind=kind, reads=reads, forecasts=forecasts)
        for kind, reads, forecasts in [
            *((kind, "lags", "value") for kind in KINDS),
            ("LSTM", "lags", "change"),
            ("LSTM", "lags, season", "value"),
            ("trees", "lags", "value"),
            ("trees", "lags, season", "value"),
        ]
    ]
    assert best[-1] < min(one, with_its_season, *(errors[0] for errors in others))
    persistent = statistics.mean(rolling_errors(last, load_series("seattle", "temp_max"), ORIGINS["weather"])[1])
    assert min(errors[0] for errors in others[-2:]) > persistent

    four, season = linear(COLUMNS, False), linear(COLUMNS, True)
    assert f"{season:.2f} {four:.2f}" == "2.20 2.23"
    assert min(means(experiment="weather", kind="trees")) > max(four, season)
    everything = means(**weather, reads="four variables, season", forecasts="change")
    assert f"{statistics.mean(everything):.2f}" == "2.10" and everything[-1] > best[0]
    for reads in ("four variables", "four variables, season"):
        runs = evidence.load("series", chosen=True, **weather, reads=reads, forecasts="value")
        assert statistics.mean(run["test"][0] for run in runs) > 2.27  # after one year to learn from

    for has_season, reads in ((False, "lags"), (True, "lags, season")):
        simple, week = linear(["temp_max"], has_season, 7), means(**weather, reads=reads, forecasts="week")
        assert simple < week[0]
    changes = means(**weather, reads="lags, season", forecasts="week, change")
    assert abs(statistics.mean(changes) - simple) < 0.025
    gain = [statistics.mean(means(**weather, reads=reads, forecasts="week")) for reads in ("lags", "lags, season")]
    assert f"{gain[0] - gain[1]:.2f} {linear(['temp_max'], False, 7) - simple:.2f}" == "0.12 0.12"


def test_the_best_lstm_of_the_table_is_also_best_on_the_parts_for_choosing():
    """Check that nobody has to look at a test part to choose it."""
    runs = evidence.load("series", chosen=True, experiment="weather")
    runs = [run for run in runs if run["reads"].startswith("lags") and not run["forecasts"].startswith("week")]
    errors = evidence.spread([run | {"mean": statistics.mean(run["choose"])} for run in runs], "mean", *SETTINGS)
    assert min(errors, key=lambda setting: errors[setting].mean) == ("LSTM", "lags, season", "change")
    weather = load_series("seattle", "temp_max")
    for reads in (weather, with_season(weather)):
        for length in (1, 2, 7, 14, 28):
            forecast = linear_forecasts(reads)
            tried = [
                mean_absolute_error(forecast(learned, learned, start, length), weather[learned:start])
                for learned, start, _ in ORIGINS["weather"]
            ]
            assert statistics.mean(tried) > errors["LSTM", "lags, season", "change"].highest


def test_what_the_chapter_says_of_the_tank():
    """Check that trees are ahead of networks, and networks far ahead of the linear model."""
    tank = water_tank(2000)
    simple = rolling_errors(linear_forecasts(tank), tank, ORIGINS["tank"], (28, 56))[1][0]
    for reads, kinds in (("lags", KINDS), ("lags, season", ["LSTM"])):
        (trees,) = means(experiment="tank", kind="trees", reads=reads)
        for kind in kinds:
            errors = means(experiment="tank", kind=kind, reads=reads)
            assert trees < errors[0] and errors[-1] < 0.6 * simple


def test_a_row_has_the_means_of_columns_and_the_range_of_seeds():
    assert (
        evidence.row("RNN", [[1.0, 3.0], [2.0, 5.0]], "rate 0.1").split()
        == "RNN 1.50 4.00 2.75 2.00–3.50 rate 0.1".split()
    )
    assert evidence.row("linear", [[0.626]]).split() == ["linear", "0.63"]
