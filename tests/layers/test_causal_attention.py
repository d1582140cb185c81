"""Test causal attention with a state against `nn.MultiheadAttention`, in portions, with a window, and in blocks."""

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch import nn

import companion
from companion.learning.generation import generate
from companion.learning.sequence_model import SequenceModel
from companion.learning.stream import Stream
from companion.learning.text import Vocabulary
from tests.layers.portions import check_portions

float64 = {"dtype": torch.float64}


def as_torch(layer):
    """Return torch's layer with the same weights."""
    theirs = nn.MultiheadAttention(layer.hidden_size, layer.num_heads, **float64)
    weights = {name.replace("in_proj.", "in_proj_"): tensor for name, tensor in layer.state_dict().items()}
    theirs.load_state_dict(weights)
    return theirs


@given(st.integers(1, 4), st.integers(1, 3), st.integers(1, 12), st.integers(1, 3), st.integers(1, 14) | st.none())
def test_equal_to_torch_with_a_mask(heads, size, steps, batch, window):
    torch.manual_seed(steps)
    layer = companion.CausalAttention(heads * size, heads * size, heads, window, **float64)
    mine, other = (torch.randn(steps, batch, heads * size, **float64).requires_grad_() for _ in range(2))
    other.data[:] = mine.data
    far = torch.arange(steps)[:, None] - torch.arange(steps)
    hidden = (far < 0) | (far >= (window or steps))
    theirs = as_torch(layer)
    output, (k, v) = layer(mine)
    expected, _ = theirs(other, other, other, attn_mask=hidden, need_weights=False)
    torch.testing.assert_close(output, expected, rtol=0, atol=1e-10)
    assert k.shape == v.shape == (batch, heads, min(steps, steps if window is None else window - 1), size)
    weight = torch.randn_like(output)
    for result in (output, expected):
        (weight * result).sum().backward()
    torch.testing.assert_close(mine.grad, other.grad, rtol=0, atol=1e-10)
    torch.testing.assert_close(layer.in_proj.weight.grad, theirs.in_proj_weight.grad, rtol=0, atol=1e-10)


@given(st.lists(st.integers(1, 5), min_size=1, max_size=5), st.integers(1, 9) | st.none())
def test_portions_compute_the_same(lengths, window):
    torch.manual_seed(0)
    check_portions(companion.CausalAttention(6, 4, 2, window, **float64), lengths, 2)


def test_a_hybrid_writes_as_it_reads():
    """Check that a model of three delta layers and one of attention writes the same one step at a time."""
    torch.manual_seed(0)
    vocabulary = Vocabulary.of("abc.")
    layers = [companion.DeltaMixer(8, 8, 2, **float64) for _ in range(3)]
    blocks = companion.Blocks([*layers, companion.CausalAttention(8, 8, 2, **float64)])
    model = SequenceModel(companion.Embedding(len(vocabulary), 8, **float64), blocks, len(vocabulary))
    text = generate(model, vocabulary, "ab", 12, temperature=0)
    outputs, _ = model(vocabulary.encode(text)[:, None])
    assert vocabulary.decode(outputs[1:-1, 0].argmax(-1)) == text[2:]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((4, 4, 3), "hidden_size must be a multiple of num_heads, got 4 and 3"),
        ((4, 4, 2, 0), "window must be 1 or more, or None, got 0"),
        ((4, 4.0, 2), "hidden_size"),
    ],
)
def test_wrong_arguments_are_refused(arguments, message):
    with pytest.raises((ValueError, TypeError), match=message):
        companion.CausalAttention(*arguments)


def test_packed_sequences_are_refused():
    packed = nn.utils.rnn.pack_sequence([torch.randn(3, 4), torch.randn(2, 4)])
    with pytest.raises(TypeError, match="not a PackedSequence"):
        companion.CausalAttention(4, 4)(packed)


@pytest.mark.parametrize(
    ("x", "state", "message"),
    [
        (torch.zeros(2, 4), None, "input must have 3 dimensions, got 2"),
        (torch.zeros(2, 3, 5), None, "Expected 4, got 5"),
        (torch.zeros(2, 3, 4), (torch.zeros(2, 2, 1, 2),) * 2, r"Expected keys of size \(3, 2, steps, 2\), got \(2, 2"),
        (torch.zeros(2, 3, 4), (torch.zeros(3, 2, 1, 2), torch.zeros(3, 2, 2)), "Expected values of size"),
    ],
)
def test_wrong_inputs_are_refused(x, state, message):
    with pytest.raises(RuntimeError, match=message):
        companion.CausalAttention(4, 4, 2)(x, state)


def test_a_stream_refuses_a_state_that_grows():
    vocabulary = Vocabulary.of("abc.")
    model = SequenceModel(companion.Embedding(len(vocabulary), 8), companion.CausalAttention(8, 8), len(vocabulary))
    with pytest.raises(ValueError, match="the state grows"):
        Stream(model, vocabulary=vocabulary)
