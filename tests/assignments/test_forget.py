"""What is kept of a student is deleted when that is asked for, to the last free page of a database."""

import html
import json
import sqlite3
import subprocess
import sys
import unicodedata
import urllib.parse
import zipfile

import forget
import join
import pages
import pytest
from grading import put, rows
from naming import known, page_name
from test_spread import part, result

ASKED = ["ada.quillfeather", "Zoë <b>Quillfeather", "김하늘퀼", "O'Quillfeather \"x\""]
OTHERS = ["bo", "ada.quill", "Quillfeather"]


def holding(output, student):
    """The files with the name in them, spelled in any way, or in their own names."""
    ways = {student, unicodedata.normalize("NFD", student), html.escape(student), json.dumps(student)[1:-1], student.replace('"', '""')}
    ways |= {urllib.parse.quote(one) for one in ways} | {page_name(student)}
    ways = [one.encode() for one in ways]
    files = [path for path in output.rglob("*") if path.is_file()]
    return {
        path.relative_to(output).as_posix() for path in files
        if any(one in path.read_bytes() or one in path.name.encode() for one in ways)
    }  # fmt: skip


@pytest.fixture
def output(tmp_path):
    """Grades of a batch in parts, with an appeal, and with what was left when the grader was ended in its midst."""
    made = tmp_path / "grades"
    for student in [*ASKED, *OTHERS]:
        put(tmp_path / "sent", student, "lstm.ipynb", "")
    for number in (1, 2):
        part(tmp_path / "sent", made, number, 2)
    for student in ASKED:
        name = page_name(student)
        (made / "appeals" / f"{name}.json").write_text("{}")
        (made / "done" / f"{name}.json.0123abcd.part").write_text(student)
    noted = [[student, "lstm", None, "nothing", ""] for student in [*ASKED, *OTHERS]]
    (made / "term.json").write_text(json.dumps(noted, ensure_ascii=False), encoding="utf-8")
    for name in forget.MADE_ANEW:
        (made / name).write_text("\n".join(ASKED), encoding="utf-8")
    return made


@pytest.mark.skipif(sys.platform != "linux", reason="other systems have no files of all these names")
@pytest.mark.parametrize("student", ASKED)
def test_no_file_has_the_name_any_more(output, student, monkeypatch):
    monkeypatch.setattr(pages, "gradebook", lambda *_: {})
    join.join([output], output, lambda text: None)
    kinds = {path.split("/")[0] for path in holding(output, student)}
    assert kinds == {
        "done", "feedback", "review", "appeals", "parts", "batches.json", "grades.csv", "summary.html", "term.json", *forget.MADE_ANEW,
    }  # fmt: skip
    said = []
    forget.forget(output, student, said.append)
    assert holding(output, student) == set()
    removed = "\n".join(said).partition("Out of reach:")[0]
    for folder in ("done", "feedback", "review", "appeals", "parts", "batches.json", "grades.csv", "term.json", *forget.MADE_ANEW):
        assert folder in removed
    assert "still stands" not in removed and "the submission itself" in said[-4]
    # all others are as they were, and so is what is said of them
    assert {student for student, _ in rows(output)} == {*ASKED, *OTHERS} - {student}
    assert student not in forget.students_in(output) and forget.students_in(output) == {*ASKED, *OTHERS} - {student}


def test_what_is_not_the_graders_is_found_and_left(output, monkeypatch):
    monkeypatch.setattr(pages, "gradebook", lambda *_: {})
    (output / "mine").mkdir()
    (output / "mine/ada.quillfeather.txt").write_text("")
    (output / "mine/late.csv").write_text("name,days\nada.quillfeather,2\nada.quillfeathers,3\n")
    (output / "mine/others.csv").write_text("ada.quillfeathers,3\nmy-ada.quillfeather,1\n")
    with zipfile.ZipFile(output / "feedback.zip", "w", zipfile.ZIP_DEFLATED) as packed:
        packed.writestr("lstm/page.html", "<h1>ada.quillfeather</h1>" * 99)
    said = []
    forget.forget(output, ASKED[0], said.append)
    found = said[said.index(next(one for one in said if "still stands" in one)) + 1 : said.index("Out of reach:")]
    assert [one.strip() for one in found] == [str(output / one) for one in ("feedback.zip", "mine/ada.quillfeather.txt", "mine/late.csv")]


@pytest.mark.heavy
def test_not_even_a_free_page_of_the_gradebook_has_it(output):
    nbgrader = pytest.importorskip("nbgrader.api")
    join.join([output], output, lambda text: None)
    with nbgrader.Gradebook(f"sqlite:///{output / 'gradebook.db'}") as book:
        book.find_grade("gates-points", "lstm", "lstm", "ada.quillfeather").manual_score = 1.75
        book.find_grade("gates-points", "lstm", "lstm", "bo").manual_score = 0.5
        book.db.commit()
    left = sqlite3.connect(output / "gradebook.db", isolation_level=None)  # as a database that clears nothing leaves it
    for line in ("PRAGMA secure_delete = OFF", "CREATE TABLE left (name)", f"INSERT INTO left VALUES ('{ASKED[0] * 99}')", "DROP TABLE left"):
        left.execute(line).fetchall()
    left.close()
    said = []
    for student in ASKED:
        assert "gradebook.db" in holding(output, student)
        forget.forget(output, student, said.append)
        assert holding(output, student) == set()
    with nbgrader.Gradebook(f"sqlite:///{output / 'gradebook.db'}") as book:
        assert {one.id for one in book.students} == {*OTHERS} and len(book.assignment_submissions("lstm")) == len(OTHERS)
    with sqlite3.connect(output / "gradebook.db") as book:
        assert book.execute("SELECT count(*) FROM grade").fetchone() == (len(OTHERS),)
    assert rows(output)["bo", "gates"][0] == 0.5


@pytest.mark.heavy
def test_the_command_deletes_nothing_of_a_name_that_is_not_there(output):
    before = {path: path.read_bytes() for path in output.rglob("*") if path.is_file()}
    run = [sys.executable, forget.__file__, str(output)]
    done = subprocess.run([*run, "ada.quillfeathr"], capture_output=True, text=True)
    assert done.returncode == 2 and "Is it one of these? ada.quillfeather" in done.stderr
    assert {path: path.read_bytes() for path in output.rglob("*") if path.is_file()} == before
    done = subprocess.run([*run, "ada.quillfeather"], capture_output=True, text=True)
    assert done.returncode == 0 and not holding(output, "ada.quillfeather"), done.stderr
    assert subprocess.run([*run, "ada.quillfeather"], capture_output=True, text=True).returncode == 2


def test_students_who_are_spelled_nearly_alike_are_told_apart(tmp_path, monkeypatch):
    """In Unicode an é is one letter or two; whoever asks for one of both is not given the other."""
    monkeypatch.setattr(pages, "gradebook", lambda *_: {})
    both = [unicodedata.normalize(kind, "josé") for kind in ("NFC", "NFD")]
    there = dict.fromkeys(both)
    for one in both:
        assert known([one], there, "student") == [one]
    assert known([both[1]], {both[0]: None}, "student") == [both[0]]


def test_forgetting_keeps_what_the_summary_says_of_parts(tmp_path, monkeypatch):
    monkeypatch.setattr(pages, "gradebook", lambda *_: {})
    for student in ("ada", "bo", "cy", "dan"):
        put(tmp_path / "sent", student, "lstm.ipynb", "")
    part(tmp_path / "sent", tmp_path / "grades", 1, 1, of=result, left=["cy"], ended=False)
    forget.forget(tmp_path / "grades", "bo", lambda text: None)
    assert "1 of 3 submissions are not graded yet: cy." in (tmp_path / "grades/summary.html").read_text(encoding="utf-8")
