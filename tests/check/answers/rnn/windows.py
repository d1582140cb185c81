"""Answers to the question `windows`."""

from torch import nn

from tests.check.answers import Program, changed

WINDOWS = """
def read_in_windows(cell, input, h, size):
    T = input.shape[0]
    states = []
    for start in range(0, T, size):
        window = input[start:start + size]
        h = h.detach()
        for x in window:
            h = cell(x, h)
        states.append(h)
    return states
"""
IN_STEPS = """
def read_in_windows(cell, input, h, size):
    states = []
    for t in range(len(input)):
        if t % size == 0:
            h = h.detach()
        h = cell(input[t], h)
        if (t + 1) % size == 0 or t + 1 == len(input):
            states.append(h)
    return states
"""
CUT = "        h = h.detach()\n"
CUT_BEFORE = IN_STEPS[IN_STEPS.index("        if t %") : IN_STEPS.index("        h = cell")]
KEPT_AFTER = IN_STEPS[IN_STEPS.index("        if (t") : IN_STEPS.index("    return")]
WINDOWS_WRONG = {
    "state_not_cut": [(CUT, "")],
    "state_detached_each_step": [("h = cell(x, h)", "h = cell(x, h.detach())")],
    "states_detached": [(CUT, ""), ("        states.append(h)", "        h = h.detach()\n        states.append(h)")],
    "state_not_carried": [
        ("        h = h.detach()\n", "        state = h.detach()\n"),
        ("h = cell(x, h)", "state = cell(x, state)"),
        ("append(h)", "append(state)"),
    ],
    "last_window_dropped": [("range(0, T, size)", "range(0, T - T % size, size)")],
    "size_as_number_of_windows": [
        ("start in range(0, T, size)", "window in input.chunk(size)"),
        ("        window = input[start:start + size]\n", ""),
    ],
    "states_of_all_steps": [("        states.append(h)", "            states.append(h)")],
    "only_last_state": [("return states", "return [h]")],
    "outputs_of_windows": [
        ("        for x", "        outputs = []\n        for x"),
        ("h = cell(x, h)", "h = cell(x, h)\n            outputs.append(h)"),
        ("states.append(h)", "states.append(torch.stack(outputs))"),
    ],
    "state_before_window": [("        states.append(h)\n", ""), (CUT, CUT + "        states.append(h)\n")],
    "first_state_in_list": [("states = []", "states = [h]")],
    "windows_end_one_late": [("start + size]", "start + size + 1]")],
    "windows_begin_one_late": [
        (
            WINDOWS,
            changed(
                IN_STEPS,
                (CUT_BEFORE, ""),
                (KEPT_AFTER, "        if t % size == 0:\n            states.append(h)\n            h = h.detach()\n"),
            ),
        )
    ],
    "windows_end_one_early": [("start + size]", "start + size - 1]")],
    "windows_overlap": [("range(0, T, size)", "range(T - size + 1)")],
    "last_window_padded": [
        (
            "        h = h.detach()\n",
            (
                "        zeros = torch.zeros(size - len(window), *window.shape[1:])\n"
                "        window = torch.cat([window, zeros])\n        h = h.detach()\n"
            ),
        )
    ],
    "first_window_missing": [("range(0, T, size)", "range(size, T, size)")],
    "windows_reversed": [("range(0, T, size)", "reversed(range(0, T, size))")],
    "time_in_second_dimension": [
        ("input.shape[0]", "input.shape[1]"),
        ("input[start:start + size]", "input[:, start:start + size].transpose(0, 1)"),
    ],
    "earlier_windows_without_gradient": [
        (
            "            h = cell(x, h)",
            "            with torch.set_grad_enabled(start + size >= T):\n                h = cell(x, h)",
        )
    ],
    "input_detached": [("in window", "in window.detach()")],
}
READERS = {
    "in steps": [(WINDOWS, IN_STEPS)],
    "cut afterwards": [(CUT, ""), ("append(h)", "append(h)\n        h = h.detach()")],
    "cut by data": [("h.detach()", "h.data")],
    "a graph of its own": [("h.detach()", "h.detach().requires_grad_()")],
    "a tuple": [("return states", "return tuple(states)")],
    "stacked": [("return states", "return torch.stack(states)")],
    "a generator": [("    states = []\n", ""), ("states.append(h)", "yield h"), ("    return states\n", "")],
}


def by_torchs_cell(cell, input, h, size):
    theirs = nn.RNNCell(cell.input_size, cell.hidden_size)
    theirs.load_state_dict(cell.state_dict())
    states = []
    for window in input.split(size):
        h = h.detach()
        for x in window:
            h = theirs(x, h)
        states.append(h)
    return states


PROGRAM = Program(WINDOWS, WINDOWS_WRONG, also_wrong=[
    ("only_last_state", [("return states", "return h")]),
    ("state_not_carried", [(CUT, "        h = torch.zeros_like(h)\n")]),
    ("last_window_dropped", [("range(0, T, size)", "range(0, max(T // size, 1) * size, size)")]),
    ("library_layer", by_torchs_cell),
    ("returns_none", lambda cell, input, h, size: None),
    ("not_a_tensor", [("append(h)", "append(h.tolist())")]),
    ("not_a_tensor", [("append(h)", "append((h, h))")]),
], also_right=READERS, pairs=[
    ("state_not_cut", "last_window_dropped"),
    ("state_detached_each_step", "first_state_in_list"),
    ("last_window_dropped", "states_detached"),
    ("state_not_cut", "size_as_number_of_windows"),
])  # fmt: skip
