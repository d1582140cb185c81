import importlib
from contextlib import nullcontext

import pytest
import torch

from tests.project.paths import ROOT


@pytest.fixture
def program(monkeypatch):
    """Return a function that imports `benchmarks/evidence_<name>.py` by its name.

    The test computes on the processor, as the stored runs did.
    """
    monkeypatch.syspath_prepend(ROOT / "benchmarks")
    with nullcontext() if torch.get_default_device().type == "cpu" else torch.device("cpu"):
        yield lambda name: importlib.import_module(f"evidence_{name}")
