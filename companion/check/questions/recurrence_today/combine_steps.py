"""Question `combine_steps`: two linear steps whose factors are matrices as one step. Variants: columns or rows."""

import torch

from companion.check.engine.probe import Probe
from companion.check.engine.question_from_edits import generate_question
from companion.check.engine.run_answer import Function


def combine_steps_reference(A_1, b_1, A_2, b_2):
    def product(first, second):
        return second @ first

    def times(factor, h):
        return torch.einsum("nij,nj->ni", factor, h)

    A = product(A_1, A_2)
    b = times(A_2, b_1) + b_2
    return A, b


PLACE, ORDER = "without_waiting#linear", "without_waiting#associative"
FACTOR, CONSTANT = "product(A_1, A_2)", "times(A_2, b_1) + b_2"
MISTAKES = {
    "steps_in_other_order": (ORDER, FACTOR, "product(A_2, A_1)", CONSTANT, "times(A_1, b_2) + b_1"),
    "factors_in_other_order": (ORDER, FACTOR, "product(A_2, A_1)"),
    "other_b_multiplied": (PLACE, CONSTANT, "times(A_1, b_2) + b_1"),
    "other_b_multiplied~by_second": ("", CONSTANT, "times(A_2, b_2) + b_1"),
    "b_by_own_factor": (PLACE, CONSTANT, "times(A_1, b_1) + b_2"),
    "b_by_both_factors": (PLACE, CONSTANT, "times(A, b_1) + b_2"),
    "b_by_both_factors~second_by_own": ("", CONSTANT, "times(A, b_1) + times(A_2, b_2)"),
    "both_b_multiplied": (PLACE, CONSTANT, "times(A_2, b_1 + b_2)"),
    "both_b_multiplied~each_by_own": ("", CONSTANT, "times(A_1, b_1) + times(A_2, b_2)"),
    "b_not_multiplied": (PLACE, CONSTANT, "b_1 + b_2"),
    "first_b_lost": (PLACE, CONSTANT, "b_2"),
    "second_b_lost": (PLACE, CONSTANT, "times(A_2, b_1)"),
    "b_by_transposed_factor": (PLACE, CONSTANT, "times(A_2.transpose(-2, -1), b_1) + b_2"),
    "b_subtracted": (PLACE, CONSTANT, "times(A_2, b_1) - b_2"),
    "factors_added": (PLACE, FACTOR, "A_1 + A_2"),
    "factors_number_by_number": (ORDER, FACTOR, "A_1 * A_2"),
    "factors_number_by_number~b_as_well": ("", FACTOR, "A_1 * A_2", CONSTANT, "A_2 * b_1 + b_2"),
    "first_factor_lost": (PLACE, FACTOR, "A_2"),
    "second_factor_lost": (PLACE, FACTOR, "A_1"),
    "b_returned_first": (PLACE, "return A, b", "return b, A"),
}


def truth(A_1, b_1, A_2, b_2):
    """Return the step whose results for h = 0 and for each unit vector are those of both steps."""

    def both(h):
        h = (A_1 * h[:, None]).sum(-1) + b_1
        return (A_2 * h[:, None]).sum(-1) + b_2

    units = torch.eye(b_1.size(1), dtype=b_1.dtype)
    constant = both(torch.zeros_like(b_1))
    columns = [both(unit.expand_as(b_1)) - constant for unit in units]
    return torch.stack(columns, dim=-1), constant


def probes(draw):
    def probe(name, draw, batch, size):
        shapes = {"A_1": (size, size), "b_1": (size,), "A_2": (size, size), "b_2": (size,)}
        tensors = {name: draw(batch, *shape) for name, shape in shapes.items()}
        while size > 1 and torch.equal(tensors["A_2"], tensors["A_2"].mT):  # its columns would be its rows
            tensors["A_2"] = draw(batch, size, size)
        return Probe(name, tensors, gradients=tuple(tensors))

    return [
        probe("one_number", draw.few, 1, 1),
        probe("batch_1", draw.few, 1, 2),
        probe("several", draw, 2, 4),
        # a size of 1 in a batch: `squeeze()` without an axis drops it
        probe("several", draw, 3, 1),
        # as many sequences as numbers in a state: to mistake one for the other raises no error
        probe("several", draw, 3, 3),
    ]


QUESTION = generate_question(
    combine_steps_reference,
    MISTAKES,
    variants={
        "states_are_columns": (),
        "states_are_rows": ("second @ first", "first @ second", '"nij,nj->ni"', '"nij,ni->nj"'),
    },
    truth=truth,
    by_torch=False,
    name="combine_steps",
    assignment="recurrence_today",
    task=1,
    points=2,
    place=PLACE,
    call=Function(("A_1", "b_1", "A_2", "b_2"), ("A", "b")),
    probes=probes,
    axes={
        **dict.fromkeys(("A", "A_1", "A_2"), ("sequence", "row", "column")),
        **dict.fromkeys(("b", "b_1", "b_2"), ("sequence", "feature")),
    },
)
