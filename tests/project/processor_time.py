"""Measure processor time by folder of tests and print it as a table at the end of `make prove`."""

import collections
import contextlib

import psutil

current = psutil.Process()


def processor_seconds():
    """Return the processor seconds of this process and all its descendants, including those that have ended."""
    total = 0.0
    for process in [current, *current.children(recursive=True)]:
        with contextlib.suppress(psutil.Error):  # the process has ended
            total += sum(process.cpu_times()[:4])  # user, system and the same of children that were waited for
    return total


class Recorder:
    """Record the processor seconds between the first test of a folder's file and the first of the next file."""

    def __init__(self, config):
        self.config, self.folder, self.before = config, "collection", 0.0
        self.seconds = collections.Counter()

    def switch(self, folder):
        now = processor_seconds()
        self.seconds[self.folder] += max(0.0, now - self.before)
        self.folder, self.before = folder, now

    def pytest_runtest_logstart(self, nodeid):
        folder = nodeid.partition("::")[0].rpartition("/")[0] or "."
        if folder != self.folder:
            self.switch(folder)

    def pytest_sessionfinish(self):
        self.switch("end")
        if hasattr(self.config, "workeroutput"):
            self.config.workeroutput["processor_seconds"] = dict(self.seconds)


class Summary:
    """Add up the records of this process and of the workers of pytest-xdist, and print the sum."""

    def __init__(self, recorder):
        self.seconds = recorder.seconds if recorder else collections.Counter()

    def pytest_testnodedown(self, node):
        self.seconds.update(getattr(node, "workeroutput", {}).get("processor_seconds", {}))

    def pytest_terminal_summary(self, terminalreporter):
        terminalreporter.section("processor seconds by folder")
        for folder, seconds in self.seconds.most_common():
            terminalreporter.write_line(f"{seconds:9.0f}  {folder}")
        terminalreporter.write_line(f"{sum(self.seconds.values()):9.0f}  all")


def pytest_configure(config):
    if not config.getoption("prove", False) and not config.getoption("rest", False):
        return
    distributed = bool(config.getoption("numprocesses", None)) and not hasattr(config, "workerinput")
    recorder = None if distributed else Recorder(config)
    if recorder:
        config.pluginmanager.register(recorder, "processor-time-recorder")
    if not hasattr(config, "workerinput"):
        config.pluginmanager.register(Summary(recorder), "processor-time-summary")
