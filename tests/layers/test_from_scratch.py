"""Tests that the models are tensor arithmetic, without torch's own recurrent code, fused cells or look-ups."""

import importlib
import inspect
import pkgutil
import re

import pytest
import torch
from torch.overrides import TorchFunctionMode

import companion
from tests.layers.torch_comparison import pair

# torch's functions for a layer, a fused step or a look-up.
FORBIDDEN = {
    "rnn_tanh", "rnn_relu", "lstm", "gru", "rnn_tanh_cell", "rnn_relu_cell", "lstm_cell", "gru_cell",
    "embedding", "embedding_renorm_", "linear", "dropout", "multi_head_attention_forward",
    "scaled_dot_product_attention", "layer_norm",
}  # fmt: skip
CASES = [
    ("RNN", (3, 5), {}),
    ("RNNCell", (3, 5), {}),
    ("LSTM", (3, 5, 2), {"dropout": 0.5, "bidirectional": True}),
    ("LSTMCell", (3, 5), {}),
    ("GRU", (3, 5, 2), {"bidirectional": True}),
    ("GRUCell", (3, 5), {}),
    ("Embedding", (4, 3), {"max_norm": 1.0, "padding_idx": 0}),
    ("MultiheadAttention", (3, 1), {"dropout": 0.5}),
    ("TransformerEncoderLayer", (3, 1, 5), {}),
]
# layers that torch lacks; F.normalize, F.logsigmoid and F.softplus are arithmetic
WITHOUT_COUNTERPART = [
    "MinGRU",
    "LogMinGRU",
    "MinLSTM",
    "LinearAttention",
    "GatedLinearAttention",
    "DeltaNet",
    "GatedDeltaNet",
    "MLSTM",
    "SelectiveSSM",
    "SLSTM",
    "DeltaProduct",
    "RotaryLinearAttention",
    "DeltaMixer",
    "KimiMixer",
    "MambaMixer",
    "Mamba2Mixer",
    "MLSTMMixer",
    "GriffinMixer",
    "CausalAttention",
    "Blocks",
]


class Calls(TorchFunctionMode):
    """Records the names of all torch functions that are called."""

    def __init__(self):
        super().__init__()
        self.names = set()

    def __torch_function__(self, func, types, args=(), kwargs=None):
        self.names.add(func.__name__)
        return func(*args, **(kwargs or {}))


@pytest.mark.parametrize(("name", "args", "kwargs"), CASES, ids=[case[0] for case in CASES])
def test_layers_use_no_fused_functions(name, args, kwargs):
    ours, theirs = pair(name, *args, **kwargs)
    x = torch.tensor([[1, 2], [0, 3]]) if name == "Embedding" else torch.rand(2, 3)
    for module, expected in ((ours, False), (theirs, True)):
        with Calls() as calls:
            module(x, x, x) if name == "MultiheadAttention" else module(x)
        assert bool(calls.names & FORBIDDEN) is expected, calls.names


@pytest.mark.parametrize("name", WITHOUT_COUNTERPART)
def test_layers_that_torch_lacks_use_no_fused_functions(name):
    layer = (
        companion.Blocks([companion.LSTM(4, 4), companion.MLSTM(4, 4)])
        if name == "Blocks"
        else getattr(companion, name)(4, 4)
    )
    with Calls() as calls:
        layer(torch.rand(2, 1, 4))
    assert calls.names and not calls.names & FORBIDDEN, calls.names


def test_public_objects_have_docstrings():
    for module_info in pkgutil.walk_packages(companion.__path__, "companion."):
        if module_info.name.startswith(("companion.check.", "companion.figures.")):
            continue  # internal
        module = importlib.import_module(module_info.name)
        assert module.__doc__, module_info.name
        for name, thing in vars(module).items():
            if name.startswith("_") or getattr(thing, "__module__", None) != module.__name__:
                continue
            if inspect.isclass(thing) or inspect.isfunction(thing):
                assert inspect.getdoc(thing), f"{module_info.name}.{name}"


SHAPES = re.compile(r"((?:`[\w{}]+`(?:, | and )?)+) \(([^()]+)\)(?:, from the second layer on \(([^()]+)\))?")


@pytest.mark.parametrize("name", ["RNNCell", "LSTMCell", "GRUCell", "RNN", "LSTM", "GRU"])
def test_docstrings_give_the_shapes_of_the_parameters(name):
    """Check all parameters; docstrings call proj_size `size`, and D the directions."""
    sizes, more = {"input_size": 7, "hidden_size": 5}, {}
    if not name.endswith("Cell"):
        more = {"num_layers": 2, "bidirectional": True} | ({"proj_size": 3} if name == "LSTM" else {})
    layer = getattr(companion, name)(**sizes, **more)
    values = sizes | {"proj_size": 3, "size": 3, "D": 2}
    documented = {}
    for names, first, later in SHAPES.findall(" ".join(inspect.getdoc(layer).partition("Parameters")[2].split())):
        for parameter in re.findall(r"`(.+?)`", names):
            for k, shape in enumerate([first, later or first][: more.get("num_layers", 1)]):
                documented[parameter.format(k=k)] = eval(f"({shape},)", values)
    actual = {parameter: tuple(value.shape) for parameter, value in layer.named_parameters()}
    assert {parameter: shape for parameter, shape in actual.items() if not parameter.endswith("_reverse")} == documented
    assert {parameter: actual[parameter.removesuffix("_reverse")] for parameter in actual} == actual
