"""Workers: how they start, and that none leaves a process behind."""

import os
import signal
import time

import pytest

from assignments.grade import judge
from assignments.read import answers
from assignments.sandbox import pool
from companion.check.engine.question import all_questions, bank
from tests.assignments.grading import QUICK, descendants, judged, linux, there
from tests.check.lstm_answers import GATES


@linux
def test_workers_of_one_mother(worker):
    """Each has walls of its own. One that is killed is begun anew; one that nobody listens to ends, and what it
    runs."""
    walls = judged(worker, "gates", GATES).walls
    first, second = (pool.Worker([], worker.mothers) for _ in range(2))
    assert judged(first, "gates", GATES).ok and judged(second, "gates", GATES).ok
    assert first.mother is second.mother is None
    spaces = {os.readlink(f"/proc/{process}/ns/mnt") for process in ("self", worker.pid, first.pid, second.pid)}
    assert len(spaces) == 4 or "processes" not in walls
    os.kill(first.pid, signal.SIGKILL)
    assert judged(first, "gates", GATES).ok
    asked = all_questions()["gates"]
    sleeping = answers.Answer([[1, "import time\ntime.sleep(10**6)\ndef gates(): pass"]], ["gates"], True)
    second.send(judge.job_of(asked, bank("gates", 5), sleeping, judge.LIMITS, needed=False))
    begin, started = time.monotonic(), ()
    while len(started := {second.pid, *descendants(second.pid)}) < 4:
        assert time.monotonic() - begin < 20
    second.close(), first.close()
    while any(map(there, started)):
        assert time.monotonic() - begin < 25  # a question has 30
        time.sleep(0.05)


@linux
@pytest.mark.heavy
def test_a_worker_whose_mother_is_gone():
    mother = pool.Mother()
    one = pool.Worker([], mother.line)
    assert judged(one, "gates", GATES).ok
    mother.process.kill()
    mother.process.wait()
    assert judged(one, "gates", GATES).ok and judged(one, "gates", GATES).ok


STAYS = """
import ctypes, os, threading, time
libc = ctypes.CDLL(None)
libc.prctl(1, 0, 0, 0, 0)  # deaf to its parent's end
for leave in (os.setsid, lambda: os.setpgid(0, 0)):
    try: leave()
    except OSError: pass
threading.Thread(target=time.sleep, args=(10**6,)).start()
def gates(*a): time.sleep(10**6)
"""


@pytest.mark.heavy
@linux
def test_no_process_survives_its_question(worker):
    verdict = judged(worker, "gates", STAYS, limits=QUICK)
    assert verdict.mistakes == ["time_limit"] and verdict.seconds < 20  # it has five, and uses no processor
    time.sleep(0.5)
    assert not [pid for pid in descendants(worker.pid) if there(pid)]
