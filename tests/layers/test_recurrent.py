"""Tests of RNN, LSTM, GRU and their cells against torch, over configurations that hypothesis draws."""

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch.nn.utils.rnn import pack_sequence

from companion import by_hand, compare
from tests.layers.torch_comparison import CELLS, LAYERS, agree, examples, pair, randn, without_cudnn

DTYPES = [torch.float64, torch.float32]
size = st.integers(1, 6)


@st.composite
def layer_options(draw):
    """Draw constructor arguments of a recurrent layer: (name, arguments by name)."""
    name = draw(st.sampled_from(LAYERS))
    options = {
        "input_size": draw(size),
        "hidden_size": draw(size),
        "num_layers": draw(st.integers(1, 3)),
        "bias": draw(st.booleans()),
        "batch_first": draw(st.booleans()),
        "bidirectional": draw(st.booleans()),
        "dtype": draw(st.sampled_from(DTYPES)),
    }
    if options["num_layers"] > 1 and torch.get_default_device().type == "cpu":  # a GPU draws other masks
        options["dropout"] = draw(st.sampled_from([0.0, 0.3, 1.0]))
    if name == "LSTM" and options["hidden_size"] > 1:
        options["proj_size"] = draw(st.integers(0, options["hidden_size"] - 1))
    if name == "RNN":
        options["nonlinearity"] = draw(st.sampled_from(["tanh", "relu"]))
    return name, options


def state_of(module, batch, dtype):
    """Return a random initial state: (h, c) for an LSTM, else h; without a batch dimension if `batch` is ()."""
    rows = module.num_layers * (2 if module.bidirectional else 1)
    h = randn(rows, *batch, module.proj_size or module.hidden_size, dtype=dtype)
    return (h, randn(rows, *batch, module.hidden_size, dtype=dtype)) if module.mode == "LSTM" else h


@settings(max_examples=examples(250))
@given(
    layer_options(), st.integers(1, 5), st.integers(1, 4), st.booleans(), st.booleans(), st.booleans(),
    st.integers(0, 99),
)  # fmt: skip
def test_layer(case, time, batch, batched, with_state, hand, seed):
    name, options = case
    ours, theirs = pair(name, **options, seed=seed)
    by_hand(ours, hand)
    dtype = options["dtype"]
    shape = (time,) if not batched else (batch, time) if options["batch_first"] else (time, batch)
    x = randn(*shape, options["input_size"], dtype=dtype)
    state = state_of(theirs, (batch,) if batched else (), dtype) if with_state else None
    # `compare` draws a state if None is passed, so a missing one is also tested below
    result = compare(ours, theirs, input=x, state=state, seed=seed)
    assert agree(result, dtype), f"{name} {options}\n{result}"
    if not with_state:
        with torch.no_grad():
            check_equal(ours.eval()(x), theirs.eval()(x), dtype)


def check_equal(ours, theirs, dtype):
    torch.testing.assert_close(ours, theirs, rtol=0, atol=1e-10 if dtype == torch.float64 else 1e-5, check_stride=False)


@settings(max_examples=examples(80))
@given(
    layer_options(), st.lists(st.integers(1, 6), min_size=1, max_size=4), st.booleans(), st.booleans(),
    st.booleans(),
)  # fmt: skip
def test_packed(case, lengths, in_order, with_state, hand):
    name, options = case
    ours, theirs = pair(name, **options)
    by_hand(ours, hand)
    if in_order:
        lengths = sorted(lengths, reverse=True)
    sequences = [randn(n, options["input_size"], dtype=options["dtype"]) for n in lengths]
    x = pack_sequence(sequences, enforce_sorted=in_order)
    state = state_of(theirs, (len(lengths),), options["dtype"]) if with_state else None
    result = compare(ours, theirs, input=x, state=state)
    assert agree(result, options["dtype"]), f"{name} {options} {lengths}\n{result}"
    output, theirs_output = ours(x)[0], theirs(x)[0]
    assert output.batch_sizes.equal(theirs_output.batch_sizes)
    for k in ("sorted_indices", "unsorted_indices"):
        mine, other = getattr(output, k), getattr(theirs_output, k)
        assert (mine is None) == (other is None) and (mine is None or mine.equal(other))


@settings(max_examples=examples(80))
@given(
    st.sampled_from(CELLS), size, size, st.booleans(), st.sampled_from(DTYPES), st.booleans(), st.booleans(),
    st.integers(0, 99),
)  # fmt: skip
def test_cell(name, input_size, hidden_size, bias, dtype, batched, with_state, seed):
    ours, theirs = pair(name, input_size, hidden_size, bias, dtype=dtype, seed=seed)
    before = (3,) if batched else ()
    x = randn(*before, input_size, dtype=dtype)
    if with_state:
        result = compare(ours, theirs, input=x, seed=seed)
        assert agree(result, dtype), result
    else:
        check_equal(ours(x), theirs(x), dtype)


def test_relu_cell():
    assert compare(*pair("RNNCell", 3, 5, nonlinearity="relu", dtype=torch.float64)).ok


@settings(max_examples=examples(60))
@given(layer_options(), st.integers(0, 10**6))
def test_parameters(case, seed):
    """Check that names, order, shapes and initial numbers are equal, and that state dicts are interchangeable."""
    name, options = case
    check_parameters(*pair(name, **options, seed=seed))


@pytest.mark.parametrize("bias", [True, False])
@pytest.mark.parametrize("name", CELLS)
def test_cell_parameters(name, bias):
    check_parameters(*pair(name, 3, 5, bias))


def check_parameters(ours, theirs):
    assert [*ours.state_dict()] == [*theirs.state_dict()]
    assert {*ours._parameters} == {*theirs._parameters}  # including those that are None
    for (name, mine), (other_name, other) in zip(ours.named_parameters(), theirs.named_parameters(), strict=True):
        assert name == other_name and mine.dtype == other.dtype
        assert mine.equal(other), name  # the same shape and the same bits
    with torch.no_grad():
        for parameter in ours.parameters():
            parameter.copy_(torch.rand_like(parameter))
    theirs.load_state_dict(ours.state_dict(), strict=True)
    assert all(a.equal(b) for a, b in zip(ours.parameters(), theirs.parameters(), strict=True))
    ours.load_state_dict(theirs.state_dict(), strict=True)


@settings(max_examples=examples(60))
@given(layer_options())
def test_attributes(case):
    name, options = case
    ours, theirs = pair(name, **options)
    assert repr(ours) == repr(theirs)
    for attribute in type(theirs).__constants__:
        assert getattr(ours, attribute) == getattr(theirs, attribute), attribute
    shapes = [[tuple(w.shape) for w in weights] for weights in ours.all_weights]
    assert shapes == [[tuple(w.shape) for w in weights] for weights in theirs.all_weights]
    ours.flatten_parameters()


@pytest.mark.parametrize("options", [{}, {"bias": False}, {"nonlinearity": "relu"}])
def test_cell_attributes(options):
    ours, theirs = pair("RNNCell", 3, 5, **options)
    assert repr(ours) == repr(theirs)


@pytest.mark.parametrize("name", LAYERS)
def test_positional_arguments(name):
    """Check that the arguments are in torch's order."""
    nonlinearity = ["relu"] if name == "RNN" else []
    ours, theirs = pair(name, 3, 5, 2, *nonlinearity, False, True, 0.25, True)
    assert repr(ours) == repr(theirs)
    check_parameters(ours, theirs)


@without_cudnn
@pytest.mark.parametrize("name", LAYERS)
def test_dropout_draws_the_same_mask(name):
    ours, theirs = pair(name, 3, 5, 3, dropout=0.5, bidirectional=True, dtype=torch.float64)
    x = randn(6, 2, 3)
    torch.manual_seed(1)
    mine, _ = ours(x)
    torch.manual_seed(1)
    other, _ = theirs(x)
    check_equal(mine, other, torch.float64)
    torch.manual_seed(2)
    assert not torch.allclose(mine, ours(x)[0])  # dropout is on
    assert torch.equal(ours.eval()(x)[0], ours(x)[0])  # and off in evaluation


@pytest.mark.parametrize("name", LAYERS)
def test_dropout_has_one_distribution(name):
    """Check with cuDNN, too: of a second layer's outputs, a share p shows that their input was dropped."""
    shares, numbers = [], []
    for module in pair(name, 1, 8, 2, dropout=0.3, dtype=torch.float64):
        with torch.no_grad():
            for parameter in module.parameters():
                parameter.fill_(0.5)
            module.weight_ih_l1.copy_(torch.eye(8).repeat(len(module.weight_ih_l1) // 8, 1))
        shown = module(torch.ones(1, 2000, 1, dtype=torch.float64))[0].detach()
        values, counts = shown.unique(return_counts=True)
        numbers.append(values)
        shares.append(counts.min().item() / shown.numel())
    assert len(numbers[0]) == 2
    check_equal(*numbers, torch.float64)
    assert all(abs(share - 0.3) < 0.02 for share in shares)  # 16,000 draws: five standard deviations


@pytest.mark.parametrize("name", LAYERS)
def test_empty_batch(name):
    ours, theirs = pair(name, 3, 5, 2, bidirectional=True)
    check_equal(ours(torch.zeros(4, 0, 3)), theirs(torch.zeros(4, 0, 3)), torch.float32)


@pytest.mark.parametrize("name", LAYERS)
def test_loop_over_the_cell_equals_the_layer(name):
    """Check that a reader's loop over the cell computes what the layer does."""
    layer, _ = pair(name, 3, 5, dtype=torch.float64)
    cell, _ = pair(name + "Cell", 3, 5, dtype=torch.float64)
    cell.load_state_dict({key.removesuffix("_l0"): value for key, value in layer.state_dict().items()})
    x = randn(4, 2, 3)
    state, outputs = None, []
    for x_t in x:
        state = cell(x_t, state)
        outputs.append(state[0] if name == "LSTM" else state)
    assert torch.allclose(torch.stack(outputs), layer(x)[0], rtol=0, atol=1e-12)
