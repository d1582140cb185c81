"""Answers to the question `series_windows`."""

from tests.check.answers import Program

WINDOWS = """
def make_windows(series, length, horizon):
    T, V = series.shape
    N = T - length - horizon + 1
    inputs, targets = [], []
    for k in range(0, N):
        inputs.append(series[k:k + length])
        targets.append(series[k + length:k + length + horizon, 0])
    return torch.stack(inputs, 1), torch.stack(targets, 0)
"""
COUNT, STEPS, WINDOW = "T - length - horizon + 1", "range(0, N)", "series[k:k + length]"
TARGET, INPUTS, TARGETS = (
    "series[k + length:k + length + horizon, 0]",
    "torch.stack(inputs, 1)",
    "torch.stack(targets, 0)",
)
RETURNED = f"return {INPUTS}, {TARGETS}"
LAST = (TARGETS, f"{TARGETS}[:, -1:]")
WRONG = {
    "target_in_window": [(TARGET, "series[k + length - 1:k + length + horizon - 1, 0]")],
    "target_one_late": [
        (TARGET, "series[k + length + 1:k + length + 1 + horizon, 0]"),
        (COUNT, "T - length - horizon"),
    ],
    "window_holds_targets": [(WINDOW, "series[k:k + length + horizon]")],
    "horizon_ignored": [(TARGET, "series[k + length, :1]")],
    "windows_without_targets": [(COUNT, "T - length + 1")],
    "last_window_missing": [(COUNT, "T - length - horizon")],
    "window_at_start_missing": [(STEPS, "range(1, N)")],
    "windows_do_not_overlap": [(STEPS, "range(0, N, length)")],
    "return_in_the_loop": [(f"    {RETURNED}", f"        {RETURNED}")],
    "windows_batch_first": [(INPUTS, "torch.stack(inputs)")],
    "windows_reshaped": [(INPUTS, "torch.stack(inputs).view(length, N, V)")],
    "windows_as_unfolded": [(INPUTS, "series.unfold(0, length, 1)[:N]")],
    "variables_axis_lost": [(WINDOW, "series[k:k + length, 0]")],
    "first_variable_read_only": [(WINDOW, "series[k:k + length, 0:1]")],
    "all_variables_in_targets": [(TARGET, "series[k + length:k + length + horizon]")],
    "last_variable_in_targets": [(TARGET, "series[k + length:k + length + horizon, V - 1]")],
    "targets_time_first": [(TARGETS, "torch.stack(targets, 1)")],
    "variable_axis_in_targets": [(TARGET, "series[k + length:k + length + horizon, 0:1]")],
    "targets_without_horizon": [(RETURNED, f"return {INPUTS}, torch.stack(targets)[:, 0]")],
    "window_shifted_for_targets": [
        (f"{TARGETS}\n", "torch.stack([series[k + horizon:k + horizon + length, 0] for k in range(N)])\n")
    ],
    "newest_step_first": [(INPUTS, "torch.stack(inputs, 1).flip(0)")],
    "window_one_step_short": [(WINDOW, "series[k:k + length - 1]")],
    "windows_and_targets_swapped": [(RETURNED, f"return {TARGETS}, {INPUTS}")],
}
UNFOLDED = """
def make_windows(series, length, horizon):
    both = series.unfold(0, length + horizon, 1)
    return both[:, :, :length].permute(2, 0, 1), both[:, 0, length:]
"""
RIGHT = {
    "unfold": UNFOLDED,
    "an index of two dimensions": """
        def make_windows(series, length, horizon):
            n = len(series) - length - horizon + 1
            start = torch.arange(n)
            inputs = series[torch.arange(length)[:, None] + start]
            return inputs, series[:, 0][start[:, None] + length + torch.arange(horizon)[None]]
    """,
    "numpy's sliding windows": """
        def make_windows(series, length, horizon):
            view = numpy.lib.stride_tricks.sliding_window_view(series.numpy(), length + horizon, axis=0)
            view = view.transpose(2, 0, 1)
            return view[:length].copy(), view[length:, :, 0].T.copy()
    """,
    "step by step": """
        def make_windows(series, length, horizon):
            count = series.size(0) - (length + horizon - 1)
            inputs = [series[t:t + count] for t in range(length)]
            targets = [series[length + h:length + h + count, 0] for h in range(horizon)]
            return torch.stack(inputs), torch.stack(targets).T
    """,
    "a while loop, batch first at first": """
        def make_windows(series, length, horizon):
            xs, ys, end = [], [], length
            while end + horizon <= len(series):
                xs.append(series[end - length:end])
                ys.append([series[end + h, 0].item() for h in range(horizon)])
                end += 1
            return torch.stack(xs).transpose(0, 1), torch.tensor(ys)
    """,
    "lists": [(INPUTS, "[list(step) for step in torch.stack(inputs, 1)]")],
    "strides": """
        def make_windows(series, length, horizon):
            series = series.contiguous()
            count, size = len(series) - length - horizon + 1, series.shape[1]
            inputs = series.as_strided((length, count, size), (size, size, 1))
            targets = series[length:, 0].as_strided((count, horizon), (size, size))
            return inputs, targets
    """,
}

OF_THE_COMPANION = """
def make_windows(series, length, horizon):
    from companion.learning.series import windows
    return windows(series, length, horizon)
"""

PROGRAM = Program(WINDOWS, WRONG, also_wrong=[
    ("library_layer", OF_THE_COMPANION),
    ("windows_do_not_overlap", [(STEPS, "range(0, N, horizon)")]),
    ("windows_do_not_overlap", [(STEPS, "range(0, N, length + horizon)")]),
    ("window_holds_targets", [(WINDOW, "series[k:k + length + 1]")]),
    ("horizon_ignored", [(TARGET, "series[k + length, :1]"), (COUNT, "T - length")]),
    ("windows_without_targets", [(COUNT, "T - length")]),
    ("windows_without_targets", [(INPUTS, "series.unfold(0, length, 1).permute(2, 0, 1)")]),
    ("windows_without_targets", [(INPUTS, "series[:-1].unfold(0, length, 1).permute(2, 0, 1)")]),
    ("windows_reshaped", [(INPUTS, "series.unfold(0, length, 1)[:N].reshape(length, N, V)")]),
    ("window_one_step_short", [(WINDOW, "series[k + 1:k + length]")]),
    ("window_shifted_for_targets", [(TARGET, "series[k + 1:k + 1 + length, 0]")]),
    ("wrong_form", [(RETURNED, f"return {INPUTS}")]),
    ("returns_none", [(RETURNED, f"(torch.stack(inputs, 1), {TARGETS})")]),
    ("changes_its_input", [
        ("    T, V", "    series *= 1.5\n    T, V"), (RETURNED, f"return {INPUTS} / 1.5, {TARGETS} / 1.5")]),
], also_right=RIGHT, pairs=[
    ("target_in_window", "windows_batch_first"),
    ("target_one_late", "variables_axis_lost"),
    ("last_window_missing", "targets_time_first"),
    ("windows_do_not_overlap", "all_variables_in_targets"),
    ("newest_step_first", "target_in_window"),
], variants={"targets_all_steps": [], "targets_last_step": [LAST]})  # fmt: skip
