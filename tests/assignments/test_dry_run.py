"""A dry run: what it says before anything is graded, and that it writes nothing."""

import os
import sys

import pytest

from assignments import cli, dry_run
from assignments.grade.calibration import Calibration
from assignments.report import pages
from tests.assignments.grading import notebook, put, zipped
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
    assert lines[4:7] == [
        "counted as lstm, 1: bool_105_7_scan",
        f"bool_105_7_scan: bool_105_7_scan.pdf: {remarks['not_a_notebook']}",
        f"bool_105_7_scan: {remarks['no_assignment']}",
    ]
    assert lines[7] == words["matched"].format(count=4, all=6, students=6)
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
    assert lines[:2] == ["1 submission", "lstm, 1: ada"] and "--roster CSV" in lines[2] and len(lines) == 4
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
    one, two = (dry_run.estimate(["lstm"] * 300, workers, own_code=False) for workers in (1, 2))
    assert one == 3 * (300 * dry_run.USUAL_SECONDS + dry_run.START) and two < 0.55 * one
    assert dry_run.estimate(["language_model"] * 300, 1, own_code=False) > 5 * one
    assert dry_run.estimate(["lstm"] * 300, 1, own_code=True) > 2 * one
