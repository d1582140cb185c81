"""Tests of sequence classifiers: a sequence's result does not depend on its batch or padding."""

import pytest
import torch
from torch import nn

import companion
from companion.learning.classifier import (
    SUMMARIES,
    SequenceClassifier,
    accuracy,
    answers,
    confusion,
    learn,
    max_over_time,
    mean_over_time,
)
from companion.learning.examples import collate
from companion.learning.ngrams import BagClassifier, NGrams, naive_bayes, ngrams

float64 = {"dtype": torch.float64}
SEQUENCES = [torch.tensor(row) for row in ([1, 2, 3, 4], [5], [6, 1, 6, 1, 6, 1, 2], [2, 2])]
TARGETS = [0, 1, 2, 1]


def model_of(layer, **options):
    torch.manual_seed(0)
    return SequenceClassifier(companion.Embedding(7, 3, **float64), layer, 3, **options)


@pytest.mark.parametrize("summary", SUMMARIES)
@pytest.mark.parametrize("bidirectional", [False, True])
@pytest.mark.parametrize("library", [companion, nn])
def test_outputs_do_not_depend_on_the_batch(library, bidirectional, summary):
    """Check outputs and gradients against those of single sequences."""
    layer = library.LSTM(3, 4, 2, bidirectional=bidirectional, **float64)
    model = model_of(layer, summary=summary)
    indices, lengths, _ = collate(list(zip(SEQUENCES, TARGETS, strict=True)))
    together = model(indices, lengths)
    alone = torch.cat([model(sequence[:, None], torch.tensor([len(sequence)])) for sequence in SEQUENCES])
    torch.testing.assert_close(together, alone, rtol=0, atol=1e-12)
    weights = torch.randn(together.shape, **float64)
    got, wanted = (
        torch.autograd.grad((outputs * weights).sum(), [*model.parameters()]) for outputs in (together, alone)
    )
    torch.testing.assert_close(got, wanted, rtol=0, atol=1e-12)
    padded = model_of(layer, packed=False)
    assert not torch.allclose(padded(indices, lengths)[1], padded(SEQUENCES[1][:, None], lengths[1:2])[0])


def test_wrong_lengths_and_sizes_are_refused():
    model = model_of(nn.GRU(3, 4, **float64))
    indices = torch.ones(7, 4, dtype=torch.int64)
    for wrong in ([7, 1], [8, 1, 1, 1], [7] * 7):
        with pytest.raises(ValueError, match="4 sequences of up to 7 elements"):
            model(indices, torch.tensor(wrong))
    for lengths, message in (
        (torch.tensor([7, 0, 1, 1]), r"lengths\[1\] is 0: .* at least one element"),
        (torch.tensor([7, 1, 8, 1]), r"lengths\[2\] is 8; there are 7 steps|4 sequences of up to 7"),
        (torch.tensor([7, 1, 1.5, 1]), "lengths must be whole numbers"),
        (torch.tensor([], dtype=torch.int64), "lengths are empty"),
        ([7, 1, 1, 1], "a tensor .*, not a list"),
        (torch.tensor(7), r"a tensor .*, not \(\)"),
    ):
        for read in (model, mean_over_time, max_over_time):
            if read is model and isinstance(lengths, list):
                continue
            with pytest.raises(ValueError, match=message):
                read(indices if read is model else torch.ones(7, 4, 2), lengths)
    assert model(indices, [7, 1, 2, 3]).equal(model(indices, torch.tensor([7, 1, 2, 3])))
    for layer, options, message in (
        (nn.GRU(4, 4), {}, "makes 3 features, the recurrent layer reads 4"),
        (nn.GRU(3, 4, batch_first=True), {}, "time first"),
        (nn.GRU(3, 4), {"summary": "last"}, "h_n, mean, max, not 'last'"),
    ):
        with pytest.raises(ValueError, match=message):
            model_of(layer, **options)


def test_classifier_learns_and_confusion_counts():
    model = model_of(nn.GRU(3, 8, **float64))
    batches = [collate(list(zip(SEQUENCES, TARGETS, strict=True)))] * 2
    history = learn(model, batches, torch.optim.Adam(model.parameters(), lr=0.05), epochs=30)
    assert history[0] == pytest.approx(1.1, abs=0.3) and history[-1] < 0.1
    predicted, right = answers(model, batches)
    assert accuracy(model, batches) == 1 and right.tolist() == TARGETS * 2
    assert confusion(predicted, right, 3).tolist() == [[2, 0, 0], [0, 4, 0], [0, 0, 2]]
    assert confusion(torch.tensor([1, 1]), torch.tensor([0, 2]), 3).tolist() == [[0, 1, 0], [0, 0, 0], [0, 1, 0]]


def test_epochs_without_batches_are_refused():
    model = model_of(nn.GRU(3, 8, **float64))
    optimizer = torch.optim.Adam(model.parameters())
    batch = collate(list(zip(SEQUENCES, TARGETS, strict=True)))
    for batches, epoch in (([], 1), (iter([batch]), 2)):
        with pytest.raises(ValueError, match=f"epoch {epoch} has no batches: give a list"):
            learn(model, batches, optimizer, epochs=2)
        for measure in (answers, accuracy):
            with pytest.raises(ValueError, match="there are no batches: give a list"):
                measure(model, batches)


@pytest.mark.parametrize(
    "found, right, message",
    [
        ([0, 3], [0, 1], r"found\[1\] is 3; only 0 to 2 are allowed"),
        ([0, -1], [0, 1], r"found\[1\] is -1; only"),
        ([0, 1, 2], [0, 1, 3], r"right\[2\] is 3; only"),
        ([0, 1], [-1, 1], r"right\[0\] is -1; only"),
        ([0.0, 1.7], [0, 1], "found must be whole numbers"),
        ([0, 1], [0], r"found \(2,\) and right \(1,\) must have the same shape"),
    ],
)
def test_confusion_refuses_unknown_classes(found, right, message):
    with pytest.raises(ValueError, match=message):
        confusion(torch.tensor(found), torch.tensor(right), 3)


@pytest.mark.parametrize(
    "message", [r"learned_from\[1\]\[1\] is -1; only 0 to 1", r"learned_from\[1\]\[0\]\[2\] is 5; only 0 to 4"]
)
def test_naive_bayes_refuses_unknown_classes_and_pieces(message):
    second = ([1, 2, 3], -1) if "-1" in message else ([1, 2, 5], 0)
    with pytest.raises(ValueError, match=message):
        naive_bayes([(torch.tensor(indices), label) for indices, label in (([1], 0), second)], 5, 2)


def test_ngrams():
    assert ngrams("ab", 2) == ["a", "b", "\x02a", "ab", "b\x03"]
    grams = NGrams(["ab"], 2)
    assert len(grams) == 6 and grams.encode("ac").tolist().count(0) == 3
    assert sorted(grams.encode("ab").tolist()) == [1, 2, 3, 4, 5]


def test_naive_bayes_equals_the_formula():
    """Check each text and class against the formula, and that padding adds nothing."""
    texts, labels, alpha = ["aab", "bb", "ac"], [0, 1, 0], 0.5
    grams = NGrams(texts, 1)
    model = naive_bayes([(grams.encode(t), k) for t, k in zip(texts, labels, strict=True)], len(grams), 2, alpha)
    counts = {0: {"a": 3, "b": 1, "c": 1}, 1: {"a": 0, "b": 2, "c": 0}}
    got = model(torch.nn.utils.rnn.pad_sequence([grams.encode("abz"), grams.encode("cccc")]))
    for row, text in enumerate(("ab", "cccc")):
        for k, prior in ((0, 2 / 3), (1, 1 / 3)):
            total = sum(counts[k].values()) + 3 * alpha
            p = prior
            for sign in text:
                p *= (counts[k][sign] + alpha) / total
            assert got[row, k].item() == pytest.approx(torch.tensor(p, **float64).log().item(), abs=1e-12)
    with pytest.raises(ValueError, match="learned_from is empty"):
        naive_bayes([], 3, 2)
    with pytest.raises(ValueError, match="alpha must be above 0"):
        naive_bayes([], 3, 2, 0)
    assert not BagClassifier(4, 2)(torch.tensor([[1, 2]])).any()
