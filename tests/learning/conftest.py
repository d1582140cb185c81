import importlib

import pytest

from tests.project.paths import ROOT


@pytest.fixture
def program(monkeypatch):
    """Return a function that imports `benchmarks/evidence_<name>.py` by its name."""
    monkeypatch.syspath_prepend(ROOT / "benchmarks")
    return lambda name: importlib.import_module(f"evidence_{name}")
