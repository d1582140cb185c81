"""Recurrent layers, cells and packed sequences of small_torch, held to torch's."""

import pytest
from hypothesis import example as also
from hypothesis import given, settings
from hypothesis import strategies as st

from both_torches import FLOATS, agree, flat, gradients, numbers, on_both


@st.composite
def recurrent(draw):
    """How a layer is made and called."""
    name = draw(st.sampled_from(["RNN", "LSTM", "GRU"]))
    options = {
        "num_layers": draw(st.integers(1, 2)),
        "bidirectional": draw(st.booleans()),
        "bias": draw(st.booleans()),
        "batch_first": draw(st.booleans()),
    }
    hidden = draw(st.integers(1, 4))
    if name == "LSTM" and hidden > 1:
        options["proj_size"] = draw(st.integers(0, hidden - 1))
    if name == "RNN":
        options["nonlinearity"] = draw(st.sampled_from(["tanh", "relu"]))
    if options["num_layers"] > 1:
        options["dropout"] = draw(st.sampled_from([0.0, 0.4]))
    lengths = draw(st.lists(st.integers(1, 4), min_size=1, max_size=4))
    form = draw(st.sampled_from(["batch", "packed", "one"]))
    state, dtype = draw(st.booleans()), draw(st.sampled_from(["float64", "float64", "float32"]))
    return name, (draw(st.integers(1, 3)), hidden), options, lengths, form, state, dtype


def call(t, case):
    """A layer, its inputs, and its input and state in the form in which it is called."""
    name, sizes, options, lengths, form, with_state, dtype = case
    t.manual_seed(0)
    layer = getattr(t.nn, name)(*sizes, **options, dtype=getattr(t, dtype))
    T, B, count = max(lengths), len(lengths), options["num_layers"] * (1 + options["bidirectional"])
    time_and_batch = (B, T) if options["batch_first"] else (T, B)
    x = numbers(t, *(time_and_batch if form != "one" else (T,)), sizes[0], dtype=dtype, grad=True)
    size = options.get("proj_size") or sizes[1]
    shapes = [(count, *([B] if form != "one" else []), n) for n in ([size, sizes[1]] if name == "LSTM" else [size])]
    state = [numbers(t, *shape, seed=k, dtype=dtype, grad=True) for k, shape in enumerate(shapes)] if with_state else []
    given = x
    if form == "packed":
        pack = t.nn.utils.rnn.pack_padded_sequence
        given = pack(x, lengths, batch_first=options["batch_first"], enforce_sorted=False)
    return layer, (x, *state), (given, *([tuple(state) if name == "LSTM" else state[0]] if state else []))


ONE_WAY = {"num_layers": 1, "bidirectional": False, "bias": False, "batch_first": False}


@settings(max_examples=60)
@also(("LSTM", (1, 1), ONE_WAY, [1, 1], "batch", False, "float32"))
@given(recurrent())
def test_recurrent_layer(case):
    def ran(t):
        layer, inputs, given = call(t, case)
        t.manual_seed(1)
        output, state = layer(*given)
        data = output.data if case[4] == "packed" else output
        return (
            layer,
            data,
            state,
            gradients(t, layer, (data, state), inputs),
            list(output[1:]) if data is not output else None,
        )

    agree(ran, FLOATS[case[-1]])


BOTH_WAYS = {"num_layers": 2, "bidirectional": True, "bias": True, "batch_first": False, "proj_size": 2}


@settings(max_examples=12)
@also(("LSTM", (2, 3), BOTH_WAYS, [2, 4, 1], "packed", True, "float64"))
@given(recurrent())
@on_both(1e-11)
def test_gradients_of_gradients(t, case):
    layer, inputs, given = call(t, (*case[:-1], "float64"))
    layer.eval()
    output, state = layer(*given)
    data = output.data if case[4] == "packed" else output
    loss = data.pow(2).sum() + sum(one.pow(3).sum() for one in flat(state))
    wanted = [*inputs, *layer.parameters()]
    found = t.autograd.grad(loss, wanted, create_graph=True)
    again = t.autograd.grad(sum(one.pow(2).sum() for one in found), wanted, allow_unused=True)
    return found, [t.zeros_like(x) if g is None else g for x, g in zip(wanted, again, strict=True)]


@pytest.mark.parametrize("name", ["RNNCell", "LSTMCell", "GRUCell"])
@pytest.mark.parametrize("bias", [True, False])
@pytest.mark.parametrize("shape", [(3, 4), (4,)])
@on_both()
def test_cell(t, name, bias, shape):
    t.manual_seed(2)
    cell = getattr(t.nn, name)(4, 5, bias=bias, dtype=t.float64)
    x, h, c = (numbers(t, *shape[:-1], n, seed=k, grad=True) for k, n in enumerate((4, 5, 5)))
    state = (h, c) if name == "LSTMCell" else h
    for _ in range(3):
        state = cell(x, state)
    first = cell(x)
    return state, first, gradients(t, cell, (state, first), (x, h, c)[: 3 if name == "LSTMCell" else 2]), cell


@on_both()
def test_what_is_returned_can_be_changed(t):
    """In place, and the gradients are as if it had been another tensor."""
    found = []
    for name in ("RNN", "LSTM", "GRU"):
        t.manual_seed(0)
        layer = getattr(t.nn, name)(2, 3, dtype=t.float64)
        x = numbers(t, 4, 2, 2, grad=True)
        output, _ = layer(x)
        output.mul_(2)
        output[0] = 0
        output.sum().backward()
        found += [x.grad, layer.weight_hh_l0.grad, output.detach()]
    return found


@settings(max_examples=25)
@given(
    lengths=st.lists(st.integers(1, 5), min_size=1, max_size=5),
    batch_first=st.booleans(),
    grad=st.booleans(),
    sort=st.booleans(),
)
@on_both()
def test_packed_sequences(t, lengths, batch_first, grad, sort):
    lengths = sorted(lengths, reverse=True) if sort else lengths
    rnn = t.nn.utils.rnn
    sequences = [numbers(t, n, 2, seed=k, grad=grad) for k, n in enumerate(lengths)]
    padded = rnn.pad_sequence(sequences, batch_first, 0.5)
    left = rnn.pad_sequence(sequences, batch_first, padding_side="left")
    packed = rnn.pack_padded_sequence(padded, t.tensor(lengths), batch_first, enforce_sorted=sort)
    again, found = rnn.pad_packed_sequence(packed, batch_first, -1.0, total_length=max(lengths) + 1)
    if grad:
        (again * numbers(t, *again.shape)).sum().backward()
    alone = rnn.unpack_sequence(rnn.pack_sequence(sequences, enforce_sorted=sort))
    double = packed.float().to(t.float64)
    return padded, left, list(packed), again, found, alone, [one.grad for one in sequences], list(double)
