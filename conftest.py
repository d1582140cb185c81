"""Settings for tests and notebooks alike: threads, plugins, and the number of processes."""

import gc
import os
import signal
import sys

import pytest

# Models in tests are small: more threads take four times the processor time. Set before torch is imported.
os.environ.setdefault("OMP_NUM_THREADS", "1")

# assertions in helpers of tests report values as those in tests do
pytest.register_assert_rewrite("tests", "both_torches")

# A shell makes background programs ignore Ctrl+C, and programs that tests start and interrupt would inherit that.
if signal.getsignal(signal.SIGINT) == signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)

# jsonschema, which nbformat imports, would spend some seconds on grammars for addresses that no notebook has
sys.modules.setdefault("rfc3987_syntax", None)

pytest_plugins = ["nbval.plugin"] + [
    f"tests.project.{name}" for name in ("selection", "order", "processor_time", "translated_notebooks")
]


@pytest.hookimpl(wrapper=True)
def pytest_collection():
    """Exempt the objects that exist before the first test from garbage collection, which saves time."""
    gc.disable()
    try:
        return (yield)
    finally:
        gc.freeze()
        gc.enable()


def pytest_xdist_auto_num_workers():
    """Return the number of processes for `--numprocesses auto`: one per core, and at least 2.

    More processes take longer in all, and some tests would miss their time limits.
    """
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
    return max(2, cores)
