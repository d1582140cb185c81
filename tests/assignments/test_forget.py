"""What is kept of a student is deleted when that is asked for, to the last free page of a database."""

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
from assignments.grade import store
from assignments.lms import term
from assignments.read.names import match_names, page_name
from assignments.report import pages
from assignments.report.results import write
from tests.assignments.grading import put, result, rows
from tests.project.paths import ROOT

ASKED = ["ada.quillfeather", "Zoë <b>Quillfeather", "김하늘퀼", 'O\'Quillfeather "x"']
OTHERS = ["bo", "ada.quill", "Quillfeather"]


def holding(output, student):
    """Return the files that have the name, in any spelling, in their text or in their own names."""
    ways = {
        student,
        unicodedata.normalize("NFD", student),
        html.escape(student),
        json.dumps(student)[1:-1],
        student.replace('"', '""'),
    }
    ways |= {urllib.parse.quote(one) for one in ways} | {page_name(student)}
    ways = [one.encode() for one in ways]
    files = [path for path in output.rglob("*") if path.is_file()]
    return {
        path.relative_to(output).as_posix() for path in files
        if any(one in path.read_bytes() or one in path.name.encode() for one in ways)
    }  # fmt: skip


@pytest.fixture
def output(tmp_path):
    """Grades with an appeal, times and uploads, and with a file that was being written when the grader was ended."""
    made = tmp_path / "grades"
    for student in [*ASKED, *OTHERS]:
        put(tmp_path / "sent", student, "lstm.ipynb", "")
    batch = Batch(tmp_path / "sent", made, say=lambda text: None)
    for student in batch.todo:
        batch.keep(student, result(student))
    all_graded = batch.all_graded()
    with pytest.MonkeyPatch.context() as quick:
        quick.setattr(pages, "gradebook", lambda *_: {})  # nbgrader's takes seconds
        write(made, all_graded, str)
    for student in ASKED:
        name = page_name(student)
        (made / "appeals" / f"{name}.json").write_text("{}")
        (made / "done" / f"{name}.json.0123abcd.part").write_text(student)
    term.remember(made, {(student, "lstm"): [None, "nothing", ""] for student in [*ASKED, *OTHERS]})
    for name in (*forget.OF_THE_CLASS[:-1], "moodle.csv.part"):
        (made / name).write_text("\n".join(ASKED), encoding="utf-8")
    return made


@pytest.mark.skipif(sys.platform != "linux", reason="other systems have no files of all these names")
@pytest.mark.parametrize("student", ASKED)
def test_no_file_has_the_name_any_more(output, student, no_gradebook):
    kinds = {path.split("/")[0] for path in holding(output, student)}
    assert kinds == {
        "done", "feedback", "review", "appeals", "batches.json", "grades.csv", "summary.html", "term.json",
        *forget.OF_THE_CLASS[:-1], "moodle.csv.part",
    }  # fmt: skip
    (output / "mine.txt").write_text(student, encoding="utf-8")
    said = []
    forget.forget(output, student, said.append)
    assert holding(output, student) == {"mine.txt"}
    assert sum("deleted" in one for one in said) == 5 + 5
    assert [one for one in said if "has the name still" in one][0].startswith(
        str(output / "mine.txt")
    ) and "the submission" in said[-1]
    # all others are as they were
    assert {student for student, _ in rows(output)} == {*ASKED, *OTHERS} - {student} == forget.students_in(output)
    assert len(term.remembered(output)) == len([*ASKED, *OTHERS]) - 1


@pytest.mark.heavy
def test_not_even_a_free_page_of_the_gradebook_has_it(output):
    """The command is given a wrong name first: then it deletes nothing."""
    nbgrader = pytest.importorskip("nbgrader.api")
    pages.gradebook(output / "gradebook.db", store.all_stored(output, store.rosters_in(output)))
    with nbgrader.Gradebook(f"sqlite:///{output / 'gradebook.db'}") as book:
        book.find_grade("gates-points", "lstm", "lstm", "ada.quillfeather").manual_score = 1.75
        book.find_grade("gates-points", "lstm", "lstm", "bo").manual_score = 0.5
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
        assert {one.id for one in book.students} == {*OTHERS} and len(book.assignment_submissions("lstm")) == len(
            OTHERS
        )
    with sqlite3.connect(output / "gradebook.db") as book:
        assert book.execute("SELECT count(*) FROM grade").fetchone() == (len(OTHERS),)
    assert rows(output)["bo", "gates"][0] == 0.5


def test_students_who_are_spelled_nearly_alike_are_told_apart():
    """In Unicode an é is one letter or two; whoever asks for one of both is not given the other."""
    both = [unicodedata.normalize(kind, "josé") for kind in ("NFC", "NFD")]
    there = dict.fromkeys(both)
    for one in both:
        assert match_names([one], there, "student") == [one]
    assert match_names([both[1]], {both[0]: None}, "student") == [both[0]]
