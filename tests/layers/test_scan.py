"""Tests of the parallel scan, against the loop, and of the layers that use it."""

import copy

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch.autograd import gradcheck, gradgradcheck
from torch.func import functional_call, grad, vmap
from torch.nn.utils.rnn import pack_sequence, pad_packed_sequence

from companion import Embedding, LogMinGRU, MinGRU, MinLSTM, by_hand, scan
from companion.layers.scan import chunks, loop, pairs
from companion.learning.generation import generate
from companion.learning.sequence_model import SequenceModel
from companion.learning.text import Vocabulary
from companion.learning.training import train
from companion.learning.windows import ConsecutiveWindows
from tests.layers.torch_comparison import examples, near

float64 = {"dtype": torch.float64}
layers = pytest.mark.parametrize("kind", [MinGRU, LogMinGRU, MinLSTM])


def with_gradients(run, *inputs):
    """Return a function's result, a tensor, and the gradient of each input."""
    leaves = [x.detach().clone().requires_grad_() for x in inputs]
    result = run(*leaves)
    weights = torch.randn(result.shape, generator=torch.Generator().manual_seed(1), **float64)
    return [result.detach(), *torch.autograd.grad((result * weights).sum(), leaves)]


@settings(max_examples=examples(60))
@given(
    st.integers(1, 40), st.lists(st.integers(1, 3), max_size=2), st.integers(1, 12), st.booleans(), st.integers(0, 99)
)
def test_loop_tree_chunks_and_scan_are_equal(T, shape, size, begins_at_zeros, seed):
    """Check states and gradients, for any length, start and size of chunks."""
    torch.manual_seed(seed)
    a, b = 2 * torch.rand(T, *shape, **float64) - 1, torch.randn(T, *shape, **float64)
    a[torch.rand(T) < 0.1] = 0  # a step that forgets everything
    h_0 = torch.zeros(shape, **float64) if begins_at_zeros else torch.randn(shape, **float64)
    expected = with_gradients(loop, a, b, h_0)
    for way in (pairs, chunks, lambda a, b, h_0: chunks(a, b, h_0, size), scan):
        near(with_gradients(way, a, b, h_0), expected)
    if begins_at_zeros:
        near([scan(a, b)], expected[:1])


@pytest.mark.parametrize("dtype", [torch.float64, torch.complex128])
def test_gradients_of_gradients(dtype):
    torch.manual_seed(0)
    inputs = [torch.rand(shape, dtype=dtype, requires_grad=True) for shape in ((5, 2), (5, 2), (2,))]
    near([scan(*inputs)], [loop(*inputs)])
    assert gradcheck(scan, inputs) and gradgradcheck(scan, inputs)


def test_wrong_shapes_are_refused():
    x = torch.rand(4, 3)
    with pytest.raises(ValueError, match=r"of one shape, and h_0 as one step of them: a \(4, 3\), b \(3, 3\)"):
        scan(x, x[1:])
    with pytest.raises(ValueError, match=r"h_0 \(4,\)"):
        scan(x, x, torch.rand(4))
    with pytest.raises(ValueError, match="at least one time step is needed"):
        scan(x[:0], x[:0])
    with pytest.raises(ValueError, match="shorter"):
        loop(x, x[1:], x[0])


def in_a_loop(layer):
    """Return a copy of the layer, with the same parameters, that runs a loop."""
    layer = copy.copy(layer)
    layer._step = copy.copy(layer._step)
    layer._step.unroll = None
    return layer


def recorded_operations(tensor):
    """Return how many operations autograd has recorded for a tensor."""
    seen, todo = set(), [tensor.grad_fn]
    while todo:
        if (node := todo.pop()) and node not in seen:
            seen.add(node)
            todo += [before for before, _ in node.next_functions]
    return len(seen)


@settings(max_examples=examples(60))
@given(
    st.sampled_from([MinGRU, LogMinGRU, MinLSTM]), st.integers(1, 3),
    st.booleans(), st.booleans(), st.booleans(), st.booleans(),
    st.lists(st.integers(1, 7), min_size=1, max_size=4), st.booleans(), st.integers(0, 99),
)  # fmt: skip
def test_layer_by_scan_equals_the_layer_in_a_loop(
    kind, num_layers, bias, batch_first, bidirectional, packed, lengths, with_state, seed
):
    """Check outputs, last state and gradients, padded or packed, in one or two directions."""
    torch.manual_seed(seed)
    layer = kind(3, 4, num_layers, bias, batch_first, bidirectional=bidirectional, **float64)
    h_0 = torch.randn(num_layers * (1 + bidirectional), len(lengths), 4, **float64) if with_state else None
    sequences = [torch.randn(n if packed else lengths[0], 3, **float64) for n in lengths]
    results = []
    for module in (layer, in_a_loop(layer)):
        leaves = [x.clone().requires_grad_() for x in sequences]
        x = pack_sequence(leaves, enforce_sorted=False) if packed else torch.stack(leaves, dim=0 if batch_first else 1)
        output, h_n = module(x, h_0)
        output = output.data if packed else output
        loss = (output * torch.arange(output.numel(), **float64).view_as(output)).sum() + h_n.sin().sum()
        results.append([output, h_n, *torch.autograd.grad(loss, [*leaves, *layer.parameters()])])
    near(*results)


@layers
def test_layer_equals_its_equations(kind):
    """Compare with a plain double loop in the paper's form."""
    torch.manual_seed(0)
    layer, x = kind(3, 4, **float64), torch.randn(6, 2, 3, **float64)
    output, h_n = layer(x)
    W, b = layer.weight_ih_l0, layer.bias_ih_l0
    for row in range(2):
        h = torch.zeros(4, **float64)
        for t in range(6):
            parts = (W @ x[t, row] + b).chunk(3 if kind is MinLSTM else 2)
            if kind is not MinLSTM:
                if kind is LogMinGRU:
                    parts = parts[0], torch.where(parts[1] < 0, torch.sigmoid(parts[1]), parts[1] + 0.5)
                new = 1 - torch.sigmoid(parts[0])  # the paper's z
                h = (1 - new) * h + new * parts[1]
            else:
                i, f = torch.sigmoid(parts[0]), torch.sigmoid(parts[1])
                h = f / (f + i) * h + i / (f + i) * parts[2]
            torch.testing.assert_close(output[t, row], h, rtol=0, atol=1e-12)
        torch.testing.assert_close(h_n[0, row], h, rtol=0, atol=1e-12)
    if kind is MinLSTM:  # σ( i ) / ( σ( f ) + σ( i ) ) is σ( i - f ) far below 0, where both underflow
        for dtype, far, rough in ((torch.float64, 800, 1e-10), (torch.float32, 150, 1e-3), (torch.float16, 30, 0.05)):
            layer.to(dtype).bias_ih_l0.data[:8] -= far
            sums = (x[0].to(dtype) @ layer.weight_ih_l0.T + layer.bias_ih_l0).chunk(3, dim=-1)
            ours, theirs = layer(x[:1].to(dtype))[0][0], torch.sigmoid(sums[0] - sums[1]) * sums[2]
            gradients = (torch.autograd.grad(y.sum(), tuple(layer.parameters())) for y in (ours, theirs))
            torch.testing.assert_close([ours, *next(gradients)], [theirs, *next(gradients)], rtol=rough, atol=rough)
            layer.bias_ih_l0.data[:8] += far


@layers
def test_padding_is_ignored_and_pieces_equal_the_whole(kind):
    layer = kind(3, 4, bidirectional=True, **float64)
    sequences = [torch.randn(n, 3, **float64) for n in (5, 2, 7)]
    packed = pack_sequence(sequences, enforce_sorted=False)
    with torch.device("meta"):  # all tensors are on the input's device
        output, h_n = layer(packed)
    output, _ = pad_packed_sequence(output)
    for k, sequence in enumerate(sequences):
        alone, last = layer(sequence)
        near([output[: len(sequence), k], h_n[:, k]], [alone, last])
    layer = kind(3, 4, 2, **float64)
    whole, end = layer(sequences[2])
    first, state = layer(sequences[2][:3])
    second, state = layer(sequences[2][3:], state)
    near([torch.cat([first, second]), state], [whole, end])


@layers
def test_layer_can_replace_torchs(kind):
    layer = kind(2, 3, **float64)
    names, parameters = zip(*layer.named_parameters(), strict=True)
    assert names == ("weight_ih_l0", "bias_ih_l0") and repr(layer) == f"{kind.__name__}(2, 3)"
    assert parameters[0].shape == ((3 if kind is MinLSTM else 2) * 3, 2)
    assert [*kind(2, 3, bias=False).state_dict()] == ["weight_ih_l0"]
    x = torch.randn(4, 5, 2, **float64)
    assert (
        recorded_operations(layer(x)[0])
        == recorded_operations(layer(x.repeat(9, 1, 1))[0])
        < recorded_operations(in_a_loop(layer)(x)[0])
    )
    assert by_hand(layer) is layer and layer.unroll_by_hand is None  # its gradient is a scan already
    twin = kind(2, 3, **float64)
    twin.load_state_dict(layer.state_dict())
    near(layer(x), twin(x))
    each = vmap(
        grad(lambda x: functional_call(layer, dict(zip(names, parameters, strict=True)), x)[0].square().sum()),
        in_dims=1,
    )(x)
    (together,) = torch.autograd.grad(layer(y := x.clone().requires_grad_())[0].square().sum(), y)
    near([each], [together.transpose(0, 1)])
    with pytest.raises(ValueError, match=f"{kind.__name__}: Expected input to be 2D or 3D, got 4D instead"):
        layer(x[None])
    with pytest.raises(RuntimeError, match="Expected 2, got 3"):
        layer(torch.randn(4, 5, 3, **float64))


@layers
def test_model_with_the_layer_learns_and_generates(kind):
    """Check a layer in place of an LSTM in a model that is trained and generates text."""
    torch.manual_seed(0)
    text = "a rose is a rose is a rose. " * 30
    vocabulary = Vocabulary(text)
    model = SequenceModel(Embedding(len(vocabulary), 8), kind(8, 32), len(vocabulary))
    batches = ConsecutiveWindows(vocabulary.encode(text), 4, 16)
    history = train(model, batches, torch.optim.Adam(model.parameters(), lr=0.02), 6, progress=False)
    assert history[-1].loss < 0.5 * history[0].loss
    written = generate(model, vocabulary, "a rose is ", 30, temperature=0)
    assert written.startswith("a rose is ") and len(written) == 40
