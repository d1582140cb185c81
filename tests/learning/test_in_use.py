"""Test the sentences with numbers on the pages *A network in use* and *A forecast every day*, by their outputs."""

import re

import nbformat
import pytest
import torch

from companion.learning.series import ORIGINS, LinearForecast, climatology, load_series, windows, with_season
from tests.project.paths import ROOT


def printed(page, name):
    """Return the text that a cell of the English edition has printed."""
    notebook = nbformat.read(ROOT / f"book/en/{page}.ipynb", 4)
    (cell,) = [cell for cell in notebook.cells if cell.id == name]
    return "".join(output.text for output in cell.outputs)


def rows(name):
    """Return name → numbers, of the table that a cell of *A forecast every day* prints."""
    lines = printed("daily_forecast", name).splitlines()
    return {line[:15].strip(): [float(x) for x in re.findall(r"-?[\d.]+", line[15:])] for line in lines}


def test_int8_takes_a_quarter_of_the_bytes_and_costs_nearly_nothing():
    perplexities = [float(x) for x in re.findall(r"perplexity ([\d.]+)", printed("in_use", "small-cell"))]
    sizes = [int(x.replace(",", "")) for x in re.findall(r"([\d,]+) bytes of weights", printed("in_use", "small-cell"))]
    assert abs(perplexities[1] / perplexities[0] - 1) < 1e-4
    assert 0.25 < sizes[1] / sizes[0] < 0.27


def test_windows_and_a_carried_state_forecast_alike():
    text = printed("daily_forecast", "arrive")
    means = [float(x) for x in re.findall(r" ([\d.]+) °C, ", text)]
    assert {f"{mean:.1f}" for mean in means} <= {"2.1", "2.2"} and means[1] == pytest.approx(means[2], abs=0.01)
    assert float(re.search(r"at most ([\d.]+) °C", text)[1]) > 1


def test_intervals_hold_but_for_climatology():
    holds = {name: numbers[-1] for name, numbers in rows("sure-table").items() if name}
    assert all((name == "climatology") == (abs(share - 90) > 2) for name, share in holds.items())
    assert holds["climatology"] < 88


def test_alarms_ring_where_forecasts_know_the_season():
    table = {name: numbers for name, numbers in rows("alarm").items() if name and len(numbers) == 8}
    # limit, false alarms, then days until it rings, and the share that rings, at +3, +5 and -5 °C
    for name in ("persistence", "linear"):
        assert all(table[name][k] == 61 and table[name][k + 1] < 50 for k in (2, 4, 6))
    for name in ("climatology", "linear, season", "five LSTMs"):
        assert all(table[name][k] < 14 and table[name][k + 1] > 75 for k in (2, 4))
        assert table[name][6] > 30 and table[name][7] < 75
    assert all(table["five LSTMs"][k] <= table["climatology"][k] for k in (3, 5, 7))


def test_the_test_year_was_warm():
    """Check the reason for climatology's interval and for false alarms."""
    series = load_series("seattle", ["temp_max"])
    learned, start, _ = ORIGINS["weather"][2]
    x = with_season(series)
    forecasts = {
        "climatology": climatology(series[:learned], torch.arange(learned, len(series)), reach=30),
        "linear, season": LinearForecast(*windows(x[:learned], 7))(windows(x[learned - 7 :], 7)[0]),
    }
    assert (series[start:] - forecasts["climatology"][start - learned :]).mean() > 1.5
    for forecast in forecasts.values():
        means = (forecast - series[learned:]).unfold(0, 14, 1).mean(-1)[:, 0]
        seen = start - learned - 13
        rings = means[seen:][means[seen:].abs() > means[:seen].abs().max()]
        assert len(rings) > 10 and (rings < 0).double().mean() > 0.9  # it was warmer than the forecasts


def test_learning_again_gains_little_on_the_weather_and_much_after_a_change():
    table = {}
    for line in printed("daily_forecast", "again-table").splitlines():
        table[line[:15].strip(), line[15:35].strip()] = [float(x) for x in re.findall(r"([\d.]+) \(", line)]
    plans = "once", "again, a year late", "again, at once"
    assert max(table["linear", plan][0] for plan in plans) - min(table["linear", plan][0] for plan in plans) < 0.005
    for name in ("linear, season", "five LSTMs"):
        (true, changed), (_, late), (again, at_once) = (table[name, plan] for plan in plans)
        assert 0 < true - again < 0.1
        assert (changed - at_once) / (changed - true) > 0.8
        assert (late - true) / (changed - true) > 0.48
    series = load_series("seattle", ["temp_max"])
    yesterday = [(series[a - 1 : b - 1] - series[a:b]).abs().mean() for _, a, b in ORIGINS["weather"]]
    assert f"{torch.stack(yesterday).mean():.2f}" == "2.26"
    assert table["five LSTMs", plans[2]][1] == pytest.approx(2.26, abs=0.05)
    assert min(table, key=lambda key: table[key][1])[0] == "linear"
