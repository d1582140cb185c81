"""Question `inputs_and_targets`: cut a text into windows with their targets. Variants: which axis is time."""

import torch

from companion.check.engine.probe import Probe, Unfit, form
from companion.check.engine.question_from_edits import generate_question
from companion.check.engine.run_answer import note_changes

COUNT, INPUTS, TARGETS = "(len(indices) - 1) // size", "indices[: count * size]", "indices[1 : count * size + 1]"
TARGET_WINDOWS = TARGETS + ".view(count, size)"
MORE = COUNT, "len(indices) // size"  # counts windows by their inputs, though the last may lack a target


def inputs_and_targets_reference(indices, size):
    count = (len(indices) - 1) // size
    inputs = indices[: count * size].view(count, size)
    targets = indices[1 : count * size + 1].view(count, size)
    return inputs.T, targets.T


MISTAKES = {
    "targets_not_shifted": ("training#targets", TARGETS, INPUTS),
    "targets_not_shifted~more": ("", TARGETS, INPUTS, *MORE),
    "inputs_and_targets_swapped": ("training#targets", INPUTS, TARGETS, TARGETS, INPUTS),
    "targets_wrap_in_window": ("training#targets", TARGET_WINDOWS, "inputs.roll(-1, 1)"),
    "targets_wrap_in_window~more": ("", TARGET_WINDOWS, "inputs.roll(-1, 1)", *MORE),
    "target_made_up": ("training#targets", TARGETS, "indices.roll(-1)[: count * size]", *MORE),
    "target_made_up~zero": ("", TARGETS, "torch.cat([indices[1:], 0 * indices[:1]])[: count * size]", *MORE),
    "target_made_up~last": ("", TARGETS, "torch.cat([indices[1:], indices[-1:]])[: count * size]", *MORE),
    "target_made_up~ignored": ("", TARGETS, "torch.cat([indices[1:], 0 * indices[:1] - 100])[: count * size]", *MORE),
    "last_target_missing": ("training#targets", *MORE),
    "targets_of_next_window": (
        "training#targets", TARGETS, "indices[size : (count + 1) * size]", COUNT, "len(indices) // size - 1",
    ),
    "one_target_a_window": ("training#targets", TARGET_WINDOWS, "indices[size : count * size + 1 : size]"),
    "windows_interleaved": (
        "training#windows", INPUTS + ".view(count, size)", INPUTS + ".view(size, count).T", TARGET_WINDOWS,
        TARGETS + ".view(size, count).T",
    ),
    "windows_overlap": (
        "training#windows", INPUTS + ".view(count, size)", "indices[:-1].unfold(0, size, 1)", TARGET_WINDOWS,
        "indices[1:].unfold(0, size, 1)",
    ),
    "windows_lose_one": (
        "training#windows", COUNT, "len(indices) // (size + 1)", INPUTS + ".view(count, size)",
        "indices[: count * (size + 1)].view(count, size + 1)[:, :-1]", TARGET_WINDOWS,
        "indices[: count * (size + 1)].view(count, size + 1)[:, 1:]",
    ),
    "windows_one_short": (
        "training#windows", *MORE, INPUTS + ".view(count, size)", INPUTS + ".view(count, size)[:, :-1]",
        TARGET_WINDOWS, INPUTS + ".view(count, size)[:, 1:]",
    ),
    "whole_window_missing": ("training#windows-said", COUNT, COUNT + " - 1"),
    "whole_window_missing~one_early": ("", COUNT, "len(indices) // size - 1"),
    "whole_window_missing~edge": ("", COUNT, "(len(indices) - 2) // size"),
    "rest_filled_up": (
        "training#windows-said", COUNT, "-(-(len(indices) - 1) // size)", INPUTS,
        "torch.cat([indices[:-1], indices.new_zeros(size)])[: count * size]",
        TARGETS, "torch.cat([indices[1:], indices.new_zeros(size)])[: count * size]",
    ),
    "rest_filled_up~ignored": (
        "", COUNT, "-(-(len(indices) - 1) // size)", INPUTS,
        "torch.cat([indices[:-1], indices.new_zeros(size)])[: count * size]",
        TARGETS, "torch.cat([indices[1:], indices.new_zeros(size) - 100])[: count * size]",
    ),
    "windows_shuffled": (
        "training#windows-said", "targets = " + TARGET_WINDOWS,
        f"order = torch.randperm(count)\n    inputs, targets = inputs[order], {TARGET_WINDOWS}[order]",
    ),
    "first_index_missing": ("training#windows", "count = ", "indices = indices[1:]\n    count = "),
}  # fmt: skip


def call(answer, probe, outcome):
    """Call the answer, which may return its two tables as lists of rows or numbers, or both in one tensor."""
    indices = probe.tensors["indices"].clone()
    returned = answer(indices, probe.options["size"])
    note_changes(probe.tensors, {"indices": indices}, outcome)
    if returned is None:
        raise Unfit("returns_none", name="(inputs, targets)")
    pair = [*returned] if isinstance(returned, tuple | list | torch.Tensor) else []
    tables = [*map(table_of, pair)]
    if len(tables) != 2 or any(table is None for table in tables):
        raise Unfit("wrong_form", name="(inputs, targets)", got=form(returned))
    outcome.values |= {name: table.to("cpu", torch.float64) for name, table in zip(("inputs", "targets"), tables)}


def table_of(value):
    """Return a list of rows or an array as a tensor, or None if that is impossible."""
    try:
        rows = isinstance(value, tuple | list)
        return torch.stack([*map(table_of, value)]) if rows else torch.as_tensor(value)
    except (TypeError, ValueError, RuntimeError):
        return None


def truth(indices, size):
    rows = [indices[t : t + size + 1].tolist() for t in range(0, len(indices) - size, size)]
    return torch.tensor([row[:-1] for row in rows]).T, torch.tensor([row[1:] for row in rows]).T


def probes(draw):
    def probe(name, length, size):
        # each index occurs once, so that each number tells its place
        return Probe(name, {"indices": draw(length).argsort()}, {"size": size}, gradients=None)

    lengths = [("no_rest", 5, 2), ("several", 6, 2), ("several", 9, 3), ("no_rest", 13, 3), ("several", 15, 4)]
    return [probe(*row) for row in lengths]


QUESTION = generate_question(
    inputs_and_targets_reference,
    MISTAKES,
    variants={"time_first": (), "windows_first": ("inputs.T, targets.T", "inputs, targets")},
    truth=truth,
    by_torch=False,
    name="inputs_and_targets",
    assignment="training",
    task=1,
    points=2,
    place="training#targets",
    call=call,
    probes=probes,
)
