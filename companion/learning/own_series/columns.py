"""Guesses of the columns with the times, the names of machines and the values of a table."""

import re
from collections import Counter

from companion.learning.own_series import times as forms
from companion.learning.own_series.table import Table, is_missing
from companion.learning.own_series.times import DAY, Times, parse, parse_clock
from companion.learning.own_series.words import FileProblem

# parts of names of columns with times, with the names of machines, and of calendars, which are no measurements
TIMES = (
    "time timestamp datetime date day t ts sec second seconds minute hour ms epoch unix cycle cycles step year month"
    " zeit datum fecha"
)
MACHINES = (
    "machine unit device sensor station engine asset equipment meter site plant turbine pump id name series city store"
    " product item symbol ticker location region country room channel line tag building zone maschine anlage"
)
CALENDAR = (
    "year month day hour minute second weekday week quarter id index no nr lat lon latitude longitude row number"
    " cycle step holiday weekend dayofweek dayofyear yr mo mm dy dd doy hr hh"
)
# names of columns with years, months, days and hours
DATE_PARTS = (
    "year yr yyyy jahr 年 연도 년",
    "month mon mo mm monat 月 월",
    "day dy dd dom tag 日 일",
    "hour hr hh stunde std 時 时 시 時間 时间 小时 시간",
)
TIMES_CJK = re.compile("日時|日付|時刻|時間|年月|时间|日期|时刻|시간|날짜|일시|시각")
MACHINES_CJK = re.compile("機|号|装置|設備|机|设备|设施|站|传感|기계|설비|장치|호기|센서|名")


def find_column(table: Table, name: str | None) -> int | None:
    """Return the place of the column of this name."""
    if not name:
        return None
    if name not in table.names:
        raise FileProblem("column", table.names, name=name, names=", ".join(table.names))
    return table.names.index(name)


def is_called(name: str, parts: str, others: re.Pattern[str] | None = None) -> bool:
    """Return True if one of these words is in the name of a column."""
    found = re.findall(r"[a-z]+", re.sub(r"(?<=[a-z])(?=[A-Z])", " ", name).lower())
    return not {*found}.isdisjoint(parts.split()) or bool(others and others.search(name))


def join_dates(table: Table, columns: list[int]) -> list[str] | None:
    """Return dates written from columns of years, months, days and hours, None if there are none.

    columns: where they are; -1 for days and hours that are not there.
    """
    year, month, day, hour = columns
    if min(year, month) < 0:
        return None
    rows = [[*row, "1", "0"] for row in table.rows]  # the first day, the first hour
    day, hour = (k if k >= 0 else other for k, other in ((day, -2), (hour, -1)))
    return [f"{row[year]}-{row[month]}-{row[day]} {row[hour]}:00" for row in rows]


def read_clocks(table: Table, column: int, hours: bool) -> list[str] | None:
    """Return the times of day in a column, None if it has none. hours: whether it may have hours, such as 13."""
    name = table.names[column]
    hours = hours and (is_called(name, DATE_PARTS[3]) or name in DATE_PARTS[3].split())
    texts = [f"{text}:00" if hours and text.isdigit() else text for text in table.texts(column)]
    present = [parse_clock(text) is not None for text in texts if not is_missing(text)]
    return texts if sum(present) >= max(1, 0.9 * len(present)) else None


def find_times(table: Table, chosen: int | None, without: bool, value: int | None) -> tuple[list[int], Times | None]:
    """Return the places of the columns that the times are read from, and the times. without: read none."""
    if without:
        return [], None
    named = [name.lower() for name in table.names]
    parts = [next((k for k, name in enumerate(named) if name in words.split()), -1) for words in DATE_PARTS]
    dates = join_dates(table, parts) if chosen in (None, parts[0]) else None
    if dates and sum(parse(text) is not None for text in dates) >= 0.8 * len(dates):
        return [k for k in parts if k >= 0], forms.read_dates(dates)
    columns = [chosen] if chosen is not None else [k for k in range(len(table.names)) if k != value]
    for k in columns:
        sample = table.sample(k)
        dated = sum(parse(text) is not None for text in sample)
        if sample and dated >= 0.8 * len(sample):
            times = forms.read_dates(table.texts(k))
            whole = all(value is None or not value % DAY for value in times.values)
            repeat = len({*times.values}) < 0.5 * len(times.values)
            for other in range(len(table.names)) if times.kind == "seconds" and whole else ():
                if other not in (k, value) and (clocks := read_clocks(table, other, hours=repeat)):
                    return [k, other], forms.add_clocks(times, clocks)
            return [k], times
    called = {k: is_called(table.names[k], TIMES, TIMES_CJK) for k in columns}
    for k in columns:
        if (called[k] or k in (chosen, columns[0])) and (clocks := read_clocks(table, k, hours=False)):
            return [k], forms.read_clocks(clocks)
    for k in sorted(columns, key=lambda k: not called[k]):
        if not (called[k] or k in (chosen, columns[0])) or not table.is_numeric(k):
            continue
        found = table.present(k)
        rises = all(a < b for a, b in zip(found, found[1:]))
        counts = [float(n) for n in range(int(found[0]), int(found[0]) + len(found))] if found else []
        if k == chosen or called[k] and len({*found}) > 20 or rises and found != counts:
            return [k], forms.read_number_times(table.numbers(k), called[k] or k == chosen)
    if chosen is not None:
        raise FileProblem("times", table.names, name=table.names[chosen], text=table.rows[0][chosen])
    return [], None


def find_machine(table: Table, times: Times | None, taken: set[int | None]) -> int | None:
    """Return the place of the column that names machines, None if there seems to be none."""
    found, rows = [], len(table.rows)
    at = times.values if times else []
    repeats = times is not None and len({*at}) < 0.99 * len(at)
    for k in range(len(table.names)):
        texts = table.texts(k)
        counts = Counter(texts)
        if k in taken or not 2 <= len(counts) <= rows / 20:
            continue
        numbers = table.numbers(k)
        is_text = not table.is_numeric(k)
        if not is_text and any(number is None or number % 1 for number in numbers):
            continue
        called = is_called(table.names[k], MACHINES, MACHINES_CJK)
        blocks = 1 + sum(a != b for a, b in zip(texts, texts[1:])) == len(counts)
        tells = repeats and len({*zip(at, texts, strict=True)}) >= 0.99 * rows
        groups = called and (is_text or blocks) or is_text and blocks and min(counts.values()) >= 20
        if tells or (called and is_text if times else groups):
            found.append((not tells, not called, not is_text, len(counts), k))
    return min(found)[-1] if found else None


def find_value(table: Table, taken: set[int | None]) -> int:
    """Return the place of the first column that looks like a measurement."""
    constant, counted = [], []
    for k, name in enumerate(table.names):
        if k in taken or not table.is_numeric(k):
            continue
        found = table.present(k)
        steps = {round(b - a, 9) for a, b in zip(found, found[1:])}
        if len({*found}) < 2:
            constant.append(k)
        elif steps == {1.0} or is_called(name, CALENDAR):
            counted.append(k)
        else:
            return k
    if counted and not constant:
        return counted[0]
    if constant:
        k = constant[0]
        raise FileProblem("constant", table.names, name=table.names[k], value=table.rows[0][k])
    raise FileProblem("no_numbers", table.names, line=table.lines[0], cells=", ".join(table.rows[0])[:120])
