"""Write files for upload to Canvas and Moodle: the class list with grades filled in, and a page for each student.

Canvas takes the whole export of its gradebook, Moodle its grading worksheet. Rows, columns and cells without a grade of
ours keep every byte.
"""

import html
import io
import re
import zipfile

from assignments.lms import roster
from assignments.report import grade_tables
from assignments.report.pages import format_number
from companion.check.engine.question import all_questions

CANVAS_COLUMN = re.compile(r".+\(\d+\)\s*", re.DOTALL)  # Canvas appends the assignment's number
READ_ONLY = "(read only)"
KEPT = {"ex", "n/a"}  # Canvas's marks: excused, not assigned


def grade_columns(listed):
    """Return the columns that can take grades: {head: column}."""
    heads = listed.table.rows[0]
    if listed.kind == "worksheet":
        return {heads[listed.columns["grade"]]: listed.columns["grade"]}
    if listed.kind == "gradebook":
        closed = [column for row in points_rows(listed) for column, text in enumerate(listed.table.rows[row])
                  if text.strip().lower() == READ_ONLY]  # fmt: skip
        first = listed.columns["section"] + 1
        return {
            head: column
            for column, head in enumerate(heads)
            if column >= first and column not in closed and CANVAS_COLUMN.fullmatch(head)
        }
    return {
        head: column
        for column, head in enumerate(heads)
        if ":" in head and "(percentage)" not in head.lower() and "(letter)" not in head.lower()
    }


def points_rows(listed):
    """Return the rows that contain the maximum points."""
    rows = range(1, min(6, len(listed.table.rows)))
    return [row for row in rows if listed.table.cell(row, 0).strip().lower().startswith("points possible")]


def find_column(listed, assignment, wanted=None):
    """Return the column for an assignment's grades; raise ValueError with the choices if none is certain."""
    columns = grade_columns(listed)
    if not columns:
        raise ValueError(f"{listed.path} has no column that takes grades" + (
            ": take the grading worksheet of the assignment" if listed.system == "moodle" else ""))  # fmt: skip
    names = ", ".join(f"“{roster.visible(head)}”" for head in columns)
    if wanted is not None:
        names_of = {head: [roster.normalize(head), column_title(head)] for head in columns}
        numbers = {head: re.findall(r"\((\d+)\)$", head.strip()) for head in columns}
        heads = [head for head in columns if roster.normalize(wanted) in names_of[head] + numbers[head]]
        if len(heads) != 1:
            raise ValueError(f"{listed.path} has no column “{wanted}”. Its columns of assignments: {names}")
        return columns[heads[0]]
    if listed.kind == "worksheet":
        return listed.columns["grade"]
    assignments_of = {head: assignments_in(head) for head in columns}
    heads = [head for head in columns if assignment in assignments_of[head]]
    exact = [head for head in heads if column_title(head) == assignment.replace("_", " ")]
    heads = exact or heads or [head for head in columns if len(columns) == 1 and not assignments_of[head]]
    if len(heads) != 1:
        raise ValueError(
            f"{listed.path}: which column takes the grades of {assignment}? Say --column NAME, or --column"
            f" {assignment}=NAME if there are several assignments. The columns: {names}"
        )
    return columns[heads[0]]


def column_title(head):
    """Return a column's name without the number that Canvas appends."""
    return roster.normalize(re.sub(r"\(\d+\)\s*$", "", head))


def assignments_in(head):
    """Return the assignments in a column's name: `lstm` is not in `lstm_parameters`."""
    names = {question.assignment for question in all_questions().values()}
    words = {
        name: re.search(rf"(?<![a-z0-9]){name.replace('_', '[ _-]*')}(?![a-z0-9])", roster.fold(head)) for name in names
    }
    return [name for name in names if words[name] and not any(name in more and words[more] for more in names - {name})]


def parse_number(text):
    """Parse a number with a decimal point or comma; return None for other texts."""
    text = text.strip()
    if re.fullmatch(r"\d{1,3}(,\d{3})+(\.\d+)?", text):
        text = text.replace(",", "")
    return float(text.replace(",", ".")) if re.fullmatch(r"\d+([.,]\d+)?", text) else None


def maximum_text_of(listed, column, student):
    """Return the text of the column's maximum points."""
    if listed.kind == "worksheet":
        return listed.cell(student, "maximum grade")
    rows = points_rows(listed) if listed.kind == "gradebook" else []
    return listed.table.cell(rows[0], column) if rows else ""


def fill_grades(listed, column, scores, comments, assignment, by_hand=None):
    """Fill in the grades, and return notes: (key of the words' [roster], values).

    scores: {student's index: (points, maximum)}. comments: {student's index: line}. by_hand: {student's index: the
    instructor's comments, (question or "", text)}.
    """
    notes, scaled = [], {}
    for student, (points, own_maximum) in sorted(scores.items()):
        name, row = listed.students[student].name, listed.students[student].row
        old_text = listed.table.cell(row, column)
        is_locked = listed.kind == "worksheet" and listed.cell(student, "grade can be changed").strip().lower() == "no"
        if is_locked or listed.system == "canvas" and old_text.strip().lower() in KEPT:
            notes.append(("cell_kept", {"student": name, "cell": roster.visible(old_text) or "–"}))
            continue
        limit_text = maximum_text_of(listed, column, student)
        maximum = parse_number(limit_text)
        if maximum and own_maximum and maximum != own_maximum:
            points = points * maximum / own_maximum
            scaled[format_number(own_maximum)] = format_number(maximum)
        if maximum and points > maximum and listed.system == "moodle":  # Moodle ignores larger numbers
            values = {"points": format_number(round(points, 2)), "most": format_number(maximum)}
            notes.append(("capped", {"student": name} | values))
            points = maximum
        text = format_number(round(points, 2)) if points < 1e5 else f"{points:.2f}"
        decimal_comma = "," in limit_text and "." not in limit_text
        listed.table.filled[row, column] = text.replace(".", ",") if decimal_comma else text
        if (comment_column := listed.columns.get("feedback comments")) is not None and student in comments:
            old_comment = re.sub(r"<[^>]*>", "", listed.table.cell(row, comment_column)).strip()
            if old_comment and not old_comment.startswith(f"{assignment}: "):  # a comment by hand
                notes.append(("comment_kept", {"student": name}))
            else:
                comment = grade_tables.escape_formula(f"{assignment}: {comments[student]}")
                listed.table.filled[row, comment_column] = comment + comments_html((by_hand or {}).get(student, ()))
    return [
        ("scaled", {"assignment": assignment, "most": old, "bound": maximum}) for old, maximum in scaled.items()
    ] + notes


def comments_html(comments):
    """Return the instructor's comments as HTML, which Moodle's cells are: a paragraph each."""
    paragraphs = []
    for question, text in comments:
        lines = "<br>".join(html.escape(line, quote=False) for line in text.split("\n"))
        paragraphs.append(f"<p>{f'<code>{question}</code>: ' if question else ''}{lines}</p>")
    return "".join(paragraphs)


def folder_name(name):
    """Return a student's name as a safe part of a folder's name."""
    name = re.sub(r'[_/\\:*?"<>|]+', " ", roster.visible(name))
    return " ".join(name.split()).lstrip(".~ ")[:60].rstrip(". ") or "student"


def feedback_zip(pages_by_student):
    """Return Moodle's archive of feedback files as bytes.

    pages_by_student: {(number, name, assignment): page}.
    """
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        for (number, name, assignment), page in sorted(pages_by_student.items()):
            path = f"{folder_name(name)}_{number}_assignsubmission_file_/{assignment}-feedback.html"
            archive.writestr(zipfile.ZipInfo(path), page, zipfile.ZIP_DEFLATED)
    return buffer.getvalue()
