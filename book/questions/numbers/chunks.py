"""Numbers of the questions about *Chunks, and the mLSTM*."""

import torch

from book.questions.parts import Numbers


def third_step(rng):
    v_1, v_2, v_3 = rng.choice((5, 10, 15, 20)), rng.choice((15, 20, 25, 30)), rng.choice((5, 10, 15, 20, 25, 30))
    near, far = rng.sample((0.2, 0.4, 0.6), 2)
    triangle = torch.tensor([[1, 0, 0], [near, 1, 0], [0, far, 1]], dtype=torch.float64)
    values = torch.tensor([[v_1], [v_2], [v_3]], dtype=torch.float64)
    _, u_2, u_3 = torch.linalg.solve_triangular(triangle, values, upper=False).flatten().tolist()
    mistakes = {
        "value_for_written": v_3 - far * v_2,
        "as_a_sum": float(v_3),
        "found_is_added": v_3 + far * u_2,
        "only_found": far * u_2,
    }
    return Numbers(u_3, mistakes, {"v_1": v_1, "v_2": v_2, "v_3": v_3, "k_21": near, "k_32": far, "u_2": u_2}, digits=1)


def what_is_left(rng):
    first, second, third = (number / 10 for number in rng.sample(range(2, 10), 3))
    mistakes = {
        "all_gates": first * second * third,
        "first_two": first * second,
        "second_gate": second,
        "last_gate": third,
    }
    return Numbers(second * third, mistakes, {"alpha_1": first, "alpha_2": second, "alpha_3": third})
