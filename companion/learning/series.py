"""Time series: from a file to windows, simple forecasts as baselines, a recurrent forecaster, and error measures.

A series is (time, variables), float64. A window is a piece of it, and its targets are the values that follow. Windows
are (time, batch, variables), as recurrent layers read them; targets and forecasts are (batch, horizon), in one unit.
"""

import copy
import math
import re
from collections.abc import Callable, Sequence
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

import torch
from torch import Tensor, nn

from companion.learning.files import is_there, read_text
from companion.learning.sequence_model import evaluation_of, in_few_threads
from companion.learning.tables import Row, find_separator, is_index, parse_number, problem_of, read_rows, split_names
from companion.learning.times import check_times
from companion.learning.training import clip_gradients
from companion.learning.windows import generator_of

SHIPPED = Path(str(files("companion.learning") / "series_files"))
# Where the parts for learning, choosing and testing end. The weather is tested on each half of 2014 and of 2015.
ORIGINS = {
    "weather": ((366, 731, 912), (547, 912, 1096), (731, 1096, 1277), (912, 1277, 1461)),
    "tank": ((1000, 1400, 2000),),
}
POINT_OR_THOUSAND = re.compile(r"[-+]?[1-9]\d{0,2}\.\d{3}")


# ---- From a file to windows ----


def load_series(
    source: str | Path,
    columns: str | Sequence[str] | None = None,
    *,
    time: str | None = None,
    separator: str | None = None,
    decimal: str | None = None,
    header: bool | None = None,
    encoding: str = "utf-8",
) -> Tensor:
    """Return the numbers of a CSV file, as pandas, R and spreadsheets write it: (time, variables), float64.

    source: the name of a series that comes with the package ("seattle", the weather of 1,461 days), or the path of a
    file. columns: names of those to be read, in that order; None for all but `time` and a first column without a name
    that numbers or names the rows. time: the name of a column of times or numbers ("" if it has none), which must
    follow one another in equal steps (`companion.learning.times`). Without it, the order of the rows is not checked:
    they must be sorted, oldest first. separator: between columns; None for the one of comma, semicolon and tab in the
    first line. decimal: "." or ","; None for ".". header: False for a file without a line of names, whose columns are
    then called "0", "1" and so on; True if the names are numbers. encoding: that of a file without a byte-order mark.

    FileNotFoundError if there is no such file. ValueError, with the line and what to do, for no column, an unknown or
    repeated one, a first line of numbers, several possible separators, a quote that is not closed, a line of the wrong
    length, a value that is missing, has thousands separators or is not a finite number; and with `time` for a time that
    cannot be read, comes twice, runs backwards or leaves a gap.
    """
    path = SHIPPED / f"{source}.csv"
    if not (isinstance(source, str) and source.isidentifier() and path.is_file()):
        path = source
    if not is_there(path):
        known = ", ".join(repr(file.stem) for file in sorted(SHIPPED.glob("*.csv")))
        raise FileNotFoundError(f"{str(source)[:80]!r} is neither a file nor one of the series {known}")
    if decimal not in (None, ".", ","):
        raise ValueError(f"decimal must be '.' or ',', not {decimal!r}")
    text, sign = read_text(path, encoding), decimal or "."
    separator = separator or find_separator(path, text, default=";" if sign == "," else ",")
    rows = read_rows(path, text, separator)
    if not rows:
        raise ValueError(f"{str(path)!r} has rows, but nothing in them")
    first = rows[0].line
    names, rows = split_names(path, rows, header, sign)
    if columns is None:
        columns = [name for k, name in enumerate(names) if name != time and not (k == 0 and is_index(names, rows))]
    columns = [columns] if isinstance(columns, str) else list(columns)
    if not columns:
        raise ValueError(f"no column of {str(path)!r} is to be read, of {', '.join(names)}: name one in `columns`")
    for column in [*columns, *([] if time is None else [time])]:
        if names.count(column) != 1 or (not column and column != time):
            called = "a column has no name" if column == "" else f"{names.count(column)} columns are called {column!r}"
            raise ValueError(
                f"{str(path)!r}, line {first}: {called}, of {', '.join(map(repr, names))}. The first line must have the"
                " names of the columns, each once; delete titles and comments above it"
            )

    def position(row: Row, name: str) -> str:
        return f"{str(path)!r}, line {row.line}, column {name!r}"

    if time is not None:
        times = [row.cells[names.index(time)] for row in rows]
        check_times(times, [position(row, time) for row in rows], sign)
    read = [(name, names.index(name)) for name in columns]
    numbers = [[parse_number(row.cells[k], sign) for _, k in read] for row in rows]
    for row, values in zip(rows, numbers, strict=True):
        for (name, k), value in zip(read, values, strict=True):
            if not math.isfinite(value):
                raise ValueError(f"{position(row, name)}: {problem_of(row.cells[k], sign)}")
    if separator == ";" and decimal is None:
        for name, k in read:
            pointed = [row for row in rows if "." in row.cells[k]]
            if pointed and all(POINT_OR_THOUSAND.fullmatch(row.cells[k]) for row in pointed):
                raise ValueError(
                    f"{position(pointed[0], name)}: {pointed[0].cells[k]!r} has a decimal point or a thousands"
                    " separator. Give decimal='.', or write the numbers without separators of thousands"
                )
    return torch.tensor(numbers, dtype=torch.float64)


def windows(series: Tensor, length: int, horizon: int = 1, target: int = 0) -> tuple[Tensor, Tensor]:
    """Return all windows of a series, one beginning at each position, and the values after each.

    series: (time, variables). length: steps of a window. horizon: the number of steps to predict. target: the predicted
    variable. Returns (length, N, variables) and (N, horizon), where N = time - length - horizon + 1. ValueError if the
    series is too short, or is not of two dimensions.
    """
    check_series(series)
    if length < 1 or horizon < 1 or len(series) < length + horizon:
        raise ValueError(f"{len(series):,} steps are too few for windows of {length} steps and a horizon of {horizon}")
    # unfold: (N, variables, length)
    inputs = series[:-horizon].unfold(0, length, 1).permute(2, 0, 1)
    targets = series[length:, target].unfold(0, horizon, 1)
    return inputs, targets


def check_series(series: Tensor) -> None:
    """Raise ValueError if a series is not (time, variables)."""
    if series.dim() != 2:
        raise ValueError(
            f"a series is (time, variables), not {tuple(series.shape)}: give a plain one as series[:, None]"
        )


class Scaling:
    """Each variable minus its mean, divided by its standard deviation, both computed from the training part.

    learned_from: (time, variables), the training part and nothing else, or the future leaks in. ValueError for fewer
    than two steps, a value that is not finite, a constant variable, and one whose spread is too large or too small for
    its type.
    """

    def __init__(self, learned_from: Tensor) -> None:
        check_series(learned_from)
        if len(learned_from) < 2:
            raise ValueError(f"a spread needs at least 2 steps, not {len(learned_from)}")
        if wrong := (~learned_from.isfinite()).nonzero().tolist():
            step, variable = wrong[0]
            value = learned_from[step, variable].item()
            raise ValueError(f"variable {variable} is {value} at step {step}: fill or leave out such steps")
        self.mean, self.std = learned_from.mean(0), learned_from.std(0)
        constant = (learned_from == learned_from[0]).all(0)
        for variable, std in enumerate(self.std.tolist()):
            if constant[variable]:
                raise ValueError(f"variable {variable} is the same at every step: it has no spread to divide by")
            if not 0 < std < math.inf:
                raise ValueError(
                    f"the spread of variable {variable} is {std} in {learned_from.dtype}, which cannot represent it:"
                    " change the unit of the series"
                )

    @classmethod
    def of(cls, mean: Tensor, std: Tensor) -> Self:
        """Return a scaling with these means and standard deviations, (variables): `mean` and `std` of another one."""
        scaling = cls.__new__(cls)
        scaling.mean, scaling.std = mean, std
        return scaling

    def there(self, series: Tensor) -> Tensor:
        """Return the series (…, variables) scaled to a mean of about 0 and a standard deviation of about 1."""
        return (series - self.mean) / self.std

    def back(self, values: Tensor, target: int = 0) -> Tensor:
        """Return forecasts of a variable in its original unit."""
        return values * self.std[target] + self.mean[target]


# ---- The simplest forecasts ----


def persistence(inputs: Tensor, horizon: int = 1, target: int = 0) -> Tensor:
    """Return the last value as the forecast for all steps, (N, horizon).

    inputs: (length, N, variables).
    """
    return inputs[-1, :, target, None].expand(-1, horizon)


def seasonal_persistence(inputs: Tensor, period: int, horizon: int = 1, target: int = 0) -> Tensor:
    """Return the values one period ago as forecasts, (N, horizon).

    inputs: (length, N, variables), with length at least the period.
    """
    if not horizon <= period <= len(inputs):
        raise ValueError(f"a window of {len(inputs)} steps and a horizon of {horizon} do not fit a period of {period}")
    start = len(inputs) - period
    return inputs[start : start + horizon, :, target].T


def climatology(learned_from: Tensor, steps: Tensor, reach: int, period: float = 365.25) -> Tensor:
    """Return the mean at this time of the year as the forecast, (N, 1).

    learned_from: (time, 1), the part that begins at step 0. steps: (N), the steps to be forecast. reach: the mean is
    over the values that are at most so many steps from the same place in the period (and half a step, as a year is not
    a whole number of days). ValueError for fewer steps than a period.
    """
    if len(learned_from) < period:
        raise ValueError(f"{len(learned_from)} steps are less than a period of {period:g}")
    distances = (steps[:, None] - torch.arange(len(learned_from)) + period / 2) % period - period / 2
    near = (distances.abs() <= reach + 0.5).to(learned_from.dtype)
    return near @ learned_from / near.sum(1, keepdim=True)


def with_season(series: Tensor, period: float = 365.25) -> Tensor:
    """Return the series with two more variables, the sine and the cosine of the next step's place in the period.

    series: (time, variables). The result is (time, variables + 2). Its last step says when the forecast is for.
    """
    angles = 2 * math.pi / period * torch.arange(1, len(series) + 1, dtype=series.dtype)[:, None]
    return torch.cat([series, angles.sin(), angles.cos()], dim=1)


class LinearForecast:
    """Linear autoregression: every forecast is a weighted sum of the window's values, plus a constant.

    inputs: (length, N, variables), targets: (N, horizon), of the training part. The weights minimise the mean squared
    error there (least squares). ValueError for fewer windows than weights.
    """

    def __init__(self, inputs, targets):
        x = self.rows(inputs)
        if len(x) < x.shape[1]:
            few = f"{len(x):,} windows are too few for {x.shape[1]:,} weights"
            raise ValueError(f"{few}: shorten the windows")
        # W = argmin ‖ x W - y ‖²
        self.weight = torch.linalg.lstsq(x, targets, driver="gelsd").solution

    @staticmethod
    def rows(inputs):
        """(length, N, variables) → (N, length · variables + 1), the last 1, for b."""
        x = inputs.transpose(0, 1).flatten(1)
        return torch.cat([x, x.new_ones(len(x), 1)], dim=1)

    def __call__(self, inputs):
        """(length, N, variables) → (N, horizon)."""
        # y = x W
        return self.rows(inputs) @ self.weight


# ---- A network ----


class Forecaster(nn.Module):
    """A recurrent layer that reads a window, and a linear layer that makes forecasts from its last output.

    recurrent: an RNN, GRU or LSTM, time first. horizon: the number of steps, all forecast at once. from_last: the
    network predicts the difference to the last value of variable 0; such a forecast begins as persistence.
    """

    def __init__(self, recurrent: Any, horizon: int = 1, from_last: bool = False) -> None:
        super().__init__()
        if recurrent.batch_first or recurrent.bidirectional:
            raise ValueError("windows come time first and are read forward: batch_first=False, bidirectional=False")
        self.recurrent, self.from_last = recurrent, from_last
        self.linear = nn.Linear(recurrent.hidden_size, horizon, dtype=recurrent.weight_ih_l0.dtype)

    if TYPE_CHECKING:

        def __call__(self, inputs: Tensor) -> Tensor:
            """Call `forward`."""

    def forward(self, inputs):
        """Return the forecasts (N, horizon) for windows (length, N, variables)."""
        output, _ = self.recurrent(inputs)
        # y = W h_T + b
        y = self.linear(output[-1])
        return inputs[-1, :, :1] + y if self.from_last else y


def fit(model, learned_from, held_out, learning_rate, epochs, batch_size=32, seed=0, patience=None):
    """Train on windows in random order, keep the weights with the smallest held-out error, and return the errors.

    learned_from, held_out: (inputs, targets), scaled. patience: stop after so many epochs without a smaller error.
    Returns the mean absolute error on the held-out part after each epoch, a list. Threads: `in_few_threads`.
    """
    inputs, targets = learned_from
    optimizer = torch.optim.Adam(model.parameters(), lr=learning_rate)
    history, best = [], None
    for epoch in range(epochs):
        order = torch.randperm(len(targets), generator=generator_of(seed, epoch))
        for places in order.split(batch_size):
            loss = (model(inputs[:, places]) - targets[places]).square().mean()
            optimizer.zero_grad()
            loss.backward()
            clip_gradients(model.parameters(), 1.0)
            optimizer.step()
        history.append(mean_absolute_error(ask(model, held_out[0]), held_out[1]))
        if history[-1] == min(history):
            best = copy.deepcopy(model.state_dict())
        if patience and len(history) - history.index(min(history)) > patience:
            break
    model.load_state_dict(best)
    return history


fit = in_few_threads(fit)  # no decorator, because a chapter prints the function


def ask(model: Callable[[Tensor], Tensor], inputs: Tensor) -> Tensor:
    """Return a model's forecasts, without gradients: (length, N, variables) → (N, horizon)."""
    if not isinstance(model, nn.Module):
        return model(inputs)
    with evaluation_of(model):
        return model(inputs)


def fed_back(model, inputs, steps):
    """Return forecasts over many steps by a one-step model that reads its own forecasts, (N, steps).

    inputs: (length, N, 1). ValueError for several variables: the others would have to be forecast too.
    """
    if inputs.shape[-1] != 1:
        variables = f"only one variable can be fed back, not {inputs.shape[-1]}"
        raise ValueError(f"{variables}: ask for all steps at once")
    found = []
    for _ in range(steps):
        found.append(ask(model, inputs)[:, :1])
        inputs = torch.cat([inputs[1:], found[-1][None]])
    return torch.cat(found, dim=1)


# ---- How good ----


def mean_absolute_error(forecasts: Tensor, targets: Tensor) -> float:
    """Return the mean distance between forecasts and targets, both (N, horizon), in the unit of the series."""
    if forecasts.shape != targets.shape:
        raise ValueError(f"forecasts {tuple(forecasts.shape)} and targets {tuple(targets.shape)} must have one shape")
    return (forecasts - targets).abs().mean().item()


def rolling_errors(forecast, series, origins, settings=(None,), horizon=1):
    """Return the setting that is best on the first part for choosing, and the errors on the test parts, a list.

    forecast(learned, start, stop, setting): returns the forecasts (N, horizon) of the steps from start to stop, by a
    model that learns from the steps before `learned`. series: (time, variables), of which the first is forecast.
    origins: as in `ORIGINS`.
    """

    def error(learned, start, stop, setting):
        forecasts = forecast(learned, start, stop, setting)
        return mean_absolute_error(forecasts, series[start:stop, 0].unfold(0, horizon, 1))

    learned, start, _ = origins[0]
    best = min(settings, key=lambda setting: error(learned, learned, start, setting))
    return best, [error(*cuts, best) for cuts in origins]


def linear_forecasts(series, horizon=1):
    """Return a function for `rolling_errors`, a linear model whose setting is the length of its windows."""

    def forecast(learned, start, stop, length):
        model = LinearForecast(*windows(series[:learned], length, horizon))
        return model(windows(series[start - length : stop], length, horizon)[0])

    return forecast


def half_width(errors: Tensor, coverage: float = 0.9) -> float:
    """Return half the width of an interval around a forecast that covers the truth with this probability.

    errors: forecast minus truth, one dimension, on data outside the training part. Of n distances it is the one with
    the rank ⌈(n + 1) · coverage⌉: split conformal prediction (Lei and others 2018, arXiv 1604.04173, section 2.2). It
    assumes that future errors are of the same kind. ValueError for too few errors.
    """
    rank = math.ceil((len(errors) + 1) * coverage)
    if rank > len(errors):
        raise ValueError(f"{len(errors)} errors are too few for a coverage of {coverage:.0%}")
    return errors.abs().sort().values[rank - 1].item()


def water_tank(steps: int, seed: int = 0) -> Tensor:
    """Return an artificial series: the amount of water in a tank, (steps, 1).

    The inflow has a period of 24 steps and some noise. At an amount of 10 a pump starts, and removes 3 per step until
    the amount is below 2.
    """
    generator = torch.Generator().manual_seed(seed)
    noise = 0.2 * torch.randn(steps, generator=generator, dtype=torch.float64)
    amount, pumping, amounts = 5.0, False, []
    for t in range(steps):
        amount += 1 + 0.5 * math.sin(2 * math.pi * t / 24) + noise[t].item() - (3 if pumping else 0)
        pumping = amount >= 2 if pumping else amount >= 10
        amounts.append(amount)
    return torch.tensor(amounts, dtype=torch.float64)[:, None]
