"""The models are tensor arithmetic: none of torch's own recurrent code, fused cells or look-ups is behind them."""

import importlib
import inspect
import pkgutil
import re

import pytest
import torch
from torch.overrides import TorchFunctionMode

import companion
from tests.layers.namesakes import pair

# What torch would compute a layer, a fused step or a look-up with.
TORCHS_OWN = {
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
# layers that torch has not got; F.normalize, F.logsigmoid and F.softplus are arithmetic
OURS = [
    "MinGRU",
    "MinLSTM",
    "LinearAttention",
    "GatedLinearAttention",
    "DeltaNet",
    "GatedDeltaNet",
    "MLSTM",
    "SelectiveSSM",
    "Blocks",
]


class Calls(TorchFunctionMode):
    """Notes the name of every function of torch that is called."""

    def __init__(self):
        super().__init__()
        self.names = set()

    def __torch_function__(self, func, types, args=(), kwargs=None):
        self.names.add(func.__name__)
        return func(*args, **(kwargs or {}))


@pytest.mark.parametrize(("name", "args", "kwargs"), CASES, ids=[case[0] for case in CASES])
def test_works_without_torchs_own(name, args, kwargs):
    ours, theirs = pair(name, *args, **kwargs)
    x = torch.tensor([[1, 2], [0, 3]]) if name == "Embedding" else torch.rand(2, 3)
    for module, expected in ((ours, False), (theirs, True)):
        with Calls() as calls:
            module(x, x, x) if name == "MultiheadAttention" else module(x)
        assert bool(calls.names & TORCHS_OWN) is expected, calls.names


@pytest.mark.parametrize("name", OURS)
def test_what_torch_has_not_got_works_without_it(name):
    layer = (
        companion.Blocks([companion.LSTM(3, 3), companion.MLSTM(3, 3)])
        if name == "Blocks"
        else getattr(companion, name)(3, 3)
    )
    with Calls() as calls:
        layer(torch.rand(2, 3))
    assert calls.names and not calls.names & TORCHS_OWN, calls.names


def test_everything_public_is_described():
    for module_info in pkgutil.walk_packages(companion.__path__, "companion."):
        if module_info.name.startswith(("companion.check.", "companion.figures.")):
            continue  # inner works
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
    """Of all of them, whatever the arguments: proj_size is what a docstring calls `size`, and D the directions."""
    sizes, more = {"input_size": 7, "hidden_size": 5}, {}
    if not name.endswith("Cell"):
        more = {"num_layers": 2, "bidirectional": True} | ({"proj_size": 3} if name == "LSTM" else {})
    layer = getattr(companion, name)(**sizes, **more)
    known = sizes | {"proj_size": 3, "size": 3, "D": 2}
    said = {}
    for names, first, later in SHAPES.findall(" ".join(inspect.getdoc(layer).partition("Parameters")[2].split())):
        for parameter in re.findall(r"`(.+?)`", names):
            for k, shape in enumerate([first, later or first][: more.get("num_layers", 1)]):
                said[parameter.format(k=k)] = eval(f"({shape},)", known)
    there = {parameter: tuple(value.shape) for parameter, value in layer.named_parameters()}
    assert {parameter: shape for parameter, shape in there.items() if not parameter.endswith("_reverse")} == said
    assert {parameter: there[parameter.removesuffix("_reverse")] for parameter in there} == there
