"""Tests of networks as ONNX files, run by onnxruntime: whole sequences, portions, padded batches, what is refused."""

import sys

import numpy as np
import onnx
import onnxruntime
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import nn
from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence

import companion
from companion.learning.sequence_model import OneHot, SequenceModel

KINDS = ["RNN", "LSTM", "GRU", "MinGRU", "LogMinGRU", "MinLSTM"]
INPUT, H, VOCABULARY = 3, 4, 7
# A file for each example. Those of hypothesis share one.
few = settings(max_examples=30, deadline=None)


@pytest.fixture(scope="module")
def path(tmp_path_factory):
    return tmp_path_factory.mktemp("onnx") / "network.onnx"


def session(path):
    """Check a file, and return what runs it, in one thread."""
    onnx.checker.check_model(onnx.load(path), full_check=True)
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1
    options.log_severity_level = 4  # errors are raised, too
    return onnxruntime.InferenceSession(path, options, providers=["CPUExecutionProvider"])


def operators(path):
    return [node.op_type for node in onnx.load(path).graph.node]


def as_tuple(state):
    return state if isinstance(state, tuple) else (state,)


def run(network, inputs, state, **more):
    """Return the output and the state, as tensors, of a file."""
    feed = {"inputs": inputs, **{f"{letter}_0": s for letter, s in zip("hc", state)}, **more}
    output, *state = map(torch.from_numpy, network.run(None, {name: x.numpy() for name, x in feed.items()}))
    return output, tuple(state)


def equal(results, expected):
    """Compare (output, state) of a file with those of a layer, whose state may be one tensor."""
    for result, right in zip((results[0], *results[1]), (expected[0], *as_tuple(expected[1])), strict=True):
        assert result.shape == right.shape
        assert torch.allclose(result, right, atol=1e-5)
    return True


@st.composite
def layers(draw, **given):
    kind = draw(st.sampled_from(KINDS))
    package = draw(st.sampled_from([companion, nn])) if hasattr(nn, kind) else companion
    options = {
        "num_layers": draw(st.integers(1, 3)),
        "bias": draw(st.booleans()),
        "batch_first": draw(st.booleans()),
        "bidirectional": draw(st.booleans()),
        **given,
    }
    if kind == "RNN":
        options["nonlinearity"] = draw(st.sampled_from(["tanh", "relu"]))
    torch.manual_seed(draw(st.integers(0, 99)))
    return getattr(package, kind)(draw(st.integers(1, 3)), draw(st.integers(1, 4)), **options)


def first_state(layer, B):
    """Return a random state as a tuple, and in the form that the layer takes."""
    shape = layer.num_layers * (2 if layer.bidirectional else 1), B, layer.hidden_size
    state = tuple(torch.randn(shape) for _ in range(2 if layer.mode == "LSTM" else 1))
    return state, state if len(state) > 1 else state[0]


def portions(length, cuts):
    ends = [0, *sorted({cut for cut in cuts if cut < length}), length]
    return [slice(*pair) for pair in zip(ends, ends[1:])]


@few
@given(layer=layers(), T=st.integers(1, 6), B=st.integers(1, 3))
@torch.no_grad()
def test_a_file_runs_sequences_of_any_length_in_batches_of_any_size(path, layer, T, B):
    companion.to_onnx(layer, path)
    network = session(path)
    for shape in ((T, B), (T + 2, B + 1)):
        inputs = torch.randn(*(shape[::-1] if layer.batch_first else shape), layer.input_size)
        state, hx = first_state(layer, shape[1])
        assert equal(run(network, inputs, state), layer(inputs, hx))


@few
@given(layer=layers(bidirectional=False, batch_first=False), cuts=st.lists(st.integers(1, 8), max_size=9))
@torch.no_grad()
def test_portions_with_the_state_fed_back_equal_the_whole(path, layer, cuts):
    companion.to_onnx(layer, path)
    network, inputs = session(path), torch.randn(9, 2, layer.input_size)
    start, hx = first_state(layer, 2)
    for pieces in (portions(9, cuts), portions(9, range(1, 9))):
        state, outputs = start, []
        for piece in pieces:
            output, state = run(network, inputs[piece], state)
            outputs.append(output)
        assert equal((torch.cat(outputs), state), layer(inputs, hx))


@few
@given(layer=layers(), lengths=st.lists(st.integers(1, 5), min_size=1, max_size=4))
@torch.no_grad()
def test_a_padded_batch_with_lengths_equals_a_packed_one(path, layer, lengths):
    companion.to_onnx(layer, path, lengths=True)
    lengths = torch.tensor(lengths)
    T, B = 5, len(lengths)
    inputs = torch.randn(*((B, T) if layer.batch_first else (T, B)), layer.input_size)
    state, hx = first_state(layer, B)
    order = {"batch_first": layer.batch_first}
    output, last = layer(pack_padded_sequence(inputs, lengths, enforce_sorted=False, **order), hx)
    output, _ = pad_packed_sequence(output, total_length=T, **order)
    assert equal(run(session(path), inputs, state, lengths=lengths), (output, last))


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("reads", ["Embedding", "nn.Embedding", "OneHot", "nn.Identity"])
@torch.no_grad()
def test_a_model_is_written_with_its_embedding_and_linear_layer(path, kind, reads):
    torch.manual_seed(0)
    embedding = {
        "Embedding": companion.Embedding(VOCABULARY, INPUT, padding_idx=0),
        "nn.Embedding": nn.Embedding(VOCABULARY, INPUT),
        "OneHot": OneHot(INPUT),
        "nn.Identity": nn.Identity(),
    }[reads]
    model = SequenceModel(embedding, getattr(companion, kind)(INPUT, H, num_layers=2, dropout=0.5), 5)
    companion.to_onnx(model, path)
    assert model.training  # and yet the file has no dropout
    inputs = torch.randn(6, 2, INPUT) if reads == "nn.Identity" else torch.randint(INPUT, (6, 2))
    model.eval()
    state, hx = first_state(model.recurrent, 2)
    network = session(path)
    output, between = run(network, inputs[:4], state)
    rest, last = run(network, inputs[4:], between)
    assert equal((torch.cat([output, rest]), last), model(inputs, hx))
    if reads == "OneHot":  # the operator OneHot would read it as zeros
        with pytest.raises(Exception, match="indices element out of data bounds"):
            run(network, torch.full((1, 2), INPUT), state)


@torch.no_grad()
def test_a_model_with_lengths(path):
    """Check the linear layer of a bidirectional model, and what it makes of zeros."""
    torch.manual_seed(0)
    model = nn.Module()
    model.embedding, model.recurrent = nn.Embedding(VOCABULARY, INPUT), nn.GRU(INPUT, H, 1, True, True, 0.0, True)
    model.linear = companion.layers.linear.Linear(2 * H, 5, bias=False)
    companion.to_onnx(model, path, lengths=True)
    inputs, lengths = torch.randint(VOCABULARY, (2, 5)), torch.tensor([2, 5])
    state, hx = first_state(model.recurrent, 2)
    packed = pack_padded_sequence(model.embedding(inputs), lengths, batch_first=True, enforce_sorted=False)
    output, last = model.recurrent(packed, hx)
    output = model.linear(pad_packed_sequence(output, batch_first=True)[0])
    assert equal(run(session(path), inputs, state, lengths=lengths), (output, last))


@pytest.mark.parametrize("kind", KINDS)
def test_what_a_file_reads_and_makes(path, kind):
    layer = getattr(companion, kind)(INPUT, H, num_layers=2, bidirectional=True)
    companion.to_onnx(layer, path, lengths=True)
    network = session(path)
    read = {value.name: (value.type, value.shape) for value in network.get_inputs()}
    letters = "hc" if kind == "LSTM" else "h"
    states = {f"{letter}_0": ("tensor(float)", [4, "B", H]) for letter in letters}
    assert read == {"inputs": ("tensor(float)", ["T", "B", INPUT]), "lengths": ("tensor(int64)", ["B"]), **states}
    made = {value.name: value.shape for value in network.get_outputs()}
    assert made == {"output": ["T", "B", 2 * H], **{f"{letter}_n": [4, "B", H] for letter in letters}}
    assert operators(path).count(kind if kind in ("RNN", "LSTM", "GRU") else "Scan") == (2 if hasattr(nn, kind) else 4)


@torch.no_grad()
@pytest.mark.parametrize("kind", KINDS)
def test_large_numbers_give_no_nan(path, kind):
    torch.manual_seed(0)
    layer = getattr(companion, kind)(INPUT, H)
    companion.to_onnx(layer, path)
    inputs, (state, hx) = 1e4 * torch.randn(4, 3, INPUT), first_state(layer, 3)
    results, right = run(session(path), inputs, state), layer(inputs, hx)
    for result, expected in zip((results[0], *results[1]), (right[0], *as_tuple(right[1]))):
        assert torch.allclose(result, expected, rtol=1e-3)  # the scan of LogMinGRU is no more exact


class Peephole(companion.LSTM):
    class Mine(companion.layers.lstm.LSTMStep):
        """A step that computes something else."""

    _step = Mine()


class Renamed(nn.LSTM):
    """A class that could compute something else."""


def model_of(**parts):
    model = SequenceModel(nn.Identity(), nn.LSTM(INPUT, H), 2)
    for name, part in parts.items():
        setattr(model, name, part)
    return model


def with_nan(layer):
    nn.init.constant_(layer.bias_hh_l0, torch.nan)
    return layer


def without_linear():
    model = model_of()
    del model.linear
    return model


@pytest.mark.parametrize(
    ("model", "words"),
    [
        (nn.LSTM(INPUT, H, proj_size=2), "a layer with proj_size=2 cannot be written"),
        (nn.LSTMCell(INPUT, H), "the layers RNN, LSTM, GRU, MinGRU, LogMinGRU, MinLSTM, not LSTMCell"),
        (companion.SelectiveSSM(INPUT, H), "not SelectiveSSM"),
        (companion.Blocks([companion.LSTM(INPUT, INPUT)]), "not Blocks"),
        (Peephole(INPUT, H), "not Peephole"),
        (Renamed(INPUT, H), "not Renamed"),
        (nn.Sequential(nn.LSTM(INPUT, H)), "not Sequential"),
        (with_nan(nn.LSTM(INPUT, H)), "bias_hh_l0 has numbers that float32 cannot hold: infinite ones, or nan"),
        (without_linear(), "a SequenceModel has no linear: give a layer, or a model"),
        (model_of(embedding=nn.Embedding(5, INPUT, max_norm=1.0)), "an embedding with max_norm=1.0"),
        (model_of(embedding=nn.ReLU()), "embedding must be an Embedding, OneHot or nn.Identity.., not ReLU"),
        (model_of(embedding=nn.Embedding(5, 9)), "the embedding makes 9 features, the recurrent layer reads 3"),
        (model_of(linear=nn.ReLU()), "linear must be a linear layer, not ReLU"),
        (model_of(linear=nn.Linear(9, 2)), "the recurrent layer makes 4 features, the linear layer reads 9"),
    ],
)
def test_refused_by_name_before_anything_is_written(tmp_path, model, words):
    with pytest.raises(ValueError, match=words):
        companion.to_onnx(model, tmp_path / "network.onnx")
    assert [*tmp_path.iterdir()] == []


def test_a_folder_and_a_missing_folder_are_refused(tmp_path):
    with pytest.raises(ValueError, match="is a folder; give the path of a file in it, such as network.onnx"):
        companion.to_onnx(nn.GRU(INPUT, H), tmp_path)
    with pytest.raises(FileNotFoundError, match="there is no folder '.*missing' to write network.onnx into"):
        companion.to_onnx(nn.GRU(INPUT, H), tmp_path / "missing" / "network.onnx")


def test_without_the_package_the_command_is_named(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "onnx", None)
    with pytest.raises(ModuleNotFoundError, match=r'to_onnx needs it: pip install "unrolled\[onnx\]"'):
        companion.to_onnx(nn.GRU(INPUT, H), tmp_path / "network.onnx")


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64, torch.bfloat16])
def test_weights_come_back_exactly(path, dtype):
    layer = companion.LSTM(INPUT, H, dtype=dtype)
    companion.to_onnx(layer, path)
    graph = onnx.load(path).graph
    arrays = {weight.name: onnx.numpy_helper.to_array(weight).copy() for weight in graph.initializer}
    _, W, R, B, *_ = graph.node[0].input
    weights = companion.layers.elsewhere.from_onnx("LSTM", *(arrays[name] for name in (W, R, B)))
    assert all(np.array_equal(weights[name], layer.state_dict()[name].float()) for name in weights)
