"""Numbers of the questions about *An LSTM solved for all steps at once*."""

from book.questions.parts import Numbers


def one_iteration(rng):
    g_1, x_1 = rng.sample(range(1, 6), 2)
    x_2 = rng.randint(1, 9)
    correction, stepped = x_1 - g_1, g_1**2 + x_2
    mistakes = {
        "exact": x_1**2 + x_2,
        "correction_not_carried": stepped,
        "slope_after": stepped + 2 * x_1 * correction,
        "slope_missing": stepped + correction,
    }
    return Numbers(stepped + 2 * g_1 * correction, mistakes, {"x_1": x_1, "x_2": x_2, "g_1": g_1})


def cost_of_a_join(rng):
    H = rng.choice((3, 5, 6, 7, 8, 9, 10))
    mistakes = {"only_h": H**3, "matrix_and_vector": (2 * H) ** 2, "four_gates": (4 * H) ** 3, "diagonal": 2 * H}
    return Numbers((2 * H) ** 3, mistakes, {"hidden_size": H})
