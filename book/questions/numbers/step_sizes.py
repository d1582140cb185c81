"""Numbers of the questions about *How far to step*."""

from book.questions.parts import Numbers, few


def two_steps_with_momentum(rng):
    w, lr, (g_1, g_2) = few(rng), 0.1, rng.sample(range(1, 7), 2)
    u = round(0.9 * g_1 + g_2, 1)
    right = w - lr * g_1 - lr * u
    mistakes = {
        "no_momentum": w - lr * (g_1 + g_2),
        "running_mean": w - lr * 0.1 * (g_1 + u),
        "sum_does_not_fade": w - lr * (2 * g_1 + g_2),
        "first_step_missing": w - lr * u,
        "stepped_up": w + lr * g_1 + lr * u,
    }
    return Numbers(right, mistakes, {"w": w, "g_1": g_1, "g_2": g_2, "lr": lr, "u": u}, digits=2)


def first_step_of_adam(rng):
    w, g, lr = few(rng), rng.choice((-1, 1)) * rng.choice((0.02, 0.5, 2, 6)), rng.choice((0.01, 0.02, 0.05))
    m, v = 0.1 * g, 0.001 * g**2  # the two means before they are corrected

    def stepped(m, v):
        return w - lr * m / (v**0.5 + 1e-8)

    mistakes = {
        "descent": w - lr * g,
        "stepped_up": stepped(-g, g**2),
        "means_not_corrected": stepped(m, v),
        "only_squares_corrected": stepped(m, g**2),
    }
    return Numbers(stepped(g, g**2), mistakes, {"w": w, "g": g, "lr": lr}, digits=3)
