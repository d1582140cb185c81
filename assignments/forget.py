"""Delete everything that is stored of a student."""

import argparse
import json
import sqlite3
import sys
import warnings
from contextlib import closing, suppress
from pathlib import Path

from assignments.grade import cache
from assignments.lms import comments as comments_file
from assignments.lms import course
from assignments.own import stored
from assignments.read.names import match_names, page_name
from assignments.report import all_reports, comments

DESCRIPTION = """Deletes all that is kept of a student: python -m assignments.forget grades ada

Deletes the student's files, rows in gradebook.db and name in the lists, and what was made of the whole class. Then all
pages are made anew. The submission itself stays, and so do copies, and what was handed out or uploaded.
"""
ENDINGS = "json", "html", "json.*part", "html.*part"  # part: a file left by an interrupted run
OF_THE_CLASS = "canvas.csv", "moodle.csv", "moodle_feedback.zip", "similar.html", "*.part"
REMINDER = (
    "Delete yourself: the submission, which would be graded again; copies of this folder; what was handed out or"
    " uploaded."
)


def students_in(output):
    """Return the names of all students in an output folder."""
    entries = [entry for file in (output / "done").glob("*.json") for entry in cache.read_entries(file).values()]
    return {entry["graded"]["student"] for entry in entries}.union(*cache.read_rosters(output).values())


def delete_rows(path, student):
    """Delete a student's rows in the gradebook, and rewrite the file so that no free page keeps the name."""
    from nbgrader.api import Gradebook, MissingEntry

    with warnings.catch_warnings(), suppress(MissingEntry), Gradebook(f"sqlite:///{path.resolve()}") as book:
        warnings.simplefilter("ignore")  # nbgrader's own, about its database
        book.remove_student(student)
    with closing(sqlite3.connect(path)) as book:
        book.execute("VACUUM")


def forget(output, student, say=print):
    """Delete a student's files and rows, and write all tables and pages again."""
    output, name = Path(output), page_name(student)
    if (output / "gradebook.db").exists():  # first: if this fails, nothing is deleted
        delete_rows(output / "gradebook.db", student)
    patterns = [f"{folder}/{name}.{end}" for folder in ("done", "appeals", "feedback", "review") for end in ENDINGS]
    for file in [file for pattern in (*patterns, *OF_THE_CLASS) for file in output.glob(pattern)]:
        file.unlink()
        say(f"{file}: deleted")
    rosters = {key: [name for name in roster if name != student] for key, roster in cache.read_rosters(output).items()}
    cache.write_atomically(output / "batches.json", json.dumps(rosters, ensure_ascii=False, indent=1))
    own_file, spellings = comments.forget(output, student, students_in(output) - {student})
    if times := course.read_times(output):
        course.write_times(output, {key: value for key, value in times.items() if key[0] != student})
    all_reports.write_reports(output, cache.read_results(output, rosters), say)
    say(f"{output}: all tables and pages are made anew without {student}.")
    for file in sorted(output.rglob("*")):
        if file.is_file() and (student in file.name or student.encode("utf-8", "replace") in file.read_bytes()):
            say(f"{file}: has the name still. Look, and delete what is of this student.")
    for line in comments_file.lines_about(own_file, spellings):
        say(line)
    say(REMINDER)


def main():
    parser = argparse.ArgumentParser(description=DESCRIPTION, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("grades", help="the output folder of the grader")
    parser.add_argument("student", nargs="+", help="the name, as the summary has it")
    arguments = parser.parse_args()
    output = Path(arguments.grades)
    sys.stdout.reconfigure(errors="backslashreplace")
    try:  # before anything is deleted
        stored.use([], output)
        students = match_names(arguments.student, dict.fromkeys(sorted(students_in(output))), "student")
    except ValueError as error:
        parser.error(error)
    for student in students:
        forget(output, student)


if __name__ == "__main__":
    main()
