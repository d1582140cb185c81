"""Tests of `companion.learning.windows`: the pieces that are cut, and the separation of held-out data."""

import pytest
import torch
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from companion.learning.windows import ConsecutiveWindows, RandomWindows, split
from tests.layers.torch_comparison import examples

size = st.integers(1, 7)


def positions(length):
    """Return a sequence of positions, moved on by 1000 so that no other number can equal one of them."""
    return torch.arange(length) + 1000


@settings(max_examples=examples(200))
@given(st.integers(2, 150), size, st.integers(1, 40), st.integers(0, 3))
def test_consecutive_windows_are_the_sequence_without_gap_or_overlap(length, batch_size, window_size, epoch):
    assume(length > batch_size)
    windows = ConsecutiveWindows(positions(length), batch_size, window_size)
    batches = list(windows.epoch(epoch))
    assert len(batches) == len(windows) and windows.carried
    assert all(inputs.shape == targets.shape for inputs, targets in batches)
    assert all(inputs.shape == (window_size, batch_size) for inputs, _ in batches[:-1])
    assert 1 <= len(batches[-1][0]) <= window_size
    inputs, targets = (torch.cat(parts) for parts in zip(*batches, strict=True))
    # the rows, one after another, are the sequence without gap or overlap
    rows = inputs.T.flatten()
    assert rows.equal(positions(length)[: len(rows)]) and length - batch_size <= len(rows) < length
    assert targets.equal(inputs + 1)


@settings(max_examples=examples(200))
@given(st.integers(2, 150), size, st.integers(1, 40), st.integers(0, 3), st.integers(0, 3))
def test_random_windows_contain_each_position_at_most_once(length, batch_size, window_size, seed, epoch):
    assume(length >= 2 * window_size)
    windows = RandomWindows(positions(length), batch_size, window_size, seed)
    torch.manual_seed(length)
    before, batches = torch.get_rng_state(), list(windows.epoch(epoch))
    assert torch.get_rng_state().equal(before)
    torch.manual_seed(0)
    again = list(RandomWindows(positions(length), batch_size, window_size, seed).epoch(epoch))
    assert len(batches) == len(windows) and not windows.carried
    assert all(a.equal(b) for pair, other in zip(batches, again, strict=True) for a, b in zip(pair, other, strict=True))
    assert all(inputs.shape == (window_size, batch_size) for inputs, _ in batches[:-1])
    assert all(targets.equal(inputs + 1) for inputs, targets in batches)
    inputs, targets = (torch.cat(parts, dim=1) for parts in zip(*batches, strict=True))
    assert inputs.equal(inputs[0] + torch.arange(window_size)[:, None])
    assert inputs.min() >= 1000 and targets.max() < 1000 + length
    assert targets.unique().numel() == targets.numel() > length - 3 * window_size


def test_random_windows_differ_between_epochs_and_seeds():
    sequence = positions(200)
    first = [
        torch.cat([inputs[0] for inputs, _ in RandomWindows(sequence, 4, 10, seed).epoch(epoch)]).tolist()
        for seed in range(3)
        for epoch in range(8)
    ]
    assert len({tuple(starts) for starts in first}) == 24
    assert len({min(starts) for starts in first}) > 5  # cut at other positions
    assert all(starts != sorted(starts) for starts in first)
    # every position is a target, the first and the last, too
    windows = RandomWindows(positions(7), 1, 3)
    assert {int(x) for e in range(60) for _, targets in windows.epoch(e) for x in targets} == {*range(1001, 1007)}


@settings(max_examples=examples(200))
@given(st.integers(20, 150), st.data())
def test_windows_contain_no_held_out_position(length, data):
    start = data.draw(st.integers(0, length - 1))
    stop = data.draw(st.integers(start + 1, length))
    assume(stop - start <= length - 10)
    kept, held_out = split(positions(length), (start, stop))
    assert held_out.equal(positions(length)[start:stop])
    assert kept.tolist() == [p for p in positions(length).tolist() if p not in range(1000 + start, 1000 + stop)]
    for windows in (ConsecutiveWindows(kept, 2, 3), RandomWindows(kept, 2, 3)):
        for inputs, targets in (batch for epoch in range(3) for batch in windows.epoch(epoch)):
            assert not torch.isin(torch.cat([inputs, targets]), held_out).any()


@pytest.mark.parametrize(("share", "start"), [(0.1, 90), (0.25, 75), (0.016, 98), (0.99, 1)])
def test_share_is_held_out_at_the_end(share, start):
    kept, held_out = split(positions(100), share)
    assert kept.equal(positions(100)[:start]) and held_out.equal(positions(100)[start:])


@pytest.mark.parametrize("held_out", [0, 0.0, 0.001, 1.0, 1.5, -0.1, (0, 100), (5, 5), (9, 5), (-3, 5), (90, 101)])
def test_split_refuses_an_empty_part(held_out):
    with pytest.raises(ValueError, match="cannot hold out .* of 100 indices: both parts need some"):
        split(positions(100), held_out)


@pytest.mark.parametrize(
    ("kind", "at_least"), [(ConsecutiveWindows, 4), (RandomWindows, 10)], ids=["consecutive", "random"]
)
def test_sequences_too_short_for_a_window_are_refused(kind, at_least):
    kind(torch.arange(at_least), 3, 5)
    with pytest.raises(ValueError, match=f"windows of 5 in batches of 3: at least {at_least} are needed"):
        kind(torch.arange(at_least - 1), 3, 5)
    for sequence in (torch.arange(30).view(2, 15), torch.arange(30.0), torch.arange(30, dtype=torch.int32)):
        with pytest.raises(ValueError, match="must be int64 of one dimension, not torch"):
            kind(sequence, 3, 5)
    for sizes in ((0, 5), (3, 0), (-1, 5)):
        with pytest.raises(ValueError, match="must be at least 1, not {} and {}".format(*sizes)):
            kind(torch.arange(30), *sizes)
