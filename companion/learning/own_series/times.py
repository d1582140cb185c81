"""Times as people and programs write them, read as seconds, months or plain numbers."""

import math
import re
from calendar import monthrange
from collections.abc import Sequence
from datetime import date, datetime, timedelta
from functools import lru_cache
from statistics import median
from typing import NamedTuple

DAY = 86400.0
MONTHS = "jan feb mar apr may jun jul aug sep oct nov dec".split()
CLOCK = re.compile(
    r"(?P<half>오전|오후|午前|午後|上午|下午)?\s*(?P<h>\d{1,2})[:hH時时시点]\s?(?P<m>\d{1,2})[分분]?"
    r"(?:[:分분]?\s?(?P<s>\d{1,2})[秒초]?(?P<f>[.,]\d+)?)?"
    r"\s*(?P<ap>[AaPp]\.?[Mm]\.?)?\s*(?P<zone>Z|UTC|GMT|[-+]\d{2}:?\d{2}|[-+]\d{2})?"
)
# ways to write a date: the order of its parts → pattern
DATES = {
    "ymd": re.compile(r"(\d{4})\s*[-/.年년]\s*(\d{1,2})\s*[-/.月월]\s*(\d{1,2})(?:\s*[日일.])?"),
    "ym": re.compile(r"(\d{4})\s*[-/年년]\s*(\d{1,2})[月월]?"),
    "either": re.compile(r"(\d{1,2})[-/.](\d{1,2})[-/.](\d{4}|\d{2})"),  # the day or the month first
    "dmy": re.compile(r"(\d{1,2})[-/. ]?([A-Za-z]{3})[a-z]*\.?[-/., ]+(\d{4}|\d{2})"),
    "mdy": re.compile(r"([A-Za-z]{3})[a-z]*\.? (\d{1,2})(?:st|nd|rd|th)?,? (\d{4})"),
    "my": re.compile(r"([A-Za-z]{3})[a-z]*\.?[-/., ']+(\d{4}|\d{2})"),
    "yq": re.compile(r"(\d{4})[-/. ]?[Qq]([1-4])"),
    "qy": re.compile(r"[Qq]([1-4])[-/. ]?(\d{4})"),
    "digits": re.compile(r"(\d{4})(\d{2})(\d{2})(?:[T_ ]?(\d{2})(\d{2})(\d{2})?)?"),
}
WEEKDAY = re.compile(r"(?:mon|tue|wed|thu|fri|sat|sun)[a-z]*\.?,? ", re.IGNORECASE)
UNIX_SECONDS, UNIX_MILLISECONDS = (3e8, 4e9), (3e11, 4e12)
EXCEL_DAYS = 20_000, 80_000  # days since 1899-12-30, from 1954 to 2119
NO_DATE = datetime(1, 1, 1)  # the first day of times without dates
EPOCH = date(1970, 1, 1).toordinal()


class Time(NamedTuple):
    """A written time: its date as written, as (form, three parts), and seconds since midnight."""

    form: str
    parts: tuple[str, ...]
    seconds: float


class Times(NamedTuple):
    """The times of a column: numbers, None where there is none. kind: "seconds", "months" or "number"."""

    values: list[float | None]
    kind: str

    def written(self, value: float) -> str:
        """Return a time as a reader writes it."""
        if self.kind == "number":
            return f"{value:.10g}"
        if self.kind == "months":
            return f"{int(value - 1) // 12}-{int(value - 1) % 12 + 1:02}"
        moment = datetime(1970, 1, 1) + timedelta(seconds=round(value))
        if moment.year == NO_DATE.year:
            days = (moment - NO_DATE).days
            return f"{moment:%H:%M:%S}" + (f" (+{days})" if days else "")
        return f"{moment:%Y-%m-%d}" if not value % DAY else f"{moment:%Y-%m-%d %H:%M:%S}".removesuffix(":00")


@lru_cache(maxsize=4096)
def parse_clock(text: str) -> float | None:
    """Return the seconds since midnight, in the zone UTC if the text names one."""
    match = CLOCK.fullmatch(text)
    if not match:
        return None
    hour, minute, second = int(match["h"]), int(match["m"]), int(match["s"] or 0)
    afternoon = match["half"] in ("오후", "午後", "下午") or (match["ap"] or "").lower().startswith("p")
    if match["half"] or match["ap"]:
        hour = hour % 12 + 12 * afternoon
    if hour > 24 or minute > 59 or second > 60:
        return None
    seconds = 3600.0 * hour + 60 * minute + second
    if match["f"]:
        seconds += float(match["f"].replace(",", "."))
    zone = match["zone"] or ""
    if zone[:1] in ("-", "+") and zone:
        digits = zone[1:].replace(":", "").ljust(4, "0")
        offset = 3600 * int(digits[:2]) + 60 * int(digits[2:])
        seconds -= offset if zone[0] == "+" else -offset
    return seconds


def parse(text: str) -> Time | None:
    """Return a written date, with or without a time of day; None for anything else, such as a plain number."""
    text = WEEKDAY.sub("", text)
    for form, pattern in DATES.items():
        match = pattern.match(text)
        if not match:
            continue
        parts = match.groups()
        rest = text[match.end() :]
        if form == "digits":
            if not (1900 <= int(parts[0]) <= 2100 and 1 <= int(parts[1]) <= 12 and 1 <= int(parts[2]) <= 31):
                return None
            seconds = parse_clock(":".join(part or "00" for part in parts[3:]))
            return Time("ymd", parts[:3], seconds or 0) if not rest.strip("Z") else None
        clock = rest[1:].strip() if rest[:1] in ("T", "t", " ", ",", "_", ":") else ""
        seconds = parse_clock(clock) if clock else 0.0
        if seconds is None or rest.strip() and not clock:
            continue
        if form in ("yq", "qy"):
            year, quarter = parts if form == "yq" else parts[::-1]
            return Time("ymd", (year, str(3 * int(quarter) - 2), "1"), seconds)
        if form == "my":
            return Time("dmy", ("1", *parts), seconds)
        return Time("ymd", (*parts, "1"), seconds) if form == "ym" else Time(form, parts, seconds)
    return None


@lru_cache(maxsize=4096)
def looks_like_time(text: str) -> bool:
    """Return True for a date, a time of day, or both."""
    return parse(text) is not None or parse_clock(text) is not None


@lru_cache(maxsize=65536)
def to_day(parts: tuple[str, ...], order: str, latest: int = 2069) -> int | None:
    """Return the days since 1970 of a date. order: of its parts, such as "dmy". latest: a year of two digits can be."""
    named = dict(zip(order, parts, strict=True))
    month = named["m"]
    if month[:3].isalpha():
        if month[:3].lower() not in MONTHS:
            return None
        month = str(MONTHS.index(month[:3].lower()) + 1)
    year = int(named["y"])
    if len(named["y"]) == 2:
        year += 2000 if 2000 + year <= latest else 1900
    try:
        return date(year, int(month), int(named["d"])).toordinal() - EPOCH
    except ValueError:
        return None


def read_dates(texts: Sequence[str]) -> Times:
    """Return the times of written dates; dates of months alone count as months."""
    read = [parse(text) for text in texts]
    either = [time.parts for time in read if time and time.form == "either"]
    order = day_or_month_first(either, texts) if either else "dmy"

    def days(latest: int) -> list[int | None]:
        return [time and to_day(time.parts, order if time.form == "either" else time.form, latest) for time in read]

    def length(days: list[int | None]) -> int:
        found = [day for day in days if day is not None]
        return max(found, default=0) - min(found, default=0)

    # years of two digits lie in the past, unless this makes the series longer
    best = min(map(days, (date.today().year, 2069)), key=length)
    values = [None if day is None or time is None else DAY * day + time.seconds for day, time in zip(best, read)]
    return as_months(values) or Times(values, "seconds")


def day_or_month_first(dates: list[tuple[str, ...]], texts: Sequence[str]) -> str:
    """Return the order of dates such as 1/2/2020: the one that all have; of two, the one with the more equal steps."""
    days = {order: [to_day(parts, order) for parts in dates] for order in ("dmy", "mdy")}
    broken = {order: sum(day is None for day in found) for order, found in days.items()}
    if broken["dmy"] != broken["mdy"]:
        return min(broken, key=lambda order: broken[order])

    def unequal(order: str) -> float:
        found = sorted({day for day in days[order] if day is not None})
        steps = [after - before for before, after in zip(found, found[1:])]
        usual = median(steps) if steps else 0
        return sum(abs(step - usual) > 0.15 * usual for step in steps) + 1e-3 * usual  # months are unequal, too

    return min(days, key=unequal)  # the day first, if both are alike


def as_months(values: list[float | None]) -> Times | None:
    """Return times as numbers of months if each is the first, the last or the same day of a month, None otherwise."""
    found = sorted({value for value in values if value is not None})
    steps = [after - before for before, after in zip(found, found[1:])]
    if len(found) < 3 or median(steps) < 27 * DAY:
        return None
    dates = {value: date.fromordinal(int(value // DAY) + EPOCH) for value in found}
    last = all(day.day == monthrange(day.year, day.month)[1] for day in dates.values())
    if not last and len({day.day for day in dates.values()}) > 1:
        return None
    return Times(
        [None if value is None else 12.0 * dates[value].year + dates[value].month for value in values], "months"
    )


def read_number_times(numbers: Sequence[float | None], called_time: bool) -> Times:
    """Return times that are numbers: seconds or milliseconds since 1970, days of a spreadsheet, or plain numbers.

    called_time: whether the column's name says that it holds times.
    """
    values = [None if number is None or math.isnan(number) else number for number in numbers]
    found = [value for value in values if value is not None]
    low, high = min(found, default=0.0), max(found, default=0.0)
    for (least, most), factor, zero in (
        (UNIX_SECONDS, 1.0, 0.0),
        (UNIX_MILLISECONDS, 1e-3, 0.0),
        (EXCEL_DAYS, DAY, -25569 * DAY),
    ):
        if least < low and high < most and (called_time or factor != DAY):
            seconds = [None if value is None else round(factor * value + zero, 3) for value in values]
            if factor == DAY:  # with few decimals: whole minutes, or else seconds
                unit = 60 if all(abs(value - 60 * round(value / 60)) < 5 for value in seconds if value) else 1
                seconds = [None if value is None else float(unit * round(value / unit)) for value in seconds]
            return as_months(seconds) or Times(seconds, "seconds")
    return Times(values, "number")


def read_clocks(texts: Sequence[str]) -> Times:
    """Return times of day as seconds, from `NO_DATE`: a new day begins where they run backwards."""
    values: list[float | None] = []
    day, last = (NO_DATE - datetime(1970, 1, 1)).total_seconds(), 0.0
    for text in texts:
        clock = parse_clock(text)
        if clock is not None:
            day += DAY if clock < last - DAY / 2 else 0
            last = clock
        values.append(None if clock is None else day + clock)
    return Times(values, "seconds")


def add_clocks(times: Times, texts: Sequence[str]) -> Times:
    """Return the times of two columns, dates and times of day."""
    clocks = [parse_clock(text) for text in texts]
    values = [None if t is None or c is None else t + c for t, c in zip(times.values, clocks, strict=True)]
    return Times(values, times.kind)
