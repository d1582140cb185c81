"""Numbers of the questions about *Why recurrent networks, now*."""

from book.questions.parts import Numbers


def cache_size(rng):
    width, steps = rng.choice([8, 16, 20, 30, 32, 40, 64]), 10 * rng.randint(5, 50)
    mistakes = {
        "keys_only": width * steps,
        "size_of_a_state": 2 * width,
        "queries_too": 3 * width * steps,
        "pairs_of_steps": steps**2,
    }
    return Numbers(2 * width * steps, mistakes, {"width": width, "steps": steps})
