"""Question `scaled_forecast`: scale a series by its training part, let a model forecast, and scale back."""

import torch

from companion.check.engine.probe import Probe, named, values
from companion.check.engine.question_from_edits import generate_question
from companion.check.engine.run_answer import inputs_of, note_changes, seed
from companion.check.questions.training.inputs_and_targets import table_of


def scaled_forecast_reference(model, series, learned):
    part = series[:learned]
    mean = part.mean(0)
    std = part.std(0)
    scaled = (series - mean) / std
    forecasts = model(scaled)
    result = forecasts * std[0] + mean[0]
    return result


HERE, LEAK = "series#scaling", "series#leak"
PART, MEAN, STD, SCALED = "series[:learned]", "part.mean(0)", "part.std(0)", "(series - mean) / std"
ASKED, BACK = "model(scaled)", "forecasts * std[0] + mean[0]"
APART = "torch.cat([(part - mean) / std, (series[learned:] - series[learned:].mean(0)) / series[learned:].std(0)])"
MISTAKES = {
    "scaled_with_whole_series": (LEAK, PART, "series"),
    "each_part_scaled_alone": (LEAK, SCALED, APART),
    "each_part_scaled_alone~back": (
        "", SCALED, APART, BACK,
        "torch.cat([forecasts[:learned] * std[0] + mean[0],"
        " forecasts[learned:] * series[learned:].std(0)[0] + series[learned:].mean(0)[0]])"),
    "scaled_with_the_rest": (LEAK, PART, "series[learned:]"),
    "scaled_back_with_whole_series": (LEAK, BACK, "forecasts * series.std(0)[0] + series.mean(0)[0]"),
    "scaled_back_with_whole_series~there": (
        "", SCALED, "(series - series.mean(0)) / series.std(0)"),
    "training_part_one_longer": (HERE, PART, "series[: learned + 1]"),
    "training_part_one_shorter": (HERE, PART, "series[: learned - 1]"),
    "variables_scaled_together": (
        "forecasts#several-variables", MEAN, "part.mean().expand(series.shape[1])",
        STD, "part.std().expand(series.shape[1])"),
    "variables_scaled_together~back_apart": (
        "", SCALED, "(series - part.mean()) / part.std()"),
    "target_alone_scaled": (
        "forecasts#several-variables", SCALED, "torch.cat([((series - mean) / std)[:, :1], series[:, 1:]], dim=1)"),
    "scaled_by_first_variable": ("forecasts#several-variables", SCALED, "(series - mean[0]) / std[0]"),
    "spread_missing": (HERE, SCALED, "series - mean", BACK, "forecasts + mean[0]"),
    "mean_not_subtracted": (HERE, SCALED, "series / std", BACK, "forecasts * std[0]"),
    "variance_for_spread": (HERE, STD, "part.var(0)"),
    "spread_divided_by_n": (HERE, STD, "part.std(0, correction=0)"),
    "range_for_spread": (HERE, MEAN, "part.amin(0)", STD, "part.amax(0) - part.amin(0)"),
    "range_for_spread~centred": (
        "", MEAN, "(part.amin(0) + part.amax(0)) / 2", STD, "(part.amax(0) - part.amin(0)) / 2"),
    "not_scaled": (HERE, SCALED, "series"),
    "not_scaled~plain": ("", SCALED, "series", BACK, "forecasts"),
    "not_scaled_back": (HERE, BACK, "forecasts"),
    "back_without_mean": (HERE, BACK, "forecasts * std[0]"),
    "back_without_spread": (HERE, BACK, "forecasts + mean[0]"),
    "back_in_wrong_order": (HERE, BACK, "(forecasts + mean[0]) * std[0]"),
    "scaled_there_again": (HERE, BACK, "(forecasts - mean[0]) / std[0]"),
    "back_by_other_variable": ("forecasts#several-variables", BACK, "forecasts * std[-1] + mean[-1]"),
    "back_by_all_variables": ("forecasts#several-variables", BACK, "forecasts * std + mean"),
    "back_by_all_variables~columns": ("", BACK, "forecasts[:, None] * std + mean"),
    "training_part_forecast_only": (HERE, ASKED, "model(scaled[:learned])"),
    "rest_returned_only": (HERE, "return result", "return result[learned:]"),
    "rest_forecast_only": (HERE, ASKED, "model(scaled[learned:])"),
    "model_called_in_parts": (HERE, ASKED, "torch.cat([model(scaled[:learned]), model(scaled[learned:])])"),
    "model_called_in_parts~steps": ("", ASKED, "torch.stack([model(step) for step in scaled])"),
    "model_never_called": (HERE, ASKED, "scaled[:, 0]"),
}  # fmt: skip


def rows_of(scaled):
    """Return what the model reads as a table, also if it reads a single step."""
    return scaled if scaled.dim() > 1 else scaled.view(1, -1)


def call(answer, probe, outcome):
    """Call the answer with a model, and record what it has read. Each forecast depends on the steps before it."""
    series, read = inputs_of(probe, ())["series"], []

    def model(scaled):
        scaled = torch.as_tensor(scaled)
        read.append(scaled.detach().clone())
        steps = rows_of(scaled) @ probe.tensors["weight"]
        counts = torch.arange(1, len(steps) + 1).view(-1, *[1] * (steps.dim() - 1))
        return (steps + steps.cumsum(0) / counts).view(scaled.shape[:-1])

    passed = series.clone()
    seed()
    returned = answer(model, passed, probe.options["learned"])
    note_changes({"series": series}, {"series": passed}, outcome)
    if not read and returned is not None:
        outcome.values |= values({"scaled": torch.empty(0)})
        return  # what is returned is no forecast
    if read:
        calls = read[:1] if all(map(read[0].equal, read)) else read  # the same call again changes nothing
        outcome.values |= values({"scaled": torch.cat([*map(rows_of, calls)])})
    table = table_of(returned)
    outcome.values |= values(named(returned if table is None else table, "forecasts"))


def truth(model, series, learned):
    mean = series[:learned].sum(0) / learned
    spread = ((series[:learned] - mean) ** 2).sum(0).div(learned - 1).sqrt()
    return mean[0] + spread[0] * model(torch.stack([(x - mean) / spread for x in series]))


def probes(draw):
    def probe(name, numbers, steps, variables, learned):
        # mean and spread of the parts differ, and no step equals the one before, as numbers have one decimal
        drift = 0.37 * torch.arange(steps, dtype=torch.float64)[:, None]
        sizes = torch.arange(1, variables + 1)  # a spread of its own for each variable
        tensors = {"series": (numbers(steps, variables) + drift) * sizes + 3, "weight": numbers(variables)}
        return Probe(name, tensors, {"learned": learned}, gradients=None)

    return [
        probe("one_variable", draw.few, 5, 1, 3),
        probe("several", draw, 8, 2, 5),
        probe("several", draw, 9, 3, 4),
    ]


QUESTION = generate_question(
    scaled_forecast_reference,
    MISTAKES,
    truth=truth,
    by_torch=False,
    name="scaled_forecast",
    assignment="series",
    task=5,
    points=2,
    place=HERE,
    call=call,
    probes=probes,
    axes={"scaled": ("step", "feature"), "forecasts": ("step",), "series": ("step", "feature"), "weight": ("feature",)},
)
