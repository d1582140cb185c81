import os

import torch
from browsing import address, browser, site  # noqa: F401 (fixtures)
from hypothesis import settings

# In `make test` the same examples on every run: a failure is a finding, never a matter of luck. `make fuzz` draws anew.
settings.register_profile("repeatable", derandomize=True, deadline=None)
settings.register_profile("fuzz", deadline=None, print_blob=True)
settings.load_profile("fuzz" if "FUZZ" in os.environ else "repeatable")


def pytest_addoption(parser):
    parser.addoption("--device", default="cpu", help="where the models run, for example cuda")


def pytest_configure(config):
    if config.getoption("--device") != "cpu":  # the default without being set, and setting it costs a mode
        torch.set_default_device(config.getoption("--device"))
    # torch says so once a process, whenever its own float32 LSTM has a projection
    config.addinivalue_line("filterwarnings", "ignore:LSTM with projections is not supported with oneDNN")
    # torch.compile says so on Python 3.13.0 alone
    config.addinivalue_line("filterwarnings", "ignore:Guards may run slower on Python")
