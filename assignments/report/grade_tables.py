"""Points as files: grades.csv, and the database of nbgrader's gradebook."""

import csv
import io
import os
import re
import sys
import warnings

from assignments.report.pages import format_number


def with_points_by_hand(all_graded, by_hand):
    """Return the results with points given by hand in place of the grader's. by_hand: {(student, question): points}."""
    return [
        graded | {"verdicts": [
            verdict | {"points": by_hand[key], "by_hand": True} if key in by_hand else verdict
            for verdict in graded["verdicts"]
            for key in [(graded["student"], verdict["question"])]
        ]}
        for graded in all_graded
    ]  # fmt: skip


FORMULA = re.compile(r"""(^|[,;|\t"])(?=\s*[=+\-@\t\r\n＝＋－＠])""")


def escape_formula(text):
    """Return a text with an apostrophe before whatever a spreadsheet would take for a formula.

    Japanese systems also accept full-width signs; where commas are decimal marks, a cell is split at semicolons.
    """
    return FORMULA.sub(r"\1'", text)


def grades_csv(all_graded):
    """Return the table of points as CSV."""
    file = io.StringIO()
    file.write("\ufeff")  # without this mark Excel does not read the file as UTF-8
    writer = csv.writer(file, lineterminator="\n")
    has_due_dates = any("late" in graded for graded in all_graded)
    writer.writerow(
        ("student", "question", "points", "mistake", *(("before", "after", "late") if has_due_dates else ()))
    )
    for graded in all_graded:
        for verdict in graded["verdicts"]:
            mistakes = " ".join(verdict["mistakes"])
            row = escape_formula(graded["student"]), verdict["question"], format_number(verdict["points"]), mistakes
            writer.writerow((*row, *(dated_columns(graded, verdict) if has_due_dates else ())))
    return file.getvalue()


def dated_columns(graded, verdict):
    """Return a question's points before and after the deduction for lateness, and the hours late."""
    item, points = graded.get("late", {}).get(verdict["assignment"]), verdict["points"]
    if not item:
        return format_number(points), format_number(points), ""
    share = item["after"] / item["before"] if item["before"] else 1
    hours = "" if item["late"] is None else format_number(round(item["late"].total_seconds() / 3600, 2))
    return format_number(points), format_number(round(points * share, 4)), hours


def write_gradebook(path, all_graded):
    """Write assignments, students and points to nbgrader's database; raise ImportError if nbgrader is not installed.

    Scores given by hand are kept, and returned as {(student, question): points}. Where the grader's own score has
    changed since, nbgrader asks for another look.
    """
    from nbgrader.api import Grade, Gradebook, MissingEntry

    # nbgrader calls a program beside this Python, which is not on PATH unless the environment is activated
    folder = os.path.dirname(sys.executable)
    if folder not in os.environ.get("PATH", "").split(os.pathsep):
        os.environ["PATH"] = os.pathsep.join([folder, os.environ.get("PATH", "")])
    by_hand = {}
    with warnings.catch_warnings(), Gradebook(f"sqlite:///{path}") as book:
        warnings.simplefilter("ignore")  # nbgrader's own, about its database
        create_assignments(book, all_graded)
        for graded in all_graded:
            student = graded["student"]
            book.update_or_create_student(student)
            for assignment in graded["assignments"]:
                book.update_or_create_submission(assignment, student)
            for verdict in graded["verdicts"]:
                name, assignment = f"{verdict['question']}-points", verdict["assignment"]
                try:
                    grade = book.find_grade(name, assignment, assignment, student)
                except MissingEntry:  # the question is newer than this student's first grades
                    cell = book.find_grade_cell(name, assignment, assignment)
                    notebook = book.find_submission_notebook(assignment, assignment, student)
                    grade = Grade(cell_id=cell.id, notebook=notebook)
                    book.db.add(grade)
                if grade.manual_score is None:
                    grade.needs_manual_grade = False
                else:
                    by_hand[student, verdict["question"]] = grade.manual_score + (grade.extra_credit or 0)
                    grade.needs_manual_grade |= grade.auto_score not in (None, verdict["points"])
                grade.auto_score = verdict["points"]
        create_comments(book, all_graded)
        book.db.commit()
    return by_hand


def read_comments(path):
    """Return the comments that were written by hand in nbgrader's gradebook: {(student, question): text}."""
    if not os.path.exists(path):
        return {}
    from nbgrader.api import Comment, Gradebook

    with warnings.catch_warnings(), Gradebook(f"sqlite:///{path}") as book:
        warnings.simplefilter("ignore")
        written = book.db.query(Comment).filter(Comment.manual_comment.isnot(None)).all()
        return {
            (comment.student.id, comment.name): comment.manual_comment.strip()
            for comment in written
            if comment.manual_comment.strip()
        }


def create_comments(book, all_graded):
    """Create an empty comment for each answer that has none, for the instructor to write in."""
    from nbgrader.api import Comment

    existing = {(comment.cell_id, comment.notebook_id) for comment in book.db.query(Comment)}
    cells = {}
    for graded in all_graded:
        for assignment in graded["assignments"]:
            notebook = book.find_submission_notebook(assignment, assignment, graded["student"])
            for verdict in graded["verdicts"]:
                if verdict["assignment"] != assignment:
                    continue
                key = verdict["question"], assignment, assignment
                cells[key] = cells.get(key) or book.find_solution_cell(*key).id
                if (cells[key], notebook.id) not in existing:
                    book.db.add(Comment(cell_id=cells[key], notebook=notebook))


def create_assignments(book, all_graded):
    """Create each assignment with an answer and a cell of points for each of its questions."""
    verdicts = {
        (verdict["assignment"], verdict["question"]): verdict for graded in all_graded for verdict in graded["verdicts"]
    }
    for assignment in dict.fromkeys(name for graded in all_graded for name in graded["assignments"]):
        book.update_or_create_assignment(assignment)
        book.update_or_create_notebook(assignment, assignment)
    for (assignment, question), verdict in verdicts.items():
        most = 0 if verdict["stretch"] else verdict["most"]
        book.update_or_create_grade_cell(f"{question}-points", assignment, assignment, max_score=most, cell_type="code")
        book.update_or_create_solution_cell(question, assignment, assignment)
