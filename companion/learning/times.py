"""Times in a column of a table: in order, each once, with equal steps."""

import math
from calendar import monthrange
from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from functools import partial
from statistics import median_low

from companion.learning.tables import parse_number

Time = datetime | float
DATES = ("%d.%m.%Y", "%Y/%m/%d", "%Y-%m", "%d/%m/%Y", "%m/%d/%Y", "%d-%m-%Y", "%m-%d-%Y")
DIGITS = {6: "%Y%m", 8: "%Y%m%d", 10: "%Y%m%d%H"}  # how dates without separators are written
CLOCKS = ("", " %H:%M", " %H:%M:%S")
TOLERANCE = 0.01  # of a step, for times that were rounded


def check_times(texts: Sequence[str], places: Sequence[str], decimal: str = ".") -> None:
    """Raise ValueError unless times follow one another in equal steps; months, quarters and years count as equal.

    texts: dates of ISO 8601, with or without a time of day; yyyymm, yyyymmddhh; dd.mm.yyyy, yyyy/mm/dd, yyyy-mm;
    mm/dd/yyyy or dd/mm/yyyy if only one of them is possible; or numbers. places: where each of them stands.
    """
    values = _positions(_read(texts, places, decimal), places)
    steps = [after - before for before, after in zip(values, values[1:], strict=False)]
    usual = median_low(step for step in steps if step > 0) if any(step > 0 for step in steps) else math.nan
    for k, step in enumerate(steps, 1):
        if step == 0:
            raise ValueError(f"{places[k]}: {texts[k]!r} comes twice. Keep one row for each time")
        if step < 0:
            raise ValueError(
                f"{places[k]}: time runs backwards, {texts[k]!r} after {texts[k - 1]!r}. Sort the rows, oldest first"
            )
    for k, step in enumerate(steps, 1):
        if not math.isclose(step, usual, rel_tol=TOLERANCE):
            kind = "there is a gap" if step > usual else "a step is too short"
            raise ValueError(
                f"{places[k]}: {kind}, {texts[k]!r} after {texts[k - 1]!r} is {step / usual:.3g} times the usual step."
                " Fill it in the file, or read without `time`, if unequal steps are meant"
            )


def _parsers(decimal: str) -> dict[str, Callable[[str], Time]]:
    """Return the ways to read a time, the preferred first."""

    def iso(text: str) -> datetime:
        if text.isdigit():  # others are numbers, such as seconds since 1970
            return datetime.strptime(text, DIGITS.get(len(text), ""))
        return datetime.fromisoformat(text)

    def number(text: str) -> float:
        value = parse_number(text, decimal)
        if not math.isfinite(value):
            raise ValueError
        return value

    def written(text: str, form: str) -> datetime:
        return datetime.strptime(text, form)

    forms = [date + clock for date in DATES for clock in CLOCKS]
    return {"iso": iso, **{form: partial(written, form=form) for form in forms}, "number": number}


def _read(texts: Sequence[str], places: Sequence[str], decimal: str) -> list[Time]:
    """Return the times, all read in the only way that fits each of them."""
    parsers = _parsers(decimal)
    times: dict[str, list[Time]] = {name: [] for name in parsers}
    for text, place in zip(texts, places, strict=True):
        for name in [*times]:
            try:
                times[name].append(parsers[name](text))
            except ValueError:
                del times[name]
        if not times:
            example = f", like {texts[0]!r}" if text != texts[0] else ""
            raise ValueError(
                f"{place}: {text!r} cannot be read as a time{example}. Write dates as 2012-01-31, with 13:30 after it"
            )
    first, *others = times.values()
    if "iso" not in times and any(other != first for other in others):
        raise ValueError(
            f"{places[0]}: {texts[0]!r} and the dates below it may have the day or the month first. Write dates as"
            " 2012-01-31"
        )
    return first


def _positions(times: list[Time], places: Sequence[str]) -> list[float]:
    """Return times as numbers: of months, if all are the same day of a month or its last, otherwise of seconds."""
    dates = [time for time in times if isinstance(time, datetime)]
    if not dates:
        return [time for time in times if isinstance(time, float)]
    last = all(date.day == monthrange(date.year, date.month)[1] for date in dates)
    if len({date.timetz() for date in dates}) == 1 and (last or len({date.day for date in dates}) == 1):
        return [12.0 * date.year + date.month for date in dates]
    for date, place in zip(dates, places, strict=True):
        if (date.tzinfo is None) != (dates[0].tzinfo is None):
            raise ValueError(f"{place}: some times have a time zone, others have none. Write all in one way")
    return [date.replace(tzinfo=date.tzinfo or UTC).timestamp() for date in dates]
