"""Numbers of the questions about *A network in use*."""

from book.questions.parts import Numbers


def int8_bytes(rng):
    rows, columns = rng.sample(range(10, 100, 10), 2)
    mistakes = {
        "no_scales": rows * columns,
        "one_scale": rows * columns + 4,
        "scale_of_columns": rows * columns + 4 * columns,
        "as_float32": 4 * rows * columns,
    }
    return Numbers(rows * columns + 4 * rows, mistakes, {"rows": rows, "columns": columns})
