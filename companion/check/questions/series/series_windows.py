"""Question `series_windows`: windows of a series and the values that follow. Variants: all of these, or the last."""

import torch

from companion.check.engine.library_layers import RECURRENT, SERIES_WINDOWS
from companion.check.engine.probe import Probe
from companion.check.engine.question_from_edits import generate_question
from companion.check.questions.series import Results


def make_windows_reference(series, length, horizon):
    count = len(series) - length - horizon + 1
    starts = range(count)
    inputs = torch.stack([series[k : k + length] for k in starts], dim=1)
    ahead = [series[k + length : k + length + horizon, 0] for k in starts]
    targets = torch.stack(ahead)
    return inputs, targets


HERE, SAID = "series#windows", "series#windows-said"
COUNT, STARTS, WINDOW = "len(series) - length - horizon + 1", "range(count)", "[series[k : k + length] for"
AHEAD, STACK = "series[k + length : k + length + horizon, 0]", "torch.stack(ahead)\n"
WINDOWS, RETURNED = "torch.stack([series[k : k + length] for k in starts], dim=1)", "return inputs, targets"
MISTAKES = {
    "target_in_window": (HERE, AHEAD, "series[k + length - 1 : k + length + horizon - 1, 0]"),
    "target_one_late": (HERE, AHEAD, "series[k + length + 1 : k + length + horizon + 1, 0]",
        COUNT, "len(series) - length - horizon"),
    "window_holds_targets": (HERE, WINDOW, "[series[k : k + length + horizon] for"),
    "window_holds_targets~first": ("", WINDOW, "[series[k : k + length + 1] for"),
    "horizon_ignored": (SAID, AHEAD, "series[k + length : k + length + 1, 0]"),
    "horizon_ignored~count": (
        "", AHEAD, "series[k + length : k + length + 1, 0]", COUNT, "len(series) - length"),
    "windows_without_targets": (SAID, COUNT, "len(series) - length + 1"),
    "windows_without_targets~one": ("", COUNT, "len(series) - length"),
    "windows_without_targets~inputs": (
        "", WINDOWS, WINDOWS.replace("starts", "range(len(series) - length + 1)")),
    "windows_without_targets~inputs_one": ("", WINDOWS, WINDOWS.replace("starts", "range(len(series) - length)")),
    "last_window_missing": (SAID, STARTS, "range(count - 1)"),
    "window_at_start_missing": (HERE, STARTS, "range(1, count)"),
    "windows_do_not_overlap": (HERE, STARTS, "range(0, count, length)"),
    "windows_do_not_overlap~horizon": ("", STARTS, "range(0, count, horizon)"),
    "windows_do_not_overlap~both": ("", STARTS, "range(0, count, length + horizon)"),
    "return_in_the_loop": (HERE, STARTS, "range(1)"),
    "windows_batch_first": (SAID, WINDOWS, "torch.stack([series[k : k + length] for k in starts])"),
    "windows_reshaped": (
        SAID, WINDOWS, "torch.stack([series[k : k + length] for k in starts]).reshape(length, len(starts), -1)"),
    "windows_reshaped~unfolded": (
        "", WINDOWS, "torch.stack([series[k : k + length].T for k in starts]).reshape(length, len(starts), -1)"),
    "windows_as_unfolded": (SAID, WINDOWS, "torch.stack([series[k : k + length].T for k in starts])"),
    "variables_axis_lost": (SAID, WINDOW, "[series[k : k + length, 0] for"),
    "first_variable_read_only": (SAID, WINDOW, "[series[k : k + length, :1] for"),
    "all_variables_in_targets": (
        "forecasts#several-variables", AHEAD, "series[k + length : k + length + horizon]"),
    "last_variable_in_targets": (
        "forecasts#several-variables", AHEAD, "series[k + length : k + length + horizon, -1]"),
    "targets_time_first": (SAID, RETURNED, "return inputs, targets.T"),
    "variable_axis_in_targets": (SAID, AHEAD, "series[k + length : k + length + horizon, :1]"),
    "targets_without_horizon": (SAID, RETURNED, "return inputs, targets[:, 0]"),
    "window_shifted_for_targets": (
        HERE, STACK, "torch.stack([series[k + horizon : k + horizon + length, 0] for k in starts])\n"),
    "window_shifted_for_targets~one": ("", STACK, "torch.stack([series[k + 1 : k + 1 + length, 0] for k in starts])\n"),
    "newest_step_first": ("series#shuffle", WINDOW, "[series[k : k + length].flip(0) for"),
    "window_one_step_short": (HERE, WINDOW, "[series[k : k + length - 1] for"),
    "window_one_step_short~start": ("", WINDOW, "[series[k + 1 : k + length] for"),
    "windows_and_targets_swapped": (HERE, RETURNED, "return targets, inputs"),
}  # fmt: skip


def truth(series, length, horizon):
    kept = len(series) - horizon
    inputs = series[:kept].unfold(0, length, 1).permute(2, 0, 1)
    return inputs, series[length:, 0].unfold(0, horizon, 1)


def probes(draw):
    def probe(name, draw, steps, variables, length, horizon):
        options = {"length": length, "horizon": horizon}
        return Probe(name, {"series": draw(steps, variables)}, options, gradients=None)

    return [
        probe("one_variable", draw.few, 6, 1, 2, 2),
        probe("one_step_ahead", draw, 7, 3, 3, 1),
        probe("several", draw, 9, 2, 3, 3),
        probe("several", draw, 10, 3, 4, 2),
        probe("several", draw, 13, 3, 4, 2),  # so many that windows apart from each other are more than one
    ]


QUESTION = generate_question(
    make_windows_reference,
    MISTAKES,
    variants={"targets_all_steps": (), "targets_last_step": ("torch.stack(ahead)", "torch.stack(ahead)[:, -1:]")},
    truth=truth,
    by_torch=False,
    name="series_windows",
    answer="make_windows",
    assignment="series",
    task=4,
    points=3,
    place=HERE,
    call=Results(("series", "length", "horizon"), ("inputs", "targets")),
    probes=probes,
    axes={"inputs": ("step", "batch", "feature"), "targets": ("batch", "step"), "series": ("step", "feature")},
    forbidden=RECURRENT | SERIES_WINDOWS,
)
