"""Tests of deleting a student, down to the last free page of a database."""

import csv
import html
import json
import sqlite3
import subprocess
import sys
import unicodedata
import urllib.parse

import pytest

from assignments import forget
from assignments.batch import Batch
from assignments.grade import cache
from assignments.lms import course as lms_course
from assignments.read.names import match_names, page_name
from assignments.report import comments, grade_tables
from assignments.report.all_reports import write_reports
from tests.assignments.grading import put, result, rows
from tests.project.paths import ROOT

ASKED = ["ada.quillfeather", "Zoë <b>Quillfeather", "김하늘퀼", 'O\'Quillfeather "x"']
OTHERS = ["bo", "ada.quill", "Quillfeather"]
EVERYONE, HAND = [*ASKED, *OTHERS], "Said by hand."


def holding(output, student):
    """Return the files that contain the name in any spelling, or have it in their names."""
    spellings = {
        student,
        unicodedata.normalize("NFD", student),
        html.escape(student),
        json.dumps(student)[1:-1],
        student.replace('"', '""'),
    }
    spellings |= {urllib.parse.quote(spelling) for spelling in spellings} | {page_name(student)}
    spellings = [spelling.encode() for spelling in spellings]
    files = [path for path in output.rglob("*") if path.is_file()]
    return {
        path.relative_to(output).as_posix() for path in files
        if any(spelling in path.read_bytes() or spelling in path.name.encode() for spelling in spellings)
    }  # fmt: skip


def write_comments(path, output):
    """Write a comment on each student, and store it as a run does."""
    with open(path, "w", encoding="utf-8", newline="") as file:
        csv.writer(file).writerows([["student", "question", "comment"], *([name, "gates", HAND] for name in EVERYONE)])
    comments.store(output, path, [
        comments.Comment([name], name, "lstm", "gates", HAND, line=line) for line, name in enumerate(EVERYONE, 2)
    ])  # fmt: skip


@pytest.fixture
def output(tmp_path):
    """Return an output folder with an appeal, times and uploads, and a file left by an interrupted run."""
    made = tmp_path / "grades"
    for student in [*ASKED, *OTHERS]:
        put(tmp_path / "sent", student, "lstm.ipynb", "")
    batch = Batch(tmp_path / "sent", made, say=lambda text: None)
    for student in batch.todo:
        batch.keep(student, result(student))
    all_graded = batch.all_graded()
    write_comments(tmp_path / "comments.csv", made)
    with pytest.MonkeyPatch.context() as quick:
        quick.setattr(grade_tables, "write_gradebook", lambda *_: {})  # nbgrader's takes seconds
        write_reports(made, all_graded, str)
    for student in ASKED:
        name = page_name(student)
        (made / "appeals" / f"{name}.json").write_text("{}")
        (made / "done" / f"{name}.json.0123abcd.part").write_text(student)
    lms_course.write_times(made, {(student, "lstm"): [None, "nothing", ""] for student in [*ASKED, *OTHERS]})
    for name in (*forget.OF_THE_CLASS[:-1], "moodle.csv.part"):
        (made / name).write_text("\n".join(ASKED), encoding="utf-8")
    return made


@pytest.mark.skipif(sys.platform != "linux", reason="other systems have no files of all these names")
@pytest.mark.parametrize("student", ASKED)
def test_forgotten_name_is_in_no_file(output, student, no_gradebook):
    kinds = {path.split("/")[0] for path in holding(output, student)}
    assert kinds == {
        "done", "feedback", "review", "appeals", "batches.json", "grades.csv", "summary.html", "term.json",
        "comments.json",
        *forget.OF_THE_CLASS[:-1], "moodle.csv.part",
    }  # fmt: skip
    (output / "mine.txt").write_text(student, encoding="utf-8")
    lines = []
    forget.forget(output, student, lines.append)
    assert holding(output, student) == {"mine.txt"}
    assert sum("deleted" in line for line in lines) == 5 + 5
    assert [line for line in lines if "has the name still" in line][0].startswith(
        str(output / "mine.txt")
    ) and "the submission" in lines[-1]
    # the instructor's own file is as it was, and its row is named
    file = output.parent / "comments.csv"
    assert [line for line in lines if str(file) in line] == [
        f"{file}, line {2 + EVERYONE.index(student)}: a comment on {student}. Delete the line yourself."
    ]
    assert {comment.student for comment in comments.read(output)["comments"]} == {*EVERYONE} - {student}
    for other in {*EVERYONE} - {student}:
        assert HAND in (output / "feedback" / f"{page_name(other)}.html").read_text("utf-8")
    # all others are as they were
    assert {student for student, _ in rows(output)} == {*ASKED, *OTHERS} - {student} == forget.students_in(output)
    assert len(lms_course.read_times(output)) == len([*ASKED, *OTHERS]) - 1


@pytest.mark.heavy
def test_forgotten_name_is_in_no_free_page_of_the_gradebook(output):
    """Give a wrong name first: it deletes nothing."""
    nbgrader = pytest.importorskip("nbgrader.api")
    grade_tables.write_gradebook(output / "gradebook.db", cache.read_results(output, cache.read_rosters(output)))
    with nbgrader.Gradebook(f"sqlite:///{output / 'gradebook.db'}") as book:
        book.find_grade("gates-points", "lstm", "lstm", "ada.quillfeather").manual_score = 1.75
        book.find_grade("gates-points", "lstm", "lstm", "bo").manual_score = 0.5
        for student in (*ASKED, "bo"):
            book.find_comment("gates", "lstm", "lstm", student).manual_comment = f"To {student}"
        book.db.commit()
    left = sqlite3.connect(output / "gradebook.db", isolation_level=None)  # as a database that clears nothing leaves it
    for line in (
        "PRAGMA secure_delete = OFF",
        "CREATE TABLE left (name)",
        f"INSERT INTO left VALUES ('{ASKED[0] * 99}')",
        "DROP TABLE left",
    ):
        left.execute(line).fetchall()
    left.close()
    before = {path: path.read_bytes() for path in output.rglob("*") if path.is_file()}
    run = [sys.executable, "-m", "assignments.forget", str(output)]
    done = subprocess.run([*run, ASKED[1], "ada.quillfeathr"], capture_output=True, text=True, cwd=ROOT)
    assert done.returncode == 2 and "Is it one of these? ada.quillfeather" in done.stderr
    assert {path: path.read_bytes() for path in output.rglob("*") if path.is_file()} == before
    done = subprocess.run([*run, *ASKED], capture_output=True, text=True, cwd=ROOT)
    assert done.returncode == 0, done.stderr
    assert [holding(output, student) for student in ASKED] == [set()] * len(ASKED)
    with nbgrader.Gradebook(f"sqlite:///{output / 'gradebook.db'}") as book:
        assert {student.id for student in book.students} == {*OTHERS} and len(
            book.assignment_submissions("lstm")
        ) == len(OTHERS)
    with sqlite3.connect(output / "gradebook.db") as book:
        assert book.execute("SELECT count(*) FROM grade").fetchone() == (len(OTHERS),)
        assert book.execute("SELECT count(*) FROM comment").fetchone() == (len(OTHERS),)
    assert rows(output)["bo", "gates"][0] == 0.5


def test_a_file_of_comments_that_is_gone_is_named(output, no_gradebook):
    """Check also another spelling of the name in the instructor's file."""
    stored = comments.read(output)
    stored["comments"][4].student = "Bo Q."
    comments.write(output, stored)
    file, lines = output.parent / "comments.csv", []
    file.write_text(file.read_text("utf-8").replace("bo,", "bo q.,lstm,\n BO Q.,"), encoding="utf-8")
    forget.forget(output, "bo", lines.append)
    assert [line.partition(":")[0] for line in lines if str(file) in line] == [f"{file}, line 6", f"{file}, line 7"]
    file.unlink()
    forget.forget(output, "ada.quill", lines.append)
    assert f"{file} cannot be read, and may have comments on this student" in lines[-2]


def test_similar_spellings_are_different_students():
    """Use é as one and as two code points: only the given spelling is deleted."""
    both = [unicodedata.normalize(kind, "josé") for kind in ("NFC", "NFD")]
    students = dict.fromkeys(both)
    for student in both:
        assert match_names([student], students, "student") == [student]
    assert match_names([both[1]], {both[0]: None}, "student") == [both[0]]
