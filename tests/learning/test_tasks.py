"""Tests of the memory tasks, against slow computations of their answers, and of `chrono_` initialisation."""

import math
import statistics

import pytest
import torch
from torch import nn

import companion
from companion.layers.initialisation import chrono_
from companion.learning.sequence_model import OneHot, SequenceModel
from companion.learning.tasks import Adding, Brackets, Copying, Cups, Recall, Rewritten, accuracy
from companion.learning.training import IGNORED
from tests.layers.torch_comparison import pair

TASKS = {
    "recall": Recall(5, batch_size=6, batches=3),
    "recall of many gaps": Recall((0, 9), batch_size=6, batches=3),
    "brackets": Brackets(12, deepest=3, batch_size=6, batches=3),
    "adding": Adding(7, batch_size=6, batches=3),
    "copying": Copying(3, 4, batch_size=6, batches=3),
    "cups": Cups(4, 7, batch_size=6, batches=3),
    "rewritten": Rewritten(3, 4, 7, batch_size=6, batches=3),
}


@pytest.mark.parametrize("task", TASKS.values(), ids=TASKS)
def test_epoch_depends_on_its_number_and_the_seed_only(task):
    def epoch(number, seed=0):
        torch.manual_seed(number)
        again = type(task).__new__(type(task))
        again.__dict__ |= vars(task) | {"seed": seed}
        return [tuple(part.flatten().tolist() for part in batch) for batch in again.epoch(number)]

    assert epoch(0) == epoch(0) and len(epoch(0)) == len(task) == 3 and not task.carried
    different = [epoch(0), epoch(1), epoch(-1), epoch(0, seed=1)]
    different = [str(batch) for batches in different for batch in batches]
    assert len({*different}) == len(different)
    before = torch.get_rng_state()
    next(task.epoch(0))
    assert torch.get_rng_state().equal(before)


@pytest.mark.parametrize(("gap", "lengths"), [(0, {2}), (5, {7}), ((0, 3), {2, 3, 4, 5}), ((4, 4), {6})])
def test_recall_asks_for_the_first_symbol(gap, lengths):
    task, seen, noise, steps = Recall(gap, batch_size=40, batches=30), set(), set(), set()
    for inputs, targets in task.epoch(0):
        assert inputs.shape == targets.shape and inputs.dtype == targets.dtype == torch.int64
        steps.add(len(inputs))
        for word, answer in zip(inputs.T.tolist(), targets.T.tolist(), strict=True):
            assert word[0] in range(8) and word[-1] == 16 and all(i in range(8, 16) for i in word[1:-1])
            assert answer == [IGNORED] * (len(word) - 1) + [word[0]]
            seen.add(word[0])
            noise |= {*word[1:-1]}
    assert steps == lengths and seen == {*range(8)} and noise == ({*range(8, 16)} if max(lengths) > 2 else set())
    assert Recall.vocab_size == 17 and Recall.symbols == 8
    assert len(Recall(gap)) == 50 and next(Recall(gap).epoch(0))[0].size(1) == 64


@pytest.mark.parametrize(("length", "deepest"), [(2, 1), (12, 1), (12, 3), (40, 8), (8, 99)])
def test_brackets_match_a_stack(length, deepest):
    task, depths, kinds = Brackets(length, deepest, batch_size=60, batches=4), set(), set()
    words = set()
    for inputs, targets in task.epoch(0):
        assert inputs.shape == targets.shape == (length, 60) and inputs.dtype == targets.dtype == torch.int64
        for word, answer in zip(inputs.T.tolist(), targets.T.tolist(), strict=True):
            stack = []
            for t, bracket in enumerate(word):
                if bracket < 3:
                    stack.append(bracket)
                else:
                    assert stack.pop() == bracket - 3
                depths.add(len(stack))
                closes = t + 1 < length and word[t + 1] >= 3
                assert answer[t] == (stack[-1] if closes else IGNORED)
            assert not stack
            kinds |= {*word}
            words.add(tuple(b < 3 for b in word))
    assert depths == {*range(min(deepest, length // 2) + 1)} and kinds == {*range(6)}
    if deepest > 1 and length > 2:  # opening or closing is random wherever both are possible
        assert {word[1] for word in words} == {word[-2] for word in words} == {True, False}


@pytest.mark.parametrize(("length", "dtype"), [(2, None), (3, torch.float64), (20, None)])
def test_adding_asks_for_the_two_marked_numbers(length, dtype):
    task, places = Adding(length, dtype, batch_size=50, batches=4), set()
    for inputs, targets in task.epoch(0):
        assert inputs.shape == (length, 50, 2) and targets.shape == (50,)
        assert inputs.dtype == targets.dtype == (dtype or torch.float32)
        for word, answer in zip(inputs.transpose(0, 1).tolist(), targets.tolist(), strict=True):
            first, second = (t for t, (_, mark) in enumerate(word) if mark == 1)
            assert first < length // 2 <= second and {mark for _, mark in word} <= {0, 1}
            assert all(0 <= number < 1 for number, _ in word)
            assert math.isclose(answer, word[first][0] + word[second][0], rel_tol=1e-6)
            places |= {first, second}
    assert places == {*range(length)}
    outputs = torch.randn(length, 50, 1)
    by_hand = statistics.mean((outputs[-1, k, 0].item() - targets[k].item()) ** 2 for k in range(50))
    assert math.isclose(Adding.loss(outputs, targets), by_hand, rel_tol=1e-5)


@pytest.mark.parametrize(("length", "pause"), [(1, 0), (4, 8), (3, 1)])
def test_copying_asks_for_the_word_after_the_pause(length, pause):
    task, seen = Copying(length, pause, batch_size=50, batches=4), set()
    for inputs, targets in task.epoch(0):
        assert inputs.dtype == targets.dtype == torch.int64
        for read, answer in zip(inputs.T.tolist(), targets.T.tolist(), strict=True):
            word = read[:length]
            assert read == word + [8] * pause + [9] * length
            assert answer == [IGNORED] * (length + pause) + word
            seen |= {*word}
    assert seen == {*range(8)}


@pytest.mark.parametrize(("cups", "length"), [(2, 1), (2, 9), (3, 20), (5, 40)])
def test_cups_targets_are_the_places_of_the_ball(cups, length):
    """Check the targets by moving the cups' contents and looking for the ball after each step."""
    task, seen, places = Cups(cups, length, batch_size=50, batches=4), set(), set()
    assert task.vocab_size == 1 + len(task.pairs) == 1 + cups * (cups - 1) // 2 and len({*task.pairs}) == len(
        task.pairs
    )
    for inputs, targets in task.epoch(0):
        assert inputs.shape == targets.shape == (length, 50) and inputs.dtype == targets.dtype == torch.int64
        for word, answer in zip(inputs.T.tolist(), targets.T.tolist(), strict=True):
            table = ["ball"] + [None] * (cups - 1)
            for change, place in zip(word, answer, strict=True):
                if change:
                    left, right = task.pairs[change - 1]
                    table[left], table[right] = table[right], table[left]
                assert table[place] == "ball"
                seen.add(change)
                places.add(place)
            if cups == 2:
                assert answer == [sum(word[: t + 1]) % 2 for t in range(length)]
    assert seen == {*range(task.vocab_size)} and places == {*range(cups)}


@pytest.mark.parametrize(("keys", "values", "writes"), [(1, 2, 1), (3, 2, 3), (4, 5, 12), (2, 3, 9)])
def test_rewritten_asks_for_the_last_value(keys, values, writes):
    task, seen, first_written, first_asked = (
        Rewritten(keys, values, writes, batch_size=60, batches=4),
        set(),
        set(),
        set(),
    )
    assert task.vocab_size == keys * values + keys
    for inputs, targets in task.epoch(0):
        assert inputs.shape == targets.shape == (writes + keys, 60) and inputs.dtype == targets.dtype == torch.int64
        for word, answer in zip(inputs.T.tolist(), targets.T.tolist(), strict=True):
            kept = {}
            for index in word[:writes]:
                key, value = divmod(index, values)
                assert key < keys
                kept[key] = value
            asked = [index - keys * values for index in word[writes:]]
            assert sorted(asked) == sorted(kept) == [*range(keys)]
            assert answer == [IGNORED] * writes + [kept[key] for key in asked]
            seen |= {*word}
            first_written.add(word[0] // values)
            first_asked.add(asked[0])
    assert seen == {*range(task.vocab_size)} and first_written == first_asked == {*range(keys)}


def test_keys_and_values_apart_are_the_same_writes_in_two_steps():
    for (one, targets), (two, asked) in zip(Rewritten(3, 4, 7).epoch(0), Rewritten(3, 4, 7, apart=True).epoch(0)):
        keys, values = two[:14:2], two[1:14:2] - 3
        assert torch.equal(keys * 4 + values, one[:7]) and torch.equal(two[14:], one[7:] - 12)
        assert (asked[:14] == IGNORED).all() and torch.equal(asked[14:], targets[7:])
    assert Rewritten(3, 4, 7, apart=True).vocab_size == 7


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: Recall(-1), "gap must be a number from 0 on, or a range"),
        (lambda: Recall((3, 2)), r"gap must be .*, not \(3, 2\)"),
        (lambda: Recall((-1, 2)), "gap must be"),
        (lambda: Brackets(0), "length must be even and above 0, deepest at least 1, not 0 and 8"),
        (lambda: Brackets(7), "not 7 and 8"),
        (lambda: Brackets(8, 0), "not 8 and 0"),
        (lambda: Adding(1), "length must be at least 2, not 1"),
        (lambda: Cups(1, 5), "there must be two cups and one step at least, not 1 and 5"),
        (lambda: Cups(3, 0), "not 3 and 0"),
        (lambda: Copying(0, 3), "there must be one symbol at least, and a pause from 0 on, not 0 and 3"),
        (lambda: Copying(2, -1), "not 2 and -1"),
        (lambda: Rewritten(0, 2, 3), "there must be a key, two values, and as many writes as keys, not 0, 2 and 3"),
        (lambda: Rewritten(2, 1, 3), "not 2, 1 and 3"),
        (lambda: Rewritten(4, 2, 3), "not 4, 2 and 3"),
    ],
)
def test_impossible_tasks_are_refused(make, words):
    with pytest.raises(ValueError, match=words):
        make()


class Answers(nn.Module):
    """A model without weights: its outputs are a function of the indices."""

    def __init__(self, answer, num_outputs):
        super().__init__()
        self.answer, self.num_outputs = answer, num_outputs

    def forward(self, inputs, state=None):
        return nn.functional.one_hot(self.answer(inputs), self.num_outputs).float(), None


def open_bracket(inputs):
    answers, stacks = torch.zeros_like(inputs), [[] for _ in inputs[0]]
    for t, row in enumerate(inputs.tolist()):
        for k, (stack, bracket) in enumerate(zip(stacks, row, strict=True)):
            stack.append(bracket) if bracket < 3 else stack.pop()
            answers[t, k] = stack[-1] if stack else 0
    return answers


def opened_last(inputs):
    """Return the best answers to `Brackets` without a stack."""
    answers = inputs.clone()
    for t in range(1, len(inputs)):
        answers[t] = torch.where(inputs[t] < 3, inputs[t], answers[t - 1])
    return answers


def test_accuracy_and_chance():
    recall, brackets = Recall((0, 9), batches=40), Brackets(20, batches=20)
    assert accuracy(Answers(lambda inputs: inputs[:1].expand_as(inputs) % 8, 8), recall) == 1
    assert accuracy(Answers(open_bracket, 3), brackets) == 1
    assert 0.09 < accuracy(Answers(torch.zeros_like, 8), recall) < 0.16
    assert 0.28 < accuracy(Answers(torch.zeros_like, 3), brackets) < 0.39
    assert 0.69 < accuracy(Answers(opened_last, 3), Brackets(40, batches=10)) < 0.71
    cups, rewritten = Cups(3, 30, batches=20), Rewritten(4, 5, 6, batches=20)
    assert (
        0.3 < accuracy(Answers(torch.ones_like, 3), cups) < 0.36
        and 0.17 < accuracy(Answers(torch.ones_like, 5), rewritten) < 0.23
    )
    rows = torch.cat([targets for _, targets in Adding(9, batches=100).epoch(0)])
    assert math.isclose((rows - 1).square().mean(), 1 / 6, rel_tol=0.1)
    # accuracy computed here, over the batches of epoch -1
    model, task = Answers(lambda inputs: inputs % 3, 3), Brackets(6, batch_size=5, batches=2)
    pairs = [
        (word[t] % 3, answer[t])
        for inputs, targets in task.epoch(-1)
        for word, answer in zip(inputs.T.tolist(), targets.T.tolist(), strict=True)
        for t in range(6)
        if answer[t] != IGNORED
    ]
    share = sum(a == b for a, b in pairs) / len(pairs)
    assert 0 < share < 1 and accuracy(model, task) == share


def test_accuracy_is_measured_without_dropout():
    torch.manual_seed(0)
    model, task = SequenceModel(OneHot(17), nn.GRU(17, 5, 2, dropout=0.9), 8), Recall(3, batches=9)
    shares = [accuracy(model, task) for _ in range(3)]
    assert model.recurrent.training and {*shares} == {accuracy(model.eval(), task)} and not model.training


@pytest.mark.parametrize("source", [companion, nn], ids=["companion", "nn"])
@pytest.mark.parametrize(
    ("name", "options"),
    [
        ("LSTM", {"num_layers": 2}),
        ("LSTM", {"proj_size": 3}),
        ("GRU", {"num_layers": 2}),
        ("GRU", {"bidirectional": True}),
    ],
)
def test_chrono_spreads_the_memories_of_units(source, name, options):
    torch.manual_seed(0)
    layer, longest, size = getattr(source, name)(3, 500, **options), 40, 500
    before = {key: value.clone() for key, value in layer.state_dict().items()}
    assert chrono_(layer, longest, torch.Generator().manual_seed(1)) is layer
    keep = slice(size, 2 * size)
    for key, value in layer.state_dict().items():
        if key.startswith("weight"):
            assert value.equal(before[key])
            continue
        is_set = torch.zeros(len(value), dtype=torch.bool)
        is_set[keep] = True
        if name == "LSTM":
            is_set[:size] = True
        assert value[~is_set].equal(before[key][~is_set])
        if key.startswith("bias_hh"):
            assert not value[is_set].any()
            continue
        # f = σ(b) keeps a unit for T = 1 / (1 - f) steps; T - 1 is uniform from 1 to T_max - 1
        steps = 1 / (1 - torch.sigmoid(value[keep].double()))
        assert 2 - 1e-4 <= steps.min() < 2.5 and longest - 0.5 < steps.max() <= longest + 1e-4
        for share in (0.25, 0.5, 0.75):
            assert abs(steps.quantile(share) - (2 + share * (longest - 2))) < 3
        if name == "LSTM":
            assert value[:size].equal(-value[keep])
    again = chrono_(getattr(source, name)(3, 500, **options), longest, torch.Generator().manual_seed(1))
    assert again.bias_ih_l0[keep].equal(layer.bias_ih_l0[keep])
    biases = [value[keep] for key, value in layer.state_dict().items() if key.startswith("bias_ih")]
    assert len(biases) == 1 or not biases[0].equal(biases[1])


@pytest.mark.parametrize("name", ["LSTM", "GRU"])
def test_chrono_units_decay_at_their_own_rates(name):
    """Check that zero weights and inputs shrink a unit by its gate alone: f_1 f_2 … f_t = (1 - 1/T)^t."""
    layer, _ = pair(name, 1, 50, dtype=torch.float64)
    with torch.no_grad():
        for parameter in layer.parameters():
            parameter.zero_()
    chrono_(layer, 30)
    kept = torch.sigmoid(layer.bias_ih_l0[50:100])
    assert ((kept >= 1 - 1 / 2) & (kept <= 1 - 1 / 30)).all()
    ones = torch.ones(1, 50, dtype=torch.float64)
    _, state = layer(torch.zeros(12, 1, dtype=torch.float64), (ones * 0, ones) if name == "LSTM" else ones)
    torch.testing.assert_close(state[1] if name == "LSTM" else state, kept[None] ** 12, rtol=1e-9, atol=0)


@pytest.mark.parametrize("source", [companion, nn], ids=["companion", "nn"])
def test_chrono_refuses_layers_without_a_forget_gate(source):
    layers = [source.RNN(2, 3), source.LSTM(2, 3, bias=False), source.LSTMCell(2, 3), nn.Linear(2, 3)]
    for layer in layers:
        with pytest.raises(TypeError, match=f"{type(layer).__name__} has no gate that keeps, or no bias for it"):
            chrono_(layer, 10)
    for longest in (2, 2.9, -5, math.nan):
        with pytest.raises(ValueError, match=f"longest must be at least 3 time steps, not {longest}"):
            chrono_(source.GRU(2, 3), longest)
