"""Answers to the question `train_in_windows`."""

from tests.check.answers import Program
from tests.check.answers.training.train import CLIPPED, LEARNING_WRONG, LOSS

IN_WINDOWS = """
def train_in_windows(model, inputs, targets, size, learning_rate, max_norm):
    optimizer = torch.optim.SGD(model.parameters(), lr=learning_rate)
    criterion = nn.CrossEntropyLoss()
    model.train()
    losses, state = [], None
    for start in range(0, inputs.shape[0], size):
        x, y = inputs[start : start + size], targets[start : start + size]
        if state is not None:
            state = state.detach()
        logits, state = model(x, state)
        loss = criterion(logits.reshape(-1, logits.size(-1)), y.reshape(-1))
        optimizer.zero_grad()
        loss.backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), max_norm)
        optimizer.step()
        losses.append(loss.item())
    return losses
"""
WINDOWED = (
    "inputs[start : start + size], targets[start : start + size]",
    "inputs[start : start + size{}], targets[start : start + size{}]",
)
STARTS = "range(0, inputs.shape[0], size)"
IN_WINDOWS_WRONG = LEARNING_WRONG | {
    "state_not_carried": [("model(x, state)", "model(x)")],
    "state_not_cut": [("            state = state.detach()", "            pass")],
    "state_cut_within_window": [
        (
            "logits, state = model(x, state)",
            (
                "steps = []\n        for x_t in x.split(1):\n            out, state = model(x_t, None if state is None"
                " else state.data); steps.append(out)\n        logits = torch.cat(steps)"
            ),
        ),
    ],
    "losses_added_up": [
        ("losses, state = [], None", "total, losses, state = 0, [], None"),
        ("loss.backward()", "total += loss; total.backward()"),
    ],
    "last_window_dropped": [(STARTS, "range(0, len(inputs) // size * size, size)")],
    "last_window_divided_by_size": [(LOSS, f"{LOSS} * len(x) / size")],
    "state_computed_again": [
        ("logits, state = model(x, state)", "logits, _ = model(x, state)"),
        ("losses.append", "state = model(x, state)[1]; losses.append"),
    ],
    "size_as_number_of_windows": [
        (f"for start in {STARTS}:", "for x, y in zip(inputs.chunk(size), targets.chunk(size)):"),
        (f"        x, y = {WINDOWED[0]}\n", ""),
    ],
    "windows_overlap": [(STARTS, "range(max(len(inputs) - size + 1, 1))")],
    "windows_end_one_late": [(WINDOWED[0], WINDOWED[1].format(" + 1", " + 1"))],
    "windows_end_one_early": [(WINDOWED[0], WINDOWED[1].format(" - 1", " - 1"))],
    "first_window_missing": [(STARTS, "range(size, inputs.shape[0], size)")],
    "windows_reversed": [(STARTS, "range(0, inputs.shape[0], size)[::-1]")],
    "windows_cut_across": [
        (STARTS, "range(0, inputs.shape[1], size)"),
        (WINDOWED[0], "inputs[:, start : start + size], targets[:, start : start + size]"),
    ],
    "one_step_at_the_end": [
        ("        optimizer.zero_grad()\n", ""),
        (f"        {CLIPPED}\n        optimizer.step()\n", ""),
        ("    return", f"    {CLIPPED}\n    optimizer.step()\n    return"),
    ],
}
IN_WINDOWS_RIGHT = [
    [
        (f"for start in {STARTS}:", "for x, y in zip(inputs.split(size), targets.split(size)):"),
        (f"        x, y = {WINDOWED[0]}\n", ""),
    ],
    [
        ("        if state is not None:\n            state = state.detach()\n", ""),
        ("losses.append(loss.item())", "losses.append(loss)\n        state = state.data"),
        ("return losses", "return torch.stack(losses).detach()"),
    ],
    [
        ("losses, state = [], None", "losses, state = [], torch.zeros(inputs.shape[1], len(model.weight_hh))"),
        ("optimizer.step()", "[p.data.sub_(p.grad * learning_rate) for p in model.parameters()]"),
    ],
    [
        ("state = state.detach()", "state = torch.tensor(state.tolist())"),
        ("losses.append(loss.item())", "yield loss.item()"),
        ("    return losses\n", ""),
    ],
]

PROGRAM = Program(IN_WINDOWS, IN_WINDOWS_WRONG, also_wrong=[
    ("state_not_cut", [("            state = state.detach()", "            pass"), ("backward()",
    "backward(retain_graph=True)")]),
    ("wrong_shape", "lambda *given: iter([])"),
    # `backward` fails for many reasons: only known ones are named.
    ("raises_error", [("state = state.detach()", "state = state.detach().T")]),
    ("raises_error", [("losses.append", "if start: raise RuntimeError('of another kind')\n        losses.append")]),
], also_right=IN_WINDOWS_RIGHT, pairs=[
    ("state_not_carried", "last_window_dropped"),
    ("windows_reversed", "gradients_not_clipped"),
    ("state_not_cut", "not_in_training_mode"),
])  # fmt: skip
