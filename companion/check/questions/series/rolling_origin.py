"""Question `rolling_origin`: errors on blocks that follow one another, each by a model that learned from all before."""

import torch

from companion.check.engine.probe import Probe, Unfit, kind, named, values
from companion.check.engine.question_from_edits import generate_question
from companion.check.engine.run_answer import inputs_of, note_changes, seed
from companion.check.questions.training.inputs_and_targets import table_of


def rolling_origin_reference(fit, series, first, size):
    errors = []
    for origin in range(first, len(series) - size + 1, size):
        model = fit(series[:origin])
        block = []
        for t in range(origin, origin + size):
            forecast = model(series[:t])
            block.append((forecast - series[t]).abs())
        errors.append(torch.stack(block).mean())
    return torch.stack(errors)


HERE, LEAK, AGAIN, UNIT = "series#table", "series#leak-said", "daily_forecast#again-plan", "series#baselines"
ORIGINS, FIT, ASKED = (
    "range(first, len(series) - size + 1, size)",
    "fit(series[:origin])",
    "forecast = model(series[:t])",
)
ERROR, MEAN, RETURNED = "(forecast - series[t]).abs()", "torch.stack(block).mean()", "return torch.stack(errors)"
STEPS, EMPTY, ADDED = "range(origin, origin + size)", "        block = []\n", "errors.append(torch.stack(block).mean())"
FED = """forecast = model(torch.cat([series[:origin], *guesses]))
            guesses.append(forecast.reshape(1))"""
MISTAKES = {
    "learned_from_whole_series": (LEAK, FIT, "fit(series)"),
    "learned_from_block_too": (LEAK, FIT, "fit(series[: origin + size])"),
    "learned_from_block_only": (LEAK, FIT, "fit(series[origin : origin + size])"),
    "learned_one_step_more": (LEAK, FIT, "fit(series[: origin + 1])"),
    "learned_one_step_less": (HERE, FIT, "fit(series[: origin - 1])"),
    "learned_once": (AGAIN, FIT, "fit(series[:first])"),
    "learned_at_every_step": (HERE, ASKED, "forecast = fit(series[:t])(series[:t])"),
    "learned_from_recent_values": (HERE, FIT, "fit(series[origin - first : origin])"),
    "learned_from_recent_values~block": ("", FIT, "fit(series[origin - size : origin])"),
    "target_among_past": (LEAK, ASKED, "forecast = model(series[: t + 1])"),
    "past_ends_at_origin": (HERE, ASKED, "forecast = model(series[:origin])"),
    "past_begins_at_origin": (HERE, ASKED, "forecast = model(series[origin:t])"),
    "past_cut_short": (HERE, ASKED, "forecast = model(series[t - first : t])"),
    "past_cut_short~block": ("", ASKED, "forecast = model(series[t - size : t])"),
    "past_one_step_short": (HERE, ASKED, "forecast = model(series[: t - 1])"),
    "forecasts_read_for_values": ("forecasts#many-steps", EMPTY, "        block, guesses = [], []\n", ASKED, FED),
    "short_block_counted": (
        HERE, ORIGINS, "range(first, len(series), size)", STEPS, "range(origin, min(origin + size, len(series)))"),
    "short_block_counted~beyond": ("", ORIGINS, "range(first, len(series), size)"),
    "last_block_missing": (HERE, ORIGINS, "range(first, len(series) - size, size)"),
    "first_block_missing": (HERE, ORIGINS, "range(first + size, len(series) - size + 1, size)"),
    "origin_at_every_step": (HERE, ORIGINS, "range(first, len(series) - size + 1)"),
    "first_origin_ignored": (HERE, ORIGINS, "range(size, len(series) - size + 1, size)"),
    "step_after_origin_missing": (HERE, STEPS, "range(origin + 1, origin + size)"),
    "one_step_past_the_block": (HERE, STEPS, "range(origin, min(origin + size + 1, len(series)))"),
    "compared_one_early": ("series#one-late", ERROR, "(forecast - series[t - 1]).abs()"),
    "errors_squared": (UNIT, ERROR, "(forecast - series[t]).square()"),
    "root_of_squared_errors": (
        UNIT, ERROR, "(forecast - series[t]).square()", MEAN, "torch.stack(block).mean().sqrt()"),
    "errors_not_absolute": (UNIT, ERROR, "forecast - series[t]"),
    "errors_not_absolute~late": ("", ERROR, "forecast - series[t]", MEAN, "torch.stack(block).mean().abs()"),
    "errors_summed": (UNIT, MEAN, "torch.stack(block).sum()"),
    "block_not_emptied": (HERE, EMPTY, "", "errors = []", "errors, block = [], []"),
    "block_not_emptied~sum": (
        "", EMPTY, "", "errors = []", "errors, block = [], []", MEAN, "torch.stack(block).sum() / size"),
    "errors_of_all_steps": (HERE, ADDED, "errors += block"),
    "one_mean_for_all_blocks": (HERE, RETURNED, "return torch.stack(errors).mean()"),
    "only_last_block": (HERE, RETURNED, "return errors[-1]"),
    "return_in_the_loop": (HERE, RETURNED, "return torch.stack(errors[:1])"),
    "return_in_the_loop~number": ("", RETURNED, "return errors[0]"),
}  # fmt: skip


def call(answer, probe, outcome):
    """Call the answer with a function that makes models; both depend on all that they are given."""
    series = inputs_of(probe, ())["series"]

    def fit(learned):
        level = 0.4 * mean_of(learned) + 0.2 * learned[-1:].sum()
        return lambda past: 0.5 * past[-1:].sum() + 0.3 * mean_of(past) + level

    passed = series.clone()
    seed()
    returned = answer(fit, passed, probe.options["first"], probe.options["size"])
    note_changes({"series": series}, {"series": passed}, outcome)
    table = table_of(returned)
    if table is None and isinstance(returned, tuple | list):
        for place, error in enumerate(returned):
            if table_of(error) is None:
                raise Unfit("not_a_tensor", name=f"errors[{place}]", got=kind(error))
    outcome.values |= values(named(returned if table is None else table, "errors"))


def mean_of(values):
    """Return the mean, 0 for no values."""
    return values.sum() / max(len(values), 1)


def truth(fit, series, first, size):
    blocks = (len(series) - first) // size
    origins = [first + size * block for block in range(blocks)]
    models = [fit(series[:origin]) for origin in origins for _ in range(size)]
    steps = range(first, first + size * blocks)
    forecasts = torch.stack([model(series[:t]) for model, t in zip(models, steps)])
    return (forecasts - series[first : steps.stop]).abs().view(blocks, size).mean(1)


def probes(draw):
    def probe(name, numbers, steps, first, size):
        return Probe(name, {"series": numbers(steps)}, {"first": first, "size": size}, gradients=None)

    return [
        probe("no_rest", draw.few, 7, 3, 2),
        probe("several", draw, 12, 4, 3),
        probe("several", draw, 14, 5, 2),
    ]


QUESTION = generate_question(
    rolling_origin_reference,
    MISTAKES,
    truth=truth,
    by_torch=False,
    name="rolling_origin",
    assignment="series",
    task=7,
    points=3,
    stretch=True,
    place=HERE,
    call=call,
    probes=probes,
    axes={"errors": ("place",), "series": ("step",)},
)
