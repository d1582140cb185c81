"""Test the protocol of comparisons: a grid that grows until its best rate is inside, by three seeds."""

import math

import pytest

from companion.learning import protocol


def searched(rank_of, start=protocol.START):
    """Return the chosen rate of one method, and (seed, rate) of all runs, with ranks that `rank_of(rate)` returns."""

    def compute(wanted):
        return [{"seed": seed, "rate": rate} | rank_of(rate) for _, seed, rate in wanted]

    def rank(run):
        return (run["error"] + run["seed"] - 101, run["loss"])

    chosen, runs = protocol.search([("LSTM",)], compute, rank, lambda method: start)
    return next(iter(chosen.values())), [(run["seed"], run["rate"]) for run in runs]


@pytest.mark.parametrize(
    "best, tried",
    [
        (0.01, [0.003, 0.01, 0.03]),
        (0.03, [0.003, 0.01, 0.03, 0.1]),
        (0.0003, [0.003, 0.01, 0.03, 0.001, 0.0003, 0.0001]),
        (1.0, [0.003, 0.01, 0.03, 0.1, 0.3, 1.0, 3.0]),
    ],
)
def test_the_grid_grows_until_the_best_rate_is_inside(best, tried):
    chosen, runs = searched(lambda rate: {"error": abs(math.log(rate / best)), "loss": 0})
    assert chosen == best
    assert runs == [(seed, rate) for rate in tried for seed in protocol.CHOOSING]


def test_equal_results_are_decided_by_the_second_number():
    chosen, _ = searched(lambda rate: {"error": 0.0, "loss": abs(rate - 0.03)})
    assert chosen == 0.03


def test_a_run_that_diverged_makes_its_rate_the_worst():
    chosen, runs = searched(lambda rate: {"diverged": True} if rate > 0.01 else {"error": -math.log(rate), "loss": 0})
    assert chosen == 0.01 and (100, 0.03) in runs


def test_the_grid_has_an_end():
    chosen, _ = searched(lambda rate: {"error": rate, "loss": 0})
    assert chosen == protocol.GRID[0] == 1e-5


def test_strange_rates_are_refused():
    with pytest.raises(ValueError, match=r"1 or 3 times a power of ten, from 1e-05 to 30.0: \[0.02\]"):
        searched(lambda rate: {"error": rate, "loss": 0}, start=(0.01, 0.02))
