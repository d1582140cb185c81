"""Tests of what the book says about torch's own exporters: which length and batch stay free, and what they refuse."""

import contextlib
import io
import logging
import re
import warnings

import onnx
import onnxruntime
import pytest
import torch
from torch import nn
from torch.export import Dim
from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence

from companion.layers import elsewhere

pytestmark = [
    pytest.mark.heavy,
    pytest.mark.skipif(not torch.__version__.startswith("2.13."), reason="the book describes torch 2.13"),
]
INPUT, H, T, B = 4, 5, 7, 3
STATES = {"RNN": ["h_0"], "LSTM": ["h_0", "c_0"], "GRU": ["h_0"]}


@pytest.fixture(scope="module")
def path(tmp_path_factory):
    return tmp_path_factory.mktemp("onnx") / "network.onnx"


@contextlib.contextmanager
def quiet():
    """Hide the exporters' warnings, messages and log."""
    with warnings.catch_warnings(), contextlib.redirect_stdout(io.StringIO()):
        warnings.simplefilter("ignore")
        logging.disable(logging.ERROR)
        try:
            yield
        finally:
            logging.disable(logging.NOTSET)


def export(model, arguments, path, dynamo, states, **options):
    names = {"input_names": ["inputs", *states], "output_names": ["output", *(s.replace("0", "n") for s in states)]}
    with quiet():
        torch.onnx.export(model, arguments, path, dynamo=dynamo, **names, **options)


def difference(path, layer, length, batch):
    """Return the greatest difference between a file and a layer, for random inputs and states."""
    options = onnxruntime.SessionOptions()
    options.log_severity_level = 4  # errors are raised, too
    network = onnxruntime.InferenceSession(path, options, providers=["CPUExecutionProvider"])
    inputs, state = torch.randn(length, batch, INPUT), [torch.randn(1, batch, H) for _ in STATES[layer.mode]]
    values = dict(zip(["inputs", *STATES[layer.mode]], [inputs, *state]))
    results = network.run(None, {each.name: values[each.name].numpy() for each in network.get_inputs()})
    with torch.no_grad():
        output, last = layer(inputs, tuple(state) if len(state) > 1 else state[0])
    expected = [output, *(last if isinstance(last, tuple) else [last])]
    return max(float((torch.from_numpy(x) - y).abs().max()) for x, y in zip(results, expected, strict=True))


def states_of(kind):
    """Return an example's states: two different tensors for an LSTM."""
    states = tuple(torch.zeros(1, B, H) for _ in STATES[kind])
    return states if len(states) > 1 else states[0]


@pytest.mark.parametrize("kind", ["LSTM", "GRU"])
def test_the_older_exporter_leaves_length_and_batch_free(path, kind):
    layer = getattr(nn, kind)(INPUT, H).eval()
    axes = {"inputs": {0: "T", 1: "B"}, "output": {0: "T", 1: "B"}, **{name: {1: "B"} for name in STATES[kind]}}
    export(layer, (torch.randn(T, B, INPUT), states_of(kind)), path, False, STATES[kind], dynamic_axes=axes)
    assert [node.op_type for node in onnx.load(path).graph.node] == [kind, "Constant", "Squeeze"]
    assert all(difference(path, layer, *shape) < 1e-5 for shape in ((T, B), (9, B), (1, 1), (T, 8)))


def test_the_older_exporter_is_deprecated(path):
    with quiet(), warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        torch.onnx.export(nn.LSTM(INPUT, H), (torch.randn(T, B, INPUT),), path, dynamo=False)
    words = {(warning.category.__name__, str(warning.message)) for warning in caught}
    assert ("DeprecationWarning", "The feature will be removed. Please remove usage of this function") in words
    assert any("You are using the legacy TorchScript-based ONNX export." in message for _, message in words)


def test_the_newer_exporter_fixes_the_length(path):
    layer, shapes = nn.LSTM(INPUT, H).eval(), ({0: Dim("T"), 1: Dim("B")},)
    export(layer, (torch.randn(T, B, INPUT),), path, True, [], dynamic_shapes=shapes)
    graph = onnx.load(path).graph
    assert [size.dim_param for size in graph.input[0].type.tensor_type.shape.dim] == ["T", "B", ""]
    assert "LSTM" in [node.op_type for node in graph.node]
    # the file says that T is free, and then refuses another one
    options = onnxruntime.SessionOptions()
    options.log_severity_level = 4
    network = onnxruntime.InferenceSession(path, options, providers=["CPUExecutionProvider"])
    for length, batch in ((T, B), (T, 8)):
        inputs = torch.randn(length, batch, INPUT)
        output, *_ = network.run(None, {"inputs": inputs.numpy()})
        assert torch.allclose(torch.from_numpy(output), layer(inputs)[0], atol=1e-5)
    with pytest.raises(Exception, match=r"Reshape.*Input shape:\{9,3,1,5\}, requested shape:\{7,-1,5\}"):
        network.run(None, {"inputs": torch.randn(9, B, INPUT).numpy()})


class OperatorLSTM(nn.Module):
    """An LSTM whose sequence is one operator of ONNX for the newer exporter."""

    def __init__(self, layer):
        super().__init__()
        for name, weight in zip("WRB", elsewhere.to_onnx(layer)):
            self.register_buffer(name, weight)

    def forward(self, x, h, c):
        T, B, _ = x.shape
        y, h, c = torch.onnx.ops.symbolic_multi_out(
            "LSTM",
            (x, self.W, self.R, self.B, None, h, c),
            attrs={"hidden_size": H},
            dtypes=(x.dtype,) * 3,
            shapes=((T, 1, B, H), (1, B, H), (1, B, H)),
            version=20,
        )
        return y[:, 0], h, c


def test_an_operator_named_for_the_newer_exporter_leaves_both_free(path):
    layer, (h, c) = nn.LSTM(INPUT, H), states_of("LSTM")
    free = {1: Dim.DYNAMIC}
    shapes = {0: Dim.DYNAMIC, 1: Dim.DYNAMIC}, free, free
    model = OperatorLSTM(layer).eval()
    export(model, (torch.randn(T, B, INPUT), h, c), path, True, STATES["LSTM"], dynamic_shapes=shapes)
    assert all(difference(path, layer, *shape) < 1e-5 for shape in ((T, B), (9, B), (1, 1), (T, 8)))


def test_one_tensor_as_both_states_becomes_one_input():
    """Check the trap, and that two tensors avoid it. The newer exporter begins with torch.export, so it has it, too."""
    layer, x, h = nn.LSTM(INPUT, H), torch.randn(T, B, INPUT), torch.zeros(1, B, H)
    state = torch.randn(1, B, H), torch.randn(1, B, H)
    with quiet():
        wrong, right = (torch.export.export(layer, (x, states)).module() for states in ((h, h), (h, h.clone())))
        assert torch.equal(right(x, state)[0], layer(x, state)[0])
        assert not torch.allclose(wrong(x, state)[0], layer(x, state)[0], atol=1e-2)


def test_torch_export_fixes_the_length():
    layer, example = nn.GRU(INPUT, H), (torch.randn(T, B, INPUT),)
    with quiet():
        for size, name in ((Dim("T"), "T"), (Dim.DYNAMIC, re.escape("L['input'].size()[0]"))):
            with pytest.raises(Exception, match=f"You marked {name} as dynamic but your code specialized it to be a c"):
                torch.export.export(layer, example, dynamic_shapes=({0: size},))
        exported = torch.export.export(layer, example, dynamic_shapes=({1: Dim("B")},)).module()
        assert exported(torch.randn(T, 8, INPUT))[0].shape == (T, 8, H)
        with pytest.raises(AssertionError, match=re.escape("Guard failed: input.size()[0] == 7")):
            exported(torch.randn(9, B, INPUT))


class Packed(nn.Module):
    def __init__(self):
        super().__init__()
        self.lstm = nn.LSTM(INPUT, H)

    def forward(self, x, lengths):
        output, _ = self.lstm(pack_padded_sequence(x, lengths, enforce_sorted=False))
        return pad_packed_sequence(output)[0]


def test_packing(path):
    """Check that it becomes the lengths of the operator for the older exporter, and that torch.export refuses it."""
    model, example = Packed().eval(), (torch.randn(T, B, INPUT), torch.tensor([5, 7, 2]))
    with quiet():
        axes = {"x": {0: "T", 1: "B"}, "lengths": {0: "B"}}
        torch.onnx.export(model, example, path, dynamo=False, input_names=["x", "lengths"], dynamic_axes=axes)
        inputs, lengths = torch.randn(9, 4, INPUT), torch.tensor([4, 9, 1, 9])
        network = onnxruntime.InferenceSession(path, providers=["CPUExecutionProvider"])
        (output,) = network.run(None, {"x": inputs.numpy(), "lengths": lengths.numpy()})
        assert torch.allclose(torch.from_numpy(output), model(inputs, lengths), atol=1e-5)
        with pytest.raises(TypeError, match='"type must be tuple of ints,but got FakeTensor"'):
            torch.export.export(model, example)
        with pytest.raises(Exception, match="Could not guard on data-dependent expression"):
            torch.export.export(nn.LSTM(INPUT, H), (pack_padded_sequence(*example, enforce_sorted=False),))


def test_the_older_exporter_refuses_a_projection(path):
    with quiet(), pytest.raises(Exception, match="LSTMs with projections"):
        torch.onnx.export(nn.LSTM(INPUT, H, proj_size=2), (torch.randn(T, B, INPUT),), path, dynamo=False)
