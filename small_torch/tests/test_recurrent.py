"""Recurrent layers, cells and packed sequences of small_torch, compared with torch's."""

import pytest
from hypothesis import example as hypothesis_example
from hypothesis import given, settings
from hypothesis import strategies as st

from both_torches import FLOATS, agree, gradients, numbers, on_both, tensors_in


@st.composite
def recurrent_cases(draw):
    """Draw a layer's name, sizes and options, and the form of its input."""
    name = draw(st.sampled_from(["RNN", "LSTM", "GRU"]))
    options = {name: draw(st.booleans()) for name in ("bidirectional", "bias", "batch_first")}
    options["num_layers"] = draw(st.integers(1, 2))
    hidden = draw(st.integers(1, 4))
    if name == "LSTM" and hidden > 1:
        options["proj_size"] = draw(st.integers(0, hidden - 1))
    if name == "RNN":
        options["nonlinearity"] = draw(st.sampled_from(["tanh", "relu"]))
    if options["num_layers"] > 1:
        options["dropout"] = draw(st.sampled_from([0.0, 0.4]))
    lengths = draw(st.lists(st.integers(1, 4), min_size=1, max_size=4))
    form = draw(st.sampled_from(["batch", "packed", "single"]))
    state, dtype = draw(st.booleans()), draw(st.sampled_from(["float64", "float64", "float32"]))
    return name, (draw(st.integers(1, 3)), hidden), options, lengths, form, state, dtype


def prepare(t, case):
    """Return a layer, its leaf inputs, and the arguments of its call."""
    name, sizes, options, lengths, form, with_state, dtype = case
    t.manual_seed(0)
    layer = getattr(t.nn, name)(*sizes, **options, dtype=getattr(t, dtype))
    T, B, count = max(lengths), len(lengths), options["num_layers"] * (1 + options["bidirectional"])
    time_and_batch = (B, T) if options["batch_first"] else (T, B)
    x = numbers(t, *(time_and_batch if form != "single" else (T,)), sizes[0], dtype=dtype, grad=True)
    size = options.get("proj_size") or sizes[1]
    shapes = [(count, *([B] if form != "single" else []), n) for n in ([size, sizes[1]] if name == "LSTM" else [size])]
    state = [numbers(t, *shape, seed=k, dtype=dtype, grad=True) for k, shape in enumerate(shapes)] if with_state else []
    layer_input = x
    if form == "packed":
        pack = t.nn.utils.rnn.pack_padded_sequence
        layer_input = pack(x, lengths, batch_first=options["batch_first"], enforce_sorted=False)
    return layer, (x, *state), (layer_input, *([tuple(state) if name == "LSTM" else state[0]] if state else []))


ONE_WAY = {"num_layers": 1, "bidirectional": False, "bias": False, "batch_first": False}


@settings(max_examples=60)
@hypothesis_example(("LSTM", (1, 1), ONE_WAY, [1, 1], "batch", False, "float32"))
@given(recurrent_cases())
def test_recurrent_layer(case):
    def run(t):
        layer, inputs, arguments = prepare(t, case)
        t.manual_seed(1)
        output, state = layer(*arguments)
        data = output.data if case[4] == "packed" else output
        rest = list(output[1:]) if data is not output else None
        return layer, data, state, gradients(t, layer, (data, state), inputs), rest

    agree(run, FLOATS[case[-1]])


BOTH_WAYS = {"num_layers": 2, "bidirectional": True, "bias": True, "batch_first": False, "proj_size": 2}


@settings(max_examples=12)
@hypothesis_example(("LSTM", (2, 3), BOTH_WAYS, [2, 4, 1], "packed", True, "float64"))
@given(recurrent_cases())
@on_both(1e-11)
def test_second_derivatives(t, case):
    layer, inputs, arguments = prepare(t, (*case[:-1], "float64"))
    layer.eval()
    output, state = layer(*arguments)
    data = output.data if case[4] == "packed" else output
    loss = data.pow(2).sum() + sum(part.pow(3).sum() for part in tensors_in(state))
    leaves = [*inputs, *layer.parameters()]
    first = t.autograd.grad(loss, leaves, create_graph=True)
    second = t.autograd.grad(sum(g.pow(2).sum() for g in first), leaves, allow_unused=True)
    return first, [t.zeros_like(x) if g is None else g for x, g in zip(leaves, second, strict=True)]


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
def test_output_can_be_changed_in_place(t):
    """Check that gradients are as if the output had been copied."""
    results = []
    for name in ("RNN", "LSTM", "GRU"):
        t.manual_seed(0)
        layer = getattr(t.nn, name)(2, 3, dtype=t.float64)
        x = numbers(t, 4, 2, 2, grad=True)
        output, _ = layer(x)
        output.mul_(2)
        output[0] = 0
        output.sum().backward()
        results += [x.grad, layer.weight_hh_l0.grad, output.detach()]
    return results


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
    unpacked, unpacked_lengths = rnn.pad_packed_sequence(packed, batch_first, -1.0, total_length=max(lengths) + 1)
    if grad:
        (unpacked * numbers(t, *unpacked.shape)).sum().backward()
    sequences_again = rnn.unpack_sequence(rnn.pack_sequence(sequences, enforce_sorted=sort))
    packs, grads = [*packed, *packed.float().to(t.float64)], [sequence.grad for sequence in sequences]
    return padded, left, packs, unpacked, unpacked_lengths, sequences_again, grads
