"""Due dates and deductions for late submissions, from one small TOML file for a course.

zone = "Europe/Berlin"

    [due]
    lstm = 2026-10-05T23:59:00

    [late]            # either a percentage for each day that has begun …
    percent = 10
    grace = 15        # minutes after the due date that cost nothing
    floor = 50        # percent of the points that remain in any case
    last = 7          # days after which nothing counts, whatever the floor
    # days = 5        # … or so many late days in the course for each student

    [extensions."Ada Lovelace"]
    lstm = 2026-10-08T23:59:00

A day lasts from the due time to the same clock time on the next day in that zone, also when clocks change. Cached
results stay as they are: deductions are computed again in each run.
"""

import contextlib
import re
import tomllib
from dataclasses import dataclass, field
from datetime import UTC, date, datetime, time, timedelta
from difflib import get_close_matches
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

LATE = {"percent": (0, 100), "days": (0, 366), "grace": (0, 24 * 60), "floor": (0, 100), "last": (1, 366)}
WHOLE = "days", "last"
DAY = timedelta(days=1)


@dataclass
class Dates:
    """The rules of a course."""

    path: str
    zone: ZoneInfo
    due: dict  # {assignment: moment}
    late: dict
    extensions: dict = field(default_factory=dict)  # {(student's index, assignment): moment}

    def due_for(self, student, assignment):
        """Return when an assignment is due for a student, and whether that is an extension; None without a date."""
        extended = self.extensions.get((student, assignment))
        return extended or self.due.get(assignment), extended is not None


def read(path, assignments, find_student):
    """Read the rules; raise ValueError with the line for whatever is not understood.

    find_student: returns a student's index by name; raises ValueError if none or several fit.
    """
    with open(path, encoding="utf-8-sig") as file:
        try:
            text = file.read()
        except UnicodeDecodeError:
            raise ValueError(f"{path} is not in UTF-8") from None
    try:
        content = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        hint = (
            " A time has seconds, or stands between quotes: 2026-10-05T23:59:00."
            if re.search(r"T?\d\d:\d\d\s*$", text, re.M)
            else ""
        )
        raise ValueError(f"{path}: {error}.{hint}") from None
    lines = key_lines(text)

    def error_at(where, problem):
        line = next((lines[where[:end]] for end in range(len(where), 0, -1) if where[:end] in lines), None)
        return ValueError(f"{path}, {f'line {line}, ' if line else ''}{'.'.join(where)}: {problem}")

    def check_key(where, key, choices, noun):
        if key not in choices:
            similar = get_close_matches(key, choices, n=1, cutoff=0.5) or choices
            raise error_at(where, f"there is no {noun} {key}. Is it one of these? {', '.join(similar)}")

    for key in content:
        check_key((key,), key, ("zone", "due", "late", "extensions"), "key")
    for key in ("due", "late", "extensions"):
        if not isinstance(content.get(key, {}), dict):
            raise error_at((key,), f"this is a table: [{key}]")
    zone = read_zone(content.get("zone"), error_at)
    dates = Dates(str(path), zone, {}, {})
    if not content.get("due"):
        raise ValueError(f"{path}: there are no due dates: a table [due] has one for each assignment")
    for key, value in content["due"].items():
        check_key(("due", key), key, assignments, "assignment")
        dates.due[key] = parse_moment(value, zone, lambda problem, key=key: error_at(("due", key), problem))
    dates.late = check_late_rules(content.get("late", {}), check_key, error_at)
    for name, table in content.get("extensions", {}).items():
        where = "extensions", name
        if not isinstance(table, dict):
            raise error_at(
                where, "this is a table with the student's own due dates, such as lstm = 2026-10-08T23:59:00"
            )
        try:
            student = find_student(name)
        except ValueError as error:
            raise error_at(where, error) from None
        for key, value in table.items():
            key_path = (*where, key)
            check_key(key_path, key, assignments, "assignment")
            if key not in dates.due:
                raise error_at(key_path, f"{key} has no date in [due] that could be extended")
            if (student, key) in dates.extensions:
                raise error_at(key_path, "this student has another extension of the same assignment")
            until = parse_moment(value, zone, lambda problem, key_path=key_path: error_at(key_path, problem))
            if until < dates.due[key]:
                raise error_at(key_path, f"this is before {key} is due")
            dates.extensions[student, key] = until
    return dates


def key_lines(text):
    """Return the line number of each key of a TOML text: {(table, …, key): number}."""
    lines, table = {}, ()
    for number, line in enumerate(text.splitlines(), 1):
        line = line.strip()
        try:
            inner = tomllib.loads(line if line.startswith("[") else line.partition("=")[0] + "= 1")
        except tomllib.TOMLDecodeError:
            continue
        keys = []
        while isinstance(inner, dict) and inner:
            key, inner = next(iter(inner.items()))
            keys.append(key)
        table = tuple(keys) if line.startswith("[") else table
        lines.setdefault(table if line.startswith("[") else (*table, *keys), number)
    return lines


def read_zone(name, error_at):
    example = 'such as zone = "Asia/Tokyo" or zone = "Europe/Berlin"'
    if name is None:
        raise error_at(("zone",), f"there is no time zone: the first line names one, {example}")
    try:
        return ZoneInfo(name)
    except (ZoneInfoNotFoundError, ValueError, TypeError, OSError):
        raise error_at(
            ("zone",), f"there is no time zone {name!r}: it is the name of a region and a city, {example}"
        ) from None


def parse_moment(value, zone, make_error):
    """Parse a moment in this zone. A date alone means the end of that day."""
    if isinstance(value, str):
        with contextlib.suppress(ValueError):
            value = date.fromisoformat(value) if len(value) <= 10 else datetime.fromisoformat(value)
    if isinstance(value, date) and not isinstance(value, datetime):
        value = datetime.combine(value, time(23, 59, 59))
    if not isinstance(value, datetime):
        raise make_error(f"{value!r} is no date and time, such as 2026-10-05T23:59:00")
    try:
        return value.replace(tzinfo=zone) if value.tzinfo is None else value.astimezone(zone)
    except OverflowError:
        raise make_error(f"{value} is too far away") from None


def check_late_rules(rules, check_key, error_at):
    for key, value in rules.items():
        check_key(("late", key), key, tuple(LATE), "key")
        low, high = LATE[key]
        number = not isinstance(value, bool) and isinstance(value, int if key in WHOLE else int | float)
        if not number or not low <= value <= high:
            raise error_at(
                ("late", key), f"this is a {'whole ' * (key in WHOLE)}number from {low} to {high}, and not {value!r}"
            )
    if {"percent", "days"} <= rules.keys():
        raise error_at(("late", "days"), "there is either a percentage for each day or a number of late days, not both")
    if "floor" in rules and "percent" not in rules:
        raise error_at(("late", "floor"), "a floor goes with percent")
    return rules


def days_begun(sent, due):
    """Return how many days have begun since the due date, by the clocks of its time zone."""
    days = max(0, (sent.astimezone(UTC) - due.astimezone(UTC)) // DAY - 1)
    while (due + days * DAY).astimezone(UTC) < sent.astimezone(UTC):
        days += 1
    return days


def apply_rules(dates, items):
    """Return each item with its deduction added, or None where there is no due date.

    items: one per student and assignment, {"who", "assignment", "before", "sent", "source", "mark"}; sent: a moment or
    None; mark: Canvas's mark of being late, or None. Late days are used in the order of due dates; a submission that
    they do not cover gets no points and uses none.
    """
    used, results = {}, {}
    late = dates.late
    order = [(*dates.due_for(item["who"], item["assignment"]), position) for position, item in enumerate(items)]
    for due, extended, position in sorted(
        (entry for entry in order if entry[0]), key=lambda entry: (entry[0].astimezone(UTC), entry[2])
    ):
        item = items[position]
        before, sent = item["before"], item["sent"] and item["sent"].astimezone(dates.zone)
        outcome = {"due": due, "extended": extended, "after": before, "late": timedelta(0), "days": 0, "why": "in_time"}
        if item["mark"] and item["source"] == "files" and sent <= dates.due[item["assignment"]]:
            sent = None  # the file's time contradicts Canvas's mark
        if sent is None:
            outcome |= (
                {"why": "in_time"}
                if item["mark"] is False
                else {"late": None, "why": "late_unknown" if item["mark"] else "unknown"}
            )
        elif sent > due:
            outcome["late"] = sent.astimezone(UTC) - due.astimezone(UTC)
            if outcome["late"] <= timedelta(minutes=late.get("grace", 0)):
                outcome["why"] = "grace"
            else:
                outcome["days"] = days = days_begun(sent, due)
                own = used.setdefault(item["who"], {})
                left = late.get("days", 0) - sum(count for name, count in own.items() if name != item["assignment"])
                if days > late.get("last", days):
                    outcome |= {"after": 0.0, "why": "last"}
                elif "percent" in late:
                    share, floor = max(0, 100 - days * late["percent"]), late.get("floor", 0)
                    outcome |= {
                        "after": round(before * max(share, floor) / 100, 4),
                        "why": "floor" if share < floor else "percent",
                    }
                elif "days" in late and days > left:
                    outcome |= {"after": 0.0, "why": "days_short", "left": left}
                elif "days" in late:
                    own[item["assignment"]] = max(days, own.get(item["assignment"], 0))
                    outcome |= {"why": "days_used", "left": left - days}
                else:
                    outcome["why"] = "no_rule"
        results[position] = item | {"sent": sent} | outcome
    return [results.get(position) for position in range(len(items))]


# Texts


def format_duration(late, texts):
    """Format a duration in its two largest units, the smaller one rounded up, such as 1 day 3 hours."""
    seconds = late.total_seconds()
    unit = 3600 if seconds > 86400 else 60
    rounded = int(-(-seconds // unit) * unit)
    counts = ("day", rounded // 86400), ("hour", rounded % 86400 // 3600), ("minute", rounded % 3600 // 60)
    words = [texts[unit if count == 1 else f"{unit}s"].format(count=count) for unit, count in counts if count]
    return texts["joined"].join(words[:2])


def format_moment(moment):
    return moment.strftime("%Y-%m-%d %H:%M %Z")


RULES = {
    "grace": "grace",
    "percent": "percent",
    "floor": "floor",
    "last": "last",
    "days_used": "days",
    "days_short": "days",
}


def deciding_rule(item, dates):
    """Return the key and value in the file that decided a deduction, or None."""
    key = RULES.get(item["why"])
    return key and (key, dates.late[key])


def explain(item, dates, texts, number):
    """Return sentences on why points were taken or not, the last one with the result. number: formats points."""
    lines = [texts["was_due"].format(due=format_moment(item["due"]))]
    if item["extended"]:
        lines.append(texts["extended"])
    if item["sent"]:
        lines.append(texts["was_sent"].format(sent=format_moment(item["sent"]), source=texts[f"by_{item['source']}"]))
    elif item["mark"] is False:
        lines.append(texts["marked"])
    late = dates.late
    values = {
        "late": format_duration(item["late"], texts) if item["late"] else "", "left": item.get("left", 0),
        "days": item["days"], "all": late.get("days", 0), "percent": number(late.get("percent", 0)),
        "floor": number(late.get("floor", 0)), "last": late.get("last", 0), "grace": number(late.get("grace", 0)),
        "share": number(min(100, item["days"] * late.get("percent", 0))),
        "taken": number(round(item["before"] - item["after"], 4)),
    }  # fmt: skip
    lines.append(texts[item["why"]].format(**values))
    return lines
