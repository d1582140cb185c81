"""Numbers of the questions about *A forecast every day*."""

from book.questions.parts import Numbers


def steps_a_day(rng):
    machines, length = rng.choice((2, 3, 5, 10)), rng.choice((10, 12, 14, 48))
    mistakes = {
        "carried_state": 24 * machines,
        "overlap_once": (24 + length - 1) * machines,
        "step_for_forecast": 24 * (length + 1) * machines,
        "once_a_day": length * machines,
        "one_machine": 24 * length,
    }
    return Numbers(24 * length * machines, mistakes, {"machines": machines, "length": length})


def mean_error(rng):
    fault, days = rng.choice((1.4, 2.8, 4.2, 5.6, 7.0)), rng.choice((2, 3, 4, 5, 6, 8, 9, 10, 11))
    mistakes = {
        "all_days": fault,
        "as_today": fault / 14,
        "days_without": fault * (14 - days) / 14,
        "summed": fault * days,
    }
    return Numbers(fault * days / 14, mistakes, {"fault": fault, "days": days}, digits=1)
