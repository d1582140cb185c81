"""Answers to the question `inputs_and_targets`."""

from tests.check.answers import Program

WINDOWS = """
def inputs_and_targets(indices, size):
    inputs, targets = [], []
    for t in range(0, len(indices) - size, size):
        inputs.append(indices[t : t + size])
        targets.append(indices[t + 1 : t + size + 1])
    inputs, targets = torch.stack(inputs, dim=1), torch.stack(targets, dim=1)
    return inputs, targets
"""
RANGE = "range(0, len(indices) - size, size)"
PIECE, NEXT = "indices[t : t + size]", "indices[t + 1 : t + size + 1]"
EVERY = [(RANGE, "range(0, len(indices) // size * size, size)")]  # all windows with inputs
WINDOWS_WRONG = {
    "targets_not_shifted": [(NEXT, PIECE)],
    "inputs_and_targets_swapped": [("return inputs, targets", "return targets, inputs")],
    "targets_wrap_in_window": [(NEXT, f"torch.roll({PIECE}, -1)")],
    "target_made_up": [*EVERY, (NEXT, "torch.cat([indices, indices[:1]])[t + 1 : t + size + 1]")],
    "last_target_missing": EVERY,
    "targets_of_next_window": [(RANGE, "range(0, len(indices) - 2 * size + 1, size)"), (NEXT,
    "indices[t + size : t + 2 * size]")],
    "one_target_a_window": [(NEXT, "indices[t + size]"), ("torch.stack(targets, dim=1)", "torch.stack(targets)")],
    "windows_interleaved": [
        ("torch.stack(inputs, dim=1), torch.stack(targets, dim=1)",
        "(torch.cat(one).view(-1, size).reshape(size, -1) for one in (inputs, targets))"),
    ],
    "windows_overlap": [(RANGE, "range(len(indices) - size)")],
    "windows_lose_one": [(RANGE, "range(0, len(indices) - size, size + 1)")],
    "windows_one_short": [*EVERY, (PIECE, "indices[t : t + size - 1]"), (NEXT, "indices[t + 1 : t + size]")],
    "whole_window_missing": [(RANGE, "range(0, len(indices) - size - 1, size)")],
    "rest_filled_up": [
        (RANGE, "range(0, len(indices) - 1, size)"), (PIECE, "F.pad(indices[:-1], (0, size))[t : t + size]"),
        (NEXT, "F.pad(indices[1:], (0, size))[t : t + size]"),
    ],
    "variant_windows_first": [("    return inputs, targets", "    return inputs.T, targets.T")],
    "windows_shuffled": [("    return",
    "    order = torch.randperm(inputs.shape[1])\n    inputs, targets = inputs[:, order], targets[:, order]\n    return")],  # noqa: E501
    "first_index_missing": [("range(0, len(indices) - size,", "range(1, len(indices) - size,")],
}  # fmt: skip
WINDOWS_RIGHT = [
    (
        "lambda x, n: [x[:-1][: (len(x) - 1) // n * n].reshape(-1, n).t(), x[1:][: (len(x) - 1) // n * n].reshape(-1,"
        " n).t()]"
    ),
    "lambda x, n: torch.stack([x[:-1].unfold(0, n, n).T, x[1:].unfold(0, n, n).T])",
    "lambda x, n: tuple(w.int().contiguous() for w in x.unfold(0, n + 1, n).T.unfold(0, n, 1).movedim(2, 1))",
    "lambda x, n: tuple([[x[k + t + s].item() for k in range(0, len(x) - n, n)] for t in range(n)] for s in (0, 1))",
    "lambda x, n: tuple([x[s + t : len(x) - n + s + t : n] for t in range(n)] for s in (0, 1))",
    (
        "lambda x, n: (x[torch.arange(n)[:, None] + torch.arange(0, len(x) - n, n)].numpy(), inputs_and_targets(x,"
        " n)[1].double())"
    ),
]

PROGRAM = Program(WINDOWS, WINDOWS_WRONG, also_wrong=[
    ("targets_not_shifted", [*EVERY, (NEXT, PIECE)]),
    ("targets_wrap_in_window", [*EVERY, (NEXT, f"torch.cat([{PIECE}[1:], {PIECE}[:1]])")]),
    ("target_made_up", [*EVERY, (NEXT, "F.pad(indices, (0, 1))[t + 1 : t + size + 1]")]),
    ("target_made_up", [*EVERY, (NEXT, "F.pad(indices, (0, 1), value=-100)[t + 1 : t + size + 1]")]),
    ("whole_window_missing", [(RANGE, "range(0, len(indices) // size * size - size, size)")]),
    ("rest_filled_up", [
        (RANGE, "range(0, len(indices) - 1, size)"), (PIECE, "F.pad(indices[:-1], (0, size))[t : t + size]"),
        (NEXT, "F.pad(indices[1:], (0, size), value=-100)[t : t + size]"),
    ]),
    ("wrong_form", "lambda x, n: list(zip(x.split(n), x[1:].split(n)))"),
], also_right=WINDOWS_RIGHT, pairs=[
    ("inputs_and_targets_swapped", "whole_window_missing"),
    ("variant_windows_first", "targets_not_shifted"),
])  # fmt: skip
