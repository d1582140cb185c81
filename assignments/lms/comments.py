"""Read comments.csv: what the instructor says about answers by hand, a row for each.

    student,question,comment,points
    ada,gates,"The order is right. Look at the bias once more.",
    김하늘,lstm,"As we said in class, half of it counts.",1.5
    ada,,"Well explained. Come and see me about your last idea.",

Without a question a comment is about the whole submission; if a student has sent several assignments, a column
`assignment` says which. Points are optional, and replace those of the grader. A row with neither says nothing, so that
rows may be prepared. Whatever is not understood raises ValueError with its line, before anything is graded.
"""

import re
import unicodedata

from assignments.lms import csv_file, roster, upload
from assignments.read.names import match_names
from assignments.report.comments import Comment
from companion.check.engine.question import all_questions

COLUMNS = "student", "question", "comment"
OPTIONAL = "points", "assignment"
QUOTED = re.compile(r'"(?:[^"]|"")*"')
EXAMPLE = 'student,question,comment and, on the next line, ada,gates,"Look at the bias, too."'


def read(path, course, stored, assignments_of):
    """Return the comments in a file; raise ValueError for a row that is not understood.

    stored: submissions of earlier batches in the output folder. assignments_of: function that takes submissions and
    returns {submission: its assignments}, empty where no answer tells.
    """
    table = csv_file.read(path)
    columns = find_columns(path, table)
    entries_by_name = index_names([*course.paths, *stored])
    rows = [parse_row(path, table, row, columns, course, entries_by_name) for row in range(1, len(table.rows))]
    comments = [comment for comment in rows if comment]
    sent = assignments_of({entry for comment in comments for entry in comment.entries})
    lines = {}
    for comment in comments:
        find_assignment(path, comment, sent)
        for entry in comment.entries:
            line = lines.setdefault((entry, comment.assignment, comment.question), comment.line)
            if line != comment.line:
                about = comment.question or "the whole submission"
                raise ValueError(
                    f"{path}, line {comment.line}: line {line} has a comment on {about} of {comment.student} already."
                    " Put both into one row."
                )
    return [comment for comment in comments if comment.text or comment.points is not None]


def find_columns(path, table):
    """Return {name: number} of the columns; raise ValueError if one is missing, unknown or there twice."""
    columns = {}
    for column, head in enumerate(table.rows[0]):
        name = roster.normalize(head)
        if name in columns:
            raise ValueError(f"{path}, line 1: there are two columns {name}")
        if name not in (*COLUMNS, *OPTIONAL):
            raise ValueError(
                f"{path}, line 1: there is no column “{roster.visible(head)}” in such a file. Its columns are"
                f" {', '.join(COLUMNS)} and, if you like, {' and '.join(OPTIONAL)}."
            )
        columns[name] = column
    if missing := [name for name in COLUMNS if name not in columns]:
        raise ValueError(f"{path}, line 1: the column {missing[0]} is missing. The file begins like this: {EXAMPLE}")
    return columns


def index_names(entries):
    """Return {name in one Unicode form: submissions of this name}."""
    names = {}
    for entry in dict.fromkeys(entries):
        names.setdefault(unicodedata.normalize("NFC", entry), []).append(entry)
    return names


def parse_row(path, table, row, columns, course, entries_by_name):
    """Return the comment in a row, whose assignment may be unknown yet; None for an empty row."""
    cells, places = table.rows[row], table.places[row]
    line = line_of(table, row)
    if not any(cell.strip() for cell in cells):
        return None
    try:
        check_cells(table, cells, places)
        student, question, text, points, assignment = (
            table.cell(row, columns.get(name)).strip() for name in (*COLUMNS, *OPTIONAL)
        )
        if not student:
            raise ValueError("there is no student")
        entries = find_entries(course, student, entries_by_name)
        if question:
            (question,) = match_names([question], all_questions(), "question")
        if assignment:
            (assignment,) = match_names([assignment], dict.fromkeys(course.assignments), "assignment")
        number = parse_points(points, question)
    except ValueError as error:
        raise ValueError(f"{path}, line {line}: {error}") from None
    text = text.replace("\r\n", "\n").replace("\r", "\n")
    return Comment(entries, student, assignment, question, text, number, line)


def check_cells(table, cells, places):
    """Raise ValueError if a row has more cells than the first line, a quote that is not closed, or lost letters."""
    for (begin, end), cell in zip(places, cells):
        source = table.text[begin:end]
        if source.startswith('"') and not QUOTED.fullmatch(source):
            raise ValueError(
                f"the quotes around {roster.visible(source)[:40]} are not closed. Write a quote inside a comment"
                ' twice: ""'
            )
        if "\ufffd" in cell or "\0" in cell:
            raise ValueError(f"letters of “{roster.visible(cell)[:40]}” are lost: save the file as “CSV UTF-8”")
    width = len(table.rows[0])
    if len(cells) > width and any(cell.strip() for cell in cells[width:]):
        raise ValueError(
            f"there are {len(cells)} cells, and the first line has {width}. Put a comment that has a"
            f" “{table.separator}” between quotes."
        )


def find_entries(course, student, entries_by_name):
    """Return the submissions of a student; raise ValueError if there is none, or if the name may be of several.

    The name may be that of a submission, also of an earlier one from Canvas or Moodle, or whatever names a student in
    due dates.
    """
    every = [entry for entries in entries_by_name.values() for entry in entries]
    if exact := entries_by_name.get(unicodedata.normalize("NFC", student)):
        exact = [student] if student in exact else exact  # two names may differ in their Unicode form only
        owners = {owner for entry in exact if (owner := find_owner(course, entry)) is not None}
        return [entry for entry in every if entry in exact or find_owner(course, entry) in owners]
    system = roster.CANVAS.fullmatch(student) or roster.MOODLE.fullmatch(student)
    try:
        index = course.find_student(student)
    except ValueError:
        if not system:
            raise
        index = course.find_student(system["number"])
    entries = [entry for entry in every if find_owner(course, entry) == index]
    if not entries:
        raise ValueError(f"{student} has sent nothing, so there is no page for a comment")
    return entries


def find_owner(course, entry):
    """Return the index of the student of a submission; None if nobody or several may have sent it."""
    indexes = course.students_of(entry)
    system = roster.CANVAS.fullmatch(entry) or roster.MOODLE.fullmatch(entry)
    if not indexes and system:  # sent earlier, so that its name is not among those of this run
        indexes = roster.find_students(course.people, system["number"])
    return indexes[0] if len(indexes) == 1 else None


def parse_points(text, question):
    """Return the points in a cell, None if it is empty; raise ValueError if the question cannot have as many."""
    if not text:
        return None
    if not question:
        raise ValueError("points are for a question, and this row has none")
    points, most = upload.parse_number(text), all_questions()[question].points
    if points is None or points > most:
        raise ValueError(f"{text!r} is no number of points from 0 to {most}, which {question} has")
    return points


def find_assignment(path, comment, sent):
    """Set a comment's assignment; raise ValueError if the student has not sent it. sent: {submission: assignments}."""
    names = [*dict.fromkeys(name for entry in comment.entries for name in sent.get(entry, ()))]
    where = f"{path}, line {comment.line}"
    if comment.question:
        own = all_questions()[comment.question].assignment
        if comment.assignment not in ("", own):
            raise ValueError(f"{where}: {comment.question} is a question of {own}, and not of {comment.assignment}")
        comment.assignment = own
    elif not comment.assignment and len(names) > 1:
        raise ValueError(
            f"{where}: {comment.student} has sent {' and '.join(names)}. A column “assignment” says which of them a"
            " comment without a question is about."
        )
    if comment.assignment and names and comment.assignment not in names:
        about = f"{comment.question} is a question of" if comment.question else "this is about"
        raise ValueError(f"{where}: {about} {comment.assignment}, and {comment.student} has sent {', '.join(names)}")
    comment.assignment = comment.assignment or "".join(names[:1])


def lines_about(path, spellings):
    """Return a sentence for each row about a student in the instructor's file. spellings: of the student's name."""
    if not path:
        return []
    try:
        table = csv_file.read(path)
        columns = find_columns(path, table)
    except (ValueError, OSError) as error:
        return [f"{path} cannot be read, and may have comments on this student: {error}"]
    wanted = {roster.normalize(spelling) for spelling in spellings}
    rows = [
        row for row in range(1, len(table.rows))
        if roster.normalize(table.cell(row, columns["student"])) in wanted
    ]  # fmt: skip
    return [
        f"{path}, line {line_of(table, row)}: a comment on {table.cell(row, columns['student']).strip()}. Delete the"
        " line yourself."
        for row in rows
    ]


def line_of(table, row):
    """Return the line of a file in which a row begins."""
    return len(csv_file.NEWLINE.findall(table.text, 0, table.places[row][0][0])) + 1
