"""Fixtures of the tests of an instructor's own questions."""

import sys

import nbformat
import pytest

from assignments import cli
from assignments.own import notebooks, stored
from companion.check.engine import messages, question, session
from companion.check.own.notebook import READ, VARIABLE
from tests.assignments.own.page import FILE


@pytest.fixture(autouse=True)
def no_questions(monkeypatch):
    """Forget all own questions after a test."""
    monkeypatch.setenv(VARIABLE, "")
    yield
    question.ADDED.clear()
    question.add_questions([])
    messages.ADDED.clear()
    messages.words.cache_clear()
    READ.clear()
    stored.USED.clear()
    stored.GIVEN.clear()
    session.NOTEBOOK = session.Session()


@pytest.fixture
def week(tmp_path):
    """Return a function that writes files of questions into the folder `week_3`, and returns the folder."""

    def write(**files):
        folder = tmp_path / "week_3"
        folder.mkdir(exist_ok=True)
        for name, source in (files or {"leaky_step": FILE}).items():
            (folder / f"{name}.py").write_text(source, encoding="utf-8")
        return folder

    return write


@pytest.fixture
def released(tmp_path):
    """Return a function that writes the English notebook of a folder, and returns it."""

    def release(folder):
        notebooks.write_notebooks(stored.use([folder]), tmp_path / "released")
        return nbformat.read(tmp_path / "released/en/week_3.ipynb", as_version=4)

    return release


@pytest.fixture
def grade(tmp_path, grading_in_process, no_gradebook, monkeypatch, capsys):
    """Return a function that runs the grader's command on the folder `sent`, and returns what it prints."""

    def run(*options):
        command = ["grade", tmp_path / "sent", "--output", tmp_path / "grades", "--workers", "1", *options]
        monkeypatch.setattr(sys, "argv", [*map(str, command)])
        cli.main()
        return capsys.readouterr().out

    return run
