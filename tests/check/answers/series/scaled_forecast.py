"""Answers to the question `scaled_forecast`."""

from tests.check.answers import Program

SCALED = """
def scaled_forecast(model, series, learned):
    train = series[0:learned]
    m = train.sum(0) / learned
    s = (((train - m) ** 2).sum(0) / (learned - 1)) ** 0.5
    z = (series - m) / s
    y = model(z)
    return s[0] * y + m[0]
"""
TRAIN, MEAN, THERE, ASKED, BACK = (
    "series[0:learned]",
    "train.sum(0) / learned",
    "(series - m) / s",
    "model(z)",
    "s[0] * y + m[0]",
)
SPREAD = "(((train - m) ** 2).sum(0) / (learned - 1)) ** 0.5"
BY_TORCH = [(MEAN, "train.mean(dim=0)"), (SPREAD, "train.std(dim=0)")]
REST = "(series[learned:] - series[learned:].mean(0)) / series[learned:].std(0)"
WRONG = {
    "scaled_with_whole_series": [(TRAIN, "series"), *BY_TORCH],
    "each_part_scaled_alone": [(THERE, f"torch.cat([(train - m) / s, {REST}])")],
    "scaled_with_the_rest": [(TRAIN, "series[learned:]"), *BY_TORCH],
    "scaled_back_with_whole_series": [(BACK, "series[:, 0].std() * y + series[:, 0].mean()")],
    "training_part_one_longer": [(TRAIN, "series[0:learned + 1]"), *BY_TORCH],
    "training_part_one_shorter": [(TRAIN, "series[0:learned - 1]"), *BY_TORCH],
    "variables_scaled_together": [
        (MEAN, "train.mean()"), (SPREAD, "train.std()"), (BACK, "s * y + m")],
    "target_alone_scaled": [(THERE, "series.clone()\n    z[:, 0] = (series[:, 0] - m[0]) / s[0]")],
    "scaled_by_first_variable": [(THERE, "(series - train[:, 0].mean()) / train[:, 0].std()")],
    "spread_missing": [(THERE, "series - m"), (BACK, "y + m[0]")],
    "mean_not_subtracted": [(THERE, "series / s"), (BACK, "y * s[0]")],
    "variance_for_spread": [(" ** 0.5", "")],
    "spread_divided_by_n": [("(learned - 1)", "learned")],
    "range_for_spread": [(MEAN, "train.min(0).values"), (SPREAD, "train.max(0).values - m")],
    "not_scaled": [(ASKED, "model(series)")],
    "not_scaled_back": [(BACK, "y")],
    "back_without_mean": [(BACK, "s[0] * y")],
    "back_without_spread": [(BACK, "y + m[0]")],
    "back_in_wrong_order": [(BACK, "s[0] * (y + m[0])")],
    "scaled_there_again": [(BACK, "(y - m[0]) / s[0]")],
    "back_by_other_variable": [(BACK, "s[-1] * y + m[-1]")],
    "back_by_all_variables": [(BACK, "s * y + m")],
    "training_part_forecast_only": [(THERE, "(train - m) / s")],
    "rest_returned_only": [(BACK, "s[0] * y[learned:] + m[0]")],
    "rest_forecast_only": [(ASKED, "model(z[learned:])")],
    "model_called_in_parts": [
        (THERE, "(train - m) / s"), (ASKED, "torch.cat([model(z), model((series[learned:] - m) / s)])")],
    "model_never_called": [(ASKED, "z[:, 0]")],
}  # fmt: skip
RIGHT = {
    "torch's mean and standard deviation": BY_TORCH,
    "std_mean": """
        def scaled_forecast(model, series, learned):
            std, mean = torch.std_mean(series[:learned], dim=0, keepdim=True)
            return model((series - mean) / std) * std[0, 0] + mean[0, 0]
    """,
    "variable by variable": """
        def scaled_forecast(model, series, learned):
            columns, numbers = [], []
            for v in range(series.shape[1]):
                column = series[:, v]
                known = column[:learned]
                numbers.append((known.mean(), known.std()))
                columns.append((column - numbers[v][0]) / numbers[v][1])
            mean, std = numbers[0]
            return [mean + std * y for y in model(torch.stack(columns, dim=1))]
    """,
    "numpy": """
        def scaled_forecast(model, series, learned):
            x = series.numpy()
            mean, std = x[:learned].mean(axis=0), x[:learned].std(axis=0, ddof=1)
            z = torch.from_numpy((x - mean) / std)
            return model(z).numpy() * std[0] + mean[0]
    """,
    "the companion's scaling": """
        def scaled_forecast(model, series, learned):
            from companion.learning.series import Scaling
            scaling = Scaling(series[:learned])
            return scaling.back(model(scaling.there(series)))
    """,
    "two calls": [(ASKED, "model(z)\n    assert len(model(z)) == len(series)")],
    "a function for each way": """
        def scaled_forecast(model, series, learned):
            train = series[:learned]
            mu, sigma = train.mean(0), train.var(0).sqrt()

            def there(x):
                return (x - mu) / sigma

            def back(z):
                return z * sigma[0] + mu[0]

            return back(model(there(series)))
    """,
}

PROGRAM = Program(SCALED, WRONG, also_wrong=[
    ("spread_divided_by_n", """
        def scaled_forecast(model, series, learned):
            x = series.numpy()
            mean, std = x[:learned].mean(axis=0), x[:learned].std(axis=0)
            return model(torch.from_numpy((x - mean) / std)) * std[0] + mean[0]
    """),
    ("scaled_with_whole_series", """
        def scaled_forecast(model, series, learned):
            z = (series - series.mean(0)) / series.std(0)
            return model(z) * series[:, 0].std() + series[:, 0].mean()
    """),
    ("scaled_back_with_whole_series", [(THERE, "(series - series.mean(0)) / series.std(0)")]),
    ("each_part_scaled_alone", [
        (THERE, f"torch.cat([(train - m) / s, {REST}])"),
        (BACK, "torch.cat([s[0] * y[:learned] + m[0],"
               " series[learned:, 0].std() * y[learned:] + series[learned:, 0].mean()])")]),
    ("not_scaled", [(ASKED, "model(series)"), (BACK, "y")]),
    ("variables_scaled_together", [(THERE, "(series - train.mean()) / train.std()")]),
    ("range_for_spread", [
        (MEAN, "(train.amin(0) + train.amax(0)) / 2"), (SPREAD, "(train.amax(0) - train.amin(0)) / 2")]),
    ("back_by_all_variables", [(BACK, "s * y.unsqueeze(1) + m")]),
    ("changes_its_input", [(THERE, "series.sub_(m).div_(s)")]),
    ("model_called_in_parts", [(ASKED, "torch.stack([model(step) for step in z])")]),
    ("model_never_called", [(BACK, "z"), (ASKED, "None")]),
    ("returns_none", [(f"return {BACK}", BACK)]),
    ("not_a_tensor", [(f"return {BACK}", "return model")]),
], also_right=RIGHT, pairs=[
    ("scaled_with_whole_series", "not_scaled_back"),
    ("training_part_one_longer", "back_without_mean"),
    ("variance_for_spread", "back_in_wrong_order"),
    ("target_alone_scaled", "back_by_other_variable"),
])  # fmt: skip
