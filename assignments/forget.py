"""Deletes all that is kept of a student: python -m assignments.forget grades ada

Deletes the student's files, rows in gradebook.db and name in the lists, and what was made of the whole class. Then all
pages are made anew. The submission itself stays, and so do copies, and what was handed out or uploaded.
"""

import argparse
import json
import sqlite3
import sys
import warnings
from contextlib import closing, suppress
from pathlib import Path

from assignments.grade import store
from assignments.lms import term
from assignments.read.names import match_names, page_name
from assignments.report import results

ENDINGS = "json", "html", "json.*part", "html.*part"  # part: a file that was being written when the grader was ended
OF_THE_CLASS = "canvas.csv", "moodle.csv", "moodle_feedback.zip", "similar.html", "*.part"
OUT_OF_REACH = (
    "Delete yourself: the submission, which would be graded again; copies of this folder; what was handed out or"
    " uploaded."
)


def students_in(output):
    stored = [one for file in (output / "done").glob("*.json") for one in store.stored_in(file).values()]
    return {one["graded"]["student"] for one in stored}.union(*store.rosters_in(output).values())


def delete_rows(path, student):
    """Delete a student's rows in the gradebook, and write the file anew, so that no free page keeps the name."""
    from nbgrader.api import Gradebook, MissingEntry

    with warnings.catch_warnings(), suppress(MissingEntry), Gradebook(f"sqlite:///{path.resolve()}") as book:
        warnings.simplefilter("ignore")  # of nbgrader's own use of its database
        book.remove_student(student)
    with closing(sqlite3.connect(path)) as book:
        book.execute("VACUUM")


def forget(output, student, say=print):
    output, name = Path(output), page_name(student)
    if (output / "gradebook.db").exists():  # first: if this fails, nothing is deleted
        delete_rows(output / "gradebook.db", student)
    own = [f"{folder}/{name}.{end}" for folder in ("done", "appeals", "feedback", "review") for end in ENDINGS]
    for file in [file for pattern in (*own, *OF_THE_CLASS) for file in output.glob(pattern)]:
        file.unlink()
        say(f"{file}: deleted")
    rosters = {key: [one for one in roster if one != student] for key, roster in store.rosters_in(output).items()}
    store.store(output / "batches.json", json.dumps(rosters, ensure_ascii=False, indent=1))
    if times := term.remembered(output):
        term.remember(output, {key: value for key, value in times.items() if key[0] != student})
    results.write(output, store.all_stored(output, rosters), say)
    say(f"{output}: all tables and pages are made anew without {student}.")
    for file in sorted(output.rglob("*")):
        if file.is_file() and (student in file.name or student.encode("utf-8", "replace") in file.read_bytes()):
            say(f"{file}: has the name still. Look, and delete what is of this student.")
    say(OUT_OF_REACH)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("grades", help="the output folder of the grader")
    parser.add_argument("student", nargs="+", help="the name, as the summary has it")
    arguments = parser.parse_args()
    output = Path(arguments.grades)
    sys.stdout.reconfigure(errors="backslashreplace")
    try:  # before anything is deleted
        students = match_names(arguments.student, dict.fromkeys(sorted(students_in(output))), "student")
    except ValueError as error:
        parser.error(error)
    for student in students:
        forget(output, student)


if __name__ == "__main__":
    main()
