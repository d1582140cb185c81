"""Test the comparison of forecasts for a reader's series: its parts, what wins, its words and its notebook."""

import math
import random
import re
import tomllib
from datetime import timedelta

import pytest
import torch

from companion.learning.own_series import FileProblem, compare, read_csv, to_notebook
from companion.learning.own_series.comparison import Score, choose_linear, choose_season, judge, train_networks
from companion.learning.own_series.parts import CHOOSE, LEARN, TEST, Parts
from companion.learning.own_series.words import HERE as WORDS
from companion.learning.own_series.words import Note, words
from companion.learning.series import water_tank
from tests.learning.test_own_series import START, table

# ---- The split ----


def series_of(values, machines=("",), keep=lambda k: True):
    """Return the series of a file with these values, hour after hour, for each machine."""
    lines = [
        f"{START + timedelta(hours=k)},{m},{value:.9g}" for m in machines for k, value in enumerate(values) if keep(k)
    ]
    return read_csv("\n".join(["time,machine,value", *lines]), "value", "time", "machine" if machines[0] else "")


def noise(count, seed=0):
    rng = random.Random(seed)
    return [rng.gauss(0, 1) for _ in range(count)]


def wave(count):
    return [math.sin(2 * math.pi * k / 24) + x for k, x in enumerate(noise(count))]


@pytest.mark.parametrize("machines", [("",), ("a", "b")])
def test_the_test_part_changes_nothing_that_is_learned_or_chosen(machines):
    """Replace the last fifth: a scale, a season or a length that looked at it would change."""
    values = wave(400)
    learned = []
    for last in (values[320:], [50 * value for value in values[320:]], noise(80), [float(k) for k in range(80)]):
        parts = Parts(series_of(values[:320] + last, machines))
        choose_season(parts)
        parts.choose_lengths()
        targets = [parts.targets(part) for part in (LEARN, CHOOSE, TEST)]
        linear, length = choose_linear(parts, targets)
        (network,), rate = train_networks(parts, targets, (0.01, 0.003), (0,), 4, 1, 100, None)
        scale = parts.mean[0].item(), parts.std[0].item()
        forecasts = [*linear(targets[CHOOSE]).tolist(), *network(targets[CHOOSE]).tolist()]
        learned.append((scale, parts.season.period, parts.season.reach, length, rate, forecasts))
    assert learned == learned[:1] * 4 and learned[0][1] == 24


def test_parts_follow_one_another_for_each_machine():
    """Machines of one time have the same cuts; machines of different times have their own."""
    parts = Parts(series_of(wave(200), ("a", "b")))
    assert parts.common and parts.cuts == [(120, 160)] * 2 and parts.counts() == [240, 80, 80]
    lines = [f"{START + timedelta(hours=k + 500 * (m == 'b'))},{m},{v}" for m in "ab" for k, v in enumerate(wave(200))]
    parts = Parts(read_csv("\n".join(["time,machine,value", *lines])))
    assert not parts.common and parts.cuts == [(120, 160), (620, 660)]


def test_no_window_crosses_a_gap_or_forecasts_a_filled_value():
    values = [float(k) for k in range(400)]
    parts = Parts(series_of(values, keep=lambda k: not 100 <= k < 120 and k % 30 != 7))
    parts.choose_lengths()
    for part in (LEARN, CHOOSE, TEST):
        targets = parts.targets(part)
        inputs, truth = parts.windows(targets, max(parts.lengths))
        steps = torch.tensor(parts.step)[targets]
        assert not ((steps >= 100) & (steps < 120 + max(parts.lengths))).any() and not (steps % 30 == 7).any()
        last = inputs[-1, :, 0] * parts.std[targets] + parts.mean[targets]
        before = torch.where((steps - 1) % 30 == 7, steps - 2, steps - 1).double()
        assert torch.allclose(last, before) and torch.allclose(parts.unscaled(truth, targets), steps.double())
    with pytest.raises(FileProblem, match="leave too few values"):
        compare(series_of(noise(1400), keep=lambda k: k < 400 or k % 10 == 0))


# ---- What wins ----

QUICK = {"rates": (0.01,), "seeds": (0,), "epochs": 2}


def autoregression(count):
    values = [0.0, 0.0]
    for x in noise(count):
        values.append(1.6 * values[-1] - 0.8 * values[-2] + x)
    return values


def walk(count):
    position = 0.0
    return [position := position + x for x in noise(count)]


def test_known_winners():
    pattern = noise(24, seed=1)
    season = compare(series_of([5 * pattern[k % 24] + x / 5 for k, x in enumerate(noise(600))]), **QUICK)
    assert season.best == "mean" and season.verdict[0].key == "simple_clear"
    assert season.scores[1].setting.values["period"] == 24
    exact = compare(series_of([pattern[k % 24] for k in range(600)]), **QUICK)
    assert exact.errors["season"] < 1e-9 and exact.best in ("season", "mean", "linear")
    linear = compare(series_of(autoregression(900)), **QUICK)
    assert linear.best == "linear" and linear.errors["linear"] == pytest.approx(0.8, abs=0.08)
    random_walk = compare(series_of(walk(900)), **QUICK)
    assert random_walk.errors["last"] < 1.03 * min(random_walk.errors.values())
    assert {note.key for note in random_walk.verdict} & {"nothing", "no_gain"}


def test_an_lstm_wins_where_a_law_has_two_cases():
    tank = compare(series_of(water_tank(1500)[:, 0].tolist()), rates=(0.01,), seeds=(0, 1), epochs=16)
    assert tank.best == "lstm" and tank.verdict[0].key == "lstm_clear"
    assert tank.errors["lstm"] < 0.9 * tank.errors["linear"]


def score(key, errors, seeds=()):
    errors = torch.tensor(errors, dtype=torch.float64)
    return Score(key, errors.mean().item(), Note("table", "set_last", {}), errors, errors, seeds)


def test_a_difference_is_clear_only_beyond_the_chance_of_blocks_and_seeds():
    rng = random.Random(0)
    last = score("last", [3.0] * 200)
    linear = score("linear", [1 + 0.1 * rng.random() for _ in range(200)])
    for errors, seeds, expected in (
        ([0.9] * 200, (0.9, 0.9), "lstm_clear"),
        ([0.9] * 200, (0.7, 1.1), "lstm_unclear"),  # one seed is worse
        ([0.1] * 40 + [1.2] * 160, (0.9, 0.9), "lstm_unclear"),  # better at one time only
        ([1.2] * 200, (1.2, 1.2), "simple_clear"),
        ([1.2] * 200, (1.0, 1.4), "simple_unclear"),
    ):
        first, second = judge([last, linear, score("lstm", errors, seeds)])
        assert first.key == expected
        assert second.key == "gain" and second.values["winner"].key == (
            "lstm" if expected == "lstm_clear" else "linear"
        )
    assert judge([last, score("lstm", [3.1] * 200, (3.1,))])[1].key == "nothing"


# ---- Words and the notebook ----


def filled_in(text):
    """Return the names of values, and the code, in a sentence."""
    return sorted(re.findall(r"\{\w+\}|`[^`]*`", text))


def test_a_season_may_be_long_and_its_absence_is_explained():
    minutes = [math.sin(2 * math.pi * k / 480) + x / 9 for k, x in enumerate(noise(2400))]
    lines = [f"{START + timedelta(minutes=3 * k)},{value}" for k, value in enumerate(minutes)]
    series = read_csv("\n".join(["time,value", *lines]))
    result = compare(series, **QUICK)
    assert result.scores[1].setting.values["period"] == 480
    assert "because no period was found" not in result.text("en")
    falling = "v\n" + "".join(f"{-k * k}\n" for k in range(300))
    assert "because no period was found" in compare(read_csv(falling), **QUICK).text("en")


def test_gains_are_shares_of_the_larger_error():
    rng = random.Random(0)
    last = score("last", [4 + rng.random() for _ in range(200)])
    for factor, expected in ((0.8, "20"), (0.996, "0.4"), (0.9996, "0.04"), (1 - 1e-9, "<0.01")):
        linear = score("linear", (factor * last.errors).tolist())
        first, second = judge([last, linear, score("lstm", last.errors.tolist(), (last.error,))])
        assert (first.key, first.values["gain"], second.values["gain"]) == ("simple_clear", expected, expected)
    first, _ = judge([last, score("lstm", [0.9 * last.error, 1.02 * last.error] * 100, (0.96 * last.error,))])
    assert first.text("en").count("4% smaller than that of the best simpler forecast") == 1


@pytest.mark.parametrize("language", ["ja", "ko", "zh"])
def test_words_are_translated(language):
    own = tomllib.loads((WORDS / f"{language}.toml").read_text(encoding="utf-8"))
    assert {part: [*sentences] for part, sentences in own.items()} == {
        part: [*sentences] for part, sentences in words("en").items()
    }
    for part, english in words("en").items():
        for key, text in english.items():
            assert filled_in(own[part][key]) == filled_in(text), key


def test_the_notebook_repeats_the_comparison(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "my 'file'.csv").write_text(table("{t},{v},{v}", "time,x,value\n"), encoding="utf-8")
    series = read_csv("my 'file'.csv", "value")
    result = compare(series, **QUICK)
    notebook = to_notebook(series, "en")
    assert "my 'file'.csv" in "".join(notebook["cells"][0]["source"])
    monkeypatch.setattr("matplotlib.pyplot.show", lambda: None)
    names = {}
    for cell in notebook["cells"]:
        source = "".join(cell["source"])
        if cell["cell_type"] == "code":
            quick = (
                source.replace("(0.01, 0.003)", "(0.01,)").replace("(0, 1, 2)", "(0,)").replace("epochs=12", "epochs=2")
            )
            exec(quick, names)
    assert names["series"].text() == series.text() and names["result"].text() == result.text()


@pytest.mark.parametrize("language", ["en", "ja"])
def test_the_notebook_has_the_encoding_and_the_words_of_its_language(tmp_path, monkeypatch, language):
    """Run the part that reads in another language, in which the encoding would be guessed otherwise."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "short.csv").write_bytes(table("{v}", "It’s\n").encode("cp1252"))
    series = read_csv("short.csv", language="en")
    cells = {cell["id"]: "".join(cell["source"]) for cell in to_notebook(series, language)["cells"]}
    monkeypatch.setenv("UNROLLED_LANGUAGE", "ja")
    assert read_csv("short.csv").value == "It痴" and "encoding='cp1252'" in cells["read"]
    names = {}
    exec(cells["read"], names)
    assert names["series"].value == series.value == "It’s"
    assert f"xlabel={words(language)['notebook']['step']!r}" in cells["last"]
    assert ("Yu Gothic" in cells["picture"]) == (language == "ja")
    monkeypatch.setattr("matplotlib.pyplot.show", lambda: None)
    exec(cells["picture"], names)
    with pytest.raises(FileProblem, match="cannot be read as utf-8"):
        read_csv("short.csv", encoding="utf-8")
