"""Numbers of the questions about *Changing the cell*."""

from book.questions.parts import Numbers


def peephole_weights(rng):
    input_size, hidden_size = rng.sample(range(3, 20), 2)
    mistakes = {
        "matrices": 3 * hidden_size**2,
        "candidate_too": 4 * hidden_size,
        "one_for_all_gates": hidden_size,
        "with_biases": 6 * hidden_size,
    }
    return Numbers(3 * hidden_size, mistakes, {"input_size": input_size, "hidden_size": hidden_size})


def never_dropped(rng):
    p, steps = rng.choice((0.1, 0.2, 0.3)), rng.choice((2, 3))
    kept = round(1 - p, 1)
    mistakes = {
        "one_mask": 100 * kept,
        "shares_added": 100 * (1 - steps * p),
        "always_dropped": 100 * p**steps,
        "kept_once": 100 * (1 - p**steps),
    }
    product = " · ".join([str(kept)] * steps)
    values = {"p": p, "steps": steps, "kept": kept, "product": product}
    return Numbers(100 * kept**steps, mistakes, values, digits=1)
