"""The parts of a series that models learn from, are chosen with and are tested with, and the windows of each."""

import math
from collections import Counter
from collections.abc import Callable
from typing import NamedTuple

import torch
from torch import Tensor

from companion.learning.own_series.series import OwnSeries
from companion.learning.own_series.times import DAY
from companion.learning.own_series.words import FileProblem, Note

CUTS = 0.6, 0.8  # shares of the values before the part to choose with, and before the part to test with
LEARN, CHOOSE, TEST = range(3)
NAMES = "part_learn", "part_choose", "part_test"
FEWEST = 20  # forecasts in each part
LENGTHS = 1, 2, 3, 7, 14, 28, 56  # of the windows of linear models
LONGEST = 170, 26  # windows that contain a whole season: of linear models, of the network
KEPT = 0.7  # share of the forecasts that a window's length must leave


class Season(NamedTuple):
    """A period in steps, and for each value the place of the one a period before, -1 if there is none.

    reach: the mean of the season includes so many steps on each side.
    """

    period: int
    back: list[int]
    reach: int = 0


class Parts:
    """All values of a series in one row, each with its machine, its step and its part.

    values, scaled: (values), `scaled` with mean and standard deviation of the machine's part to learn from.
    """

    def __init__(self, series: OwnSeries) -> None:
        self.series = series
        numbers = {name: k for k, name in enumerate(series.machines)}
        places = [(piece, k) for piece in series.pieces for k in range(len(piece.values))]
        self.machine = [numbers[piece.machine] for piece, _ in places]
        self.step = [piece.start + k for piece, k in places]
        self.offset = [k for _, k in places]  # values before it in its piece
        self.seen = [piece.seen[k] for piece, k in places]
        values = [piece.values[k] for piece, k in places]
        self.values = torch.tensor(values, dtype=torch.float64)
        self.machines = len(numbers)
        self.cuts = self.find_cuts()
        self.part = [(step >= self.cuts[m][0]) + (step >= self.cuts[m][1]) for m, step in zip(self.machine, self.step)]
        self.mean, self.std = self.scale(values)
        self.scaled = (self.values - self.mean) / self.std
        self.steps = torch.tensor(self.step, dtype=torch.float64)
        self.lengths: list[int] = [1]
        self.season: Season | None = None

    def find_cuts(self) -> list[tuple[int, int]]:
        """Return for each machine the first steps of the parts to choose and to test with.

        All machines have the same cuts if each then has a tenth of its values in each part; otherwise each has its own.
        """
        own: list[list[int]] = [[] for _ in range(self.machines)]
        for m, step, seen in zip(self.machine, self.step, self.seen, strict=True):
            if seen:
                own[m].append(step)

        def cut(steps: list[int]) -> tuple[int, int]:
            first, second = (sorted(steps)[int(share * len(steps))] for share in CUTS)
            return first, second

        first, second = cut([step for steps in own for step in steps])
        self.common = all(
            min(sum(s < first for s in steps), sum(first <= s < second for s in steps), sum(s >= second for s in steps))
            >= 0.1 * len(steps)
            for steps in own
        )
        return [(first, second) if self.common else cut(steps) for steps in own]

    def scale(self, values: list[float]) -> tuple[Tensor, Tensor]:
        """Return mean and standard deviation for each value, computed from the parts to learn from."""
        own: list[list[float]] = [[] for _ in range(self.machines)]
        for value, m, part, seen in zip(values, self.machine, self.part, self.seen, strict=True):
            if part == LEARN and seen:
                own[m].append(value)
        pooled = moments([value for part in own for value in part])
        if not pooled[1] > 0:
            raise FileProblem(
                "constant_part", self.series.columns, name=self.series.value, share=f"{100 * CUTS[0]:.0f}"
            )
        found = [moments(part) if len(part) >= 10 else pooled for part in own]
        found = [(mean, std if std > 1e-6 * pooled[1] else pooled[1]) for mean, std in found]
        means, stds = zip(*(found[m] for m in self.machine), strict=True)
        return torch.tensor(means, dtype=torch.float64), torch.tensor(stds, dtype=torch.float64)

    # ---- Seasons ----

    def back(self, period: int) -> list[int]:
        """Return for each value the place of the measured one a period before, -1 if there is none."""
        places = {(m, s): k for k, (m, s, seen) in enumerate(zip(self.machine, self.step, self.seen)) if seen}
        return [places.get((m, s - period), -1) for m, s in zip(self.machine, self.step, strict=True)]

    def periods(self) -> list[int]:
        """Return periods that may be in the series: of the calendar, and of the part to learn from."""
        step, kind = self.series.step, self.series.kind
        lengths = {"seconds": (DAY, 7 * DAY, 365.25 * DAY), "months": (12.0,), "number": ()}[kind]
        found = {round(length / step) for length in lengths if abs(length / step - round(length / step)) < 0.3}
        return sorted(period for period in found | {*self.echoes()} if period >= 2)

    def echoes(self) -> list[int]:
        """Return the lag at which the autocorrelation has its highest peak, and the first that is nearly as high.

        It is computed from the longest piece to learn from.
        """
        starts = [k for k, offset in enumerate(self.offset) if offset == 0] + [len(self.offset)]
        learned = []
        for start, stop in zip(starts, starts[1:]):
            cut = next((k for k in range(start, stop) if self.part[k] != LEARN), stop)
            learned.append((cut - start, cut))
        length, stop = max(learned)
        length = min(length, 5000)
        z = self.scaled[stop - length : stop]
        z = z - z.mean()
        variance = z.square().mean().item()
        if length < 20 or variance == 0:
            return []
        echo = [1.0] + [(z[k:] * z[:-k]).mean().item() / variance for k in range(1, min(length // 3, 400) + 2)]
        peaks, least = [], 1.0
        for k in range(1, len(echo) - 1):
            least = min(least, echo[k])
            if k > 1 and echo[k - 1] < echo[k] >= echo[k + 1] and echo[k] > 0.1 + max(least, 0.0):
                peaks.append((echo[k], k))
        if not peaks:
            return []
        highest = max(peaks)
        return [next(k for height, k in peaks if height > 0.9 * highest[0]), highest[1]]

    def seasons(self) -> list[Season]:
        """Return the seasons of which each part of the series has enough forecasts."""
        least = {LEARN: 0.3, CHOOSE: 0.5, TEST: 0.5}
        found = []
        for period in self.periods():
            back = self.back(period)
            there = [place >= 0 for place in back]
            if all(self.share(there.__getitem__, part) >= share for part, share in least.items()):
                found.append(Season(period, back))
        return found

    # ---- Windows ----

    def candidates(self, part: int, length: int) -> list[int]:
        """Return the places of a part's measured values that have so many values before them in their piece."""
        return [
            k
            for k, (own, offset, seen) in enumerate(zip(self.part, self.offset, self.seen))
            if own == part and offset >= length and seen
        ]

    def share(self, keeps: Callable[[int], bool], part: int) -> float:
        """Return the share of a part's measured values for which `keeps` of their place is true."""
        places = self.candidates(part, 0)
        return sum(map(keeps, places)) / max(1, len(places))

    def choose_lengths(self) -> None:
        """Choose the lengths of windows that leave enough forecasts in each part. `length` is the network's."""
        period = self.season.period if self.season else 0
        lengths = {*LENGTHS, *([period + 1] if 0 < period < LONGEST[0] else [])}
        count = len(self.candidates(LEARN, 1))

        def fits(length: int) -> bool:
            parts = (LEARN, CHOOSE, TEST)
            kept = min(self.share(lambda k: self.offset[k] >= length, part) for part in parts)
            return length == 1 or length < count / 10 and kept >= KEPT

        self.lengths = sorted(filter(fits, lengths))
        self.length = max(length for length in self.lengths if length <= 14)
        if self.length < period + 1 <= LONGEST[1] and period + 1 in self.lengths:
            self.length = period + 1

    def targets(self, part: int) -> Tensor:
        """Return the places of the values to forecast in a part: each can be forecast by every model."""
        places = self.candidates(part, max(self.lengths))
        if part != LEARN and self.season:
            back = self.season.back
            places = [k for k in places if back[k] >= 0]
        if len(places) < FEWEST:
            where = Note("problems", NAMES[part], {})
            raise FileProblem("pieces", self.series.columns, count=len(places), part=where)
        return torch.tensor(places)

    def windows(self, targets: Tensor, length: int, season: bool = False) -> tuple[Tensor, Tensor]:
        """Return the scaled windows before these places, (length, N, variables), and the scaled values, (N, 1).

        season: whether sine and cosine of the next step's place in the period are two more variables.
        """
        places = targets - length + torch.arange(length)[:, None]
        variables = [self.scaled[places]]
        if season and self.season:
            angles = 2 * math.pi / self.season.period * (self.steps[places] + 1)
            variables += [angles.sin(), angles.cos()]
        return torch.stack(variables, dim=-1), self.scaled[targets][:, None]

    def unscaled(self, forecasts: Tensor, targets: Tensor) -> Tensor:
        """Return forecasts (N, 1) of these places in the unit of the series, (N)."""
        return forecasts[:, 0] * self.std[targets] + self.mean[targets]

    def counts(self) -> list[int]:
        """Return the number of measured values in each part."""
        found = Counter(part for part, seen in zip(self.part, self.seen, strict=True) if seen)
        return [found[part] for part in (LEARN, CHOOSE, TEST)]


def moments(values: list[float]) -> tuple[float, float]:
    """Return mean and standard deviation."""
    if not values:
        return 0.0, 0.0
    mean = math.fsum(values) / len(values)
    return mean, math.sqrt(math.fsum((value - mean) ** 2 for value in values) / len(values))
