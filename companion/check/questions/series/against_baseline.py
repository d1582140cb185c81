"""Question `against_baseline`: forecasts and a seasonal baseline compared. Variants: the ratio, or what is gained."""

import torch

from companion.check.engine.probe import Probe
from companion.check.engine.question_from_edits import generate_question
from companion.check.questions.series import Results


def against_baseline_reference(series, forecasts, period):
    count = len(forecasts)
    start = len(series) - count
    wanted = series[start:]
    season_ago = series[start - period : len(series) - period]
    baseline_error = (season_ago - wanted).abs().mean()
    error = (forecasts - wanted).abs().mean()
    score = error / baseline_error
    return baseline_error, error, score


HERE, LATE = "series#baselines", "series#one-late"
WANTED, SEASON = "series[start:]", "series[start - period : len(series) - period]"
BASE, ERROR = "(season_ago - wanted).abs().mean()", "(forecasts - wanted).abs().mean()"
SHARE, RETURNED = "error / baseline_error", "return baseline_error, error, score"

WITHIN = "(wanted[period:] - wanted[:-period]).abs().mean()"


def measured(old, new):
    """Return the changes that measure both errors in another way."""
    return BASE, BASE.replace(old, new), ERROR, ERROR.replace(old, new)


MISTAKES = {
    "last_value_for_season": (HERE, SEASON, "series[start - 1 : -1]"),
    "season_one_late": (HERE, SEASON, "series[start - period + 1 : len(series) - period + 1]"),
    "season_one_early": (HERE, SEASON, "series[start - period - 1 : len(series) - period - 1]"),
    "last_season_repeated": (HERE, SEASON, "series[start - period : start].repeat(count // period + 1)[:count]"),
    "last_value_held": (HERE, SEASON, "series[start - 1].expand(count)"),
    "first_values_for_season": (HERE, SEASON, "series[:count]"),
    "mean_for_season": (HERE, SEASON, "series[:start].mean()"),
    "mean_for_season~all": ("", SEASON, "series.mean()"),
    "baseline_on_training_part": (HERE, BASE, "(series[period:start] - series[: start - period]).abs().mean()"),
    "baseline_on_whole_series": (HERE, BASE, "(series[period:] - series[:-period]).abs().mean()"),
    "baseline_within_test_part": (HERE, BASE, WITHIN),
    "baseline_within_test_part~both": (
        "", BASE, WITHIN, ERROR, "(forecasts[period:] - wanted[period:]).abs().mean()"),
    "baseline_against_forecasts": (HERE, BASE, "(season_ago - forecasts).abs().mean()"),
    "compared_one_early": (LATE, ERROR, "(forecasts - series[start - 1 : -1]).abs().mean()"),
    "compared_one_early~both": ("", WANTED, "series[start - 1 : -1]"),
    "compared_with_first_values": (HERE, WANTED, "series[:count]"),
    "errors_squared": (HERE, *measured(".abs()", ".square()")),
    "root_of_squared_errors": (HERE, *measured(".abs().mean()", ".square().mean().sqrt()")),
    "errors_not_absolute": (HERE, *measured(".abs()", "")),
    "errors_not_absolute~late": ("", *measured(".abs().mean()", ".mean().abs()")),
    "errors_summed": (HERE, *measured(".mean()", ".sum()")),
    "median_for_mean": (HERE, *measured(".mean()", ".median()")),
    "errors_relative": (HERE, *measured(".abs()", ".div(wanted).abs()")),
    "score_inverted": (HERE, SHARE, "baseline_error / error"),
    "mean_of_ratios": (HERE, SHARE, "((forecasts - wanted) / (season_ago - wanted)).abs().mean()"),
    "score_of_squares": (HERE, SHARE, "((forecasts - wanted) ** 2).sum() / ((season_ago - wanted) ** 2).sum()"),
    "score_sign_turned": (HERE, RETURNED, "return baseline_error, error, error / baseline_error - 1"),
    "difference_for_score": (HERE, RETURNED, "return baseline_error, error, baseline_error - error"),
    "difference_for_score~negative": ("", RETURNED, "return baseline_error, error, error - baseline_error"),
    "score_in_percent": (HERE, RETURNED, "return baseline_error, error, 100 * score"),
    "score_of_values": (HERE, SHARE, "error / wanted.abs().mean()"),
    "errors_exchanged": (HERE, RETURNED, "return error, baseline_error, score"),
}  # fmt: skip


def truth(series, forecasts, period):
    x, guesses = series.tolist(), forecasts.tolist()
    tests = range(len(x) - len(guesses), len(x))
    errors = [abs(guess - x[t]) for t, guess in zip(tests, guesses)]
    simple = [abs(x[t - period] - x[t]) for t in tests]
    return sum(simple) / len(simple), sum(errors) / len(errors), sum(errors) / sum(simple)


def probes(draw):
    def probe(name, numbers, steps, count, period):
        # no value equals that of a season ago, as numbers have one decimal: the baseline's error is not 0
        drift = 0.13 * torch.arange(steps, dtype=torch.float64)
        tensors = {"series": numbers(steps) + drift, "forecasts": numbers(count) + drift[-count:]}
        return Probe(name, tensors, {"period": period}, gradients=None)

    return [
        probe("less_than_a_season", draw.few, 6, 2, 3),
        probe("several", draw, 11, 5, 2),
        probe("several", draw, 15, 7, 3),
    ]


QUESTION = generate_question(
    against_baseline_reference,
    MISTAKES,
    variants={"score_is_ratio": (), "score_is_gain": (SHARE, "1 - error / baseline_error")},
    truth=truth,
    by_torch=False,
    name="against_baseline",
    assignment="series",
    task=6,
    points=2,
    place=HERE,
    call=Results(("series", "forecasts", "period"), ("baseline_error", "error", "score")),
    probes=probes,
    axes={"series": ("step",), "forecasts": ("place",)},
)
