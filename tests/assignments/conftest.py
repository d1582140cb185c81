"""Fixtures of the grader's tests."""

import shutil
import signal
import subprocess
from functools import partial

import pytest

from assignments.batch import Batch
from assignments.report import grade_tables
from assignments.submission import Grader


@pytest.fixture(autouse=True)
def signals():
    """Restore what the grader's command sets for signals."""
    before = {number: signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)}
    yield
    for number, handler in before.items():
        signal.signal(number, handler)


@pytest.fixture
def in_process(monkeypatch):
    """Grade batches in this process instead of starting grading processes."""

    class InProcess:
        def __init__(self, hidden, mothers, seeds, calibration):
            self.connection = self
            monkeypatch.setattr(Grader, "seeds", seeds)

        def send(self, *arguments):
            self.receive = partial(next, Grader.grade(*arguments))

        def close(self):
            pass

    monkeypatch.setattr("assignments.batch.GradingProcess", InProcess)
    monkeypatch.setattr("assignments.batch.wait", lambda lines, _: lines)
    monkeypatch.setattr(Batch, "fork_server", lambda batch: None)
    monkeypatch.setattr(Batch, "calibrate", lambda *_: None)


@pytest.fixture
def grading_in_process(in_process, worker, monkeypatch):
    """Grade batches in this process with the tests' worker."""
    monkeypatch.setattr(Grader, "worker", worker)


@pytest.fixture(scope="session")
def own_mounts():
    """Skip where users may not mount folders in their own namespace, as on some systems and in most containers."""
    command = ["unshare", "--user", "--map-root-user", "--mount", "true"]
    if not shutil.which("unshare") or subprocess.run(command, capture_output=True).returncode:
        pytest.skip("this needs the right to mount, which this system does not give")


@pytest.fixture
def no_gradebook(monkeypatch):
    """Write no gradebook.db, since nbgrader's takes seconds."""
    monkeypatch.setattr(grade_tables, "write_gradebook", lambda *_: {})
