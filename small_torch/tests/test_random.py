"""Random numbers of small_torch: the same bits as torch's from the same seed."""

import math

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

import small_torch
from both_torches import agree, compile_row, split_rows

SHAPES = st.lists(st.integers(0, 7), max_size=3).map(tuple) | st.sampled_from(
    [(15,), (16,), (17,), (33,), (625,), (40, 32)]
)
SEEDS = st.integers(0, 2**64 - 1)
# Expressions of a torch and a shape whose bits are the same on all processors.
EXACT = """
t.rand(shape) | t.rand(shape, dtype=t.float64) | t.rand_like(t.zeros(shape)) | t.randint(10, shape) | t.randint(-3, 2**20, shape)
[t.randint(0, 2**28 - 1, shape), t.randint(0, 2**28, shape), t.randint(0, 2**40, shape)] | t.randperm(math.prod(shape))
t.bernoulli(t.full(shape, 0.3)) | t.empty(shape).uniform_(-2, 3) | t.empty(shape, dtype=t.float64).uniform_(0.1, 0.2)
t.empty(shape, dtype=t.int64).random_(7) | t.multinomial(t.tensor([0.1, 0.0, 3.0, 2.0]), 1 + sum(shape), replacement=True)
t.multinomial(t.ones(3, 4), 1) | t.rand(shape, generator=t.Generator().manual_seed(3))
t.multinomial(t.ones(4), 20, replacement=True, generator=t.Generator().manual_seed(3))
[t.rand(3), t.set_rng_state(t.get_rng_state()), t.rand(shape)] | [forked(t, shape), t.rand(2), t.initial_seed()]
[t.rand(shape), t.randn(3, dtype=t.float64).abs() < 9, t.randint(9, (3,)), t.rand(2)]
"""  # noqa: E501


def forked(t, shape):
    with t.random.fork_rng():
        return t.rand(shape)


@pytest.mark.parametrize("row", split_rows(EXACT))
@given(shape=SHAPES, seed=SEEDS)
@settings(max_examples=12)
def test_random_bits_are_torchs(row, shape, seed):
    draw = compile_row(row, shape=shape, math=math, forked=forked)
    agree(lambda t: [t.manual_seed(seed), draw(t)][1:], 0)


ROUNDED = """
t.randn(shape, dtype=dtype) | t.randn_like(t.empty(shape, dtype=dtype)) | t.normal(1.0, 2.0, shape, dtype=dtype)
t.empty(shape, dtype=dtype).normal_(0.5, 0.1)
[t.randn(1), s := t.get_rng_state(), t.randn(2), t.set_rng_state(s), t.randn(shape, dtype=dtype)][-1]
"""


@pytest.mark.parametrize("row", split_rows(ROUNDED))
@given(shape=SHAPES, seed=SEEDS, dtype=st.sampled_from(["float16", "float32", "float64"]))
@settings(max_examples=12)
def test_normal_numbers_are_torchs_up_to_rounding(row, shape, seed, dtype):
    """Logarithms and sines round differently; the number of bits drawn is the same, and so the next number."""
    drawn = []
    for t in (torch, small_torch):
        t.manual_seed(seed)
        draw = compile_row(row, shape=shape, dtype=getattr(t, dtype))
        drawn.append([np.array(tensor.tolist()) for tensor in (draw(t), t.rand(2))])
    np.testing.assert_allclose(
        drawn[1][0], drawn[0][0], rtol=0, atol={"float16": 8e-3, "float32": 3e-6, "float64": 1e-14}[dtype]
    )
    np.testing.assert_array_equal(drawn[1][1], drawn[0][1])


def uses_mkl():
    """Return True if torch draws Bernoulli numbers by Intel's MKL, from a different sequence."""
    torch.manual_seed(0)
    first = torch.empty(8, dtype=torch.float64).bernoulli_(0.5)
    torch.manual_seed(0)
    return not torch.equal(first, (torch.rand(8, dtype=torch.float64) < 0.5).double())


@given(shape=SHAPES, seed=SEEDS, p=st.floats(0, 1))
@settings(max_examples=15)
def test_bernoulli_and_dropout_masks(shape, seed, p):
    """Compare with torch, unless its numbers come from MKL."""
    for draw in (lambda t: t.empty(shape).bernoulli_(p), lambda t: t.nn.functional.dropout(t.ones(shape), p)):
        if not uses_mkl():
            agree(lambda t: [t.manual_seed(seed), draw(t)][1:], 1e-6)  # noqa: B023  called at once
        assert draw(small_torch).shape == shape


def test_seeds_and_errors():
    agree(lambda t: [t.manual_seed(-1), t.initial_seed()][1:])
    agree(lambda t: t.manual_seed(2**64))
    agree(lambda t: t.randint(0, (2,)))
    agree(lambda t: t.multinomial(t.tensor([0.0, 0.0]), 1))
    agree(lambda t: t.multinomial(t.ones(2), 3))
    agree(lambda t: t.empty(2).uniform_(1, 0))
    agree(lambda t: t.empty(2).uniform_(0, 1, form=2))
    agree(lambda t: [t.manual_seed(0), t.empty(2).uniform_(**{"from": 2, "to": 3})][1:])


def test_multinomial_without_replacement():
    """Check the proportions of 4,000 draws: the numbers differ from torch's."""
    small_torch.manual_seed(0)
    drawn = small_torch.multinomial(small_torch.tensor([1.0, 2.0, 5.0]).expand(4000, 3), 2)
    assert all(a != b for a, b in drawn.tolist())
    first = small_torch.bincount(drawn[:, 0]) / 4000
    assert (first - small_torch.tensor([1.0, 2.0, 5.0]) / 8).abs().max() < 0.03
