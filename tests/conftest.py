from hypothesis import settings

# The same examples on every run: a failure here is a finding, never a matter of luck.
settings.register_profile("repeatable", derandomize=True, deadline=None)
settings.load_profile("repeatable")


def pytest_configure(config):
    # torch says so once a process, whenever its own float32 LSTM has a projection
    config.addinivalue_line("filterwarnings", "ignore:LSTM with projections is not supported with oneDNN")
