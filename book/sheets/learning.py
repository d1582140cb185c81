"""The sheet for a network that does not learn: symptoms, causes, tests, remedies, and what the chapters measured."""

from book.sheets.quotes import numbers

# Symptom → the line of code that tests it, the line that helps, and the places that explain it. A line may be empty.
ROWS = {
    "flat": (
        "checks.overfit(model, inputs, targets)",
        "",
        ("step_sizes#learning-rates-said", "complaints#check-overfit"),
    ),
    "jumps": (
        "norm = nn.utils.clip_grad_norm_(model.parameters(), 1.0)",
        "",
        ("vanishing#clipping-said", "step_sizes#learning-rates-said"),
    ),
    "nan": ("checks.norms(model, inputs, targets)", "", ("through_time#long-chains", "complaints#check-norms")),
    "first": ("checks.first_loss(model, inputs, targets)", "", ("complaints#check-first-loss",)),
    "overfit": ("", "", ("step_sizes#overfitting",)),
    "leak": (
        "checks.shift(inputs, targets), find_leaks(model, inputs, targets)",
        "",
        ("complaints#check-shift", "series#leak-said"),
    ),
    "bad_text": ("", "", ("language_model#greedy-said",)),
    "same": ("checks.norms(model, inputs, targets)", "", ("complaints#check-norms", "series#scaling")),
    "late": ("", "", ("series#one-late-said",)),
    "forgets": (
        "checks.shuffled_past(model, inputs, targets)",
        "lstm.bias_ih_l0.chunk(4)[1].fill_(3)",
        ("through_time#remedies", "forget_bias#practice"),
    ),
    "batch": (
        "find_leaks(model, inputs, targets)",
        "",
        ("complaints#check-leaks", "sequences#ways-said"),
    ),
    "baseline": ("", "", ("complaints#check-baseline", "language_model#counts-said")),
    "differs": ("model.training", "model.eval()", ("complaints#same-numbers",)),
    "slow": ("", "torch.set_num_threads(1)", ("complaints#slow", "graphics_card#sizes")),
}


def facts(language):
    """Return what the template shows."""
    return {"rows": ROWS, "numbers": numbers()}
