"""Tests of `companion.learning.counts` against recursive definitions."""

import math
from collections import Counter

import pytest
import torch

from companion.learning.counts import Counts, KneserNey, best_order
from companion.learning.text import Vocabulary, load_text
from companion.learning.windows import split

TEXT, ALPHABET, SIZE = "abracadabra", "abcdrx", 6  # x does not occur


def indices(text):
    return torch.tensor([ALPHABET.index(c) for c in text])


def by_recursion(text, past, c):
    """Return p(c | past) as Chen and Goodman define it: counts, interpolated with a past that is one shorter."""
    shorter = 1 / SIZE if past == "" else by_recursion(text, past[1:], c)
    followed = [text[k + len(past)] for k in range(len(text) - len(past)) if text[k:].startswith(past)]
    if not followed:
        return shorter
    share = len(followed) / (len(followed) + len(set(followed)))
    return share * followed.count(c) / len(followed) + (1 - share) * shorter


def kneser_ney(text, past, c, discount, longest=True):
    """Return p(c | past) as Kneser and Ney define it: a shorter past counts the different characters before it."""
    shorter = 1 / SIZE if past == "" else kneser_ney(text, past[1:], c, discount, longest=False)
    places = [k for k in range(len(text) - len(past)) if text[k:].startswith(past)]
    seen = [(k if longest else text[k - 1], text[k + len(past)]) for k in places if longest or k > 0]
    if not seen:
        return shorter
    counts = Counter(following for _, following in {*seen})
    given = discount * len(counts)  # to the shorter past
    return (max(counts[c] - discount, 0) + given * shorter) / counts.total()


@pytest.mark.parametrize("discount", [0.3, 0.9])
@pytest.mark.parametrize("order", range(4))
def test_kneser_ney_equals_the_recursion(order, discount):
    counts = KneserNey(indices(TEXT), SIZE, order, discount)
    for past in ("", "a", "br", "cabr", "xx", "dabra", "rac"):
        p = counts.probabilities(indices(past).tolist())
        recent = past[max(0, len(past) - order) :]
        expected = [kneser_ney(TEXT, recent, c, discount, len(recent) == order) for c in ALPHABET]
        torch.testing.assert_close(p, torch.tensor(expected, dtype=torch.float64), rtol=1e-12, atol=0)
        assert math.isclose(p.sum(), 1, rel_tol=1e-12) and p.min() > 0


def test_best_order_is_the_first_that_the_next_does_not_improve():
    text = load_text("en")[:9000]
    learned, choosing = split(Vocabulary(text).encode(text), held_out=1 / 9)
    size, best = len(Vocabulary(text)), {}
    for kind in (Counts, KneserNey):
        best[kind] = best_order(kind, learned, choosing, size)
        tried = [kind(learned, size, order).perplexity(choosing) for order in range(best[kind].order + 2)]
        assert tried[:-1] == sorted(tried[:-1], reverse=True) and tried[-1] >= tried[-2]
    assert best[KneserNey].order > best[Counts].order
    assert best[KneserNey].perplexity(choosing) < best[Counts].perplexity(choosing)


@pytest.mark.parametrize("discount", [-0.1, 1.5, math.nan])
def test_discounts_that_are_not_shares_are_refused(discount):
    with pytest.raises(ValueError, match=f"from 0 to 1, not {discount}"):
        KneserNey([0, 1], 2, 1, discount)


@pytest.mark.parametrize("order", range(4))
def test_probabilities_equal_the_recursion(order):
    counts, unread = Counts(indices(TEXT), SIZE, order), "cabraxad"
    for past in ("", "a", "br", "cabr", "xx", "dabra"):
        p = counts.probabilities(indices(past).tolist())
        expected = [by_recursion(TEXT, past[max(0, len(past) - order) :], c) for c in ALPHABET]
        torch.testing.assert_close(p, torch.tensor(expected, dtype=torch.float64), rtol=1e-12, atol=0)
        assert math.isclose(p.sum(), 1, rel_tol=1e-12) and p.min() > 0
    logs = [math.log(by_recursion(TEXT, unread[max(0, k - order) : k], unread[k])) for k in range(1, len(unread))]
    assert math.isclose(counts.perplexity(indices(unread)), math.exp(-sum(logs) / len(logs)), rel_tol=1e-12)
    assert len(counts) == sum(len({TEXT[k : k + n + 1] for k in range(len(TEXT) - n)}) for n in range(order + 1))


def test_negative_order_is_refused():
    with pytest.raises(ValueError, match="from 0 on, not -1"):
        Counts([0, 1], 2, -1)


@pytest.mark.parametrize("index", [-1, 6])
def test_index_outside_the_vocabulary_is_refused(index):
    message = rf"indices\[2\] is {index}; only 0 to 5 are allowed"
    with pytest.raises(ValueError, match=message):
        Counts([0, 1, index], SIZE, 1)
    with pytest.raises(ValueError, match=message):
        Counts([0, 1], SIZE, 1).perplexity([0, 1, index])


@pytest.mark.parametrize(("sequence", "message"), [([0], "at least 2 indices, not 1"), ([0.0, 1.5], "whole numbers")])
def test_sequences_without_a_perplexity_are_refused(sequence, message):
    with pytest.raises(ValueError, match=message):
        Counts([0, 1], SIZE, 1).perplexity(sequence)
