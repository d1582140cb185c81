"""Series: what is read from a file, what a window may know, and the simple forecasts."""

import math

import pytest
import torch
from torch import nn

from companion.learning.series import (
    Forecaster,
    LinearForecast,
    Scaling,
    fed_back,
    fit,
    half_width,
    load_series,
    mean_absolute_error,
    persistence,
    seasonal_persistence,
    water_tank,
    windows,
)

float64 = {"dtype": torch.float64}


def places(time, variables=2):
    """A series whose values say where they stand: 10 t + variable."""
    return 10.0 * torch.arange(time, **float64)[:, None] + torch.arange(variables)


def test_the_weather_that_is_shipped():
    """Every day of four years, in its columns' order; not a number was changed on the way."""
    weather = load_series("seattle", ["temp_max", "temp_min", "precipitation", "wind"])
    assert weather.shape == (365 * 4 + 1, 4) and weather.dtype == torch.float64
    assert weather[0].tolist() == [12.8, 5.0, 0.0, 4.7] and weather[-1].tolist() == [5.6, -2.1, 0.0, 3.5]
    assert (weather[:, 0] >= weather[:, 1]).all() and load_series("seattle", "wind").equal(weather[:, 3:])


@pytest.mark.parametrize(
    ("text", "columns", "said"),
    [
        ("a,b\n1,2\n3\n", None, "line 3: 1 values for 2 columns"),
        ("a,b\n1,2\n3,4,5\n", None, "line 3: 3 values for 2 columns"),
        ("a,b\n1,2\n\n3,\n", None, "line 4, column 'b': a value is missing"),
        ("a,b\n1,nan\n", None, "line 2, column 'b': 'nan' is not a finite number"),
        ("day,a\n2012-01-01,1\n", None, "line 2, column 'day': '2012-01-01' is not a finite number"),
        ("a,b\n1,2\n", ["c"], "line 1: there is not one column 'c', but a, b"),
        ("a,a\n1,2\n", ["a"], "line 1: there is not one column 'a'"),
        ("a,b\n", None, "no numbers below"),
        ("", None, "is empty"),
    ],
)
def test_a_file_that_is_wrong_is_refused_with_the_place(tmp_path, text, columns, said):
    path = tmp_path / "mine.csv"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(ValueError) as refused:
        load_series(path, columns)
    assert said in str(refused.value) and "mine.csv" in str(refused.value)


def test_a_file_of_ones_own(tmp_path):
    path = tmp_path / "mine.csv"
    path.write_bytes('\ufeff"day",sold\r\nMon,1.5\r\nTue,-2e3\r\n'.encode())
    assert load_series(str(path), ["sold"]).tolist() == [[1.5], [-2000.0]]
    path.write_text("a\n1\n2\né\n", encoding="latin-1")
    with pytest.raises(ValueError, match=r"not a text in UTF-8 \(line 4"):
        load_series(path)
    with pytest.raises(FileNotFoundError, match="neither a file nor one of the series 'seattle'"):
        load_series("settle")


def test_a_window_ends_where_its_targets_begin():
    inputs, targets = windows(places(9), length=4, horizon=2, target=1)
    assert inputs.shape == (4, 4, 2) and targets.shape == (4, 2)
    for k in range(4):
        assert inputs[:, k].equal(places(9)[k : k + 4])
        assert targets[k].tolist() == [10.0 * (k + 4) + 1, 10.0 * (k + 5) + 1]
    for series, length, said in ((places(5), 4, "too few"), (torch.zeros(9), 2, "series\\[:, None\\]")):
        with pytest.raises(ValueError, match=said):
            windows(series, length, horizon=2)


def test_simple_forecasts_are_what_they_are_called():
    series = places(60)
    inputs, targets = windows(series, length=12, horizon=3, target=1)
    assert persistence(inputs, 3, target=1).equal(inputs[-1:, :, 1].T.repeat(1, 3))
    assert seasonal_persistence(inputs, 7, 3, target=1).equal(targets - 70)
    assert LinearForecast(inputs, targets)(inputs).allclose(
        targets
    )  # a straight line: each step is a sum of those before
    for period, horizon in ((13, 1), (2, 3)):
        with pytest.raises(ValueError, match="do not fit a period"):
            seasonal_persistence(inputs, period, horizon)
    with pytest.raises(ValueError, match="16 windows are too few for 25 weights"):
        LinearForecast(*windows(series[:28], 12))


def test_scaling_there_and_back():
    series = torch.randn(50, 2, generator=torch.Generator().manual_seed(0), **float64) * torch.tensor([3.0, 500.0]) + 7
    scaling = Scaling(series[:30])
    scaled = scaling.there(series)
    assert scaled[:30].mean(0).abs().max() < 1e-12 and (scaled[:30].std(0) - 1).abs().max() < 1e-12
    assert scaling.back(scaled[:, 1], target=1).allclose(series[:, 1])
    with pytest.raises(ValueError, match="variable 1 is the same"):
        Scaling(torch.tensor([[1.0, 2.0], [3.0, 2.0]]))


def test_fed_back_reads_its_own_forecasts():
    inputs = torch.tensor([[1.0], [1.0]], **float64)[:, None]
    assert fed_back(lambda x: x[-2] + x[-1], inputs, 5).tolist() == [[2, 3, 5, 8, 13]]  # Fibonacci
    with pytest.raises(ValueError, match="only one variable"):
        fed_back(persistence, torch.zeros(3, 1, 2), 2)


def test_the_best_weights_are_kept():
    """Those after the epoch with the smallest error, not the last; and the same again from the same seed."""
    series = Scaling(water_tank(150)).there(water_tank(150))
    found = []
    for _ in range(2):
        torch.manual_seed(0)
        model = Forecaster(nn.RNN(1, 4, **float64))
        history = fit(model, windows(series[:100], 5), windows(series[95:], 5), learning_rate=0.3, epochs=3)
        inputs, targets = windows(series[95:], 5)
        found.append(mean_absolute_error(model(inputs), targets))
        assert found[-1] == min(history) < history[-1]
    assert found[0] == found[1]
    new = Forecaster(nn.RNN(1, 4, **float64), horizon=2, from_last=True)
    nn.init.zeros_(new.linear.weight), nn.init.zeros_(new.linear.bias)
    assert new(inputs).equal(persistence(inputs, 2))
    with pytest.raises(ValueError, match="batch_first=False"):
        Forecaster(nn.RNN(1, 4, batch_first=True))
    with pytest.raises(ValueError, match="must have one shape"):
        mean_absolute_error(targets, targets[:, 0])


def test_intervals_hold_what_they_promise():
    """Of 99 errors the 90th: then the next one is within it nine times in ten, here counted over many draws."""
    assert half_width(-torch.arange(1.0, 100.0), 0.9) == 90
    errors = torch.randn(2000, 20, generator=torch.Generator().manual_seed(0))
    held = sum(abs(row[-1].item()) <= half_width(row[:-1], 0.8) for row in errors) / 2000
    assert abs(held - math.ceil(20 * 0.8) / 20) < 0.03
    with pytest.raises(ValueError, match="too few"):
        half_width(torch.ones(8), 0.9)
