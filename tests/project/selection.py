"""Choose which tests run: by the command line, the marks, and the programs of this machine."""

import functools
import os
from pathlib import Path

from hypothesis import HealthCheck, settings

from tests.project import sampling

# `make test` tries the same examples on every run, so that failures can be repeated; `make fuzz` draws new ones.
# The machine may be busy, so slow examples are no failure.
ON_BUSY_MACHINES = {"deadline": None, "suppress_health_check": [HealthCheck.too_slow]}
settings.register_profile("repeatable", derandomize=True, **ON_BUSY_MACHINES)
settings.register_profile("fuzz", print_blob=True, **ON_BUSY_MACHINES)
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
    if config.getoption("--device") != "cpu":  # setting the default explicitly would slow down every call
        compute_on(config.getoption("--device"))
    # a warning of torch's own float32 LSTM with a projection, once a process
    config.addinivalue_line("filterwarnings", "ignore:LSTM with projections is not supported with oneDNN")
    # a warning of cuDNN, for layers in bfloat16 and for copies
    config.addinivalue_line("filterwarnings", "ignore:RNN module weights are not part of single contiguous chunk")
    # a warning of torch.compile on Python 3.13.0 only
    config.addinivalue_line("filterwarnings", "ignore:Guards may run slower on Python")


def compute_on(device):
    """Make tensors on a device by default, in full precision, and data from the same random numbers as elsewhere."""
    import torch
    from torch.nn.utils import rnn
    from torch.utils._device import _device_constructors

    def drawn_where_the_generator_is(draw):
        def run(*arguments, generator=None, **options):
            if generator is None:
                return draw(*arguments, **options)
            there = {"device": generator.device} | options
            return draw(*arguments, generator=generator, **there).to(options.get("device", device))

        return run

    def packed(*arguments, pack=rnn.pack_sequence, **options):
        with torch.device("cpu"):  # torch makes the lengths on the default device, and accepts them only here
            return pack(*arguments, **options)

    torch.set_default_device(device)
    torch.backends.cudnn.allow_tf32 = False  # by default cuDNN's float32 has the digits of float16
    rnn.pack_sequence = packed
    _device_constructors()  # torch lists the functions that use the default device before they are replaced
    for name in ("rand", "randn", "randint", "randperm"):
        setattr(torch, name, drawn_where_the_generator_is(getattr(torch, name)))


@functools.cache
def no_browser():
    """Return whether no browser is installed. In CI return False, so that the tests fail without one."""
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
    """Return whether `make live` has not fetched the parts. If LIVE is set return False, so that the tests fail."""
    from book.live import fetch

    return not fetch.fetched() and "LIVE" not in os.environ


# The chapters that train and measure, which take much longer than the others.
LONG = (
    "attention",
    "comparing",
    "first_network",
    "forget_bias",
    "language_model",
    "matrix_state",
    "memory",
    "listening",
    "names",
    "released",
    "series",
    "state_tracking",
    "step_sizes",
    "todays_models",
    "training",
    "transformer",
    "vanishing",
)


def long(item):
    """Return whether an item is a cell of a long chapter."""
    return item.path.suffix == ".ipynb" and item.path.parents[1].name == "book" and item.path.stem in LONG


def named(item, config):
    """Return whether the command line names the file of an item."""
    return any(Path(argument.partition("::")[0]).name == item.path.name for argument in config.args)


def heavy(item):
    """Return whether a test is marked to be left out of `make test`."""
    return bool(item.get_closest_marker("heavy") or item.get_closest_marker("deep"))


def quick(item):
    """Return whether `make test` runs an item: English notebooks that are not long, and tests that are not heavy."""
    if item.path.suffix == ".ipynb":
        return item.path.parent.name == "en" and not long(item)
    return not heavy(item)


def in_sample(item):
    """Return False for a deep test that is not in this tree's quarter; marks with one name stay together."""
    mark = item.get_closest_marker("deep")
    return mark is None or sampling.in_quarter(mark.args[0] if mark.args else item.nodeid, sampling.tree())


def left_out(item, config):
    """Return whether the options leave an item out, or a program that it needs is missing."""
    if config.getoption("--rest"):
        if quick(item) and not item.get_closest_marker("twice") or not in_sample(item):
            return True
    elif not config.getoption("--prove") and (heavy(item) or long(item) and not named(item, config)):
        return True
    if "live_parts" in getattr(item, "fixturenames", ()) and no_python():
        return True
    return "browser" in getattr(item, "fixturenames", ()) and no_browser()


def pytest_collection_modifyitems(config, items):
    kept, deselected = [], []
    for item in items:
        (deselected if left_out(item, config) else kept).append(item)
    if deselected:
        items[:] = kept
        config.hook.pytest_deselected(items=deselected)


def pytest_terminal_summary(terminalreporter, config):
    if no_browser():
        terminalreporter.write_line(
            "Not run, because there is no Chromium or Chrome here: every test of pages and figures in a browser."
        )
    if any(Path(argument).name == "en" for argument in config.args) and not proves(config):
        terminalreporter.write_line(
            f"Left to `make prove`, or to you by name: what is heavy, and the chapters {', '.join(LONG)}."
        )
    if proves(config) and no_python():
        terminalreporter.write_line("Not run, because `make live` has not fetched it: the Python of the pages.")
