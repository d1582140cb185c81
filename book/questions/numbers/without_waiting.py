"""Numbers of the questions about *Without waiting*."""

from book.questions.parts import Numbers


def joined_step(rng):
    a_1, a_2 = rng.sample(range(2, 6), 2)
    b_1, b_2 = rng.sample(range(1, 10), 2)
    mistakes = {
        "order_reversed": (a_1 * a_2, a_1 * b_2 + b_1),
        "first_input_not_multiplied": (a_1 * a_2, b_1 + b_2),
        "factors_added": (a_1 + a_2, a_2 * b_1 + b_2),
        "both_inputs_multiplied": (a_1 * a_2, a_2 * (b_1 + b_2)),
    }
    return Numbers((a_2 * a_1, a_2 * b_1 + b_2), mistakes, {"a_1": a_1, "b_1": b_1, "a_2": a_2, "b_2": b_2})


def rounds(rng):
    k, m = rng.sample(range(3, 7), 2)
    size, chunks = 2**k, 2**m
    mistakes = {
        "as_a_loop": size * chunks,
        "inside_only": size,
        "between_only": chunks - 1,
        "as_a_tree": 2 * (k + m) - 1,
    }
    return Numbers(size + chunks - 1, mistakes, {"steps": size * chunks, "size": size, "chunks": chunks})
