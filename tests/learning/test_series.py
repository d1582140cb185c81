"""Tests of `companion.learning.series`: files, windows, scaling, baselines, training and intervals."""

import math

import pytest
import torch
from torch import nn

from companion.learning.series import (
    Forecaster,
    LinearForecast,
    Scaling,
    climatology,
    fed_back,
    fit,
    half_width,
    load_series,
    mean_absolute_error,
    persistence,
    seasonal_persistence,
    water_tank,
    windows,
    with_season,
)

float64 = {"dtype": torch.float64}


def positions(time, variables=2):
    """Return a series whose values encode their position: 10 t + variable."""
    return 10.0 * torch.arange(time, **float64)[:, None] + torch.arange(variables)


def test_shipped_weather_is_complete():
    """Check that every day of four years is there, with the columns in order and unchanged numbers."""
    weather = load_series("seattle", ["temp_max", "temp_min", "precipitation", "wind"])
    assert weather.shape == (365 * 4 + 1, 4) and weather.dtype == torch.float64
    assert weather[0].tolist() == [12.8, 5.0, 0.0, 4.7] and weather[-1].tolist() == [5.6, -2.1, 0.0, 3.5]
    assert (weather[:, 0] >= weather[:, 1]).all() and load_series("seattle", "wind").equal(weather[:, 3:])


@pytest.mark.parametrize(
    ("text", "columns", "message"),
    [
        ("a,b\n1,2\n3\n", None, "line 3: 1 values for 2 columns"),
        ("a,b\n1,2\n3,4,5\n", None, "line 3: 3 values for 2 columns"),
        ("a,b\n1,2\n\n3,\n", None, "line 4, column 'b': a value is missing"),
        ("day,a\n2012-01-01,1\n", None, "line 2, column 'day': '2012-01-01' is not a finite number"),
        ("a,b\n1,2\n", ["c"], "line 1: 0 columns are called 'c', of 'a', 'b'"),
        ("a,a\n1,2\n", ["a"], "line 1: 2 columns are called 'a', of 'a', 'a'"),
        ("a,b\n", None, "no numbers below"),
        ("", None, "is empty"),
    ],
)
def test_damaged_files_are_refused_with_the_line(tmp_path, text, columns, message):
    path = tmp_path / "mine.csv"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(ValueError) as refused:
        load_series(path, columns)
    assert message in str(refused.value) and "mine.csv" in str(refused.value)


def test_own_files_are_read(tmp_path):
    path = tmp_path / "mine.csv"
    path.write_bytes('\ufeff"day",sold\r\nMon,1.5\r\nTue,-2e3\r\n'.encode())
    assert load_series(str(path), ["sold"]).tolist() == [[1.5], [-2000.0]]
    with pytest.raises(FileNotFoundError, match="neither a file nor one of the series 'seattle'"):
        load_series("settle")


def test_a_window_ends_where_its_targets_begin():
    inputs, targets = windows(positions(9), length=4, horizon=2, target=1)
    assert inputs.shape == (4, 4, 2) and targets.shape == (4, 2)
    for k in range(4):
        assert inputs[:, k].equal(positions(9)[k : k + 4])
        assert targets[k].tolist() == [10.0 * (k + 4) + 1, 10.0 * (k + 5) + 1]
    for series, length, message in ((positions(5), 4, "too few"), (torch.zeros(9), 2, "series\\[:, None\\]")):
        with pytest.raises(ValueError, match=message):
            windows(series, length, horizon=2)


def test_baseline_forecasts():
    series = positions(60)
    inputs, targets = windows(series, length=12, horizon=3, target=1)
    assert persistence(inputs, 3, target=1).equal(inputs[-1:, :, 1].T.repeat(1, 3))
    assert seasonal_persistence(inputs, 7, 3, target=1).equal(targets - 70)
    # a straight line: each step is a weighted sum of the steps before
    assert LinearForecast(inputs, targets)(inputs).allclose(targets)
    for period, horizon in ((13, 1), (2, 3)):
        with pytest.raises(ValueError, match="do not fit a period"):
            seasonal_persistence(inputs, period, horizon)
    with pytest.raises(ValueError, match="16 windows are too few for 25 weights"):
        LinearForecast(*windows(series[:28], 12))


def test_climatology_is_the_mean_at_this_place_in_the_period():
    series = positions(60, 1)  # step t has the value 10 t
    steps = torch.tensor([60, 85])
    assert climatology(series, steps, 0, 24).tolist() == [[(120 + 360) / 2], [(130 + 370) / 2]]
    assert climatology(series, steps[:1], 1, 24).item() == sum((110, 120, 130, 350, 360, 370, 590)) / 7
    year = torch.cos(2 * math.pi * torch.arange(1461, **float64) / 365.25)[:, None]
    forecast = climatology(year[:731], torch.arange(731, 1461), 0)
    assert (forecast - year[731:]).abs().max() < 0.02  # years that are not a whole number of days stay in step
    with pytest.raises(ValueError, match="20 steps are less than a period of 24"):
        climatology(series[:20], steps, 0, 24)


def test_the_season_is_that_of_the_next_step():
    season = with_season(positions(50), 24)
    assert season[:, :2].equal(positions(50)) and season.shape == (50, 4)
    assert season[[23, 47], 2:].allclose(torch.tensor([0.0, 1.0], **float64))  # the next step begins a period
    assert season[5, 2:].allclose(torch.tensor([1.0, 0.0], **float64))  # a quarter


def test_a_change_is_no_other_linear_model():
    """Check what a chapter says: a window has the last value, so least squares finds the same forecasts."""
    inputs, targets = windows(water_tank(200), 5)
    change = LinearForecast(inputs, targets - persistence(inputs))
    assert (persistence(inputs) + change(inputs)).allclose(LinearForecast(inputs, targets)(inputs))


def test_scaling_there_and_back():
    series = torch.randn(50, 2, generator=torch.Generator().manual_seed(0), **float64) * torch.tensor([3.0, 500.0]) + 7
    scaling = Scaling(series[:30])
    scaled = scaling.there(series)
    assert scaled[:30].mean(0).abs().max() < 1e-12 and (scaled[:30].std(0) - 1).abs().max() < 1e-12
    assert scaling.back(scaled[:, 1], target=1).allclose(series[:, 1])


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ([2.0, 2.0, 2.0], "variable 1 is the same at every step"),
        ([0.1] * 3, "variable 1 is the same at every step"),  # its computed spread is not exactly 0
        ([1.0, math.nan, 2.0], "variable 1 is nan at step 1: fill or leave out such steps"),
        ([1.0, 2.0, -math.inf], "variable 1 is -inf at step 2"),
        ([1e200, -1e200, 0.0], "the spread of variable 1 is inf in torch.float64.*: change the unit"),
        ([1e-200, 2e-200, 0.0], "the spread of variable 1 is 0.0 in torch.float64"),
        ([1.0], "a spread needs at least 2 steps, not 1"),
    ],
)
def test_series_without_a_spread_are_refused(values, message):
    series = torch.stack([torch.arange(len(values), **float64), torch.tensor(values, **float64)], dim=1)
    with pytest.raises(ValueError, match=message):
        Scaling(series)
    with pytest.raises(ValueError, match="series\\[:, None\\]"):
        Scaling(series[:, 1])


def test_fed_back_reads_its_own_forecasts():
    inputs = torch.tensor([[1.0], [1.0]], **float64)[:, None]
    assert fed_back(lambda x: x[-2] + x[-1], inputs, 5).tolist() == [[2, 3, 5, 8, 13]]  # Fibonacci
    with pytest.raises(ValueError, match="only one variable"):
        fed_back(persistence, torch.zeros(3, 1, 2), 2)


def test_fit_keeps_the_best_weights():
    """Check that the weights of the epoch with the smallest error are kept, reproducibly."""
    series = Scaling(water_tank(150)).there(water_tank(150))
    errors = []
    for _ in range(2):
        torch.manual_seed(0)
        model = Forecaster(nn.RNN(1, 4, **float64))
        history = fit(model, windows(series[:100], 5), windows(series[95:], 5), learning_rate=0.3, epochs=3)
        inputs, targets = windows(series[95:], 5)
        errors.append(mean_absolute_error(model(inputs), targets))
        assert errors[-1] == min(history) < history[-1]
    assert errors[0] == errors[1]
    torch.manual_seed(0)
    model = Forecaster(nn.RNN(1, 4, **float64))
    patient = fit(model, windows(series[:100], 5), windows(series[95:], 5), 0.3, epochs=50, patience=2)
    assert patient[:3] == history and len(patient) == patient.index(min(patient)) + 1 + 2 < 50
    new = Forecaster(nn.RNN(1, 4, **float64), horizon=2, from_last=True)
    nn.init.zeros_(new.linear.weight), nn.init.zeros_(new.linear.bias)
    assert new(inputs).equal(persistence(inputs, 2))
    with pytest.raises(ValueError, match="batch_first=False"):
        Forecaster(nn.RNN(1, 4, batch_first=True))
    with pytest.raises(ValueError, match="must have one shape"):
        mean_absolute_error(targets, targets[:, 0])


def test_intervals_have_their_coverage():
    """Check that the next of 20 errors is within the interval as often as promised, over many draws."""
    assert half_width(-torch.arange(1.0, 100.0), 0.9) == 90
    errors = torch.randn(2000, 20, generator=torch.Generator().manual_seed(0))
    covered = sum(abs(row[-1].item()) <= half_width(row[:-1], 0.8) for row in errors) / 2000
    assert abs(covered - math.ceil(20 * 0.8) / 20) < 0.03
    with pytest.raises(ValueError, match="too few"):
        half_width(torch.ones(8), 0.9)
