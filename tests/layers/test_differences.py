"""Tests of the README's list of differences from torch. When a difference disappears, its line must go, too.

Each test does the same with both modules and checks that the results differ as the line says.
"""

import re

import pytest
import torch
from torch import nn
from torch.nn.utils import parametrize
from torch.nn.utils.rnn import pack_sequence

import companion
from tests.layers.torch_comparison import CELLS, LAYERS, compiled, outcome, pair
from tests.project.paths import ROOT

NAMES = [*LAYERS, *CELLS, "Embedding"]
# some versions of torch deprecate TorchScript and this way of quantizing
pytestmark = [
    pytest.mark.filterwarnings("ignore::DeprecationWarning"),
    pytest.mark.filterwarnings("ignore::FutureWarning"),
]


def works(act, *arguments):
    return outcome(act, *arguments)[0] is None


def test_readme_lists_ten_differences():
    section = re.search(
        r"(?ms)^## What differs from torch$(.*?)^## ", (ROOT / "README.md").read_text(encoding="utf-8")
    )[1]
    rows = [line for line in section.splitlines() if line.startswith("|")][2:]
    assert len(rows) == 10


@pytest.mark.parametrize("name", NAMES)
def test_class_is_not_torchs(name):
    ours, theirs = pair(name, 4, 3)
    assert isinstance(theirs, getattr(nn, name)) and not isinstance(ours, getattr(nn, name))


@pytest.mark.filterwarnings("ignore:torch.quantize_per_tensor")
@pytest.mark.parametrize("name", ["LSTM", "GRU"])
def test_layers_are_not_quantized(name):
    modules = pair(name, 4, 3, device="cpu")  # torch's quantized layers are for processors
    ours, theirs = (torch.ao.quantization.quantize_dynamic(nn.Sequential(module))[0] for module in modules)
    assert "quantized" in type(theirs).__module__ and type(ours) is getattr(companion, name)


@pytest.mark.parametrize("name", NAMES)
def test_layers_can_neither_be_scripted_nor_symbolically_traced(name):
    ours, theirs = pair(name, 4, 3)
    for act in (torch.jit.script, lambda module: torch.fx.symbolic_trace(nn.Sequential(module))):
        assert works(act, theirs) and not works(act, ours)


@pytest.mark.filterwarnings("ignore::torch.jit.TracerWarning")
@pytest.mark.parametrize("name", LAYERS)
def test_trace_accepts_one_length_only(name):
    ours, theirs = (torch.jit.trace(module, torch.randn(5, 2, 4)) for module in pair(name, 4, 3))
    for steps, accepted in ((5, True), (7, False)):
        x = torch.randn(steps, 3, 4)
        assert works(theirs, x) and works(ours, x) is accepted


@pytest.mark.parametrize("name", LAYERS)
def test_torchs_layers_can_neither_be_compiled_nor_mapped(name):
    ours, theirs = pair(name, 4, 3)
    x = torch.randn(5, 2, 4)
    for transformed in (compiled, torch.func.vmap):
        assert works(transformed(ours), x) and not works(transformed(theirs), x)


@pytest.mark.parametrize("name", LAYERS)
def test_layers_are_not_one_fused_operation(name):
    calls = []
    for module in pair(name, 4, 3):
        with torch.profiler.profile() as profile:
            module(torch.randn(50, 2, 4))
        calls.append(sum(event.count for event in profile.key_averages() if event.key in ("aten::mm", "aten::addmm")))
    assert calls[0] == 51  # one for the inputs of all time steps, one for each state
    assert name != "LSTM" or calls[1] == 0


@pytest.mark.parametrize("name", LAYERS)
def test_results_are_rounded_differently(name):
    ours, theirs = pair(name, 64, 64)
    x = torch.randn(40, 16, 64)
    mine, other = ours(x)[0], theirs(x)[0]
    assert not mine.equal(other)
    torch.testing.assert_close(mine, other, rtol=0, atol=1e-5)


@pytest.mark.parametrize("name", LAYERS)
def test_how_often_a_parametrization_runs(name):
    class Counted(nn.Module):
        def __init__(self):
            super().__init__()
            self.runs = 0

        def forward(self, weight):
            self.runs += 1
            return weight / 2

    runs = []
    for module in pair(name, 4, 3, 2, bidirectional=True):
        counted = Counted()
        parametrize.register_parametrization(module, "weight_hh_l0", counted)
        counted.runs = 0
        module(torch.randn(5, 2, 4))
        runs.append(counted.runs)
    assert runs[0] == 1 < runs[1]


@pytest.mark.parametrize("name", LAYERS)
def test_batch_first_output_is_contiguous(name):
    ours, theirs = pair(name, 4, 3, batch_first=True)
    x = torch.randn(2, 5, 4)
    assert ours(x)[0].is_contiguous() and not theirs(x)[0].is_contiguous()


@pytest.mark.parametrize("name", LAYERS)
def test_internal_methods_are_missing(name):
    ours, theirs = pair(name, 4, 3)
    for method in ("check_input", "check_forward_args", "get_expected_hidden_size", "permute_hidden"):
        assert hasattr(theirs, method) and not hasattr(ours, method)


def test_lstm_has_the_messages_of_the_other_layers():
    """Check a packed sequence with the wrong number of features, and a state of another type."""
    packed, state = pack_sequence([torch.zeros(3, 7), torch.zeros(2, 7)]), torch.zeros(1, 2, 5).double()
    for x, hx in ((packed, None), (torch.zeros(4, 2, 3), state)):
        ours, theirs = (outcome(layer, x, None if hx is None else (hx, hx))[0] for layer in pair("LSTM", 3, 5))
        _, gru = pair("GRU", 3, 5)
        assert ours == outcome(gru, x, hx)[0] and theirs != ours
