"""Simulate a slower machine: count processor seconds several times, or let processes run for a part of the time."""

import contextlib
import os
import signal
import threading
import time
from contextlib import contextmanager

from assignments.grade.calibration import CalibratedWorker, Calibration
from assignments.sandbox import pool
from tests.assignments.grading import descendants

PERIOD = 0.06  # seconds: processes run for a part of each


@contextmanager
def calibrated_worker(monkeypatch, times):
    """Return a worker for whose programs each processor second counts several times, calibrated as in a batch."""
    monkeypatch.setenv("UNROLLED_SLOWNESS", str(times))
    worker, calibration = pool.Worker([]), Calibration()
    calibration.measure(worker)
    try:
        yield CalibratedWorker(worker, calibration)
    finally:
        worker.close()
        worker.own_server.close()


@contextmanager
def quota(pid, share):
    """Let the descendants of a process run for this share of the time, as a container with a quota does."""
    done = threading.Event()

    def send(number):
        for process in descendants(pid):
            with contextlib.suppress(OSError):
                os.kill(process, number)

    def alternate():
        while not done.is_set():
            send(signal.SIGSTOP)
            time.sleep(PERIOD * (1 - share))
            send(signal.SIGCONT)
            time.sleep(PERIOD * share)

    thread = threading.Thread(target=alternate)
    thread.start()
    try:
        yield
    finally:
        done.set()
        thread.join()
