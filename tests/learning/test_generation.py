"""Tests of generation: the probabilities of the next character, and the state that replaces the past."""

import math

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import nn

import companion
from companion.learning.generation import generate, probabilities
from companion.learning.sequence_model import OneHot, SequenceModel
from companion.learning.text import Vocabulary
from tests.layers.torch_comparison import examples

VOCABULARY = Vocabulary("abcdefg")
logits = st.lists(st.floats(-50, 50, width=32) | st.sampled_from([0.0, 1.0]), min_size=2, max_size=9).map(torch.tensor)


@settings(max_examples=examples(200))
@given(logits, st.sampled_from([1e-300, 1e-40, 0.5, 1.0, 3.0, 1e300]) | st.floats(0, 9), st.none() | st.integers(1, 12))
def test_probabilities(logits, temperature, top_k):
    before = logits.clone()
    p = probabilities(logits, temperature, top_k)
    assert logits.equal(before) and p.shape == logits.shape
    assert p[0] == 0 and (p >= 0).all() and math.isclose(p.sum(), 1, rel_tol=1e-9)
    numbers, allowed = logits.tolist(), min(top_k or 99, len(logits) - 1)
    # only the `allowed` largest are kept: none is smaller than one left out
    kept = [i for i in range(len(p)) if p[i] > 0]
    left_out = [i for i in range(1, len(p)) if i not in kept]
    assert len(kept) <= allowed and all(numbers[i] >= numbers[k] for i in kept for k in left_out)
    likeliest = max(kept, key=lambda i: numbers[i])  # among equal ones, top_k may keep another than argmax
    assert numbers[likeliest] == max(numbers[1:]) and math.isclose(p[likeliest], p.max(), rel_tol=1e-12)
    if temperature >= 0.5:  # then no difference is so large that exp rounds to 0
        assert len(kept) == allowed
    if temperature > 0:
        for i in kept:
            for k in kept:  # p_i / p_k = exp( ( y_i - y_k ) / τ )
                ratio = (numbers[i] - numbers[k]) / temperature
                assert abs(ratio) > 500 or math.isclose(p[i] / p[k], math.exp(ratio), rel_tol=1e-6)


def test_ties_temperatures_and_batches():
    tied = torch.zeros(6)
    assert all((probabilities(tied, 1.0, k) > 0).sum() == min(k, 5) for k in range(1, 9))
    assert (probabilities(tied, 0.0) > 0).sum() == 1 and probabilities(tied, 1e-300)[1:].tolist() == [0.2] * 5
    rows = torch.tensor([[9.0, 1.0, 2.0, 3.0], [9.0, 3.0, 2.0, 1.0]])
    assert probabilities(rows, 0).tolist() == probabilities(rows, 7.0, 1).tolist() == [[0, 0, 0, 1], [0, 1, 0, 0]]
    assert probabilities(rows, 1e-320).equal(probabilities(rows, 0))
    hot = probabilities(rows, 1e308)
    assert hot[:, 0].tolist() == [0, 0] and hot[:, 1:].allclose(torch.full((2, 3), 1 / 3, dtype=torch.float64))
    for row, alone in zip(probabilities(rows, 0.7, 2), rows, strict=True):
        assert row.equal(probabilities(alone, 0.7, 2)) and (row > 0).sum() == 2
    huge = torch.tensor([0.0, 3e38, -3e38, 2e38], dtype=torch.float64)
    assert probabilities(huge).tolist() == [0, 1, 0, 0] and huge[0] == 0  # the argument is not changed


@pytest.mark.parametrize("temperature", [-0.1, -math.inf, math.inf, math.nan])
def test_meaningless_temperature_is_refused(temperature):
    with pytest.raises(ValueError, match=f"temperature must be a number from 0 on, not {temperature}"):
        probabilities(torch.zeros(3), temperature)


@pytest.mark.parametrize("top_k", [0, -1])
def test_meaningless_top_k_is_refused(top_k):
    for temperature in (0, 1.0):
        with pytest.raises(ValueError, match=f"top_k must be at least 1, not {top_k}"):
            probabilities(torch.zeros(3), temperature, top_k)


@settings(max_examples=examples(200))
@given(logits, st.floats(0.3, 3), st.none() | st.integers(1, 12), st.floats(0.01, 1))
def test_top_p(logits, temperature, top_k, top_p):
    """Check that the kept characters are the fewest likeliest with probability top_p, in unchanged proportions."""
    whole, p = (
        probabilities(logits, temperature, top_k).tolist(),
        probabilities(logits, temperature, top_k, top_p).tolist(),
    )
    kept = sorted((whole[i] for i in range(len(p)) if p[i] > 0), reverse=True)
    assert math.isclose(sum(p), 1, rel_tol=1e-9) and kept == sorted(whole, reverse=True)[: len(kept)]
    assert sum(kept) >= top_p - 1e-9 and sum(kept[:-1]) < top_p + 1e-9
    assert all(
        math.isclose(share, before / sum(kept), rel_tol=1e-6)
        for share, before in zip(p, whole, strict=True)
        if share > 0
    )


@pytest.mark.parametrize("top_p", [0, -0.1, 1.1, math.nan])
def test_meaningless_top_p_is_refused(top_p):
    with pytest.raises(ValueError, match=f"top_p must be above 0 and at most 1, not {top_p}"):
        probabilities(torch.zeros(3), top_p=top_p)


def model_of(source=companion, name="GRU", num_layers=2, seed=0, **options):
    torch.manual_seed(seed)
    layer = getattr(source, name)(len(VOCABULARY), 6, num_layers, dtype=torch.float64, **options)
    model = SequenceModel(OneHot(len(VOCABULARY), torch.float64), layer, len(VOCABULARY))
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.mul_(3)  # far from a uniform distribution
        model.linear.bias[0] = 50  # the likeliest, but index 0 is never drawn
    return model


@pytest.mark.parametrize("source", [companion, nn], ids=["companion", "nn"])
@pytest.mark.parametrize("name", ["RNN", "GRU", "LSTM"])
@settings(max_examples=examples(15))
@given(
    st.text("abcdefg", min_size=1, max_size=6), st.integers(0, 12), st.sampled_from([0.0, 0.6, 1.0]),
    st.sampled_from([None, 1, 3]), st.integers(0, 99),
)  # fmt: skip
def test_state_replaces_reading_the_text_again(source, name, prefix, length, temperature, top_k, seed):
    model = model_of(source, name, seed=seed % 7)
    generator = torch.Generator().manual_seed(seed)
    indices = VOCABULARY.encode(prefix)
    for _ in range(length):
        with torch.no_grad():
            p = probabilities(model(indices[:, None])[0][-1, 0].cpu(), temperature, top_k)
        indices = torch.cat([indices, torch.multinomial(p, 1, generator=generator).to(indices.device)])
    options = {"temperature": temperature, "top_k": top_k, "generator": torch.Generator().manual_seed(seed)}
    text = generate(model, VOCABULARY, prefix, length, **options)
    assert text == VOCABULARY.decode(indices) and len(text) == len(prefix) + length


def test_each_character_is_read_once():
    model, read = model_of(), []
    model.register_forward_pre_hook(lambda _, args: read.append(args[0].flatten().tolist()))
    text = generate(model, VOCABULARY, "abca", 5)
    assert read[0] == [1, 2, 3, 1] and [len(r) for r in read[1:]] == [1] * 4
    assert VOCABULARY.decode(sum(read, [])) == text[:-1]  # the last character is not read


def test_random_generator_decides_the_text():
    model = model_of()

    def draw(seed):
        return generate(model, VOCABULARY, "a", 30, generator=torch.Generator().manual_seed(seed))

    before = torch.get_rng_state()
    assert draw(0) == draw(0) != draw(1) and torch.get_rng_state().equal(before)
    torch.manual_seed(5)
    text = generate(model, VOCABULARY, "a", 30)
    assert text != generate(model, VOCABULARY, "a", 30)
    torch.manual_seed(5)
    assert text == generate(model, VOCABULARY, "a", 30)


@pytest.mark.parametrize("training", [True, False])
def test_dropout_is_off_and_the_mode_restored(training):
    model = model_of(dropout=0.5).train(training)
    text, expected = (generate(m, VOCABULARY, "abc", 20, temperature=0) for m in (model, model_of()))
    assert text == expected
    assert all(m.training is training for m in model.modules())
    with pytest.raises(ValueError, match="temperature"):
        generate(model, VOCABULARY, "abc", 20, temperature=-1)
    assert all(m.training is training for m in model.modules())
    assert all(p.grad is None for p in model.parameters())


@pytest.mark.parametrize(
    ("prefix", "length", "words"),
    [
        ("", 5, "the prefix is empty"),
        ("ahz", 5, "not in the vocabulary of 8 characters: 'h' 'z'"),
        ("a", -1, "length must not be negative, got -1"),
    ],
)
def test_wrong_prefix_or_length_is_refused(prefix, length, words):
    with pytest.raises(ValueError, match=words):
        generate(model_of(), VOCABULARY, prefix, length)
