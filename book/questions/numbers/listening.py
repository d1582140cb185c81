"""Numbers of the questions about *A network that listens: CTC*."""

import itertools

from book.questions.parts import Numbers

WORDS = ("BALLOON", "COFFEE", "COMMITTEE", "ADDRESS", "SUCCESS", "BOOKKEEPER", "MISSISSIPPI", "BALLET", "TOMORROW")


def merged(path):
    """Return a path with equal neighbours replaced by one."""
    return "".join(sign for sign, _ in itertools.groupby(path))


def read_a_path(rng):
    text = rng.sample("ABCDE", 3)
    text.insert(doubled := rng.randrange(3), text[doubled])
    path = ""
    for sign in text:  # a blank where it is needed, and elsewhere by chance
        path += "_" * (rng.randrange(2) or path[-1:] == sign) + sign * rng.randint(1, 3)
    path += "_" * rng.randrange(2)
    mistakes = {
        "blanks_removed_first": merged(path.replace("_", "")),
        "not_merged": path.replace("_", ""),
        "blanks_kept": merged(path),
    }
    answers = {name: f"`{answer}`" for name, answer in mistakes.items()}
    return Numbers(f"`{merged(path).replace('_', '')}`", answers, {"path": path})


def sum_over_paths(rng):
    small = rng.randint(1, 4)
    other = rng.randint(5, 9 - small)  # with both large, `aa` would be the likeliest path
    first, second = (number / 10 for number in rng.sample((small, other), 2))
    both, a_first, a_second = first * second, first * (1 - second), (1 - first) * second
    mistakes = {
        "best_path_only": max(both, a_first, a_second),
        "a_at_every_step": both,
        "a_at_one_step": a_first + a_second,
        "added_up": first + second,
        "mean_of_both": (first + second) / 2,
    }
    return Numbers(both + a_first + a_second, mistakes, {"first": first, "second": second}, digits=2)


def steps_needed(rng):
    target = rng.choice(WORDS)
    letters = len(target)
    pairs = letters - len(merged(target))
    mistakes = {
        "one_for_each_letter": letters,
        "blank_between_all": 2 * letters - 1,
        "rows_of_the_grid": 2 * letters + 1,
        "doubles_as_one": letters - pairs,
    }
    return Numbers(letters + pairs, mistakes, {"target": target, "letters": letters, "pairs": pairs})
