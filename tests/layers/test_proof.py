"""Tests of `compare`: it detects every kind of difference."""

import itertools

import pytest
import torch
from torch import nn

import companion
from companion import compare
from companion.layers.lstm import LSTMStep
from companion.layers.rnn import ElmanStep
from companion.layers.step import Weights
from companion.proof import WORDS, Comparison, Row
from tests.layers.torch_comparison import pair


def failures(result):
    return [row.tensor for row in result if not row.ok]


@pytest.mark.parametrize("dtype", [torch.float64, torch.float32])
def test_rows_are_outputs_states_and_gradients(dtype):
    result = compare(*pair("LSTM", 3, 5, 2, proj_size=2, dtype=dtype))
    assert result.ok
    names = [row.tensor for row in result]
    assert names[:6] == ["output", "h_n", "c_n", "input.grad", "h_0.grad", "c_0.grad"]
    assert names[6:] == [f"{name}.grad" for name in nn.LSTM(3, 5, 2, proj_size=2).state_dict()]
    assert {row.tensor: row.shape for row in result}["c_n"] == (2, 3, 5)
    assert [row.tensor for row in compare(*pair("Embedding", 4, 2))] == ["output", "weight.grad"]
    linear = compare(nn.Linear(4, 2), nn.Linear(4, 2))
    assert [(row.tensor, row.shape) for row in linear][:2] == [("output", (3, 2)), ("input.grad", (3, 4))]
    assert [row.tensor for row in compare(*pair("RNNCell", 4, 2))][:3] == ["h_1", "input.grad", "h_0.grad"]


def test_prints_bounds_and_no_digits():
    exact = compare(*pair("RNN", 3, 5, dtype=torch.float64))
    assert str(exact).splitlines()[1].split() == ["output", "(5,", "3,", "5)", "below", "1e-10"]
    assert "| `output` | (5, 3, 5) | below 1e-10 |" in exact._repr_markdown_()
    assert "below 1e-05 of its largest number" in str(compare(*pair("RNN", 3, 5)))
    assert "below 2 of 3" in str(Comparison(exact, "2 of 3"))


@pytest.mark.parametrize("language", WORDS)
def test_prints_the_words_of_a_language(language, monkeypatch):
    """Check words, columns of equal width with Chinese characters as two, and the environment's language."""
    words, encoding = WORDS[language], "cp949" if language == "ko" else "gbk"
    table = compare(*pair("LSTMCell", 3, 5, dtype=torch.float64), language=language)
    first, second, *_ = table._repr_markdown_().splitlines()
    assert first == f"| {' | '.join(words['head'])} |" and second.count("|") == 4
    lines = [line.encode(encoding) for line in str(table).splitlines()]
    last = words["below"].format("1e-10").encode(encoding)
    assert len({line.index(last) for line in lines[1:]}) == 1
    assert lines[1].index(last) == lines[0].index(words["head"][-1].encode(encoding))
    assert words["below_share"].format("1e-05") in str(compare(*pair("RNN", 3, 5), language=language))
    wrong = Row("h", (1,), float("inf"), 1e-10)
    assert words["different"].format("inf") in str(Comparison([wrong], language=language))
    monkeypatch.setenv("UNROLLED_LANGUAGE", language)
    assert str(Comparison(table)) == str(table)


def test_copies_the_weights():
    ours, theirs = companion.LSTM(3, 5), nn.LSTM(3, 5)
    assert compare(ours, theirs).ok
    assert ours.weight_ih_l0.equal(theirs.weight_ih_l0)


MODULES = {
    "Embedding": (5, 3), "RNNCell": (3, 4), "LSTMCell": (3, 4), "GRUCell": (3, 4), "RNN": (3, 4), "LSTM": (3, 4, 2),
    "GRU": (3, 4), "MinGRU": (3, 4), "LogMinGRU": (3, 4), "MinLSTM": (3, 4),
    "LinearAttention": (3, 4, 2), "GatedLinearAttention": (3, 4),
    "DeltaNet": (3, 4), "GatedDeltaNet": (3, 4), "MLSTM": (3, 4), "SelectiveSSM": (3, 4), "MultiheadAttention": (4, 2),
    "SLSTM": (3, 4), "DeltaProduct": (3, 4), "RotaryLinearAttention": (3, 4), "DeltaMixer": (3, 4, 2),
    "KimiMixer": (3, 4), "MambaMixer": (3, 4), "Mamba2Mixer": (3, 4), "MLSTMMixer": (3, 4), "GriffinMixer": (3, 4),
    "AdditiveAttention": (3, 4, 5), "TransformerEncoderLayer": (4, 2, 8),
}  # fmt: skip


@pytest.mark.parametrize("name", MODULES)
def test_either_module_may_be_ours_or_torchs(name):
    """Check two of ours, and, where torch has the module, ours with torch's in both orders: the rows are the same."""
    libraries = (companion, nn) if hasattr(nn, name) else (companion,)
    tables = [
        compare(*(getattr(library, name)(*MODULES[name], dtype=torch.float64) for library in libraries))
        for libraries in itertools.product(libraries, repeat=2)
    ]
    assert all(table.ok for table in tables) and len({str(table) for table in tables}) == 1
    names, states = [row.tensor for row in tables[0]], {"LSTM": 2, "LSTMCell": 2, "MLSTM": 3, "SLSTM": 4}
    states |= {"RotaryLinearAttention": 2, "DeltaMixer": 2, "KimiMixer": 2, "MambaMixer": 2, "Mamba2Mixer": 2}
    states |= {"MLSTMMixer": 3, "GriffinMixer": 3}
    recurrent = not any(kind in name for kind in ("Embedding", "headAtt", "Additive", "Transformer"))
    starts = [row for row in names if row.startswith(("h_0", "c_0", "state_0"))]
    assert len(starts) == (states.get(name, 1) if recurrent else 0)


def test_modules_of_other_kinds_need_an_input():
    blocks = [companion.Blocks([companion.LSTM(4, 4), companion.MLSTM(4, 4)]) for _ in range(2)]
    result = compare(*blocks)
    assert result.ok and [row.tensor for row in result][:6] == ["output", *(f"state_n[{k}]" for k in range(5))]
    networks = [nn.Sequential(nn.Linear(2, 3)) for _ in range(2)]
    with pytest.raises(TypeError, match="cannot make an input for Sequential: pass one as `input`"):
        compare(*networks)
    assert compare(*networks, torch.ones(2)).ok


def test_wrong_weights_are_refused():
    with pytest.raises(RuntimeError, match="weight_hh_l1"):
        compare(companion.LSTM(3, 5), nn.LSTM(3, 5, 2))


def with_step(name, step, *args, **kwargs):
    """Return the layer of this name with another step."""
    return type(name, (getattr(companion, name),), {"_step": step})(*args, **kwargs)


class SwappedGates(LSTMStep):
    def step(self, a, state, w):
        # f, i, g, o: another order than torch's
        f_i_g_o = [*range(5, 10), *range(5), *range(10, 20)]
        return super().step(a[:, f_i_g_o], state, Weights(hh=w.hh[:, f_i_g_o], hr=w.hr))


def test_swapped_gates_are_detected():
    result = compare(with_step("LSTM", SwappedGates(), 3, 5, dtype=torch.float64), nn.LSTM(3, 5, dtype=torch.float64))
    assert not result.ok and "output" in failures(result)
    assert "DIFFERENT" in str(result)


class Detached(LSTMStep):
    def step(self, a, state, w):
        return super().step(a, tuple(s.detach() for s in state), w)


def test_wrong_gradients_alone_are_detected():
    """Check a state that is detached at every step: same outputs, but no learning over time."""
    result = compare(with_step("LSTM", Detached(), 3, 5, dtype=torch.float64), nn.LSTM(3, 5, dtype=torch.float64))
    different = failures(result)
    assert not {"output", "h_n", "c_n"} & set(different)
    assert "weight_hh_l0.grad" in different and "h_0.grad" in different


class Off(ElmanStep):
    offset = 0.0

    def step(self, a, state, w):
        (h,) = super().step(a, state, w)
        return (h + self.offset,)


@pytest.mark.parametrize(("dtype", "tiny", "small"), [(torch.float64, 1e-12, 1e-9), (torch.float32, 1e-8, 1e-4)])
def test_small_errors_are_detected(dtype, tiny, small):
    for offset, ok in ((0.0, True), (tiny, True), (small, False), (float("nan"), False)):
        step = Off()
        step.offset = offset
        assert compare(with_step("RNN", step, 3, 5, dtype=dtype), nn.RNN(3, 5, dtype=dtype)).ok is ok, offset


class Narrow(companion.RNN):
    def forward(self, input, hx=None):
        output, h_n = super().forward(input, hx)
        return output[:-1], h_n


def test_wrong_shape_is_detected():
    result = compare(Narrow(3, 5, dtype=torch.float64), nn.RNN(3, 5, dtype=torch.float64))
    assert "output" in failures(result) and "inf" in str(result)


def test_step_is_shared_by_cell_and_layer():
    assert type(companion.LSTM._step) is type(companion.LSTMCell._step) is LSTMStep


def test_compare_does_not_use_the_global_random_numbers():
    torch.manual_seed(3)
    expected = torch.rand(2)
    torch.manual_seed(3)
    modules = companion.RNN(3, 5, 2, dropout=0.5), nn.RNN(3, 5, 2, dropout=0.5)
    before = torch.get_rng_state()
    compare(*modules)
    assert torch.get_rng_state().equal(before) and not torch.rand(2).equal(expected)
