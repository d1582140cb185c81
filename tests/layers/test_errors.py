"""Tests of errors: wrong arguments raise torch's type and text, before anything is computed."""

import pytest
import torch
from torch import nn
from torch.nn.utils.rnn import pack_sequence
from torch.torch_version import TorchVersion

import companion
from tests.layers.torch_comparison import CELLS, LAYERS, outcome, pair

zeros = torch.zeros
# Earlier versions of torch check less, and word some errors differently.
SAME_WORDS = TorchVersion(torch.__version__) >= (2, 13)

LAYER_ARGUMENTS = [
    ((3.0, 5), {}),
    (("3", 5), {}),
    ((3, 5.0), {}),
    ((0, 5), {}),
    ((-3, 5), {}),
    ((3, 0), {}),
    ((3, -5), {}),
    ((3, 5, 0), {}),
    ((3, 5, -1), {}),
    ((3, 5, 2.0), {}),
    ((3, 5), {"bias": 1}),
    ((3, 5), {"bias": None}),
    ((3, 5), {"batch_first": "yes"}),
    ((3, 5), {"batch_first": 0}),
    ((3, 5, 2), {"dropout": 1.5}),
    ((3, 5, 2), {"dropout": -0.1}),
    ((3, 5, 2), {"dropout": True}),
    ((3, 5, 2), {"dropout": "much"}),
    ((3, 5, 2), {"dropout": None}),
    ((3, 5), {"dropout": 0.5}),
    ((3, 5), {"dropout": 1}),
    ((3, 5), {"dtype": torch.int64}),
    ((-3, 5.0), {"bias": 1, "dropout": 7}),
    ((3,), {}),
    ((), {}),
    ((3, 5), {"hiden_size": 5}),
]


@pytest.mark.parametrize("name", LAYERS)
@pytest.mark.parametrize(("args", "kwargs"), LAYER_ARGUMENTS)
def test_layer_arguments(name, args, kwargs):
    check_construction(name, args, kwargs)


@pytest.mark.parametrize(
    ("name", "kwargs"),
    [
        ("LSTM", {"proj_size": 5}),
        ("LSTM", {"proj_size": 6}),
        ("LSTM", {"proj_size": -1}),
        ("GRU", {"proj_size": 2}),
        ("RNN", {"proj_size": 2}),
        ("RNN", {"proj_size": 0}),
        ("RNN", {"nonlinearity": "sigmoid"}),
        ("RNN", {"nonlinearity": "sigmoid", "proj_size": 2}),
        ("RNN", {"nonlinearity": None}),
    ],
)
def test_arguments_of_one_class(name, kwargs):
    check_construction(name, (3, 5), kwargs)


@pytest.mark.parametrize("name", CELLS)
@pytest.mark.parametrize("args", [(3.0, 5), ("3", 5), (3, -5), (-3, 5), (3, 5.0)])
def test_cell_arguments(name, args):
    check_construction(name, args, {})


def check(ours, theirs, *args, **kwargs):
    """Check that both callables fail or warn in the same way."""
    result, expected = outcome(ours, *args, **kwargs), outcome(theirs, *args, **kwargs)
    assert result[0] or result[1]
    if SAME_WORDS:
        assert result == expected


def check_construction(name, args, kwargs):
    check(getattr(companion, name), getattr(nn, name), *args, **kwargs)


def check_call(name, x, hx, options, args=(3, 5)):
    check(*pair(name, *args, **options), x, hx)


def layer_state(name, *shape, **kwargs):
    return (zeros(shape, **kwargs), zeros(shape, **kwargs)) if name.startswith("LSTM") else zeros(shape, **kwargs)


@pytest.mark.parametrize("name", LAYERS)
@pytest.mark.parametrize(
    ("x", "state_shape", "options"),
    [
        (zeros(3), None, {}),
        (zeros(4, 2, 3, 1), None, {}),
        (zeros(4, 2, 7), None, {}),
        (zeros(4, 7), None, {}),
        (zeros(4, 2, 3, dtype=torch.float64), None, {}),
        (zeros(4, 2, 3, dtype=torch.int64), None, {}),
        (zeros(0, 2, 3), None, {}),
        (zeros(2, 0, 3), None, {"batch_first": True}),
        (zeros(0, 3), None, {}),
        (zeros(0, 2, 3), (1, 3, 5), {}),
        (zeros(0, 2, 3), (1, 2, 5), {}),
        (zeros(4, 2, 3), (1, 3, 5), {}),
        (zeros(4, 2, 3), (2, 2, 5), {}),
        (zeros(4, 2, 3), (1, 2, 6), {}),
        (zeros(4, 2, 3), (1, 2, 5), {"bidirectional": True}),
        (zeros(4, 2, 3), (1, 2, 5), {"num_layers": 3}),
        (zeros(4, 2, 3), (1, 2, 5), {"batch_first": True}),
        (zeros(4, 2, 3), (1, 5), {}),
        (zeros(4, 2, 3), (5,), {}),
        (zeros(4, 3), (1, 1, 5), {}),
        (zeros(4, 3), (2, 5), {}),
        (zeros(4, 3), (1, 6), {}),
        (zeros(4, 2, 7, dtype=torch.float64), (1, 9, 9), {}),
    ],
)
def test_layer_call(name, x, state_shape, options):
    check_call(name, x, state_shape and layer_state(name, *state_shape), options)


PACKED = [
    (pack_sequence([zeros(3, 7), zeros(2, 7)]), None),
    (pack_sequence([zeros(3, 3), zeros(2, 3)]), (1, 3, 5)),
    (pack_sequence([zeros(3, 3), zeros(2, 3)]), (1, 2, 6)),
    (pack_sequence([zeros(3, 3).double()]), None),
    (pack_sequence([zeros(3, 3, 3)]), None),
]


@pytest.mark.parametrize(("x", "state_shape"), PACKED)
def test_packed_call(x, state_shape):
    check_call("RNN", x, state_shape and layer_state("RNN", *state_shape), {})


@pytest.mark.parametrize(("x", "state_shape"), PACKED)
def test_packed_call_of_lstm(x, state_shape):
    """Check that the LSTM checks packed sequences as the RNN does; torch's LSTM fails in the products."""
    rnn, lstm = pair("RNN", 3, 5)[0], pair("LSTM", 3, 5)[0]
    kind, text = outcome(rnn, x, state_shape and layer_state("RNN", *state_shape))[0]
    text = text.replace("hidden size", "hidden[0] size")
    assert outcome(lstm, x, state_shape and layer_state("LSTM", *state_shape))[0] == (kind, text)


@pytest.mark.parametrize(
    ("hx", "options"),
    [
        ((zeros(1, 2, 5), zeros(1, 2, 4)), {}),
        ((zeros(1, 2, 5), zeros(1, 2, 2)), {"proj_size": 2}),
        ((zeros(1, 2, 2), zeros(1, 2, 2)), {"proj_size": 2}),
        ((zeros(1, 2, 5), zeros(2, 5)), {}),
        (zeros(1, 2, 5), {}),
        (zeros(2, 2, 5), {"num_layers": 2}),
        ((zeros(1, 2, 5),), {}),
        ((zeros(1, 2, 5),) * 3, {"dtype": torch.float32}),
    ],
)
def test_lstm_state(hx, options):
    check_call("LSTM", zeros(4, 2, 3), hx, options)


def test_rnn_refuses_a_pair_of_states():
    check_call("RNN", zeros(4, 2, 3), (zeros(1, 2, 5), zeros(1, 2, 5)), {})


@pytest.mark.parametrize("name", LAYERS)
def test_layers_refuse_lists(name):
    check_call(name, [[1.0, 2.0, 3.0]], None, {})


@pytest.mark.parametrize("name", [*LAYERS, *CELLS])
def test_state_of_another_type(name):
    """Check the message of torch's other layers; its fused float32 LSTM has a worse one."""
    is_cell = name in CELLS
    ours, theirs = pair(name, 3, 5)
    x, shape = (zeros(2, 3), (2, 5)) if is_cell else (zeros(4, 2, 3), (1, 2, 5))
    state = layer_state(name, *shape, dtype=torch.float64)
    error, _ = outcome(ours, x, state)
    assert error == (RuntimeError, "mat1 and mat2 must have the same dtype, but got Double and Float")
    expected, _ = outcome(theirs, x, state)
    assert expected == error or (name == "LSTM" and expected[0] is RuntimeError)


@pytest.mark.parametrize("name", ["RNN", "GRU", *CELLS])
@pytest.mark.parametrize("dtype", [torch.float64, torch.bfloat16])
def test_state_of_another_type_without_bias(name, dtype):
    x, shape = (zeros(2, 3), (2, 5)) if name in CELLS else (zeros(4, 2, 3), (1, 2, 5))
    check_call(name, x, layer_state(name, *shape, dtype=dtype), {"bias": False})


def test_unbatched_pair_may_be_one_tensor():
    ours, theirs = pair("LSTMCell", 3, 5)
    for mine, other in zip(ours(zeros(3), zeros(2, 5)), theirs(zeros(3), zeros(2, 5)), strict=True):
        torch.testing.assert_close(mine, other)


@pytest.mark.parametrize("name", CELLS)
@pytest.mark.parametrize(
    ("x", "state_shape"),
    [
        (zeros(4, 2, 3), None),
        (zeros(()), None),
        (zeros(4, 7), None),
        (zeros(7), None),
        (zeros(4, 3, dtype=torch.float64), None),
        (zeros(4, 3), (3, 5)),
        (zeros(4, 3), (4, 6)),
        (zeros(4, 3), (5,)),
        (zeros(4, 3), (1, 4, 5)),
        (zeros(3), (6,)),
        (zeros(4, 7), (3, 6)),
        (None, None),
    ],
)
def test_cell_call(name, x, state_shape):
    check_call(name, x, state_shape and layer_state(name, *state_shape), {})


@pytest.mark.parametrize(
    ("name", "hx", "options"),
    [
        ("RNNCell", (zeros(4, 5), zeros(4, 5)), {}),
        ("RNNCell", None, {"nonlinearity": "sigmoid"}),
        ("LSTMCell", zeros(4, 5), {}),
        ("LSTMCell", (zeros(4, 5), zeros(4, 6)), {}),
        ("LSTMCell", (zeros(4, 5), zeros(3, 5)), {}),
        ("LSTMCell", (zeros(4, 5), zeros(4, 1, 5)), {}),
        ("LSTMCell", (), {}),
        ("LSTMCell", (zeros(4, 5),), {}),
        ("LSTMCell", (zeros(4, 6),), {}),
        ("LSTMCell", [zeros(4, 5)] * 3, {}),
    ],
)
def test_cell_state(name, hx, options):
    check_call(name, zeros(4, 3), hx, options)


@pytest.mark.parametrize("count", [0, 1])
def test_too_few_states_without_a_batch(count):
    check(*pair("LSTMCell", 3, 5), zeros(3), (zeros(5),) * count)


def test_third_state_without_a_batch_is_ignored():
    ours, theirs = pair("LSTMCell", 3, 5)
    hx = [torch.ones(5)] * 3
    torch.testing.assert_close(ours(zeros(3), hx), theirs(zeros(3), hx))


@pytest.mark.parametrize("name", [*LAYERS, *CELLS])
@pytest.mark.parametrize(
    ("args", "kwargs"),
    [((zeros(2, 3), None, 1), {}), ((), {}), ((zeros(2, 3),), {"state": 1}), ((zeros(2, 3),), {"input": 1})],
)
def test_arguments_of_a_call(name, args, kwargs):
    """Compare Python's own messages, which name the class and its method."""
    check(*pair(name, 3, 5), *args, **kwargs)


# without a bias torch's cells raise no error
@pytest.mark.parametrize(
    ("name", "bias"), [*((name, True) for name in LAYERS + CELLS), *((name, False) for name in LAYERS)]
)
@pytest.mark.parametrize("on_meta", ["input", "state", "weights", "input and weights", "state and weights"])
def test_devices(name, bias, on_meta):
    """Check tensors without numbers (meta), with the messages for two devices."""
    modules = pair(name, 3, 5, bias=bias, device="meta" if "weights" in on_meta else None)
    x, shape = (zeros(2, 3), (2, 5)) if name in CELLS else (zeros(4, 2, 3), (1, 2, 5))
    x = x.to("meta") if "input" in on_meta else x
    check(*modules, x, layer_state(name, *shape, device="meta" if "state" in on_meta else None))
    if on_meta in ("input", "weights"):
        check(*modules, x)


@pytest.mark.parametrize("k", [0, 1])
@pytest.mark.parametrize("name", ["LSTM", "LSTMCell"])
def test_device_of_one_state(name, k):
    x, shape = (zeros(2, 3), (2, 5)) if name in CELLS else (zeros(4, 2, 3), (1, 2, 5))
    state = [zeros(shape), zeros(shape)]
    state[k] = state[k].to("meta")
    check_call(name, x, tuple(state), {})


@pytest.mark.parametrize("name", LAYERS)
def test_device_of_a_packed_sequence(name):
    check_call(name, pack_sequence([zeros(3, 3), zeros(2, 3)]).to("meta"), None, {})


@pytest.mark.parametrize(
    ("args", "kwargs"),
    [
        ((4, 2), {"padding_idx": 4}),
        ((4, 2), {"padding_idx": -5}),
        ((4, 2), {"padding_idx": 1.5}),
        ((4, 2.0), {}),
        (("4", 2), {}),
        ((-4, 2), {}),
        ((3, 2), {"_weight": zeros(2, 3)}),
    ],
)
def test_embedding_arguments(args, kwargs):
    check_construction("Embedding", args, kwargs)


@pytest.mark.parametrize(
    "x",
    [
        torch.tensor([4]),
        torch.tensor([-1]),
        torch.tensor([[0, 9]]),
        zeros(2),
        zeros(2, dtype=torch.uint8),
        zeros(2, dtype=torch.float64),
        [1, 2],
        None,
        3,
    ],
)
def test_embedding_call(x):
    ours, theirs = pair("Embedding", 4, 2, device="cpu")  # a wrong index would leave a graphics card unusable
    x = x.cpu() if isinstance(x, torch.Tensor) else x
    expected = outcome(theirs, x)
    assert expected[0] and outcome(ours, x) == expected


def test_embedding_refuses_sparse_scaled_gradients():
    def backward(module):
        module(torch.tensor([1])).sum().backward()

    ours, theirs = pair("Embedding", 4, 2, sparse=True, scale_grad_by_freq=True)
    expected = outcome(backward, theirs)
    assert expected[0] and outcome(backward, ours)[0] == expected[0]


def test_pretrained_table_has_two_dimensions():
    expected = outcome(nn.Embedding.from_pretrained, zeros(3))
    assert expected[0] and outcome(companion.Embedding.from_pretrained, zeros(3)) == expected


def test_warning_has_the_line_of_the_caller():
    with pytest.warns(UserWarning, match="num_layers greater than 1") as caught:
        companion.LSTM(3, 5, dropout=0.5)
    assert caught[0].filename == __file__
