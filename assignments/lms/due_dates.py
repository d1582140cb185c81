"""Due dates, and what a late submission loses: the rules of a term, in one small file of TOML.

    zone = "Europe/Berlin"

    [due]
    lstm = 2026-10-05T23:59:00

    [late]            # either a percentage for each day that has begun …
    percent = 10
    grace = 15        # minutes after the due date that cost nothing
    floor = 50        # percent of the points that remain in any case
    last = 7          # days after which nothing counts, whatever the floor
    # days = 5        # … or so many late days in the term for each student

    [extensions."Ada Lovelace"]
    lstm = 2026-10-08T23:59:00

Days are those of the calendar in that zone: from the due date to the same time of the next day is one, also in the
night in which clocks are changed. What is stored of a grading stays as it is: all this is computed from it anew.
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
    path: str
    zone: ZoneInfo
    due: dict  # {assignment: moment}
    late: dict
    extensions: dict = field(default_factory=dict)  # {(student's place, assignment): moment}

    def due_for(self, student, assignment):
        """When it is due for this student; and whether that is an extension. None if there is no date."""
        extended = self.extensions.get((student, assignment))
        return extended or self.due.get(assignment), extended is not None


def read(path, assignments, find):
    """The rules of a file. ValueError, with the line, if anything in it is not understood.

    find: the place of a student who is called so; it raises a ValueError if there is none, or more than one.
    """
    with open(path, encoding="utf-8-sig") as file:
        try:
            text = file.read()
        except UnicodeDecodeError:
            raise ValueError(f"{path} is not in UTF-8") from None
    try:
        said = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        hint = (
            " A time has seconds, or stands between quotes: 2026-10-05T23:59:00."
            if re.search(r"T?\d\d:\d\d\s*$", text, re.M)
            else ""
        )
        raise ValueError(f"{path}: {error}.{hint}") from None
    lines = lines_of(text)

    def wrong(where, what):
        line = next((lines[where[:end]] for end in range(len(where), 0, -1) if where[:end] in lines), None)
        return ValueError(f"{path}, {f'line {line}, ' if line else ''}{'.'.join(where)}: {what}")

    def known(where, key, there, what):
        if key not in there:
            near = get_close_matches(key, there, n=1, cutoff=0.5) or there
            raise wrong(where, f"there is no {what} {key}. Is it one of these? {', '.join(near)}")

    for key in said:
        known((key,), key, ("zone", "due", "late", "extensions"), "key")
    for key in ("due", "late", "extensions"):
        if not isinstance(said.get(key, {}), dict):
            raise wrong((key,), f"this is a table: [{key}]")
    zone = zone_of(said.get("zone"), wrong)
    dates = Dates(str(path), zone, {}, {})
    if not said.get("due"):
        raise ValueError(f"{path}: there are no due dates: a table [due] has one for each assignment")
    for key, value in said["due"].items():
        known(("due", key), key, assignments, "assignment")
        dates.due[key] = moment(value, zone, lambda what, key=key: wrong(("due", key), what))
    dates.late = rule(said.get("late", {}), known, wrong)
    for name, table in said.get("extensions", {}).items():
        where = "extensions", name
        if not isinstance(table, dict):
            raise wrong(where, "this is a table with the student's own due dates, such as lstm = 2026-10-08T23:59:00")
        try:
            student = find(name)
        except ValueError as error:
            raise wrong(where, error) from None
        for key, value in table.items():
            here = (*where, key)
            known(here, key, assignments, "assignment")
            if key not in dates.due:
                raise wrong(here, f"{key} has no date in [due] that could be extended")
            if (student, key) in dates.extensions:
                raise wrong(here, "this student has another extension of the same assignment")
            until = moment(value, zone, lambda what, here=here: wrong(here, what))
            if until < dates.due[key]:
                raise wrong(here, f"this is before {key} is due")
            dates.extensions[student, key] = until
    return dates


def lines_of(text):
    """On which line a key stands: {(table, …, key): number}."""
    found, table = {}, ()
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
        found.setdefault(table if line.startswith("[") else (*table, *keys), number)
    return found


def zone_of(said, wrong):
    example = 'such as zone = "Asia/Tokyo" or zone = "Europe/Berlin"'
    if said is None:
        raise wrong(("zone",), f"there is no time zone: the first line names one, {example}")
    try:
        return ZoneInfo(said)
    except (ZoneInfoNotFoundError, ValueError, TypeError, OSError):
        raise wrong(
            ("zone",), f"there is no time zone {said!r}: it is the name of a region and a city, {example}"
        ) from None


def moment(said, zone, wrong):
    """A moment in this zone. A date alone is the end of that day."""
    if isinstance(said, str):
        with contextlib.suppress(ValueError):
            said = date.fromisoformat(said) if len(said) <= 10 else datetime.fromisoformat(said)
    if isinstance(said, date) and not isinstance(said, datetime):
        said = datetime.combine(said, time(23, 59, 59))
    if not isinstance(said, datetime):
        raise wrong(f"{said!r} is no date and time, such as 2026-10-05T23:59:00")
    try:
        return said.replace(tzinfo=zone) if said.tzinfo is None else said.astimezone(zone)
    except OverflowError:
        raise wrong(f"{said} is too far away") from None


def rule(said, known, wrong):
    for key, value in said.items():
        known(("late", key), key, tuple(LATE), "key")
        low, high = LATE[key]
        number = not isinstance(value, bool) and isinstance(value, int if key in WHOLE else int | float)
        if not number or not low <= value <= high:
            raise wrong(
                ("late", key), f"this is a {'whole ' * (key in WHOLE)}number from {low} to {high}, and not {value!r}"
            )
    if {"percent", "days"} <= said.keys():
        raise wrong(("late", "days"), "there is either a percentage for each day or a number of late days, not both")
    if "floor" in said and "percent" not in said:
        raise wrong(("late", "floor"), "a floor goes with percent")
    return said


def days_begun(sent, due):
    """How many days have begun since it was due. Both in one zone, whose clocks count."""
    ended = max(0, (sent.astimezone(UTC) - due.astimezone(UTC)) // DAY - 1)
    while (due + ended * DAY).astimezone(UTC) < sent.astimezone(UTC):
        ended += 1
    return ended


def applied(dates, items):
    """What becomes of points: the items, each with more.

    items: of one student and one assignment each, {"who", "assignment", "before", "sent", "source", "mark"}; sent is a
    moment or None, mark is whether Canvas says that it is late, or None. Late days are used in the order in which
    assignments are due; what they do not suffice for has no points, and uses none.
    """
    used, done = {}, {}
    late = dates.late
    order = [(*dates.due_for(one["who"], one["assignment"]), place) for place, one in enumerate(items)]
    for due, extended, place in sorted(
        (one for one in order if one[0]), key=lambda one: (one[0].astimezone(UTC), one[2])
    ):
        one = items[place]
        before, sent = one["before"], one["sent"] and one["sent"].astimezone(dates.zone)
        more = {"due": due, "extended": extended, "after": before, "late": timedelta(0), "days": 0, "why": "in_time"}
        if one["mark"] and one["source"] == "files" and sent <= dates.due[one["assignment"]]:
            sent = None  # a file's time that Canvas knows better
        if sent is None:
            more |= (
                {"why": "in_time"}
                if one["mark"] is False
                else {"late": None, "why": "late_unknown" if one["mark"] else "unknown"}
            )
        elif sent > due:
            more["late"] = sent.astimezone(UTC) - due.astimezone(UTC)
            if more["late"] <= timedelta(minutes=late.get("grace", 0)):
                more["why"] = "grace"
            else:
                more["days"] = days = days_begun(sent, due)
                mine = used.setdefault(one["who"], {})
                left = late.get("days", 0) - sum(count for name, count in mine.items() if name != one["assignment"])
                if days > late.get("last", days):
                    more |= {"after": 0.0, "why": "last"}
                elif "percent" in late:
                    share, floor = max(0, 100 - days * late["percent"]), late.get("floor", 0)
                    more |= {
                        "after": round(before * max(share, floor) / 100, 4),
                        "why": "floor" if share < floor else "percent",
                    }
                elif "days" in late and days > left:
                    more |= {"after": 0.0, "why": "days_short", "left": left}
                elif "days" in late:
                    mine[one["assignment"]] = max(days, mine.get(one["assignment"], 0))
                    more |= {"why": "days_used", "left": left - days}
                else:
                    more["why"] = "no_rule"
        done[place] = one | {"sent": sent} | more
    return [done.get(place) for place in range(len(items))]


# What is said of it


def span(late, said):
    """A span of time in words, such as 1 day 3 hours: its two largest units, of which the smaller is rounded up."""
    seconds = late.total_seconds()
    unit = 3600 if seconds > 86400 else 60
    left = int(-(-seconds // unit) * unit)
    counts = ("day", left // 86400), ("hour", left % 86400 // 3600), ("minute", left % 3600 // 60)
    words = [said[unit if count == 1 else f"{unit}s"].format(count=count) for unit, count in counts if count]
    return said["joined"].join(words[:2])


def clock(moment):
    return moment.strftime("%Y-%m-%d %H:%M %Z")


RULES = {
    "grace": "grace",
    "percent": "percent",
    "floor": "floor",
    "last": "last",
    "days_used": "days",
    "days_short": "days",
}


def cause(item, dates):
    """The key and the value in the file that decided; None if it was none."""
    key = RULES.get(item["why"])
    return key and (key, dates.late[key])


def told(item, dates, said, number):
    """Why points were taken or not: sentences, the last of them the result. number: how points are written."""
    lines = [said["was_due"].format(due=clock(item["due"]))]
    if item["extended"]:
        lines.append(said["extended"])
    if item["sent"]:
        lines.append(said["was_sent"].format(sent=clock(item["sent"]), source=said[f"by_{item['source']}"]))
    elif item["mark"] is False:
        lines.append(said["marked"])
    late = dates.late
    values = {
        "late": span(item["late"], said) if item["late"] else "", "left": item.get("left", 0),
        "days": item["days"], "all": late.get("days", 0), "percent": number(late.get("percent", 0)),
        "floor": number(late.get("floor", 0)), "last": late.get("last", 0), "grace": number(late.get("grace", 0)),
        "share": number(min(100, item["days"] * late.get("percent", 0))),
        "taken": number(round(item["before"] - item["after"], 4)),
    }  # fmt: skip
    lines.append(said[item["why"]].format(**values))
    return lines
