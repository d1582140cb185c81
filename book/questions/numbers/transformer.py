"""Numbers of the questions about *What a transformer leaves out*."""

from book.questions.parts import Numbers


def without_cache(rng):
    start, count = rng.choice((5, 8, 10, 20, 30)), rng.choice((3, 4, 5))
    terms = [start + k for k in range(count)]
    mistakes = {
        "with_cache": start + count - 1,
        "text_does_not_grow": start * count,
        "all_to_the_end": (start + count) * count,
        "last_one_read": sum(terms) + count,
    }
    return Numbers(sum(terms), mistakes, {"start": start, "count": count, "terms": " + ".join(map(str, terms))})


def times_an_lstm(rng):
    size = rng.choice((10, 20, 50, 100))
    steps = size * rng.choice((16, 24, 32, 40))
    lstm, scores = 8 * size**2, steps * size  # multiplications for each step
    mistakes = {
        "scores_only": (lstm + scores) // lstm,
        "attention_only": 2 * scores // lstm,
        "three_products": (lstm + 3 * scores) // lstm,
        "with_additions": (lstm + 4 * scores) // lstm,
    }
    return Numbers((lstm + 2 * scores) // lstm, mistakes, {"size": size, "steps": steps})
