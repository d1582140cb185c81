"""Answers to the question `against_baseline`."""

from tests.check.answers import Program

BASELINE = """
def against_baseline(series, forecasts, period):
    n = forecasts.numel()
    naive, mine = 0, 0
    for i in range(n):
        t = series.numel() - n + i
        naive += abs(series[t - period] - series[t])
        mine += abs(forecasts[i] - series[t])
    return naive / n, mine / n, mine / naive
"""
LOOP, NAIVE, MINE = "    for i in range(n):", "abs(series[t - period] - series[t])", "abs(forecasts[i] - series[t])"
RETURNED, SCORE, FIRST = "return naive / n, mine / n, mine / naive", "mine / naive", "t = series.numel() - n + i"
AGO, OF_ONE_MEAN = "series[t - period]", "return naive, mine / n, mine / n / naive"


def measured(how):
    """Return edits that measure both errors in another way, {} being the difference."""
    inside = ("series[t - period] - series[t]", "forecasts[i] - series[t]")
    return [(f"abs({difference})", how.format(difference)) for difference in inside]


WRONG = {
    "last_value_for_season": [(AGO, "series[t - 1]")],
    "season_one_late": [(AGO, "series[t + 1 - period]")],
    "season_one_early": [(AGO, "series[t - 1 - period]")],
    "last_season_repeated": [(AGO, "series[t - i - period + i % period]")],
    "last_value_held": [(AGO, "series[-n - 1]")],
    "first_values_for_season": [(AGO, "series[i]")],
    "mean_for_season": [(AGO, "series[:-n].mean()")],
    "baseline_on_training_part": [
        (RETURNED, f"naive = (series[period:-n] - series[:-n - period]).abs().mean()\n    {OF_ONE_MEAN}")],
    "baseline_on_whole_series": [
        (RETURNED, f"naive = (series[period:] - series[:-period]).abs().mean()\n    {OF_ONE_MEAN}")],
    "baseline_within_test_part": [(
        RETURNED, "test = series[-n:]\n    naive = (test[period:] - test[:-period]).abs().mean()\n    " + OF_ONE_MEAN)],
    "baseline_against_forecasts": [(NAIVE, "abs(series[t - period] - forecasts[i])")],
    "compared_one_early": [(MINE, "abs(forecasts[i] - series[t - 1])")],
    "compared_with_first_values": [
        (NAIVE, "abs(series[t - period] - series[i])"), (MINE, "abs(forecasts[i] - series[i])")],
    "errors_squared": measured("({}) ** 2"),
    "root_of_squared_errors": [
        *measured("({}) ** 2"), (LOOP, "    from math import sqrt\n" + LOOP),
        (RETURNED, "return sqrt(naive / n), sqrt(mine / n), sqrt(mine / naive)")],
    "errors_not_absolute": measured("({})"),
    "errors_summed": [(RETURNED, "return naive, mine, mine / naive")],
    "median_for_mean": [
        ("naive, mine = 0, 0", "naive, mine = [], []"), (f"naive += {NAIVE}", f"naive.append({NAIVE})"),
        (f"mine += {MINE}", f"mine.append({MINE})"),
        (RETURNED, "a, b = torch.stack(naive).median(), torch.stack(mine).median()\n    return a, b, b / a")],
    "errors_relative": measured("abs({}) / abs(series[t])"),
    "score_inverted": [(RETURNED, "return naive / n, mine / n, naive / mine")],
    "mean_of_ratios": [
        ("naive, mine = 0, 0", "naive, mine, ratio = 0, 0, 0"),
        (f"mine += {MINE}", f"mine += {MINE}\n        ratio += {MINE} / {NAIVE}"),
        (RETURNED, "return naive / n, mine / n, ratio / n")],
    "score_of_squares": [
        ("naive, mine = 0, 0", "naive, mine, a, b = 0, 0, 0, 0"),
        (LOOP, f"{LOOP}\n        a += (forecasts[i] - series[i - n]) ** 2"),
        (LOOP, f"{LOOP}\n        b += (series[i - n - period] - series[i - n]) ** 2"),
        (RETURNED, "return naive / n, mine / n, a / b")],
    "score_sign_turned": [(RETURNED, "return naive / n, mine / n, (mine - naive) / naive")],
    "difference_for_score": [(RETURNED, "return naive / n, mine / n, (naive - mine) / n")],
    "score_in_percent": [(RETURNED, "return naive / n, mine / n, mine / naive * 100")],
    "score_of_values": [(RETURNED, "return naive / n, mine / n, mine / sum(abs(series[-n:]))")],
    "errors_exchanged": [(RETURNED, "return mine / n, naive / n, mine / naive")],
}  # fmt: skip
GAIN = [(f"n, {SCORE}", f"n, 1 - {SCORE}")]
RIGHT = {
    "slices": """
        def against_baseline(series, forecasts, period):
            n = len(forecasts)
            true = series[-n:]
            seasonal = series[-n - period:-period]
            mae_baseline = torch.mean(torch.abs(seasonal - true))
            mae = F.l1_loss(forecasts, true)
            return mae_baseline, mae, mae / mae_baseline
    """,
    "numpy": """
        def against_baseline(series, forecasts, period):
            y, f = series.numpy(), forecasts.numpy()
            errors = numpy.abs(y[period:] - y[:-period])[-len(f):]
            mae = numpy.abs(y[-len(f):] - f).mean()
            return errors.mean(), mae, mae / errors.mean()
    """,
    "roll": """
        def against_baseline(series, forecasts, period):
            naive = series.roll(period)[len(series) - len(forecasts):]
            true = series[len(series) - len(forecasts):]
            a, b = (naive - true).abs().mean().item(), (forecasts - true).abs().mean().item()
            return [a, b, b / a]
    """,
    "one tensor": """
        def against_baseline(series, forecasts, period):
            steps = torch.arange(len(series) - len(forecasts), len(series))
            both = torch.stack([series[steps - period], forecasts])
            baseline, error = (both - series[steps]).abs().mean(dim=1)
            return torch.stack([baseline, error, error / baseline])
    """,
    "the companion's functions": """
        def against_baseline(series, forecasts, period):
            from companion.learning.series import mean_absolute_error, seasonal_persistence, windows
            inputs, targets = windows(series[:, None], period)
            n = len(forecasts)
            naive = mean_absolute_error(seasonal_persistence(inputs, period)[-n:], targets[-n:])
            mine = mean_absolute_error(forecasts[:, None], targets[-n:])
            return naive, mine, mine / naive
    """,
    "lists": """
        def against_baseline(series, forecasts, period):
            x, y = series.tolist(), forecasts.tolist()
            naive = [abs(b - a) for a, b in zip(x, x[period:])][-len(y):]
            mine = [abs(a - b) for a, b in zip(reversed(x), reversed(y))]
            return sum(naive) / len(naive), sum(mine) / len(y), sum(mine) / sum(naive)
    """,
}

PROGRAM = Program(BASELINE, WRONG, also_wrong=[
    ("mean_for_season", [(AGO, "series.mean()")]),
    ("compared_one_early", [
        (NAIVE, "abs(series[t - period] - series[t - 1])"), (MINE, "abs(forecasts[i] - series[t - 1])")]),
    ("errors_not_absolute", [
        *measured("({})"), (RETURNED, "a, b = abs(naive) / n, abs(mine) / n\n    return a, b, b / a")]),
    ("difference_for_score", [(RETURNED, "return naive / n, mine / n, (mine - naive) / n")]),
    ("baseline_within_test_part", """
        def against_baseline(series, forecasts, period):
            test = series[-len(forecasts):]
            naive = (test[period:] - test[:-period]).abs().mean()
            mine = (forecasts - test)[period:].abs().mean()
            return naive, mine, mine / naive
    """),
    ("wrong_form", [(RETURNED, "return mine / naive")]),
    ("wrong_form", [(RETURNED, "return naive / n, mine / n")]),
    ("returns_none", [(RETURNED, "naive / n, mine / n, mine / naive")]),
    ("changes_its_input", [(LOOP, "    forecasts -= series[-n:]\n" + LOOP), (MINE, "abs(forecasts[i])")]),
], also_right=RIGHT, pairs=[
    ("last_value_for_season", "score_in_percent"),
    ("compared_one_early", "difference_for_score"),
    ("errors_squared", "errors_exchanged"),
    ("season_one_late", "score_inverted"),
], variants={"score_is_ratio": [], "score_is_gain": GAIN})  # fmt: skip
