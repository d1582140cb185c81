"""When a submission was sent: what the school's system says of it comes first, then a table, then the files' own
times."""

import re
from datetime import UTC, datetime, timedelta

from assignments.lms import csv_file, due_dates, roster
from assignments.read import folders

MONTHS = "january february march april may june july august september october november december".split()
ENGLISH = re.compile(r"(\d{1,2}) ([a-z]+),? (\d{4})|([a-z]+) (\d{1,2}),? (\d{4})")
CLOCK = re.compile(r"(\d{1,2}):(\d{2})(?::\d{2})?\s*([ap]\.?m)?")
TOGETHER = timedelta(minutes=10)  # in which no class sends all it has: files with such times were copied then
FEW = 3  # entries of which that cannot be said
NAME = "times.csv"


def of_worksheet(text, zone):
    """The moment that Moodle's worksheet names, such as Friday, 12 October 2018, 11:55 PM; None if it names none."""
    text = roster.folded(text)
    date, clock = ENGLISH.search(text), CLOCK.search(text)
    if not date or not clock:
        return None
    day, month, year = (date[1], date[2], date[3]) if date[1] else (date[5], date[4], date[6])
    half = (clock[3] or "").replace(".", "")
    try:
        hour = int(clock[1]) % 12 + 12 * (half == "pm") if half else int(clock[1])
        return datetime(int(year), MONTHS.index(month) + 1, int(day), hour, int(clock[2]), tzinfo=zone)
    except ValueError:
        return None


def table(path, zone, assignments, find):
    """The moments in a table of student, time and, if there are several, assignment: {(student, assignment or ""):
    moment}.

    ValueError, with the line, if anything in it is not understood.
    """
    said = csv_file.read(path)
    heads = {roster.plain(one): place for place, one in enumerate(said.rows[0])}
    if not {"student", "time"} <= heads.keys():
        raise ValueError(f"{path}: its columns are student, time and, if there are several, assignment")
    found = {}
    for row in range(1, len(said.rows)):
        name, time, assignment = (said.cell(row, heads.get(one)).strip() for one in ("student", "time", "assignment"))
        if not name and not time:
            continue
        line = said.text.count("\n", 0, said.places[row][0][0]) + 1
        if assignment and assignment not in assignments:
            raise ValueError(
                f"{path}, line {line}: there is no assignment {assignment}. It is one of these:"
                f" {', '.join(assignments)}"
            )
        try:
            found[find(name), assignment] = due_dates.moment(time, zone, ValueError)
        except ValueError as error:
            raise ValueError(f"{path}, line {line}: {error}") from None
    return found


def of_files(path):
    """The time of a submission's latest file, or None."""
    files = folders.files(path)[0]
    try:
        return datetime.fromtimestamp(files[-1].lstat().st_mtime, UTC) if files else None
    except (OSError, OverflowError, ValueError):
        return None


def copied(moments):
    """Whether files' times are those of their copying: all in a few minutes."""
    moments = [one for one in moments if one]
    return len(moments) >= FEW and max(moments) - min(moments) <= TOGETHER


def mark(name):
    """Whether Canvas says in a file's name that it is late; None if it is not Canvas's name."""
    found = roster.CANVAS.fullmatch(name)
    return None if found is None else bool(found["late"])


def sent(name, worksheet, listed, by_file, zone):
    """When it was sent, who says so, and what Canvas marks: (moment or None, source, mark).

    worksheet: what Moodle's says, or nothing. listed: the moment in the table, by_file: that of the files, or None.
    """
    late = mark(name)
    if moment := of_worksheet(worksheet, zone):
        return moment, "worksheet", late
    if late is False:
        return None, "mark", late
    if listed:
        return listed, "times", late
    if by_file:
        return by_file, "files", late
    return None, "nothing", late
