"""A dry run: what it says before anything is graded, and that it writes nothing."""

import os
import sys

import pytest

from assignments import cli, dry_run
from assignments.grade import cache
from assignments.grade.calibration import Calibration
from assignments.report import pages
from assignments.submission import Grader
from companion.check.engine.question import all_questions
from tests.assignments.grading import notebook, put, result, zipped
from tests.assignments.read.test_class_zip import ADA, GRACE, NOTEBOOK
from tests.check.lstm_answers import GATES

ROSTER = (
    'Student,ID,Section,LSTM (7)\n    Points Possible,,,13\n"Lovelace, Ada",101,A,\n"Hopper, Grace",102,A,\n'
    '"Kim, H",103,A,\n"Kim, J",104,A,\n"Ol, Bo",105,A,\n"Yui, A",106,A,\n'
)
OTHER_GRACE = "hoppergraces_102_680_lstm.ipynb"  # by another name
RNN = {"rnn_step": "def rnn_step(x, h, weight_ih, weight_hh, bias_ih, bias_hh):\n    return x"}


@pytest.fixture
def say(tmp_path, monkeypatch, capsys):
    """Return a function that makes a dry run, and returns the lines that it printed."""
    monkeypatch.setattr(Calibration, "measure", lambda *_: None)

    def run(*more, sent="sent"):
        command = ["grade", str(tmp_path / sent), "--output", str(tmp_path / "grades"), "--dry-run", "--workers", "2"]
        monkeypatch.setattr(sys, "argv", [*command, *map(str, more)])
        before = {path: path.stat().st_mtime_ns for path in tmp_path.rglob("*")}
        assert cli.main() is None  # exit status 0
        assert {path: path.stat().st_mtime_ns for path in tmp_path.rglob("*")} == before
        return capsys.readouterr().out.splitlines()

    return run


def test_what_was_sent_and_who_is_missing(tmp_path, say):
    files = {ADA: NOTEBOOK, GRACE: NOTEBOOK, OTHER_GRACE: NOTEBOOK, "nobody_999_1_x.ipynb": NOTEBOOK,
             "bool_105_7_scan.pdf": "%PDF", "../away.txt": ""}  # fmt: skip
    (tmp_path / "sent").mkdir()
    (tmp_path / "sent" / "class.zip").write_bytes(zipped(files.items()))
    put(tmp_path / "sent", "Kim", "rnn.ipynb", notebook(RNN))
    (tmp_path / "class.csv").write_text(ROSTER.replace('"Kim, J"', "Kim").replace('"Kim, H"', "Kim"))
    lines, words = say("--roster", tmp_path / "class.csv"), pages.words("en")["roster"]
    grace, again = GRACE[:-6], OTHER_GRACE[:-6]
    assert lines[:4] == [
        "class.zip: ../away.txt leads out of the folder, and is not unpacked.",
        "6 submissions",
        "rnn, 1: Kim",
        f"lstm, 4: {grace}, {again}, {ADA[:-6]}, nobody_999_1_x",
    ]
    remarks = pages.words("en")["remarks"]
    assert lines[4:8] == [
        "counted as lstm, 1: bool_105_7_scan",
        "None of them is graded yet.",
        f"bool_105_7_scan: bool_105_7_scan.pdf: {remarks['not_a_notebook']}",
        f"bool_105_7_scan: {remarks['no_assignment']}",
    ]
    assert lines[8] == words["matched"].format(count=4, all=6, students=6)
    assert f"nobody_999_1_x: {words['nobody']}" in lines
    assert f"Kim: {words['ambiguous']} (Kim (103); Kim (104))" in lines
    assert f"{grace}, {again}: {words['twice']} (Hopper, Grace; lstm)" in lines
    assert f"Yui, A: {words['missing']} (lstm)" in lines and f"Ol, Bo: {words['missing']} (rnn)" in lines
    assert not any(line.startswith(("Ol, Bo", "Kim,")) and "(lstm)" in line for line in lines)
    assert "which column takes the grades of rnn?" in lines[-2]
    assert lines[-1].startswith("Grading takes about half a minute with 2 processes")


def test_without_a_class_list(tmp_path, say):
    put(tmp_path / "sent", "ada", "lstm.ipynb", NOTEBOOK)
    put(tmp_path / "sent", "grades", "lstm.ipynb", NOTEBOOK)
    (tmp_path / "sent" / "grades").rename(tmp_path / "sent" / "out")
    lines = say("--output", tmp_path / "sent" / "out")
    assert lines[:3] == ["1 submission", "lstm, 1: ada", "None of them is graded yet."]
    assert "--roster CSV" in lines[3] and len(lines) == 5
    assert say("--assignment", "rnn", "--output", tmp_path / "sent" / "out")[1] == "rnn, 1: ada"


@pytest.mark.skipif(sys.platform != "linux", reason="elsewhere the process that reads has the function as it was")
def test_a_submission_that_ends_the_process_stops_no_other(tmp_path, say, monkeypatch):
    read = dry_run.read
    monkeypatch.setattr(
        dry_run, "read", lambda student, *more: os._exit(1) if student == "bo" else read(student, *more)
    )
    for student in ("ada", "bo", "cy"):
        put(tmp_path / "sent", student, "lstm.ipynb", notebook({"gates": GATES}))
    lines = say()
    assert "lstm, 2: ada, cy" in lines and "counted as lstm, 1: bo" in lines
    assert f"bo: {pages.words('en')['remarks']['grader_stopped']}" in lines


def test_time_follows_the_assignments_the_machine_and_the_processes(monkeypatch):
    monkeypatch.setattr(Calibration, "measure", lambda calibration, _: calibration.factors.__setitem__(1, 3.0))
    one, two = (dry_run.estimate({"lstm": 300}, workers, own_code=False) for workers in (1, 2))
    assert one == 3 * (300 * dry_run.USUAL_SECONDS + dry_run.START) and two < 0.55 * one
    assert dry_run.estimate({"language_model": 300}, 1, own_code=False) > 5 * one
    assert dry_run.estimate({"lstm": 300}, 1, own_code=True) > 2 * one


@pytest.fixture
def grade(tmp_path, monkeypatch, in_process, no_gradebook, capsys):
    """Return a function that grades all that is in a folder, with made-up results for the questions left."""

    def judged(student, path, wanted, language, limits, seeds, names, parts, *_):
        asked = [question for question in all_questions().values() if question.assignment == "lstm"]
        made = [result(student, question=question.name)["verdicts"][0] for question in asked]
        return iter([("", result(student) | {"verdicts": made, "seeds": dict.fromkeys(parts, 1)})])

    monkeypatch.setattr(Grader, "grade", judged)

    def run(*more):
        monkeypatch.setattr(sys, "argv", ["grade", str(tmp_path / "sent"), "--output", str(tmp_path / "grades"), *more])
        cli.main()
        capsys.readouterr()

    return run


def test_what_is_graded_already_is_named_and_costs_no_time(tmp_path, say, grade, monkeypatch):
    """Check submissions that are new, changed or unchanged, an appeal, a question of all, and another grader."""
    estimated = []
    monkeypatch.setattr(dry_run, "estimate", lambda shares, *_: estimated.append(shares) or 60)
    canvas = "lovelaceada_101_678_lstm.ipynb"
    for student in ("bo", "cy"):
        put(tmp_path / "sent", student, "lstm.ipynb", NOTEBOOK)
    put(tmp_path, "sent", canvas, NOTEBOOK)
    assert "None of them is graded yet." in say() and estimated == [{"lstm": 3}]
    grade()
    lines = say()
    assert f"graded already, and unchanged, 3: bo, cy, {canvas[:-6]}" in lines
    assert lines[-1] == "Nothing is left to grade. Nothing was written." and len(estimated) == 1
    put(tmp_path / "sent", "cy", "lstm.ipynb", NOTEBOOK + " ")
    put(tmp_path / "sent", "new", "lstm.ipynb", NOTEBOOK)
    (tmp_path / "sent" / canvas).rename(tmp_path / "sent" / canvas.replace("678", "699"))
    lines = say()
    assert lines[2:5] == ["new, 1: new", "changed since they were graded, 2: cy, lovelaceada_101_699_lstm",
                          "graded already, and unchanged, 1: bo"]  # fmt: skip
    assert "3 of 4 submissions are left to grade." in lines and estimated[1:] == [{"lstm": 3}]
    assert lines[-1] == "Grading takes about a minute with 2 processes. Nothing was written."
    grade()
    again = f"{dry_run.STATES['again']}, "
    assert f"{again}1: bo" in say("--again", "bo") and estimated[2:] == [{"lstm": 1}]
    lines = say("--question", "gates")
    assert f"{again}4: bo, cy, lovelaceada_101_699_lstm, new" in lines
    asked = sum(question.assignment == "lstm" for question in all_questions().values())
    assert estimated[3:] == [{"lstm": pytest.approx(4 / asked)}]
    grade("--question", "gates")
    assert "Nothing is left to grade. Nothing was written." in say("--question", "gates")
    monkeypatch.setattr(cache, "hash_sources", lambda: "another grader")
    assert f"{again}4: bo, cy, lovelaceada_101_699_lstm, new" in say() and estimated[4:] == [{"lstm": 4}]
