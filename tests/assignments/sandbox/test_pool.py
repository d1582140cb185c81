"""Test that workers start and restart, and leave no process behind."""

import os
import signal
import time

import pytest

from assignments.grade import judge
from assignments.read import answers
from assignments.sandbox import pool
from companion.check.engine.question import all_questions, bank
from tests.assignments.grading import QUICK, descendants, is_running, judged, linux
from tests.check.lstm_answers import GATES


@linux
def test_workers_of_one_fork_server_are_separate_restart_and_end(worker):
    """Check that each has its own namespaces, starts again after a kill, and ends with its job when it is closed."""
    protections = judged(worker, "gates", GATES).walls
    first, second = (pool.Worker([], worker.server_line) for _ in range(2))
    assert judged(first, "gates", GATES).ok and judged(second, "gates", GATES).ok
    assert first.own_server is second.own_server is None
    namespaces = {os.readlink(f"/proc/{process}/ns/mnt") for process in ("self", worker.pid, first.pid, second.pid)}
    assert len(namespaces) == 4 or "processes" not in protections
    os.kill(first.pid, signal.SIGKILL)
    assert judged(first, "gates", GATES).ok
    question = all_questions()["gates"]
    sleeping = answers.Answer([[1, "import time\ntime.sleep(10**6)\ndef gates(): pass"]], ["gates"], True)
    second.send(judge.build_job(question, bank("gates", 5), sleeping, judge.LIMITS, needed=False))
    begin, started = time.monotonic(), ()
    while len(started := {second.pid, *descendants(second.pid)}) < 4:
        assert time.monotonic() - begin < 20
    second.close(), first.close()
    while any(map(is_running, started)):
        assert time.monotonic() - begin < 25  # a question may take 30
        time.sleep(0.05)


@linux
@pytest.mark.heavy
def test_a_worker_replaces_a_dead_fork_server():
    server = pool.ForkServer()
    worker = pool.Worker([], server.line)
    assert judged(worker, "gates", GATES).ok
    server.process.kill()
    server.process.wait()
    assert judged(worker, "gates", GATES).ok and judged(worker, "gates", GATES).ok


SURVIVOR = """
import ctypes, os, threading, time
libc = ctypes.CDLL(None)
libc.prctl(1, 0, 0, 0, 0)  # do not end with the parent
for leave in (os.setsid, lambda: os.setpgid(0, 0)):
    try: leave()
    except OSError: pass
threading.Thread(target=time.sleep, args=(10**6,)).start()
def gates(*a): time.sleep(10**6)
"""


@pytest.mark.heavy
@linux
def test_no_process_survives_its_question(worker):
    verdict = judged(worker, "gates", SURVIVOR, limits=QUICK)
    assert verdict.mistakes == ["time_limit"] and verdict.seconds < 20  # QUICK allows five by the clock
    time.sleep(0.5)
    assert not [pid for pid in descendants(worker.pid) if is_running(pid)]
