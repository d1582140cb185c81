"""Fixtures of the grader's tests."""

import shutil
import subprocess
from functools import partial

import pytest

from assignments.batch import Batch
from assignments.report import pages
from assignments.submission import Grader


@pytest.fixture
def in_process(monkeypatch):
    """Batches grade in this process, and start no processes of their own."""

    class Here:
        def __init__(self, hidden, mothers, seeds):
            self.line = self
            monkeypatch.setattr(Grader, "seeds", seeds)

        def ask(self, *asked):
            self.said = partial(next, Grader.grade(*asked))

        def close(self):
            pass

    monkeypatch.setattr("assignments.batch.Grading", Here)
    monkeypatch.setattr("assignments.batch.wait", lambda lines, _: lines)
    monkeypatch.setattr(Batch, "mother", lambda batch: None)


@pytest.fixture
def here(in_process, worker, monkeypatch):
    """Batches grade in this process, with the tests' worker."""
    monkeypatch.setattr(Grader, "worker", worker)


@pytest.fixture(scope="session")
def own_mounts():
    """Skips where a user may not mount folders in a namespace of their own: some systems and most containers refuse."""
    asked = ["unshare", "--user", "--map-root-user", "--mount", "true"]
    if not shutil.which("unshare") or subprocess.run(asked, capture_output=True).returncode:
        pytest.skip("this needs the right to mount, which this system does not give")


@pytest.fixture
def no_gradebook(monkeypatch):
    """Batches write no gradebook.db: nbgrader's takes seconds."""
    monkeypatch.setattr(pages, "gradebook", lambda *_: {})
