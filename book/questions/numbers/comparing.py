"""Numbers of the questions about *On equal terms: which layer is better?*."""

import math

from book.questions.parts import Numbers, count
from companion import LSTM
from companion.learning import protocol


def next_rate(rng):
    start = rng.choice((4, 5, 6))
    rates = protocol.GRID[start : start + 3]
    accuracies = sorted(rng.sample(range(15, 98), 3), reverse=rng.random() < 0.5)
    (right,) = protocol.next_rates({rate: (-accuracy,) for rate, accuracy in zip(rates, accuracies)})
    is_up = right > rates[-1]
    best, second = (rates[2], rates[1]) if is_up else (rates[0], rates[1])
    mistakes = {
        "other_side": protocol.GRID[start - 1 if is_up else start + 3],
        "one_left_out": protocol.GRID[start + 4 if is_up else start - 2],
        "between": (best + second) / 2,
        "best_again": best,
    }
    values = {}
    for name, rate, accuracy in zip(("first", "second", "third"), rates, accuracies):
        values |= {name: rate, f"{name}_accuracy": accuracy}
    return Numbers(f"{right:g}", {name: f"{rate:g}" for name, rate in mistakes.items()}, values)


def stored_for_users(rng):
    units, users = rng.choice((10, 20, 50, 100)), rng.choice((10, 100, 1000))
    parameters = count(LSTM(units, units))
    mistakes = {
        "parameters_for_each_user": 4 * users * (parameters + 2 * units),
        "one_state": 4 * (parameters + 2 * units),
        "h_only": 4 * (parameters + users * units),
        "numbers_for_bytes": parameters + users * 2 * units,
    }
    values = {"parameters": parameters, "units": units, "users": users}
    return Numbers(4 * (parameters + users * 2 * units), mistakes, values)


def places_by_luck(rng):
    seeds = rng.choice((2, 3, 4, 5))
    right = math.comb(2 * seeds, seeds)
    mistakes = {
        "coins": 2**seeds,
        "either_layer": right // 2,
        "all_orders": math.factorial(2 * seeds),
        "orders_of_one_layer": math.factorial(seeds),
    }
    return Numbers(right, mistakes, {"seeds": seeds, "networks": 2 * seeds})
