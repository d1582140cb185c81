"""A comparison of forecasts for a reader's own series: simple ones, a linear model and a small LSTM."""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import accumulate
from typing import NamedTuple

import torch
from torch import Tensor, nn

from companion.learning.own_series.parts import CHOOSE, LEARN, TEST, Parts, Season
from companion.learning.own_series.series import OwnSeries
from companion.learning.own_series.words import Note, words
from companion.learning.series import Forecaster, LinearForecast, ask, fit
from companion.words import language_of

BLOCKS = {10: 2.26, 5: 2.78}  # blocks of the test part → the 97.5 % point of Student's t with one degree less
SHOWN = 100  # steps in the picture


class Score(NamedTuple):
    """A method's error on the test part. errors: of each forecast, (N); forecasts: (N). seeds: the error of each."""

    key: str
    error: float
    setting: Note
    errors: Tensor
    forecasts: Tensor
    seeds: tuple[float, ...] = ()


@dataclass(repr=False)
class Comparison:
    """The errors of all methods, and what wins. `verdict` has a few sentences, `last` the last steps tested.

    last: (steps, truth, forecasts by key), of the machine `shown`.
    """

    series: OwnSeries
    scores: list[Score]
    best: str
    verdict: list[Note]
    split: list[Note]
    shown: str
    last: tuple[list[int], list[float], dict[str, list[float]]]

    @property
    def errors(self) -> dict[str, float]:
        """The mean absolute errors on the test part, in the unit of the series, by the method's key."""
        return {score.key: score.error for score in self.scores}

    def text(self, language: str | None = None) -> str:
        """Return what wins, and the table of errors, in Markdown."""
        language = language_of(language)
        names, digits = words(language)["table"], decimals([score.error for score in self.scores])
        rows = [f"| {names['method']} | {names['error']} | {names['setting']} |", "|:--|--:|:--|"]
        for score in self.scores:
            mark = "**" if score.key == self.best else ""
            setting = score.setting.text(language)
            if len(score.seeds) > 1:
                low, high = (f"{error:,.{digits}f}" for error in (min(score.seeds), max(score.seeds)))
                setting += names["spread"].format(low=low, high=high, count=len(score.seeds))
            name = names[score.key] + names.get(f"plain_{score.key}", "")
            rows.append(f"| {mark}{name}{mark} | {mark}{score.error:,.{digits}f}{mark} | {setting} |")
        between = words(language)["verdicts"]["between"]
        said, split = (between.join(note.text(language) for note in notes) for notes in (self.verdict, self.split))
        return "\n".join([said, "", *rows, "", split])

    def __repr__(self) -> str:
        return self.text()

    _repr_markdown_ = __repr__


def decimals(errors: Sequence[float]) -> int:
    """Return how many decimals show three digits of the smallest error, or of the largest if that is nearly 0."""
    least, most = min(errors), max(errors)
    shown = least if least > 1e-3 * most else most
    return max(0, 2 - math.floor(math.log10(shown))) if shown > 0 else 2


def compare(
    series: OwnSeries,
    *,
    rates: Sequence[float] = (0.01, 0.003),
    seeds: Sequence[int] = (0, 1, 2),
    hidden_size: int = 16,
    epochs: int = 12,
    most: int = 1200,
    progress: Callable[[int, int], None] | None = None,
) -> Comparison:
    """Return the errors of simple forecasts, a linear model and an LSTM, one step ahead, on the last part of a series.

    All learn from the first 60 % of the values. Period, lengths of windows, learning rate and epoch are chosen on the
    next 20 %. The last 20 % are used once, to measure. rates: learning rates to choose from. seeds: one network for
    each. most: windows that a network learns from. progress: called before each network with its number and the
    count of all. Raise FileProblem if gaps leave too few windows.
    """
    parts = Parts(series)
    choose_season(parts)
    parts.choose_lengths()
    targets = [parts.targets(part) for part in (LEARN, CHOOSE, TEST)]
    truth = parts.values[targets[TEST]]

    def score(key: str, forecasts: Tensor, **values: object) -> Score:
        errors = (forecasts - truth).abs()
        return Score(key, errors.mean().item(), Note("table", f"set_{key}", values), errors, forecasts)

    scores = [score("last", parts.values[targets[TEST] - 1])]
    if parts.season:
        period, _, reach = parts.season
        scores.append(score("season", repeat_season(parts, parts.season)(targets[TEST]), period=period))
        mean = season_mean(parts, parts.season)(targets[TEST])
        scores.append(score("mean", mean, period=period, reach=reach))
    linear, length = choose_linear(parts, targets)
    scores.append(score("linear", linear(targets[TEST]), length=length))
    networks, rate = train_networks(parts, targets, rates, seeds, hidden_size, epochs, most, progress)
    forecasts = [network(targets[TEST]) for network in networks]
    errors = torch.stack([(each - truth).abs() for each in forecasts])
    lstm, own = score("lstm", torch.stack(forecasts).mean(0), length=parts.length, rate=f"{rate:g}"), errors.mean(1)
    scores.append(lstm._replace(error=errors.mean().item(), errors=errors.mean(0), seeds=tuple(own.tolist())))
    learned, chosen, tested = (f"{count:,}" for count in parts.counts())
    values = {"learned": learned, "chosen": chosen, "tested": tested, "count": f"{len(truth):,}"}
    split = [Note("verdicts", "split" if parts.common else "split_own", values)]
    split += [] if parts.season else [Note("verdicts", "no_season", {})]
    best = min(scores, key=lambda score: score.error).key
    return Comparison(series, scores, best, judge(scores), split, *last_steps(parts, targets[TEST], scores))


def error_of(parts: Parts, forecast: Callable[[Tensor], Tensor], targets: Tensor) -> float:
    """Return the mean absolute error of forecasts in the unit of the series."""
    return (forecast(targets) - parts.values[targets]).abs().mean().item()


# ---- Seasons ----


def choose_season(parts: Parts) -> None:
    """Choose the season with the smallest error in the part to choose with: of its repetition, or of its mean."""
    found = []
    for season in parts.seasons():
        targets = torch.tensor([k for k in parts.candidates(CHOOSE, 1) if season.back[k] >= 0])
        last = error_of(parts, lambda places: parts.values[places - 1], targets) or 1.0
        repeated = error_of(parts, repeat_season(parts, season), targets)
        reaches = sorted({0, season.period // 24, season.period // 12})
        means = [error_of(parts, season_mean(parts, season._replace(reach=reach)), targets) for reach in reaches]
        mean, reach = min(zip(means, reaches, strict=True))
        # of nearly equal errors the shorter period
        found.append((round(min(repeated, mean) / last, 2), season.period, season._replace(reach=reach)))
    if found:
        parts.season = min(found)[-1]


def repeat_season(parts: Parts, season: Season) -> Callable[[Tensor], Tensor]:
    """Return a forecast: the value one period before."""
    return lambda targets: parts.values[torch.tensor([season.back[k] for k in targets.tolist()])]


def season_mean(parts: Parts, season: Season) -> Callable[[Tensor], Tensor]:
    """Return a forecast: the mean at this place of the period, in the machine's part to learn from."""
    period, _, reach = season
    sums = [[0.0] * period for _ in range(parts.machines)]
    counts = [[0.0] * period for _ in range(parts.machines)]
    values = parts.scaled.tolist()
    for k in parts.candidates(LEARN, 0):
        place = parts.step[k] % period
        sums[parts.machine[k]][place] += values[k]
        counts[parts.machine[k]][place] += 1
    means = [
        [total / max(1, count) for total, count in zip(near(own, reach), near(count, reach))]
        for own, count in zip(sums, counts, strict=True)
    ]

    def forecast(targets: Tensor) -> Tensor:
        z = [means[parts.machine[k]][parts.step[k] % period] for k in targets.tolist()]
        return parts.unscaled(torch.tensor(z, dtype=torch.float64)[:, None], targets)

    return forecast


def near(values: list[float], reach: int) -> list[float]:
    """Return the sum of each value and of so many on each side, as on a circle."""
    sums = [0.0, *accumulate(values[len(values) - reach :] + values + values[:reach])]
    return [sums[k + 2 * reach + 1] - sums[k] for k in range(len(values))]


# ---- Models ----


def choose_linear(parts: Parts, targets: list[Tensor]) -> tuple[Callable[[Tensor], Tensor], int]:
    """Return the linear model with the best length of windows, and this length."""

    def learn(length: int) -> Callable[[Tensor], Tensor]:
        model = LinearForecast(*parts.windows(targets[LEARN], length))
        return lambda places: parts.unscaled(model(parts.windows(places, length)[0]), places)

    models = {length: learn(length) for length in parts.lengths}
    length = min(models, key=lambda length: error_of(parts, models[length], targets[CHOOSE]))
    return models[length], length


def train_networks(parts, targets, rates, seeds, hidden_size, epochs, most, progress):
    """Return a trained network for each seed, as a forecast, and the learning rate that is best for the first seed.

    The network reads the window and the place in the season, and forecasts the change to the last value.
    """
    learned_from, held_out = (
        parts.windows(spread(places, count), parts.length, season=True)
        for places, count in ((targets[LEARN], most), (targets[CHOOSE], most // 2))
    )
    size = learned_from[0].shape[-1]
    done, count = 0, len(rates) + len(seeds) - 1

    def train(seed: int, rate: float) -> tuple[float, Callable[[Tensor], Tensor]]:
        nonlocal done
        done += 1
        if progress:
            progress(done, count)
        torch.manual_seed(seed)
        model = Forecaster(nn.LSTM(size, hidden_size, dtype=torch.float64), from_last=True)
        with torch.no_grad():
            model.linear.weight.mul_(0.1)  # the first forecasts are close to the last value
        history = fit(model, learned_from, held_out, rate, epochs, batch_size=64, seed=seed)

        def forecast(places: Tensor) -> Tensor:
            return parts.unscaled(ask(model, parts.windows(places, parts.length, season=True)[0]), places)

        return min(history), forecast

    tried = {rate: train(seeds[0], rate) for rate in rates}
    rate = min(tried, key=lambda rate: tried[rate][0])
    return [tried[rate][1], *(train(seed, rate)[1] for seed in seeds[1:])], rate


def spread(places: Tensor, most: int) -> Tensor:
    """Return at most so many places, evenly spread over all."""
    count = min(most, len(places))
    return places[torch.arange(count) * len(places) // count]


# ---- What wins ----


def clearly_smaller(better: Score, other: Score) -> bool:
    """Return whether an error is smaller than another by more than the chance of blocks of time and of seeds."""
    count = 10 if len(better.errors) >= 100 else 5
    size = len(better.errors) // count
    gains = (other.errors - better.errors)[: count * size].reshape(count, size).mean(1)
    width = BLOCKS[count] * gains.std().item() / math.sqrt(count)
    seeds = all(a < b for a in better.seeds or (better.error,) for b in other.seeds or (other.error,))
    return gains.mean().item() > width and seeds


def gain(better: Score, other: Score) -> str:
    """Return by how many percent of the larger error the smaller one is smaller."""
    percent = 100 * (1 - better.error / other.error) if other.error else 0.0
    return f"{percent:.0f}" if percent >= 1 else f"{percent:.1g}" if percent >= 0.01 else "<0.01"


def judge(scores: list[Score]) -> list[Note]:
    """Return in words which method wins, whether that is clear, and what that means."""
    by_key = {score.key: score for score in scores}
    lstm, last = by_key["lstm"], by_key["last"]
    best = min((score for score in scores if score.key != "lstm"), key=lambda score: score.error)
    winner, second = sorted((lstm, best), key=lambda score: score.error)
    clear = clearly_smaller(winner, second)
    values = {"best": Note("table", best.key, {}), "gain": gain(winner, second), "seeds": len(lstm.seeds)}
    key = ("lstm" if winner is lstm else "simple") + ("_clear" if clear else "_unclear")
    found = [Note("verdicts", key, values)]
    taken = lstm if winner is lstm and clear else best
    if taken is last:
        found.append(Note("verdicts", "nothing", {}))
    elif not clearly_smaller(taken, last):
        found.append(Note("verdicts", "no_gain", {}))
    else:
        found.append(Note("verdicts", "gain", {"gain": gain(taken, last), "winner": Note("table", taken.key, {})}))
    return found


def last_steps(parts: Parts, targets: Tensor, scores: list[Score]):
    """Return the machine with most tests, and steps, truth and forecasts by key of its last ones."""
    places = targets.tolist()
    own = [parts.machine[k] for k in places]
    machine = max(sorted({*own}), key=own.count)
    rows = sorted((parts.step[k], n) for n, k in enumerate(places) if parts.machine[k] == machine)[-SHOWN:]
    chosen = torch.tensor([n for _, n in rows])
    shown = {score.key: score.forecasts[chosen].tolist() for score in scores}
    return parts.series.machines[machine], ([step for step, _ in rows], parts.values[targets[chosen]].tolist(), shown)
