"""Find when a submission was sent: from the LMS first, then from a table, then from the files' own times."""

import re
from datetime import UTC, datetime, timedelta

from assignments.lms import csv_file, due_dates, roster
from assignments.read import folders

MONTHS = "january february march april may june july august september october november december".split()
ENGLISH = re.compile(r"(\d{1,2}) ([a-z]+),? (\d{4})|([a-z]+) (\d{1,2}),? (\d{4})")
CLOCK = re.compile(r"(\d{1,2}):(\d{2})(?::\d{2})?\s*([ap]\.?m)?")
COPY_SPAN = timedelta(minutes=10)  # if all files are this close in time, the times are those of copying
FEW = 3  # fewer submissions than these may really be sent within that time
NAME = "times.csv"


def parse_worksheet_time(text, zone):
    """Return the time in Moodle's worksheet, such as Friday, 12 October 2018, 11:55 PM; None if there is none."""
    text = roster.fold(text)
    date, clock = ENGLISH.search(text), CLOCK.search(text)
    if not date or not clock:
        return None
    day, month, year = (date[1], date[2], date[3]) if date[1] else (date[5], date[4], date[6])
    am_or_pm = (clock[3] or "").replace(".", "")
    try:
        hour = int(clock[1]) % 12 + 12 * (am_or_pm == "pm") if am_or_pm else int(clock[1])
        return datetime(int(year), MONTHS.index(month) + 1, int(day), hour, int(clock[2]), tzinfo=zone)
    except ValueError:
        return None


def read_table(path, zone, assignments, find_student):
    """Read times.csv: {(student, assignment or ""): moment}.

    The columns are student, time and, if there are several, assignment. Raise ValueError with the line number for
    errors.
    """
    table = csv_file.read(path)
    heads = {roster.normalize(head): column for column, head in enumerate(table.rows[0])}
    if not {"student", "time"} <= heads.keys():
        raise ValueError(f"{path}: its columns are student, time and, if there are several, assignment")
    moments = {}
    for row in range(1, len(table.rows)):
        name, time, assignment = (
            table.cell(row, heads.get(column)).strip() for column in ("student", "time", "assignment")
        )
        if not name and not time:
            continue
        line = table.text.count("\n", 0, table.places[row][0][0]) + 1
        if assignment and assignment not in assignments:
            raise ValueError(
                f"{path}, line {line}: there is no assignment {assignment}. It is one of these:"
                f" {', '.join(assignments)}"
            )
        try:
            moments[find_student(name), assignment] = due_dates.parse_moment(time, zone, ValueError)
        except ValueError as error:
            raise ValueError(f"{path}, line {line}: {error}") from None
    return moments


def latest_file_time(path):
    """Return the time of a submission's latest file, or None."""
    files = folders.files(path)[0]
    try:
        return datetime.fromtimestamp(files[-1].lstat().st_mtime, UTC) if files else None
    except (OSError, OverflowError, ValueError):
        return None


def are_copy_times(moments):
    """Check whether files have the times of their copying: all within a few minutes."""
    moments = [moment for moment in moments if moment]
    return len(moments) >= FEW and max(moments) - min(moments) <= COPY_SPAN


def canvas_late_mark(name):
    """Return whether Canvas marks a file name as late, or None if the name is not Canvas's."""
    match = roster.CANVAS.fullmatch(name)
    return None if match is None else bool(match["late"])


def find_submission_time(name, worksheet_text, listed_time, file_time, zone):
    """Return when a submission was sent: (moment or None, source, Canvas's mark).

    worksheet_text: Moodle's cell, or "". listed_time: from times.csv, or None. file_time: of the latest file, or None.
    """
    late = canvas_late_mark(name)
    if moment := parse_worksheet_time(worksheet_text, zone):
        return moment, "worksheet", late
    if late is False:
        return None, "mark", late
    if listed_time:
        return listed_time, "times", late
    if file_time:
        return file_time, "files", late
    return None, "nothing", late
