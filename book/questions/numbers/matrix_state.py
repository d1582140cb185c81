"""Numbers of the questions about *A state that is a matrix*."""

import torch

from book.questions.parts import Numbers
from companion.layers.matrix_state import loop


def written(keys, values, queries, betas, corrects):
    """Return what each step reads from a state that begins at zeros."""
    q, k, v, beta = (torch.tensor(x, dtype=torch.float64) for x in (queries, keys, values, betas))
    output, _ = loop(q, k, v[:, None], torch.zeros_like(v), beta, k.new_zeros(1, k.size(1)), corrects)
    return output.flatten().tolist()


def read_a_mixture(rng):
    first, second = rng.choice(((0.6, 0.8), (0.8, 0.6)))
    first *= rng.choice((-1, 1))
    v_1, v_2 = rng.sample(range(2, 12), 2)
    _, right = written([[1, 0], [first, second]], [v_1, v_2], [[1, 0]] * 2, [1, 1], corrects=False)
    mistakes = {
        "right_angles": float(v_1),
        "both_values": float(v_1 + v_2),
        "other_number_of_key": v_1 + second * v_2,
        "other_key": first * v_1 + v_2,
    }
    return Numbers(right, mistakes, {"v_1": v_1, "v_2": v_2, "first": first, "second": second}, digits=1)


def rewritten(rng):
    old, new = rng.sample(range(1, 21), 2)
    beta = rng.choice((2, 3, 4, 6, 7, 8)) / 10
    _, right = written([[1.0]] * 2, [old, new], [[1.0]] * 2, [1, beta], corrects=True)
    mistakes = {
        "added": old + beta * new,
        "replaced": float(new),
        "share_inverted": beta * old + (1 - beta) * new,
        "only_the_difference": beta * (new - old),
    }
    return Numbers(right, mistakes, {"old": old, "new": new, "beta": beta}, digits=1)
