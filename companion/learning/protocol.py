"""One protocol for every comparison: the same search for each method, three parts of the data, seeds with their spread.

- A method learns on one part of the data, is chosen on a second, and is reported on a third, which chooses nothing.
- Its learning rate is the best of a grid, 0.001, 0.003, 0.01, …, on three seeds. The grid grows until its best rate is
  neither the lowest nor the highest.
- Five networks with other seeds and this rate are reported.
"""

import math
import statistics
from collections.abc import Callable, Sequence
from typing import Any

CHOOSING, REPORTED = (100, 101, 102), (0, 1, 2, 3, 4)  # seeds
GRID = tuple(float(f"{digit}e{power}") for power in range(-5, 2) for digit in (1, 3))  # 0.00001, 0.00003, …, 10, 30
START = (0.003, 0.01, 0.03)  # where a search begins

Run = dict[str, Any]


# fmt: off
# A chapter prints this function.
def search(methods, compute, rank, start=lambda method: START):
    """Return the learning rate chosen for each method, and all runs of the search.

    methods: tuples. compute: returns the runs of a list of (method, seed, learning rate),
    in that order, as dictionaries; one with "diverged" did not end. rank: the numbers by
    which a run is chosen, smaller ones first, measured on the part for choosing. Rates are
    compared by the means over three seeds, of the second number only if those of the first
    are equal. start: the rates of `GRID` with which the search for a method begins.
    ValueError for other rates.
    """
    tried = {method: {} for method in methods}  # method → rate → runs
    due = {method: check(start(method)) for method in tried}
    while any(due.values()):
        wanted = [
            (method, seed, rate)
            for method in due for rate in due[method] for seed in CHOOSING
        ]
        for (method, _, rate), run in zip(wanted, compute(wanted), strict=True):
            tried[method].setdefault(rate, []).append(run)
        # beyond the best rate, while it is the lowest or the highest
        due = {method: next_rates(means(runs, rank)) for method, runs in tried.items()}
    chosen = {method: best_rate(means(runs, rank)) for method, runs in tried.items()}
    everything = [
        run for rates in tried.values() for runs in rates.values() for run in runs
    ]
    return chosen, everything
# fmt: on


def check(rates: Sequence[float]) -> list[float]:
    """Return the rates as a list; ValueError for one that the grid does not have."""
    if strange := [rate for rate in rates if rate not in GRID]:
        raise ValueError(
            f"a search tries rates of 1 or 3 times a power of ten, from {GRID[0]} to {GRID[-1]}: {strange}"
        )
    return list(rates)


def means(tried: dict[float, list[Run]], rank: Callable[[Run], Sequence[float]]) -> dict[float, tuple[float, ...]]:
    """Return the mean of each number of `rank`, to three decimals, by learning rate; infinity if a run diverged."""
    results = {}
    for rate, runs in tried.items():
        has_diverged = any(run.get("diverged") for run in runs)
        columns = [(math.inf,)] if has_diverged else zip(*map(rank, runs), strict=True)
        results[rate] = tuple(round(statistics.mean(column), 3) for column in columns)
    return results


def best_rate(ranks: dict[float, tuple[float, ...]]) -> float:
    """Return the rate with the smallest numbers; the lowest of equal ones."""
    return min(sorted(ranks), key=lambda rate: ranks[rate])


def next_rates(ranks: dict[float, tuple[float, ...]]) -> list[float]:
    """Return the next rate of the grid if the best one is the lowest or the highest tried, else nothing."""
    best, rates = GRID.index(best_rate(ranks)), sorted(GRID.index(rate) for rate in ranks)
    beyond = best - 1 if best == rates[0] else best + 1 if best == rates[-1] else None
    return [GRID[beyond]] if beyond is not None and 0 <= beyond < len(GRID) else []
