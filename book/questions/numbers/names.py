"""Numbers of the questions about *In which language is this name?*."""

from book.questions.parts import Numbers


def best_possible(rng):
    languages, texts = rng.randint(3, 6), rng.randint(5, 12)
    shared = languages * texts
    unique = 100 - shared
    mistakes = {
        "unique_only": unique,
        "one_wrong_each": 100 - texts,
        "all_right": 100,
        "texts_only": texts,
    }
    values = {"unique": unique, "shared": shared, "texts": texts, "languages": languages}
    return Numbers(unique + texts, mistakes, values)


def smoothing(rng):
    alpha, pieces, total = rng.choice(((2, 50, 100), (2, 150, 200), (3, 100, 200), (4, 75, 200), (2, 75, 50)))
    count = rng.randint(3, 9)
    mistakes = {
        "no_alpha": count / total,
        "alpha_above_only": (count + alpha) / total,
        "alpha_below_only": count / (total + pieces * alpha),
        "alpha_counted_as_one": (count + alpha) / (total + pieces),
    }
    values = {"alpha": alpha, "pieces": pieces, "total": total, "count": count}
    return Numbers((count + alpha) / (total + pieces * alpha), mistakes, values)
