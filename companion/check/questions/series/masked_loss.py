"""Question `masked_loss`: the mean squared error without padding. Variants: what has the same weight."""

import torch

from companion.check.engine.probe import Probe
from companion.check.engine.question_from_edits import generate_question
from companion.check.engine.run_answer import Function


def masked_loss_reference(forecasts, targets, lengths):
    steps = torch.arange(len(forecasts))[:, None]
    mask = steps < lengths
    errors = (forecasts - targets) ** 2
    kept = errors * mask
    total = kept.sum()
    count = mask.sum()
    loss = (total / count).mean()
    return loss


HERE, MASK = "sequences#loss-said", "sequences#masks"
INSIDE, ERRORS, KEPT, LOSS = (
    "steps < lengths",
    "(forecasts - targets) ** 2",
    "kept = errors * mask",
    "(total / count).mean()",
)
MISTAKES = {
    "padding_in_loss": (HERE, INSIDE, "steps < lengths + len(steps)"),
    "padding_in_sum": (MASK, KEPT, "kept = errors"),
    "padding_in_divisor": (MASK, LOSS, "kept.mean()"),
    "padding_alone_in_loss": (MASK, INSIDE, "steps >= lengths"),
    "loss_not_divided": (HERE, LOSS, "kept.sum()"),
    "loss_divided_by_sequences": (HERE, LOSS, "kept.sum() / len(lengths)"),
    "loss_divided_by_steps": (HERE, LOSS, "kept.sum() / len(forecasts)"),
    "sequence_means_added": (HERE, LOSS, "(kept.sum(0) / mask.sum(0)).sum()"),
    "steps_weigh_alike": (HERE, LOSS, "(kept.sum(1) / mask.sum(1)).mean()"),
    "return_in_the_loop": (HERE, LOSS, "kept[:, 0].sum() / lengths[0]"),
    "one_side_masked": (MASK, ERRORS, "(forecasts * mask - targets) ** 2", KEPT, "kept = errors"),
    "one_side_masked~targets": ("", ERRORS, "(forecasts - targets * mask) ** 2", KEPT, "kept = errors"),
    "one_side_masked~mean": ("", ERRORS, "(forecasts * mask - targets) ** 2", LOSS, "errors.mean()"),
    "one_side_masked~targets_mean": ("", ERRORS, "(forecasts - targets * mask) ** 2", LOSS, "errors.mean()"),
    "mask_batch_first": (MASK, INSIDE, "steps.T < lengths[:, None]"),
    "mask_batch_first~index": (
        "", INSIDE, "steps.T < lengths[:, None]", KEPT, "kept = 0 * errors\n    kept[mask] = errors[mask]"),
    "one_step_too_many": (MASK, INSIDE, "steps <= lengths"),
    "one_step_too_many~sum": ("", KEPT, "kept = errors * (steps <= lengths)"),
    "one_step_too_few": (MASK, INSIDE, "steps < lengths - 1"),
    "one_step_too_few~sum": ("", KEPT, "kept = errors * (steps < lengths - 1)"),
    "cut_to_shortest": (MASK, INSIDE, "steps < lengths.min().expand(len(lengths))"),
    "padding_expected_first": (MASK, INSIDE, "steps >= len(steps) - lengths"),
    "last_elements_only": (HERE, INSIDE, "steps == lengths - 1"),
    "absolute_error_for_squared": ("series#loop", ERRORS, "(forecasts - targets).abs()"),
    "error_not_squared": ("series#loop", ERRORS, "forecasts - targets"),
    "root_of_squared_error": ("series#loop", LOSS, "(total / count).mean().sqrt()"),
    "loss_halved": ("series#loop", LOSS, "(total / count).mean() / 2"),
    "sum_before_square": ("series#loop", ERRORS, "forecasts - targets", LOSS, "((total / count) ** 2).mean()"),
}  # fmt: skip


def truth(forecasts, targets, lengths):
    pairs = zip(forecasts.unbind(1), targets.unbind(1), lengths.tolist())
    return torch.cat([(guess[:n] - right[:n]).square() for guess, right, n in pairs]).mean()


def probes(draw):
    def probe(name, draw, *lengths):
        shape = max(lengths), len(lengths)
        tensors = {"forecasts": draw(*shape), "targets": draw(*shape), "lengths": torch.tensor(lengths)}
        return Probe(name, tensors, gradients=("forecasts",))

    return [
        probe("two_sequences", draw.few, 3, 1),
        probe("equal_lengths", draw, 2, 2, 2, 2),
        # as many steps as sequences: a mask with its axes exchanged raises no error
        probe("several", draw, 1, 3, 2),
        probe("several", draw, 5, 2, 4),
    ]


QUESTION = generate_question(
    masked_loss_reference,
    MISTAKES,
    variants={
        "loss_places_weigh_alike": (),
        "loss_sequences_weigh_alike": ("kept.sum()", "kept.sum(0)", "mask.sum()", "mask.sum(0)"),
    },
    truth=truth,
    by_torch=False,
    name="masked_loss",
    assignment="series",
    task=2,
    points=2,
    place=HERE,
    call=Function(("forecasts", "targets", "lengths"), "loss"),
    probes=probes,
    axes=dict.fromkeys(("forecasts", "targets"), ("step", "batch")) | {"lengths": ("batch",)},
)
