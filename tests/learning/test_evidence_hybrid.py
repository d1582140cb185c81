"""Tests of stored evidence on a hybrid of delta layers and attention, and of what todays_models says of it."""

import math
import statistics

from companion.bench import measure
from companion.learning import evidence
from tests.learning.test_evidence_mixers import ignoring_the_keys

DELTA, HYBRID, ATTENTION = "4 delta", "3 delta, 1 attention", "4 attention"


def runs(experiment, kind):
    """Return the runs of the five networks."""
    return evidence.load("hybrid", chosen=True, experiment=experiment, kind=kind)


def right(experiment, kind):
    """Return the sorted percentages of right answers."""
    return sorted(100 * (1 - run["test"]) for run in runs(experiment, kind))


def test_hybrids_are_reproducible(program):
    """Recompute a transformer, and check that all networks of a task have about one size."""
    (stored,) = [run for run in runs("text", ATTENTION) if run["seed"] == 0]
    again = program("hybrid").run(("text", ATTENTION, 0, stored["learning_rate"]))
    assert abs(again["test"] - stored["test"]) < 0.03 and again["state"] == stored["state"] == 16_384
    for experiment in ("8 keys", "16 keys", "text"):
        counts = [runs(experiment, kind)[0]["parameters"] for kind in (DELTA, HYBRID, ATTENTION)]
        assert max(counts) / min(counts) < 1.05


def test_what_the_page_says_of_a_hybrid():
    """Check todays_models#hybrid-said."""
    for kind in (DELTA, HYBRID):
        assert right("8 keys", kind)[0] > 99
    few, many = right("16 keys", DELTA), right("16 keys", HYBRID)
    assert many[0] > 99 and round(few[0]) == 75 and round(few[-1], 1) == 99.7
    kilobytes = [4 * runs("16 keys", kind)[0]["state"] / 1000 for kind in (DELTA, HYBRID)]
    assert [round(size) for size in kilobytes] == [9, 27]
    for keys, ignoring in ((8, 29), (16, 22)):
        rate = ignoring_the_keys(keys)
        assert round(rate) == ignoring and abs(statistics.mean(right(f"{keys} keys", ATTENTION)) - rate) < 2
    one, *four = right("8 keys, 3,000 batches", ATTENTION)
    assert abs(one - ignoring_the_keys(8)) < 1 and len(four) == 4 and four[0] > 99

    text = {kind: sorted(math.exp(run["test"]) for run in runs("text", kind)) for kind in (DELTA, HYBRID, ATTENTION)}
    assert text[HYBRID][0] < text[DELTA][-1] and text[ATTENTION][0] > 1.3 * text[HYBRID][-1]
    seconds = {kind: statistics.median(run["per_step"] for run in runs("text", kind)) for kind in text}
    assert 0.2 < seconds[ATTENTION] / seconds[DELTA] < 0.28
    assert round(math.exp(measure.baselines("text")[measure.COUNTS]), 1) == 3.3 < text[DELTA][0]
