"""Test that answers with endless loops, much memory, many files or much output are stopped."""

import time

import pytest

from assignments.grade import judge as answer_judge
from tests.assignments.grading import QUICK, WORDS, cell, judged, needs_sandbox, notebook, put, sent
from tests.check.lstm_answers import GATES
from tests.project.sampling import chosen

EXCESSIVE = {
    "a loop in the answer": ("def gates(*a):\n    while True: pass", "time_limit"),
    "a loop in C that holds on": ("import re\ndef gates(*a): return re.match('(a+)+$', 'a' * 64 + 'b')", "time_limit"),
    "sleep": ("import time\ntime.sleep(10**6)", "time_limit"),
    "deaf": (
        "import signal\nfor n in range(1, 64):\n"
        "    try: signal.signal(n, signal.SIG_IGN)\n"
        "    except (OSError, ValueError): pass\nwhile True: pass", "time_limit"),
    "closed": (
        "import os, time\nfor fd in range(256):\n"
        "    try: os.close(fd)\n    except OSError: pass\n"
        "time.sleep(10**6)", "stopped_early"),
    "all of memory": ("def gates(*a):\n    x = []\n    while True: x.append(torch.zeros(10**7))", "memory_limit"),
    "many files": ("import os, tempfile\ndef gates(*a):\n    while True: open(tempfile.mktemp(), 'w').close()", None),
    "output": ("def gates(*a):\n    while True: print('x' * 10**6)", "time_limit"),
    "output at once": ("import sys\nwhile True: sys.stderr.write('x' * 10**6)", "time_limit"),
    "a flood through the pipe": (
        "import os\nwhile True:\n    for fd in range(3, 256):\n"
        "        try: os.write(fd, b'1' * 10**6)\n"
        "        except OSError: pass", "too_many_numbers"),
    "a flood of numbers": ("def gates(*a): return tuple(torch.ones(3000, 1000) for _ in range(4))", None),
    "fork bomb": ("import os\nwhile True:\n    try: os.fork()\n    except OSError: pass", "time_limit"),
}  # fmt: skip


@needs_sandbox
@pytest.mark.parametrize("name", chosen(EXCESSIVE, "a loop in the answer", "closed"))
def test_answers_beyond_a_limit_are_stopped(worker, name):
    source, mistake = EXCESSIVE[name]
    # 256 megabytes are full before the time is over, also on a busy machine
    verdict = judged(worker, "gates", source, limits=QUICK | {"memory": 256})
    print(name, verdict.mistakes, verdict.paragraphs[:2])
    assert verdict.points == 0 and not verdict.ok
    assert mistake is None or verdict.mistakes == [mistake]
    assert verdict.seconds < 20
    assert judged(worker, "gates", GATES).ok


@pytest.mark.deep
def test_a_cell_of_20_megabytes_is_right_or_beyond_a_limit(worker, tmp_path):
    """Check also that the next answer is graded as usual."""
    line = "x = '" + "a" * 98 + "'\n"
    large = notebook({"gates": GATES})
    large["cells"].insert(1, cell(line * (20_000_000 // len(line))))
    put(tmp_path, "a", "lstm.ipynb", large)
    begin = time.monotonic()
    verdict = answer_judge.grade(worker, "gates", sent(tmp_path, "a").answers["gates"], 5, "en", WORDS)
    print(verdict.mistakes, time.monotonic() - begin)
    assert verdict.ok or verdict.mistakes in (["time_limit"], ["memory_limit"])
    assert time.monotonic() - begin < 400  # mostly spent on reading the notebook
    assert judged(worker, "gates", GATES).ok


@pytest.mark.heavy
def test_an_answer_that_prints_5_gigabytes_is_right(worker):
    loud = "import sys\nfor _ in range(5000):\n    print('x' * 10**6)\n    sys.stderr.write('x')\n"
    assert judged(worker, "gates", loud + GATES).ok
