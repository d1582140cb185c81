"""Numbers of the questions about *Backward through time*."""

from book.questions.parts import Numbers, few


def three_steps(rng):
    w, x = rng.choice((0.2, 0.5, 2.0)), [rng.randint(2, 3), rng.randint(1, 4), rng.randint(1, 4)]
    h = [0.0]
    for x_t in x:
        h.append(w * h[-1] + x_t)
    mistakes = {
        "last_use_only": h[2],
        "factor_missing": h[2] + h[1],
        "new_state_taken": h[3] + w * h[2] + w**2 * h[1],
        "product_of_factors": w**2,
    }
    values = {"w": w} | {f"x_{t}": x[t - 1] for t in (1, 2, 3)} | {f"h_{t}": h[t] for t in (1, 2, 3)}
    return Numbers(h[2] + w * h[1], mistakes, values, digits=2)


def one_step_back(rng):
    weight_hh, h, own, later = few(rng), abs(few(rng)), few(rng), few(rng)
    from_next, slope = weight_hh * later, 1 - h**2
    mistakes = {
        "slope_missing": own + from_next,
        "own_loss_missing": from_next * slope,
        "next_step_missing": own * slope,
        "weight_missing": (own + later) * slope,
        "slope_without_square": (own + from_next) * (1 - h),
    }
    values = {"weight_hh": weight_hh, "h": h, "own": own, "later": later}
    return Numbers((own + from_next) * slope, mistakes, values, digits=4)
