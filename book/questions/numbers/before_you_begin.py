"""Numbers of the questions about *Before you begin*."""

from book.questions.parts import Numbers


def matrix_by_hand(rng):
    (a, b, c, d), (x, y) = rng.sample(range(1, 7), 4), rng.sample(range(1, 6), 2)
    mistakes = {
        "columns_for_rows": (a * x + c * y, b * x + d * y),
        "row_by_one_number": ((a + b) * x, (c + d) * y),
        "added_down": ((a + c) * x, (b + d) * y),
    }
    return Numbers((a * x + b * y, c * x + d * y), mistakes, {"a": a, "b": b, "c": c, "d": d, "x": x, "y": y})


def two_paths(rng):
    w, x1, x2 = rng.sample(range(2, 7), 3)
    h_1 = w * x1
    mistakes = {
        "second_step_only": h_1 + x2,
        "first_step_only": w * x1,
        "paths_multiplied": (h_1 + x2) * w * x1,
        "slope_on_the_way_missing": h_1 + x2 + x1,
        "value_for_slope": w * (h_1 + x2),
    }
    return Numbers(h_1 + x2 + w * x1, mistakes, {"w": w, "x1": x1, "x2": x2})


def backward_again(rng):
    w, times = rng.choice([3.0, 5.0, 7.0, 9.0]), rng.randint(2, 4)
    mistakes = {
        "last_gradient_only": 2 * w,
        "value_for_slope": w**2,
        "losses_added": times * w**2,
        "gradients_multiplied": (2 * w) ** times,
    }
    return Numbers(times * 2 * w, mistakes, {"w": w, "times": times}, digits=1)
