"""Settings for tests and notebooks alike: threads, plugins, and the number of processes."""

import gc
import os
import signal
import sys

import pytest

# Models in tests are small: more threads take four times the processor's time. Set before torch is imported.
os.environ.setdefault("OMP_NUM_THREADS", "1")

# what tests share says as clearly as they do what an assertion found
pytest.register_assert_rewrite("tests", "both_torches")

# A shell lets what it starts in the background ignore Ctrl+C, and so would all programs that tests start and interrupt.
if signal.getsignal(signal.SIGINT) == signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)

# jsonschema, which nbformat imports, would compile 39 grammars for a kind of address that no notebook has: some seconds
sys.modules.setdefault("rfc3987_syntax", None)

pytest_plugins = ["nbval.plugin"] + [
    f"tests.project.{name}" for name in ("selection", "order", "processor_time", "translated_notebooks")
]


@pytest.hookimpl(wrapper=True)
def pytest_collection():
    """What is there before the first test stays to the end: it is not looked through again whenever tests leave
    garbage."""
    gc.disable()
    try:
        return (yield)
    finally:
        gc.freeze()
        gc.enable()


def pytest_xdist_auto_num_workers():
    """How many processes `--numprocesses auto` is: as many as there are cores. One more would wait less for browsers,
    and take longer in all; and there are limits of time that a crowded machine misses."""
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
    return max(2, cores)
