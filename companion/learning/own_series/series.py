"""A reader's own series: the columns of a CSV file, put into equal steps and cut at gaps, for each machine."""

import math
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from typing import NamedTuple

from companion.learning.own_series.columns import find_column, find_machine, find_times, find_value
from companion.learning.own_series.table import Table, read_table, to_number
from companion.learning.own_series.times import DAY, Times
from companion.learning.own_series.words import FileProblem, Note, Step, note
from companion.learning.series import SHIPPED
from companion.words import language_of

FEWEST = 100  # values that a comparison needs
FILLED = 3  # steps: a longer gap is not filled
# codes that stand for missing values, if no other value is near them
CODES = -99.0, -99.9, -999.0, -999.9, -9999.0, -9999.9, -99999.0, 9999.0, 9999.9, 99999.0, 999999.0
# steps that people choose, in seconds
NICE = [*map(float, (1, 5, 10, 30, 60, 300, 600, 900, 1800, 3600, 10_800, 21_600, 43_200)), DAY, 7 * DAY]


class Piece(NamedTuple):
    """Values of a machine without a long gap, one for each step. seen: False for those that were filled."""

    machine: str
    start: int
    values: list[float]
    seen: list[bool]


@dataclass(repr=False)
class OwnSeries:
    """A series of a file in equal steps. `notes` says what was done, `columns` what else the file has.

    step: of time, in seconds, months, or the unit of the column, as `kind` says. value, time, machine: the names of the
    columns, None for a column that is not there. times: of all columns that times are read from. origin: the time of
    step 0. encoding: None for Unicode.
    """

    file: str
    columns: list[str]
    value: str
    time: str | None
    machine: str | None
    pieces: list[Piece]
    step: float
    kind: str
    origin: float
    notes: list[Note]
    times: list[str]
    encoding: str | None

    @property
    def count(self) -> int:
        """The number of values that were measured."""
        return sum(sum(piece.seen) for piece in self.pieces)

    @property
    def machines(self) -> list[str]:
        """The names of the machines, in order."""
        return list(dict.fromkeys(piece.machine for piece in self.pieces))

    def when(self, position: int) -> str:
        """Return the time of a step as a reader writes it."""
        return Times([], self.kind).written(self.origin + position * self.step)

    def text(self, language: str | None = None) -> str:
        """Return what was read and done, as a list in Markdown."""
        language = language_of(language)
        first = min(piece.start for piece in self.pieces)
        last = max(piece.start + len(piece.values) - 1 for piece in self.pieces)
        lines = [
            note(
                "read" if self.time else "read_rows",
                file=self.file,
                value=self.value,
                time="` + `".join(self.times),
                count=f"{self.count:,}",
                step=Step(self.step, self.kind),
                first=self.when(first),
                last=self.when(last),
            )
        ]
        if self.machine is not None:
            lines.append(note("machines", machine=self.machine, count=len(self.machines)))
        return "\n".join(f"- {line.text(language)}" for line in [*lines, *self.notes])

    def __repr__(self) -> str:
        return self.text()

    _repr_markdown_ = __repr__


def read_csv(
    source: str | bytes | Path,
    value: str | None = None,
    time: str | None = None,
    machine: str | None = None,
    *,
    name: str | None = None,
    encoding: str | None = None,
    language: str | None = None,
) -> OwnSeries:
    """Return a series of a CSV file in equal steps.

    source: a path, the content of a file, or the name of a series that comes with the package ("seattle"). value: the
    name of the column to forecast; None for the first that looks like a measurement. time: of the column of times.
    machine: of the column that names machines, each of which has a series of its own. None finds these columns; ""
    uses none. name: of the file, if `source` is its content. encoding: of a file without a byte-order mark; None to
    guess, where `language` only decides between equals. Raise FileProblem, which says what to do, if the file has no
    such series. Dates are read in many forms, numbers with either decimal sign, and the rows may be in any order.
    """
    if isinstance(source, str) and "\n" in source:
        source = source.encode()
    if not isinstance(source, bytes):
        shipped = SHIPPED / f"{source}.csv"
        path = shipped if str(source).isidentifier() and shipped.is_file() else Path(source)
        name = name or path.name
        if not path.is_file():
            raise FileProblem("absent", file=name)
        source = path.read_bytes()
    table = read_table(source, encoding, language)
    chosen = [find_column(table, column) for column in (value, time, machine)]
    notes = list(table.notes)
    times_at, times = find_times(table, chosen[1], time == "", chosen[0])
    machine_at = chosen[2]
    if machine_at is None and machine != "":
        machine_at = find_machine(table, times, {*times_at, chosen[0]})
    value_at = find_value(table, {*times_at, machine_at}) if chosen[0] is None else chosen[0]
    rows = [k for k in range(len(table.rows)) if times is None or times.values[k] is not None]
    if without := sorted({*range(len(table.rows))} - {*rows}):
        notes.append(note("no_time", **table.first(without, times_at[0])))
    numbers = values_of(table, value_at, rows, notes)
    by_machine: dict[str, list[tuple[float, float]]] = {}
    for k, number in zip(rows, numbers, strict=True):
        key = "" if machine_at is None else table.rows[k][machine_at]
        points = by_machine.setdefault(key, [])
        at = times.values[k] if times else float(len(points))
        points.append((at or 0.0, number))
    series = OwnSeries(
        name or "series.csv", table.names, table.names[value_at], table.names[times_at[0]] if times_at else None,
        None if machine_at is None else table.names[machine_at], [], 1.0, times.kind if times else "number", 0.0, notes,
        [table.names[k] for k in times_at], table.encoding,
    )  # fmt: skip
    to_steps(series, by_machine, average=machine == "")
    if series.count < FEWEST:
        raise FileProblem("few", table.names, count=series.count, least=FEWEST)
    values = {value for piece in series.pieces for value in piece.values}
    if len(values) == 1:
        raise FileProblem("constant", table.names, name=series.value, value=f"{values.pop():g}")
    return series


def values_of(table: Table, column: int, rows: list[int], notes: list[Note]) -> list[float]:
    """Return the numbers of a column in these rows, nan for missing ones."""
    found = table.numbers(column)
    numbers = [found[k] for k in rows]
    wrong = [k for k in rows if found[k] is None]
    first = table.first(wrong, column)
    if len(wrong) > 0.5 * len(numbers):
        raise FileProblem("not_numbers", table.names, name=table.names[column], **first)
    sign, cell = table.decimals[column]
    if cell:
        number, thousands = to_number(cell, sign) or 0.0, sign not in cell
        other = number / 1000 if thousands else number * 1000
        said = {"cell": cell, "number": f"{number:.10g}", "other": f"{other:.10g}"}
        notes.append(note("thousands" if thousands else "decimals", **said))
    if wrong:
        notes.append(note("wrong", **first))
    values = [math.nan if number is None or math.isinf(number) else number for number in numbers]
    for code in CODES:
        others = [number for number in values if number != code and not math.isnan(number)]
        count = values.count(code)
        if not count or len(others) < FEWEST:
            continue
        low, high = min(others), max(others)
        if not low - 2 * (high - low) <= code <= high + 2 * (high - low):
            values = [math.nan if number == code else number for number in values]
            notes.append(note("code", count=count, code=f"{code:g}"))
    if missing := sum(map(math.isnan, values)) - len(wrong):
        notes.append(note("missing", count=missing))
    return values


# ---- Equal steps ----


def to_steps(series: OwnSeries, points: dict[str, list[tuple[float, float]]], average: bool) -> None:
    """Put the (time, value) pairs of each machine into equal steps. average: if times repeat, take the mean."""
    backwards = sum(b[0] < a[0] for own in points.values() for a, b in zip(own, own[1:]))
    for own in points.values():
        own.sort(key=lambda point: point[0])
    if backwards:
        series.notes.append(note("sorted", count=backwards))
    steps = [b[0] - a[0] for own in points.values() for a, b in zip(own, own[1:])]
    repeated = steps.count(0.0)
    if series.machine is None and not average and repeated > 0.5 * len(steps):
        raise FileProblem("repeats", series.columns, count=repeated, rows=len(steps) + 1)
    steps = [step for step in steps if step > 0]
    if not steps:
        raise FileProblem("few", series.columns, count=len(points), least=FEWEST)
    series.origin = min(own[0][0] for own in points.values())
    series.step = usual_step(series, steps)
    merged = filled = 0
    gaps: list[tuple[int, int]] = []
    for machine, own in points.items():
        cells: dict[int, list[float]] = {}
        for at, value in own:
            if not math.isnan(value):
                cells.setdefault(round((at - series.origin) / series.step), []).append(value)
        merged += sum(len(values) - 1 for values in cells.values())
        piece = Piece(machine, 0, [], [])
        for place in sorted(cells):
            gap = place - piece.start - len(piece.values)
            if not piece.values or gap > FILLED:
                gaps += [(gap, place)] * bool(piece.values)
                piece, gap = Piece(machine, place, [], []), 0
                series.pieces.append(piece)
            filled += gap
            # fill with the last value before, never the next
            piece.values.extend([*piece.values[-1:] * gap, sum(cells[place]) / len(cells[place])])
            piece.seen.extend([*[False] * gap, True])
    if merged:
        series.notes.append(note("merged", count=merged))
    if filled:
        series.notes.append(note("filled", count=filled, most=FILLED))
    if gaps:
        longest, place = max(gaps)
        series.notes.append(note("gaps", count=len(gaps), most=FILLED, longest=longest, when=series.when(place)))


def usual_step(series: OwnSeries, steps: list[float]) -> float:
    """Return the usual step: the median, or a longer one if the steps are so unequal that gaps would be everywhere."""
    step = median(steps)
    near = [one for one in steps if abs(one - step) <= 0.1 * step]
    if sum(abs(one - step) <= 0.01 * step for one in near) >= 0.8 * len(steps):
        return step
    text = "irregular" if sum(one > (FILLED + 0.5) * step for one in steps) > 0.05 * len(steps) else "unequal"
    if text == "irregular":
        step = sorted(steps)[int(0.9 * (len(steps) - 1))]
        step = next((nice for nice in NICE if nice >= step), step) if series.kind == "seconds" else step
    else:
        step = sum(near) / len(near)
        step = next((nice for nice in NICE if abs(nice - step) < 0.01 * step), step)
    low, high, used = (Step(one, series.kind) for one in (min(steps), max(steps), step))
    series.notes.append(note(text, low=low, high=high, step=used))
    return step
