"""Series of numbers: from a file to windows, to forecasts, and to what the simplest forecasts would have reached.

A series is (time, variables), float64. A window is a piece of it, and its targets are what comes next. Windows are
(time, batch, variables), as recurrent layers read them; targets and forecasts are (batch, horizon), in the same unit.
"""

import copy
import math
from collections.abc import Callable, Sequence
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING, Any

import torch
from torch import Tensor, nn

from companion.learning.files import is_there, read_text
from companion.learning.sequence_model import evaluation_of
from companion.learning.training import clip_gradients
from companion.learning.windows import generator_of

SHIPPED = Path(str(files("companion.learning") / "series_files"))


# ---- From a file to windows ----


def load_series(source: str | Path, columns: str | Sequence[str] | None = None) -> Tensor:
    """Numbers from a file of comma-separated values with a line of names at its top: (time, variables), float64.

    source: the name of a series that comes with the package ("seattle", the weather of 1,461 days), or the path of a
    file in UTF-8, with a point before decimals. columns: names of those to be read, in that order; None for all.
    FileNotFoundError if there is no such file; ValueError, with the line, for a column that is not there, a line that
    is cut or too long, and a value that is missing or no finite number.
    """
    path = SHIPPED / f"{source}.csv"
    if not (isinstance(source, str) and source.isidentifier() and path.is_file()):
        path = source
    if not is_there(path):
        known = ", ".join(repr(one.stem) for one in sorted(SHIPPED.glob("*.csv")))
        raise FileNotFoundError(f"{str(source)[:80]!r} is neither a file nor one of the series {known}")
    lines = read_text(path).splitlines()
    names = [name.strip().strip('"') for name in lines[0].split(",")]
    columns = names if columns is None else [columns] if isinstance(columns, str) else list(columns)
    for column in columns:
        if names.count(column) != 1:
            raise ValueError(f"{str(path)!r}, line 1: there is not one column {column!r}, but {', '.join(names)}")
    places, rows = [names.index(column) for column in columns], []
    for number, line in enumerate(lines[1:], 2):
        values = line.split(",")
        if not line.strip():
            continue
        if len(values) != len(names):
            raise ValueError(f"{str(path)!r}, line {number}: {len(values)} values for {len(names)} columns")
        rows.append([finite(values[place], path, number, names[place]) for place in places])
    if not rows:
        raise ValueError(f"{str(path)!r} has a line of names, and no numbers below it")
    return torch.tensor(rows, dtype=torch.float64)


def finite(text: str, path: str | Path, line: int, column: str) -> float:
    """The number that a text is. ValueError, with the place, if it is none, or not finite."""
    try:
        value = float(text)
    except ValueError:
        value = math.nan
    if math.isfinite(value):
        return value
    text = text.strip()
    said = f"{text!r} is not a finite number" if text else "a value is missing"
    raise ValueError(
        f"{str(path)!r}, line {line}, column {column!r}: {said}. Name the columns to read, or mend the file"
    )


def windows(series: Tensor, length: int, horizon: int = 1, target: int = 0) -> tuple[Tensor, Tensor]:
    """All windows of a series, one beginning at each place, and what comes after each.

    series: (time, variables). length: steps of a window. horizon: how many steps after it are asked for. target: which
    variable. Returns (length, N, variables) and (N, horizon), where N = time - length - horizon + 1. ValueError if the
    series is too short, or lacks the dimension of its variables.
    """
    if series.dim() != 2:
        raise ValueError(
            f"a series is (time, variables), not {tuple(series.shape)}: give a plain one as series[:, None]"
        )
    if length < 1 or horizon < 1 or len(series) < length + horizon:
        raise ValueError(f"{len(series):,} steps are too few for windows of {length} steps and a horizon of {horizon}")
    # unfold: (N, variables, length)
    inputs = series[:-horizon].unfold(0, length, 1).permute(2, 0, 1)
    targets = series[length:, target].unfold(0, horizon, 1)
    return inputs, targets


class Scaling:
    """Each variable minus its mean, divided by its standard deviation: both of what is given here, and kept.

    learned_from: (time, variables), the part that is learned from and no more; else the future is known. ValueError for
    a variable that is the same throughout.
    """

    def __init__(self, learned_from: Tensor) -> None:
        self.mean, self.std = learned_from.mean(0), learned_from.std(0)
        if not (self.std > 0).all():
            constant = [k for k, std in enumerate(self.std.tolist()) if not std > 0]
            raise ValueError(f"variable {constant[0]} is the same at every step: it has no spread to divide by")

    def there(self, series: Tensor) -> Tensor:
        """(…, variables) in its unit → the same without a unit, with a mean of about 0 and a spread of about 1."""
        return (series - self.mean) / self.std

    def back(self, values: Tensor, target: int = 0) -> Tensor:
        """Forecasts of a variable → the same in its unit."""
        return values * self.std[target] + self.mean[target]


# ---- The simplest forecasts ----


def persistence(inputs: Tensor, horizon: int = 1, target: int = 0) -> Tensor:
    """As it was last. inputs: (length, N, variables). Returns (N, horizon)."""
    return inputs[-1, :, target, None].expand(-1, horizon)


def seasonal_persistence(inputs: Tensor, period: int, horizon: int = 1, target: int = 0) -> Tensor:
    """As it was one period ago. inputs: (length, N, variables), with length at least the period. Returns (N,
    horizon)."""
    if not horizon <= period <= len(inputs):
        raise ValueError(f"a window of {len(inputs)} steps and a horizon of {horizon} do not fit a period of {period}")
    start = len(inputs) - period
    return inputs[start : start + horizon, :, target].T


class LinearForecast:
    """A linear autoregression: every target is a sum of the window's values, each times a weight, and a constant.

    inputs: (length, N, variables), targets: (N, horizon), of the part that is learned from. The weights make the mean
    squared error there as small as it can be (least squares). ValueError for fewer windows than weights.
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
    """A recurrent layer that reads a window, and a linear layer that makes the forecasts of its last output.

    recurrent: an RNN, GRU or LSTM, time first. horizon: how many steps ahead, all at once. from_last: what is learned
    is the difference to the last value of variable 0; such a forecast begins as persistence.
    """

    def __init__(self, recurrent: Any, horizon: int = 1, from_last: bool = False) -> None:
        super().__init__()
        if recurrent.batch_first or recurrent.bidirectional:
            raise ValueError("windows come time first and are read forward: batch_first=False, bidirectional=False")
        self.recurrent, self.from_last = recurrent, from_last
        self.linear = nn.Linear(recurrent.hidden_size, horizon, dtype=recurrent.weight_ih_l0.dtype)

    if TYPE_CHECKING:

        def __call__(self, inputs: Tensor) -> Tensor: ...

    def forward(self, inputs):
        """(length, N, variables) → (N, horizon)."""
        output, _ = self.recurrent(inputs)
        # y = W h_T + b
        y = self.linear(output[-1])
        return inputs[-1, :, :1] + y if self.from_last else y


def fit(model, learned_from, held_out, learning_rate, epochs, batch_size=32, seed=0):
    """Learn from windows in random order, and keep the weights that were best on what is held out.

    learned_from, held_out: (inputs, targets), scaled. Returns the mean absolute error on the held-out part after each
    epoch, a list.
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
    model.load_state_dict(best)
    return history


def ask(model: Callable[[Tensor], Tensor], inputs: Tensor) -> Tensor:
    """The forecasts of a model, without gradients: (length, N, variables) → (N, horizon)."""
    if not isinstance(model, nn.Module):
        return model(inputs)
    with evaluation_of(model):
        return model(inputs)


def fed_back(model, inputs, steps):
    """Forecasts over many steps by a model of one step: each forecast is read as if it had been measured.

    inputs: (length, N, 1). Returns (N, steps). ValueError for several variables: the others would have to be forecast
    too.
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
    """The mean distance between forecast and truth, a float in the unit of the series. Both: (N, horizon)."""
    if forecasts.shape != targets.shape:
        raise ValueError(f"forecasts {tuple(forecasts.shape)} and targets {tuple(targets.shape)} must have one shape")
    return (forecasts - targets).abs().mean().item()


def half_width(errors: Tensor, coverage: float = 0.9) -> float:
    """How far an interval must reach to each side of a forecast, to hold the truth with this probability.

    errors: forecast minus truth, one dimension, of a part that was not learned from. Of n distances it is the one with
    the rank ⌈(n + 1) · coverage⌉: split conformal prediction (Lei and others 2018, arXiv 1604.04173, section 2.2). It
    holds if the errors to come are of the same kind. ValueError for too few errors.
    """
    rank = math.ceil((len(errors) + 1) * coverage)
    if rank > len(errors):
        raise ValueError(f"{len(errors)} errors are too few for a coverage of {coverage:.0%}")
    return errors.abs().sort().values[rank - 1].item()


def water_tank(steps: int, seed: int = 0) -> Tensor:
    """A made series: the level of a tank, (steps, 1). Water runs in, more by day (24 steps) than by night, and a bit by
    chance. At a level of 10 a pump starts, and takes 3 a step until the level is below 2.
    """
    generator = torch.Generator().manual_seed(seed)
    noise = 0.2 * torch.randn(steps, generator=generator, dtype=torch.float64)
    level, pumping, levels = 5.0, False, []
    for t in range(steps):
        level += 1 + 0.5 * math.sin(2 * math.pi * t / 24) + noise[t].item() - (3 if pumping else 0)
        pumping = level >= 2 if pumping else level >= 10
        levels.append(level)
    return torch.tensor(levels, dtype=torch.float64)[:, None]
