"""Test streams: in any portions, with any other users, and interrupted, the predictions are those of one run."""

import math

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import nn

import companion
from companion.learning.sequence_model import OneHot, SequenceModel
from companion.learning.series import Scaling
from companion.learning.stream import Arrived, Stream
from companion.learning.text import Vocabulary
from companion.learning.transformer_model import TransformerModel
from tests.learning.stream_models import LAYERS, SIGNS, SIZE, VOCABULARY, new_model


def portions(values):
    """Return a strategy for lists of what arrives, users and portions in any order; the stream is saved after each."""
    event = st.tuples(st.sampled_from("ABC"), values, st.integers(0, 9), st.sampled_from([None, "one", "two"]))
    return st.lists(st.lists(event, max_size=4), max_size=4)


def at_once(model, segments):
    """Return the outputs for each user's segments, each read at once: user → list of outputs, of all values."""
    with torch.no_grad():
        return {user: torch.cat([model(torch.cat(s)[:, None])[0][:, 0] for s in of]) for user, of in segments.items()}


@pytest.mark.parametrize("name", LAYERS)
@settings(max_examples=8)
@given(pushes=portions(st.text(SIGNS, min_size=1, max_size=6)))
def test_predictions_are_those_of_one_run(name, pushes, tmp_path_factory):
    """Compare with the model that reads all at once, by the rules `end`, `gap` and a change of session."""
    path = tmp_path_factory.mktemp("stream") / "run.safetensors"
    model = new_model(name)
    stream = Stream(model, vocabulary=VOCABULARY, end=".", gap=5)
    clock, segments, last, got = {}, {}, {}, {}
    for push in pushes:
        arrived = []
        for user, text, wait, session in push:
            before, of = last.get(user, (None, None))
            clock[user] = clock.get(user, 0) + wait
            mine = segments.setdefault(user, [[]])
            if before is not None and (clock[user] - before > 5 or (session and of and session != of)) and mine[-1]:
                mine.append([])
            for sign in text:
                mine[-1].append(VOCABULARY.encode(sign))
                if sign == ".":
                    mine.append([])
            last[user] = clock[user], session or of
            arrived.append(Arrived(user, text, clock[user], session))
        for one, outputs in zip(arrived, stream.push(arrived), strict=True):
            got.setdefault(one.user, []).append(outputs)
        stream.save(path)
        stream = Stream.load(path)
    wanted = at_once(model, {user: [s for s in of if s] for user, of in segments.items()})
    assert wanted.keys() == got.keys() == stream.users.keys()
    for user, outputs in wanted.items():
        torch.testing.assert_close(torch.cat(got[user]), outputs, rtol=0, atol=1e-10)


@pytest.mark.parametrize("name", ["torch.nn.LSTM", "companion.MLSTM", "blocks"])
def test_numbers_are_scaled_there_and_back(name):
    torch.manual_seed(1)
    series = 5 + 3 * torch.randn(12, SIZE, dtype=torch.float64)
    model, scaling = new_model(name, "numbers"), Scaling(series)
    with torch.no_grad():
        outputs = model(scaling.there(series)[:, None])[0][:, 0]
    for change in (False, True):
        stream = Stream(model, scaling=scaling, target=2, change=change, features="abcdef")
        one = stream.push([("A", series[0])])[0]
        rest = stream.push([("A", dict(zip("fedcba", series[1].flip(0).tolist()))), ("B", series), ("A", series[2:])])
        last = scaling.there(series)[:, 2, None] if change else 0
        wanted = scaling.back(outputs + last, 2)
        torch.testing.assert_close(torch.cat([one, rest[0], rest[2]]), wanted, rtol=0, atol=1e-10)
        torch.testing.assert_close(rest[1], wanted, rtol=0, atol=1e-10)


def test_indices_and_layers_alone_are_read():
    model = new_model("companion.GRU")
    stream = Stream(model)
    both = stream.push([("A", 1), ("A", [2, 3])])
    with torch.no_grad():
        torch.testing.assert_close(torch.cat(both), model(torch.tensor([[1], [2], [3]]))[0][:, 0], rtol=0, atol=1e-12)
    layer = nn.LSTM(1, 3)
    stream = Stream(layer)
    (outputs,) = stream.push([("A", [0.5, 1.5])])
    torch.testing.assert_close(outputs, layer(torch.tensor([[[0.5]], [[1.5]]]))[0][:, 0].detach())
    assert repr(stream) == "Stream(LSTM, 1 user, 6 numbers of state each)"


class Growing(nn.Module):
    """A model whose state is all that it has read."""

    input_size = 2

    def __init__(self):
        super().__init__()
        self.linear = nn.Linear(2, 2)

    def forward(self, inputs, state=None):
        state = inputs if state is None else torch.cat([state, inputs])
        return self.linear(inputs), state


class Crowd(nn.GRU):
    """A layer whose rows touch each other."""

    def forward(self, inputs, state=None):
        return super().forward(inputs - inputs.mean(1, keepdim=True), state)


class Forgetful(nn.GRU):
    def forward(self, inputs, state=None):
        return super().forward(inputs, None)


def transformer():
    return TransformerModel(companion.Embedding(5, 4), [companion.TransformerEncoderLayer(4, 1, 8)], 5)


@pytest.mark.parametrize(
    ("model", "message"),
    [
        (lambda: nn.LSTM(2, 3, bidirectional=True), r"the model \(LSTM\) reads in two directions"),
        (lambda: nn.Sequential(nn.GRU(2, 3, bidirectional=True)), "neither `embedding` nor `input_size`"),
        (lambda: nn.LSTM(2, 3, batch_first=True), r"the model \(LSTM\) has batch_first=True"),
        (lambda: companion.RNN(2, 3, bidirectional=True), "backward one needs values that have not arrived"),
        (Growing, r"the state grows: its shapes were \[\(4, 3, 2\)\], and after 4 more"),
        (transformer, "state grows|drops its state|reads ahead"),
        (lambda: Crowd(2, 3), "the rows of a batch touch each other"),
        (lambda: Forgetful(2, 3), "reads step by step: it reads ahead, or drops its state"),
    ],
)
def test_models_that_cannot_read_step_by_step_are_refused(model, message):
    with pytest.raises(ValueError, match=message):
        Stream(model())


def scaling_of(variables):
    return Scaling(torch.randn(5, variables, dtype=torch.float64))


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"end": "."}, r"end='\.' must be a character of the vocabulary"),
        ({"vocabulary": VOCABULARY, "end": "§"}, "end='§' must be a character"),
        ({"gap": 0}, "gap must be a positive number of seconds, not 0"),
        ({"vocabulary": VOCABULARY, "features": ["a"]}, "a vocabulary reads characters"),
        ({"vocabulary": Vocabulary.of("?a")}, "the vocabulary has 2 characters, the model reads 6"),
        ({"change": True}, "change=True needs a scaling"),
        ({"scaling": scaling_of(2)}, "the scaling is of 2 variables, the model reads 6 indices"),
    ],
)
def test_settings_that_do_not_fit_are_refused(options, message):
    with pytest.raises(ValueError, match=message):
        Stream(new_model("companion.RNN"), **options)
    with pytest.raises(ValueError, match="target=2 is not one of 1"):
        Stream(nn.RNN(1, 2), scaling=scaling_of(1), target=2)


BAD = [
    (("B", "aX"), "user 'B': not in the vocabulary of 6 characters: 'X'"),
    (("B", ""), "user 'B': expected a text of at least one character, got ''"),
    (("B", 3), "user 'B': expected a text"),
    ((7, "a"), "the name of a user is a string, not 7"),
    (("B", "a", None), "user 'B': has no time, which the rule gap=5.0 needs"),
    (("B", "a", 3), "user 'B': time runs backwards, from 4.0 to 3.0"),
    (("B", "a", 9, 7), "user 'B': session is a string, not 7"),
    (("B", "a", 10**400), "user 'B': int too large"),
    (("B", "a", True), "user 'B': time is True, not a number of seconds"),
    (("B", "a", 9, "\ud800"), "user 'B': session has at most 200 characters"),
    (("\ud800", "a"), "the name of a user has at most 200 characters"),
    (("B" * 201, "a"), "the name of a user has at most 200 characters"),
    (("B", "a\r"), "ends with .r, perhaps the first half"),
    (("B", "\N{COMBINING ACUTE ACCENT}a"), "user 'B': the text begins with a combining mark"),
    ("BC", "expected \\(user, values\\) and possibly time and session, got 'BC'"),
    (("B",), "expected \\(user, values\\)"),
    (("B", "a", math.nan), "user 'B': time is nan, not a number of seconds"),
]


@pytest.mark.parametrize(("bad", "message"), BAD)
def test_bad_input_is_refused_by_name_and_touches_nobody(bad, message):
    stream = Stream(new_model("companion.LSTM"), vocabulary=VOCABULARY, gap=5)
    stream.push([("A", "ab", 1), ("B", "cd", 4)])
    before = ([leaf.clone() for leaf in stream.states.leaves], repr(stream.users))
    with pytest.raises(ValueError, match=message):
        stream.push([("A", "a", 5), ("C", "a", 5), (*bad, 9.0) if len(bad) == 2 and isinstance(bad, tuple) else bad])
    assert repr(stream.users) == before[1]
    assert all(map(torch.equal, stream.states.leaves, before[0]))


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ("a", "expected numbers, got the text 'a'"),
        ([0.0, math.inf], "value 0, b, is inf"),
        ([[0.0, 1.0], [math.nan, 2.0]], "value 1, a, is nan"),
        ([0.0, 1.0, 2.0, 3.0], r"expected \(T, 2\) numbers, got \(4,\)"),
        ([], r"got \(0,\)"),
        (None, "expected numbers"),
        ([[1.0], [1.0, 2.0]], "user 'A'"),
        ({"a": 1.0}, "expected the features a, b, got 'a'"),
        ([{"a": 1.0, "b": 2.0}, {"a": 1.0, "c": 2.0}], "expected the features a, b, got 'a', 'c'"),
        (True, "expected numbers, got torch.bool"),
    ],
)
def test_numbers_that_cannot_be_read_are_refused(values, message):
    stream = Stream(nn.GRU(2, 3), features=["a", "b"])
    with pytest.raises(ValueError, match=message):
        stream.push([("A", values)])
    for wrong, words in ((7, "index 7 is not one of the model's 6"), (0.5, "expected one index or several")):
        with pytest.raises(ValueError, match=words):
            Stream(new_model("companion.RNN")).push([("A", wrong)])
    assert len(stream) == 0


def test_a_state_that_is_not_a_number_is_named_and_undone():
    layer = companion.RNN(1, 1, nonlinearity="relu", bias=False, dtype=torch.float64)
    stream = Stream(layer)
    with torch.no_grad():
        for weight in layer.parameters():
            weight.fill_(1e200)
    stream.push([("A", 0.0), ("B", 0.0)])
    kept = [leaf.clone() for leaf in stream.states.leaves]
    with pytest.raises(FloatingPointError, match="user 'B': the prediction or the new state is not a finite number"):
        stream.push([("A", 1.0), ("B", 1.0), ("B", 1.0)])
    assert all(map(torch.equal, stream.states.leaves, kept))


def test_numbers_that_overflow_are_refused():
    scaling = Scaling(torch.tensor([[0.0], [1e-3]], dtype=torch.float64))
    stream = Stream(nn.RNN(1, 1), scaling=scaling)
    with pytest.raises(ValueError, match="user 'A': value 0, variable 0, is 1e.37, too large for torch.float32"):
        stream.push([("A", 1e37)])
    wide = Scaling.of(*torch.tensor([[0.0], [1e308]], dtype=torch.float64))
    stream = Stream(nn.RNN(1, 1, nonlinearity="relu"), scaling=wide)
    with torch.no_grad():
        for weight in stream.model.parameters():
            weight.fill_(10)
    with pytest.raises(FloatingPointError, match="user 'A': the prediction is too large in the unit of the target"):
        stream.push([("A", 1e308)])
    assert len(stream) == 0


def test_an_empty_session_is_a_session():
    stream = Stream(new_model("companion.GRU"), vocabulary=VOCABULARY)
    *_, third = stream.push([("A", "a", None, "s"), ("A", "b", None, ""), ("A", "c", None, "")])
    (wanted,) = Stream(stream.model, vocabulary=VOCABULARY).push([("A", "bc")])
    torch.testing.assert_close(third[0], wanted[1])


def test_texts_and_pairs_are_no_list_of_what_arrived():
    stream = Stream(new_model("companion.GRU"), vocabulary=VOCABULARY)
    for wrong in ("ab", {"ab": 1}, ("anna", "ab"), ["ab"], [5]):
        with pytest.raises(ValueError, match="expected"):
            stream.push(wrong)


class Last(nn.GRU):
    """A layer whose state is its last four inputs."""

    def forward(self, inputs, state=None):
        read = inputs if state is None else torch.cat([state, inputs])
        return read[-len(inputs) :].cumsum(0), read[-4:]


def test_a_state_that_changes_its_shape_is_refused():
    with pytest.raises(ValueError, match="the state grows|reads step by step"):
        Stream(Last(2, 2))


def test_users_are_forgotten_and_reset():
    model = new_model("companion.LSTM")
    stream = Stream(model, vocabulary=VOCABULARY)
    first = stream.push([(name, "abc") for name in "ABC"])[0]
    stream.forget("B")
    stream.reset("C")
    again = stream.push([("C", "abc"), ("D", "abc"), ("A", "a")])  # D gets the row of B
    assert len(stream) == 3 and {user.row for user in stream.users.values()} == {0, 1, 2}
    torch.testing.assert_close(again[0], first)
    torch.testing.assert_close(again[1], first)
    for function in (stream.forget, stream.reset):
        with pytest.raises(KeyError, match="there is no user 'B', among 3"):
            function("B")


def test_dropout_is_off_and_the_mode_is_restored():
    model = SequenceModel(OneHot(3), nn.LSTM(3, 4, num_layers=2, dropout=0.9), 3).train()
    stream = Stream(model)
    assert torch.equal(*(stream.push([(name, [1, 2])])[0] for name in "AB")) and model.training
