"""Choose which tests run: by the command line, the marks, and what this machine has."""

import functools
import os
from pathlib import Path

from hypothesis import settings

from tests.project import sampling

# In `make test` the same examples on every run: a failure is a finding, never a matter of luck. `make fuzz` draws anew.
settings.register_profile("repeatable", derandomize=True, deadline=None)
settings.register_profile("fuzz", deadline=None, print_blob=True)
settings.load_profile("fuzz" if "FUZZ" in os.environ else "repeatable")


def pytest_addoption(parser):
    parser.addoption("--device", default="cpu", help="where the models run, for example cuda")
    parser.addoption("--prove", action="store_true", help="run the heavy tests, too: everything")
    parser.addoption(
        "--rest", action="store_true", help="run what `make test` leaves out, and of the tests marked deep a quarter"
    )
    parser.addoption(
        "--slow-cells", action="store_true", help="run on the small torch also the cells that train for long there"
    )


def proves(config):
    """Return whether heavy tests run."""
    return config.getoption("--prove") or config.getoption("--rest")


def pytest_configure(config):
    if proves(config):
        os.environ["PROVE"] = "1"
    if config.getoption("--device") != "cpu":  # the default without being set, and setting it costs a mode
        import torch

        torch.set_default_device(config.getoption("--device"))
    # torch says so once a process, whenever its own float32 LSTM has a projection
    config.addinivalue_line("filterwarnings", "ignore:LSTM with projections is not supported with oneDNN")
    # torch.compile says so on Python 3.13.0 alone
    config.addinivalue_line("filterwarnings", "ignore:Guards may run slower on Python")


@functools.cache
def no_browser():
    """Whether there is nothing to open pages in. CI must have it: there the tests fail without."""
    from book.site.browser import find_chromium, open_browser

    if find_chromium() or "CI" in os.environ:
        return False
    try:
        with open_browser():
            return False
    except RuntimeError:
        return True


@functools.cache
def no_python():
    """Whether there is not what runs cells on pages, which `make live` fetches. Where LIVE is set, tests fail
    without."""
    from book.live import fetch

    return not fetch.fetched() and "LIVE" not in os.environ


# The chapters that train and measure: a processor needs much longer for these than for all others.
LONG = (
    "attention",
    "first_network",
    "language_model",
    "matrix_state",
    "memory",
    "sequences",
    "series",
    "training",
    "without_waiting",
)


def long(item):
    """Return whether an item is a cell of a long chapter."""
    return item.path.suffix == ".ipynb" and item.path.parents[1].name == "book" and item.path.stem in LONG


def named(item, config):
    """Return whether the command line names the file of an item."""
    return any(Path(one.partition("::")[0]).name == item.path.name for one in config.args)


def heavy(item):
    """Return whether a test is marked to be left out of `make test`."""
    return bool(item.get_closest_marker("heavy") or item.get_closest_marker("deep"))


def quick(item):
    """Return whether `make test` runs an item: all English notebooks but the long ones, and all tests that are not
    heavy."""
    if item.path.suffix == ".ipynb":
        return item.path.parent.name == "en" and not long(item)
    return not heavy(item)


def drawn(item):
    """Return whether a test that is marked deep is in the quarter of this tree. Tests with one argument of the mark
    stay together."""
    mark = item.get_closest_marker("deep")
    return mark is None or sampling.in_quarter(mark.args[0] if mark.args else item.nodeid, sampling.tree())


def left_out(item, config):
    """Return whether the options leave an item out, or a program that it needs is missing."""
    if config.getoption("--rest"):
        if quick(item) and not item.get_closest_marker("twice") or not drawn(item):
            return True
    elif not config.getoption("--prove") and (heavy(item) or long(item) and not named(item, config)):
        return True
    if "live_parts" in getattr(item, "fixturenames", ()) and no_python():
        return True
    return "browser" in getattr(item, "fixturenames", ()) and no_browser()


def pytest_collection_modifyitems(config, items):
    kept, leaving = [], []
    for item in items:
        (leaving if left_out(item, config) else kept).append(item)
    if leaving:
        items[:] = kept
        config.hook.pytest_deselected(items=leaving)


def pytest_terminal_summary(terminalreporter, config):
    if no_browser():
        terminalreporter.write_line(
            "Not run, because there is no Chromium or Chrome here: every test of pages and figures in a browser."
        )
    if any(Path(one).name == "en" for one in config.args) and not proves(config):
        terminalreporter.write_line(
            f"Left to `make prove`, or to you by name: what is heavy, and the chapters {', '.join(LONG)}."
        )
    if proves(config) and no_python():
        terminalreporter.write_line("Not run, because `make live` has not fetched it: the Python of the pages.")
