"""Tests of stored evidence on the parts of released layers, and on layers that follow a ball."""

import math
import statistics

import torch

from companion.bench import measure
from companion.learning import evidence
from companion.learning.tasks import Rewritten
from tests.learning.test_evidence_layers import most_written


def results(experiment, kind):
    """Return the sorted results of the five networks: percent of right answers, or perplexities of the text."""
    runs = evidence.load("mixers", chosen=True, experiment=experiment, kind=kind)
    return sorted(math.exp(run["test"]) if experiment == "text" else 100 * (1 - run["test"]) for run in runs)


def sizes(experiment):
    """Return kind → parameters and numbers of state."""
    runs = evidence.load("mixers", chosen=True, experiment=experiment)
    return {run["kind"]: (run["parameters"], run["state"]) for run in runs}


def test_mixers_are_reproducible(program):
    """Recompute a layer without one part, and check that all layers of a task have about one size."""
    (stored,) = evidence.load("mixers", chosen=True, experiment="apart", kind="no output gate", seed=0)
    again = program("mixers").run(("apart", "no output gate", 0, stored["learning_rate"]))
    assert abs(again["test"] - stored["test"]) < 5e-3 and again["parameters"] == stored["parameters"] == 6251
    for experiment in ("apart", "text"):
        counts = [parameters for parameters, _ in sizes(experiment).values()]
        assert max(counts) / min(counts) < 1.03


def ignoring_the_keys(keys):
    """Return how often the value that was written most often is right, newer ones counting more, in percent."""
    right = []
    for inputs, targets in Rewritten(keys, 8, 2 * keys, apart=True, seed=1000).epoch(-1):
        values = torch.eye(8)[inputs[1 : 4 * keys : 2] - keys]  # (write, batch, 8)
        right += (most_written(values) == targets[4 * keys :]).flatten().tolist()
    return 100 * statistics.mean(right)


def test_an_answer_that_ignores_the_keys():
    """Check released#apart-why."""
    assert round(ignoring_the_keys(8)) == 29


def test_what_the_page_says_of_the_parts():
    """Check released#measured-said, #title, and #apart-why."""
    others = {"no convolution", "the rule alone", "LSTM"}
    for kind in sizes("apart"):
        mean = statistics.mean(results("apart", kind))
        assert mean < 31 if kind in others else mean > 99.4
    assert round(statistics.mean(results("apart", "no convolution"))) == 31
    assert sizes("apart")["the rule alone"] == (6392, 7688) and sizes("apart")["all parts"] == (6393, 1700)

    whole = results("text", "all parts")
    without = {kind: results("text", kind) for kind in sizes("text") if kind != "all parts"}
    assert without["no decay"][0] > whole[-1] and without["decay begins at 1/2"][-1] < whole[0]
    means = {kind: math.exp(statistics.mean(map(math.log, values))) for kind, values in without.items()}
    assert (
        round(means["no output gate"], 2) == 5.14
        and round(means["no convolution"], 2) == 4.95
        and round(statistics.geometric_mean(whole), 2) == 4.59
    )
    for kind in ("no convolution", "no output gate"):  # a little worse: the ranges overlap
        assert means[kind] > whole[-1] > without[kind][0]
    for kind in ("no norm", "keys of any length", "a decay for each feature", "LSTM"):
        assert whole[0] < means[kind] < whole[-1]
    assert sizes("text")["LSTM"][1] == 96 and sizes("text")["all parts"][1] == 3920
    counts = math.exp(measure.baselines("text")[measure.COUNTS])
    assert round(counts, 1) == 3.3 and counts < min(min(values) for values in (whole, *without.values()))


def test_one_start_fails_without_keys_of_length_one():
    """Check the networks of the search, at all rates."""
    for kind, failed in (("keys of any length", 1), ("all parts", 0)):
        tried = evidence.load("mixers", chosen=False, experiment="apart", kind=kind)
        for rate in {run["learning_rate"] for run in tried}:
            wrong = [run["choose"] for run in tried if run["learning_rate"] == rate]
            assert len(wrong) == 3 and sum(share > 0.4 for share in wrong) == failed
            assert sum(share > 0.03 for share in wrong) == failed


def test_what_the_page_says_of_the_games():
    """Check todays_models#tracking-said, its table of recurrences, and #title."""
    games = {cups: f"{cups} cups" for cups in range(2, 6)}
    whole, two = "delta rule, β to 2", "two delta steps, β to 2"
    for cups, game in games.items():
        assert results(game, whole)[0] > (96.5 if cups < 5 else 94.5)
        assert max(results(game, "delta rule")) < 100 / cups + 5
        assert results(game, two)[-1] >= results(game, whole)[0] and results(game, whole)[-1] >= results(game, two)[0]
    rates = [
        evidence.load(name, chosen=True, experiment=game, kind=kind)[0]["learning_rate"]
        for name, game, kind in (("layers", "three cups", "DeltaNet, β to 2"), ("mixers", "3 cups", whole))
    ]
    assert rates == [0.03, 0.01]
    assert sum(right > 95 for right in results("2 cups", "rotations")) == 2
    assert max(results("3 cups", "rotations")) < 40 and results("3 cups", "rotations")[0] > 33
    assert max(results("rewritten", "rotations")) < 14 and results("rewritten", "sLSTM")[0] > 93
    for cups in (2, 3, 4):
        assert results(games[cups], "LSTM")[0] > 99.9 and results(games[cups], "sLSTM")[0] > 88.5
    waiting = results("5 cups", "LSTM") + results("5 cups", "sLSTM")
    assert round(min(waiting)) == 33 and round(max(waiting)) == 89
    counts = {kind: state for kind, (_, state) in sizes("5 cups").items()}
    assert [counts[kind] for kind in ("LSTM", "sLSTM", whole, two)] == [64, 168, 7688, 2738]
    for game in ("rewritten", *games.values()):
        parameters = [number for number, _ in sizes(game).values()]
        assert max(parameters) / min(parameters) < 1.03
