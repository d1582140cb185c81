import functools
import os

import torch
from browsing import address, browser, site  # noqa: F401 (fixtures)
from hypothesis import settings

from browser import program, running

# In `make test` the same examples on every run: a failure is a finding, never a matter of luck. `make fuzz` draws anew.
settings.register_profile("repeatable", derandomize=True, deadline=None)
settings.register_profile("fuzz", deadline=None, print_blob=True)
settings.load_profile("fuzz" if "FUZZ" in os.environ else "repeatable")


def pytest_addoption(parser):
    parser.addoption("--device", default="cpu", help="where the models run, for example cuda")


@functools.cache
def no_browser():
    """Whether there is nothing to open pages in. CI must have it: there the tests fail without."""
    if program() or "CI" in os.environ:
        return False
    try:
        with running():
            return False
    except RuntimeError:
        return True


def pytest_collection_modifyitems(config, items):
    needing = [item for item in items if "browser" in getattr(item, "fixturenames", ())]
    if needing and no_browser():
        items[:] = [item for item in items if item not in needing]
        config.hook.pytest_deselected(items=needing)


def pytest_terminal_summary(terminalreporter):
    if no_browser():
        terminalreporter.write_line("Not run, because there is no Chromium or Chrome here: every test of pages and figures in a browser.")


def pytest_configure(config):
    if config.getoption("--device") != "cpu":  # the default without being set, and setting it costs a mode
        torch.set_default_device(config.getoption("--device"))
    # torch says so once a process, whenever its own float32 LSTM has a projection
    config.addinivalue_line("filterwarnings", "ignore:LSTM with projections is not supported with oneDNN")
    # torch.compile says so on Python 3.13.0 alone
    config.addinivalue_line("filterwarnings", "ignore:Guards may run slower on Python")
