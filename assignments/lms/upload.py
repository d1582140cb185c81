"""What the school's system takes: the class list as it came, with the grades filled in; and pages for each student.

Canvas takes the whole export of its gradebook, Moodle its grading worksheet. A row, a column or a cell that has no
grade of ours stays as it was, letter by letter.
"""

import io
import re
import zipfile

from assignments.lms import roster
from assignments.report import pages
from companion.check.engine.question import all_questions

CANVAS_COLUMN = re.compile(r".+\(\d+\)\s*", re.DOTALL)  # Canvas puts the assignment's number behind its name
READ_ONLY = "(read only)"
KEPT = {"ex", "n/a"}  # in Canvas: who is excused, and whom an assignment does not ask
NO = {"no"}  # of a grade that can be changed


def choices(listed):
    """The columns that take an assignment's grade: {head: place}."""
    heads = listed.table.rows[0]
    if listed.kind == "worksheet":
        return {heads[listed.columns["grade"]]: listed.columns["grade"]}
    if listed.kind == "gradebook":
        closed = [place for row in about_points(listed) for place, one in enumerate(listed.table.rows[row])
                  if one.strip().lower() == READ_ONLY]  # fmt: skip
        first = listed.columns["section"] + 1
        return {
            one: place
            for place, one in enumerate(heads)
            if place >= first and place not in closed and CANVAS_COLUMN.fullmatch(one)
        }
    return {
        one: place
        for place, one in enumerate(heads)
        if ":" in one and "(percentage)" not in one.lower() and "(letter)" not in one.lower()
    }


def about_points(listed):
    """The rows that say how many points there are."""
    rows = range(1, min(6, len(listed.table.rows)))
    return [row for row in rows if listed.table.cell(row, 0).strip().lower().startswith("points possible")]


def column(listed, assignment, asked=None):
    """The place of the column that takes the grades of an assignment. ValueError, with the choices, if none is
    certain."""
    there = choices(listed)
    if not there:
        raise ValueError(f"{listed.path} has no column that takes grades" + (
            ": take the grading worksheet of the assignment" if listed.system == "moodle" else ""))  # fmt: skip
    names = ", ".join(f"“{roster.seen(one)}”" for one in there)
    if asked is not None:
        found = [
            one
            for one in there
            if roster.plain(asked) in (roster.plain(one), title(one), *re.findall(r"\((\d+)\)$", one.strip()))
        ]
        if len(found) != 1:
            raise ValueError(f"{listed.path} has no column “{asked}”. Its columns of assignments: {names}")
        return there[found[0]]
    if listed.kind == "worksheet":
        return listed.columns["grade"]
    about = {one: named(one) for one in there}
    found = [one for one in there if assignment in about[one]]
    exact = [one for one in found if title(one) == assignment.replace("_", " ")]
    found = exact or found or [one for one in there if len(there) == 1 and not about[one]]
    if len(found) != 1:
        raise ValueError(
            f"{listed.path}: which column takes the grades of {assignment}? Say --column NAME, or --column"
            f" {assignment}=NAME if there are several assignments. The columns: {names}"
        )
    return there[found[0]]


def title(head):
    """A column's name without the number that Canvas puts behind it."""
    return roster.plain(re.sub(r"\(\d+\)\s*$", "", head))


def named(head):
    """The assignments that a column's name has in it: `lstm` is not in that of `lstm_parameters`."""
    names = {one.assignment for one in all_questions().values()}
    words = {
        one: re.search(rf"(?<![a-z0-9]){one.replace('_', '[ _-]*')}(?![a-z0-9])", roster.folded(head)) for one in names
    }
    return [one for one in names if words[one] and not any(one in more and words[more] for more in names - {one})]


def number_in(text):
    """A number as these systems write it, with a point or with a comma; None if it is none."""
    text = text.strip()
    if re.fullmatch(r"\d{1,3}(,\d{3})+(\.\d+)?", text):
        text = text.replace(",", "")
    return float(text.replace(",", ".")) if re.fullmatch(r"\d+([.,]\d+)?", text) else None


def most(listed, place, student):
    """The most points that the column takes, as it is written there."""
    if listed.kind == "worksheet":
        return listed.cell(student, "maximum grade")
    rows = about_points(listed) if listed.kind == "gradebook" else []
    return listed.table.cell(rows[0], place) if rows else ""


def fill(listed, place, scores, comments, assignment):
    """Fills in the grades. scores: {student's place: (points, the most there are)}. comments: {student's place: line}.

    Returns what is to be said of it: (key of the words' [roster], its values).
    """
    notes, scaled = [], {}
    for student, (points, there) in sorted(scores.items()):
        name, row = listed.students[student].name, listed.students[student].row
        old = listed.table.cell(row, place)
        locked = listed.kind == "worksheet" and listed.cell(student, "grade can be changed").strip().lower() in NO
        if locked or listed.system == "canvas" and old.strip().lower() in KEPT:
            notes.append(("cell_kept", {"student": name, "cell": roster.seen(old) or "–"}))
            continue
        said = most(listed, place, student)
        bound = number_in(said)
        if bound and there and bound != there:
            points = points * bound / there
            scaled[pages.number(there)] = pages.number(bound)
        if bound and points > bound and listed.system == "moodle":  # it passes over what is above
            notes.append(
                ("capped", {"student": name, "points": pages.number(round(points, 2)), "most": pages.number(bound)})
            )
            points = bound
        text = pages.number(round(points, 2)) if points < 1e5 else f"{points:.2f}"
        listed.table.filled[row, place] = text.replace(".", ",") if "," in said and "." not in said else text
        if (at := listed.columns.get("feedback comments")) is not None and student in comments:
            there_already = re.sub(r"<[^>]*>", "", listed.table.cell(row, at)).strip()
            if there_already and not there_already.startswith(f"{assignment}: "):  # somebody's own words
                notes.append(("comment_kept", {"student": name}))
            else:
                listed.table.filled[row, at] = pages.cell(f"{assignment}: {comments[student]}")
    return [
        ("scaled", {"assignment": assignment, "most": one, "bound": bound}) for one, bound in scaled.items()
    ] + notes


def plain_name(name):
    """A student's name as a part of a folder's name: nothing in it leads elsewhere or is the system's own mark."""
    name = re.sub(r'[_/\\:*?"<>|]+', " ", roster.seen(name))
    return " ".join(name.split()).lstrip(".~ ")[:60].rstrip(". ") or "student"


def feedback_zip(pages_of):
    """The students' pages as Moodle takes them for all at once, as bytes. pages_of: {(number, name, assignment):
    page}."""
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as archive:
        for (number, name, assignment), page in sorted(pages_of.items()):
            path = f"{plain_name(name)}_{number}_assignsubmission_file_/{assignment}-feedback.html"
            archive.writestr(zipfile.ZipInfo(path), page, zipfile.ZIP_DEFLATED)
    return packed.getvalue()
