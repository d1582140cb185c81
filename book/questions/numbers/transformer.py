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


def cache_numbers(rng):
    blocks, heads, steps = rng.choice((3, 4, 6)), rng.choice((2, 4)), rng.choice((10, 50, 100))
    size = heads * rng.choice((5, 10, 15))
    right = 2 * size * blocks * steps
    mistakes = {
        "keys_only": right // 2,
        "for_each_head": right * heads,
        "one_step": right // steps,
        "one_block": right // blocks,
    }
    return Numbers(right, mistakes, {"blocks": blocks, "size": size, "heads": heads, "steps": steps})
