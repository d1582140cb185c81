"""Numbers of the questions about *What vanishes*."""

from book.questions.parts import Numbers


def truncated(rng):
    w, x = rng.choice((0.5, 2.0, 3.0)), [rng.randint(1, 4) for _ in range(4)]
    h = [0.0]
    for x_t in x:
        h.append(w * h[-1] + x_t)
    mistakes = {
        "not_truncated": h[3] + w * h[2] + w**2 * h[1],
        "state_set_to_zero": float(x[2]),
        "last_step_only": h[3],
        "cut_part_only": w**2 * h[1],
    }
    values = {"w": w} | {f"x_{t}": x[t - 1] for t in (1, 2, 3, 4)} | {f"h_{t}": h[t] for t in (1, 2, 3)}
    return Numbers(h[3] + w * h[2], mistakes, values, digits=2)


def clipped_gradient(rng):
    *legs, norm = rng.choice(((3, 4, 5), (6, 8, 10), (5, 12, 13), (9, 12, 15), (8, 15, 17)))
    g_1, g_2 = rng.sample(legs, 2)
    max_norm = rng.choice((1, 2))
    mistakes = {
        "clipped_by_value": float(max_norm),
        "norms_added": g_1 * max_norm / (g_1 + g_2),
        "root_missing": g_1 * max_norm / norm**2,
        "gradients_unchanged": float(g_1),
    }
    return Numbers(g_1 * max_norm / norm, mistakes, {"g_1": g_1, "g_2": g_2, "max_norm": max_norm, "norm": norm}, 2)
