"""Tests of stored evidence on a hybrid of delta layers and attention, and of what todays_models says of it."""

import math
import statistics

import torch

from companion.bench import measure
from companion.learning import evidence
from companion.learning.tasks import Rewritten
from tests.learning.test_evidence_layers import most_written

DELTA, HYBRID, ATTENTION = "4 delta", "3 delta, 1 attention", "4 attention"


def runs(experiment, kind):
    """Return the runs of the five networks."""
    return evidence.load("hybrid", chosen=True, experiment=experiment, kind=kind)


def right(experiment, kind):
    """Return the sorted percentages of right answers."""
    return sorted(100 * (1 - run["test"]) for run in runs(experiment, kind))


def test_hybrids_are_reproducible(program):
    """Recompute a transformer, and check that all networks of a task have about one size."""
    (stored,) = [run for run in runs("8 keys", ATTENTION) if run["seed"] == 0]
    again = program("hybrid").run(("8 keys", ATTENTION, 0, stored["learning_rate"]))
    assert abs(again["test"] - stored["test"]) < 0.02 and again["state"] == stored["state"] == 10_240
    for experiment in ("8 keys", "16 keys", "text"):
        counts = [runs(experiment, kind)[0]["parameters"] for kind in (DELTA, HYBRID, ATTENTION)]
        assert max(counts) / min(counts) < 1.05


def ignoring_the_keys(keys):
    """Return the percentage that the value written most often is right in."""
    answers = []
    for inputs, targets in Rewritten(keys, 8, 2 * keys, apart=True, seed=1000).epoch(-1):
        values = torch.eye(8)[inputs[1 : 4 * keys : 2] - keys]  # (write, batch, 8)
        answers += (most_written(values) == targets[4 * keys :]).flatten().tolist()
    return 100 * statistics.mean(answers)
