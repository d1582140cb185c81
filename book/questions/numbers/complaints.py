"""Numbers of the questions about *When torch complains*."""

from book.questions.parts import Numbers


def linear_that_fits(rng):
    expected, classes, steps, sequences = rng.sample(range(2, 12), 4)
    vectors, size = steps * sequences, 2 * expected  # of two directions

    def linear(*sizes):
        return "`nn.Linear({}, {})`".format(*sizes)

    mistakes = {
        "number_of_vectors": linear(vectors, classes),
        "expected_kept": linear(expected, size),
        "classes_exchanged": linear(classes, size),
        "classes_lost": linear(size, expected),
    }
    values = {"vectors": vectors, "size": size, "expected": expected, "classes": classes}
    return Numbers(linear(size, classes), mistakes, values)


def right_model_wrong_loss(rng):
    a, b, c = rng.sample(range(1, 9), 3)
    squares = sum((output - target) ** 2 for output in (a, b, c) for target in (a, b, c))
    mistakes = {
        "equal_shapes": 0.0,
        "sum_of_squares": float(squares),
        "mean_over_three": squares / 3,
        "each_pair_once": squares / 18,
    }
    return Numbers(squares / 9, mistakes, {"a": a, "b": b, "c": c}, digits=2)
