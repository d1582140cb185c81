"""Test the CTC loss against torch's and against all paths, and decoding against all texts."""

import itertools
import math

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch.nn import functional as F

from companion.layers.ctc import ctc_loss
from companion.layers.decoding import beam_search, best_path

float64 = {"dtype": torch.float64}


@st.composite
def batches(draw):
    """Draw logits, and the arguments of the loss: short inputs, repeated letters, empty and impossible targets."""
    T, N, C, S = (draw(st.integers(*bounds)) for bounds in ((1, 14), (1, 4), (2, 5), (0, 5)))
    torch.manual_seed(draw(st.integers(0, 10**6)))
    blank = draw(st.integers(0, C - 1))
    logits = 2 * torch.randn(T, N, C, **float64)
    lengths = torch.randint(0, T + 1, (N,)), torch.randint(0, S + 1, (N,))
    targets = (torch.randint(1, C, (N, S)) + blank) % C
    if draw(st.booleans()):  # one after another
        targets = torch.cat([target[:size] for target, size in zip(targets, lengths[1], strict=True)])
    options = {
        "blank": blank,
        "reduction": draw(st.sampled_from(["none", "mean", "sum"])),
        "zero_infinity": draw(st.booleans()),
    }
    return logits, (targets, *lengths), options


@settings(max_examples=500)
@given(batches())
def test_equal_to_torch(batch):
    """Compare values and gradients with respect to the logits."""
    logits, arguments, options = batch
    mine, theirs = (logits.clone().requires_grad_() for _ in range(2))
    losses = [loss(x.log_softmax(-1), *arguments, **options) for loss, x in ((ctc_loss, mine), (F.ctc_loss, theirs))]
    torch.testing.assert_close(*losses, rtol=0, atol=1e-10)
    weight = torch.randn_like(losses[0])
    for loss in losses:
        (weight * loss).sum().backward()
    # for an impossible target, torch's gradient may be nan also in steps after the end of the input
    input_lengths = arguments[1]
    possible = ctc_loss(logits.log_softmax(-1), *arguments, options["blank"], "none").isfinite()
    compared = possible | (torch.arange(len(logits))[:, None] < input_lengths)
    gradients = mine.grad[compared], theirs.grad[compared]
    torch.testing.assert_close(*gradients, rtol=0, atol=1e-10, equal_nan=True)
    assert possible.all() or options["zero_infinity"] or mine.grad.isnan().any() or not input_lengths.any()


def texts_of(log_probs, blank):
    """Return text → its probability, by a list of all paths."""
    T, C = log_probs.shape
    found = {}
    for path in itertools.product(range(C), repeat=T):
        text = tuple(output for output, _ in itertools.groupby(path) if output != blank)
        found[text] = found.get(text, 0) + math.exp(sum(log_probs[t, c].item() for t, c in enumerate(path)))
    return found


@given(st.integers(1, 6), st.integers(2, 3), st.data())
def test_equal_to_all_paths(T, C, data):
    torch.manual_seed(data.draw(st.integers(0, 10**6)))
    blank = data.draw(st.integers(0, C - 1))
    log_probs = torch.randn(T, C, **float64).log_softmax(-1)
    texts = texts_of(log_probs, blank)
    assert sum(texts.values()) == pytest.approx(1)
    for text, probability in texts.items():
        loss = ctc_loss(log_probs, torch.tensor(text, dtype=torch.long), (T,), (len(text),), blank, "sum")
        assert loss.item() == pytest.approx(-math.log(probability), abs=1e-10)
    # with room for all texts, the search knows each probability; with one place, it may lose the best
    found = beam_search(log_probs, len(texts), blank)
    assert {tuple(text): pytest.approx(math.exp(log)) for text, log in found} == texts
    assert [log for _, log in found] == sorted((log for _, log in found), reverse=True)
    assert beam_search(log_probs, 1, blank)[0][1] <= found[0][1] + 1e-12
    path = log_probs.argmax(-1).tolist()
    assert best_path(log_probs, blank) == [output for output, _ in itertools.groupby(path) if output != blank]


def test_beam_search_finds_what_the_best_path_misses():
    """Check the example of Graves: the likeliest path is empty, the likeliest text is not."""
    log_probs = torch.tensor([[0.6, 0.4], [0.6, 0.4]], **float64).log()
    assert best_path(log_probs) == []
    (text, log), (empty, other) = beam_search(log_probs)
    assert (
        text == [1] and math.exp(log) == pytest.approx(0.64) and empty == [] and math.exp(other) == pytest.approx(0.36)
    )


def test_the_gradient_is_the_true_one():
    """Compare with finite differences with respect to log_probs, where torch's gradient is another one."""
    log_probs = torch.randn(6, 2, 3, **float64).log_softmax(-1)
    arguments = torch.tensor([[1, 2], [2, 2]]), (6, 5), (2, 2)
    loss = lambda x: ctc_loss(x, *arguments)  # noqa: E731
    assert torch.autograd.gradcheck(loss, log_probs.clone().requires_grad_())
    theirs = log_probs.clone().requires_grad_()
    F.ctc_loss(theirs, *arguments).backward()
    mine = log_probs.clone().requires_grad_()
    loss(mine).backward()
    assert (mine.grad - theirs.grad).abs().max() > 0.05


BASE = {
    "log_probs": torch.zeros(5, 2, 4).log_softmax(-1),
    "targets": torch.tensor([[1, 2], [3, 1]]),
    "input_lengths": torch.tensor([5, 4]),
    "target_lengths": torch.tensor([2, 1]),
}
WRONG = [
    {"reduction": "max"}, {"blank": 4}, {"blank": -1},
    {"input_lengths": torch.tensor([6, 4])}, {"input_lengths": torch.tensor([5, 6])},
    {"input_lengths": torch.tensor([-1, 4])},
    {"input_lengths": torch.tensor([5])}, {"input_lengths": torch.tensor([5.0, 4.0])},
    {"target_lengths": torch.tensor([-1, 1])}, {"target_lengths": torch.tensor([3, 1])},
    {"target_lengths": torch.tensor([2])}, {"target_lengths": torch.tensor([2.0, 1.0])},
    {"targets": torch.tensor([1, 2])}, {"targets": torch.tensor([1, 2, 3, 1])}, {"targets": torch.tensor([[1, 2]])},
    {"targets": torch.tensor([[[1, 2], [3, 1]]])}, {"log_probs": torch.zeros(0, 2, 4), "input_lengths": (0, 0)},
]  # fmt: skip


@pytest.mark.parametrize("wrong", WRONG, ids=[f"{next(iter(wrong))}-{k}" for k, wrong in enumerate(WRONG)])
def test_errors_begin_as_torchs(wrong):
    """Compare the type and the text; torch adds which of its functions checked."""
    lengths = [wrong.get(name, BASE[name]) for name in ("input_lengths", "target_lengths")]
    if any(isinstance(length, tuple) for length in lengths):  # torch takes two tuples or two tensors
        wrong = wrong | {"target_lengths": (2, 1)}
    with pytest.raises(Exception) as theirs:  # noqa: PT011  (its type is compared)
        F.ctc_loss(**(BASE | wrong))
    with pytest.raises(theirs.type) as mine:
        ctc_loss(**(BASE | wrong))
    words = str(theirs.value).partition(" (while checking")[0].partition(" for argument")[0]
    assert str(mine.value).removesuffix(" for 'targets'") == words


@pytest.mark.parametrize("reduction", ["none", "mean", "sum"])
@pytest.mark.parametrize(
    "lengths", [((4,), (2,)), (torch.tensor(4), torch.tensor(2)), (torch.tensor([5]), torch.tensor([2]))]
)
def test_a_single_sequence(lengths, reduction):
    logits, target = torch.randn(5, 4, **float64), torch.tensor([3, 3])
    losses = [loss(logits.log_softmax(-1), target, *lengths, reduction=reduction) for loss in (ctc_loss, F.ctc_loss)]
    assert losses[0].shape == losses[1].shape
    torch.testing.assert_close(*losses, rtol=0, atol=1e-10)


@pytest.mark.parametrize(
    ("wrong", "error", "message"),
    [
        ({"targets": torch.tensor([[1, 2], [9, 1]])}, ValueError, "a target is 9, which is not one of the 4 classes"),
        ({"targets": torch.tensor([[1, 0], [3, 1]])}, ValueError, "a target is 0, which is the blank"),
        ({"log_probs": torch.zeros(5, 2, 4).half()}, NotImplementedError, "not for float16"),
        ({"log_probs": torch.zeros(4)}, RuntimeError, "Expected 3-dimensional tensor, but got 2"),
        ({"log_probs": [0.0]}, TypeError, "log_probs must be a Tensor, not a list"),
    ],
)
def test_wrong_arguments_are_refused(wrong, error, message):
    """Check also targets for which torch computes a number."""
    with pytest.raises(error, match=message):
        ctc_loss(**(BASE | wrong))


def test_what_follows_a_target_is_not_read():
    """Check that padding of any kind changes nothing, also by the index of the blank or beyond the classes."""
    losses = [ctc_loss(**(BASE | {"targets": torch.tensor([[1, 2, pad], [3, pad, pad]])})) for pad in (0, 1, -1, 99)]
    assert len({loss.item() for loss in losses}) == 1
