"""The scan in Triton, book/programs/triton_scan.py, compared with the loop: `make outside` and `make card` run this.

On a card it is compiled. Elsewhere Triton's interpreter runs it.
"""

import importlib

import pytest
import torch

from companion.layers.scan import loop
from tests.project.paths import ROOT


@pytest.fixture
def program(monkeypatch):
    if not torch.cuda.is_available():
        monkeypatch.setenv("TRITON_INTERPRET", "1")
    monkeypatch.setenv("TRITON_DEFAULT_FP_FUSION", "1")  # Triton 3.9 warns if it is not set
    monkeypatch.syspath_prepend(ROOT / "book/programs")
    return importlib.import_module("triton_scan")


@pytest.mark.parametrize("shape", [(1, 5), (128, 16), (300, 3, 7)])
@pytest.mark.parametrize("dtype", [torch.float64, torch.float32])
def test_states_are_those_of_the_loop(program, shape, dtype):
    torch.manual_seed(0)
    a, b, h_0 = torch.rand(shape, dtype=dtype), torch.randn(shape, dtype=dtype), torch.randn(shape[1:], dtype=dtype)
    bound = 1e-12 if dtype == torch.float64 else 1e-5
    torch.testing.assert_close(program.triton_scan(a, b, h_0), loop(a, b, h_0), rtol=0, atol=bound)
    a, b = a.mT.contiguous().mT, b.mT.contiguous().mT  # the same numbers in another order in memory
    torch.testing.assert_close(program.triton_scan(a, b, h_0), loop(a, b, h_0), rtol=0, atol=bound)
