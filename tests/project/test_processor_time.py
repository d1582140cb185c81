"""Test the table of processor seconds at the end of `make prove`: each folder's seconds in all processes."""

import subprocess
import sys
from types import SimpleNamespace

from tests.project import processor_time
from tests.project.processor_time import Recorder, Summary

BUSY = "import time\nwhile time.process_time() < 0.3: pass"


def test_seconds_of_programs_that_have_ended_count():
    before = processor_time.processor_seconds()
    subprocess.run([sys.executable, "-c", BUSY], check=True)
    assert 0.25 < processor_time.processor_seconds() - before < 3


def test_each_folder_gets_the_seconds_of_its_tests(monkeypatch):
    clock = iter([2.0, 5.0, 6.0, 10.0])
    monkeypatch.setattr(processor_time, "processor_seconds", lambda: next(clock))
    config = SimpleNamespace(workeroutput={})
    recorder = Recorder(config)
    for test in (
        "tests/a/test_1.py::test",
        "tests/a/test_2.py::test",
        "tests/b/test_3.py::test[x/y]",
        "conftest.py::test",
    ):
        recorder.pytest_runtest_logstart(test)
    recorder.pytest_sessionfinish()
    assert config.workeroutput["processor_seconds"] == {"collection": 2, "tests/a": 3, "tests/b": 1, ".": 4}
    summary, lines = Summary(None), []
    for _ in range(2):
        summary.pytest_testnodedown(SimpleNamespace(workeroutput=config.workeroutput))
    summary.pytest_terminal_summary(SimpleNamespace(section=lines.append, write_line=lines.append))
    assert [line.split() for line in lines[1:3]] == [["8", "."], ["6", "tests/a"]] and lines[-1].split() == [
        "20",
        "all",
    ]
