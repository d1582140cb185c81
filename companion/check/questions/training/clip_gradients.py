"""Question `clip_gradients`: scale all gradients in place if their joint norm is too large."""

import torch

from companion.check.engine.probe import Probe, Unfit, form, values
from companion.check.engine.question_from_edits import generate_question
from companion.check.questions.training import number_of

NORM = "torch.stack([g.norm() for g in gradients]).norm()"
SCALE = "g.mul_(max_norm / norm)"
LOOP = f"if norm > max_norm:\n        for g in gradients:\n            {SCALE}"


def clip_reference(gradients, max_norm):
    norm = torch.stack([g.norm() for g in gradients]).norm()
    if norm > max_norm:
        for g in gradients:
            g.mul_(max_norm / norm)
    return norm


ALONE = "for g in gradients:\n        g.mul_(min(1.0, max_norm / float(g.norm())))"
MISTAKES = {
    "gradients_unchanged": ("vanishing#clipping", SCALE, "g = g * (max_norm / norm)"),
    "each_gradient_clipped_alone": ("vanishing#clipping", LOOP, ALONE),
    "each_gradient_clipped_alone~last": ("", LOOP, ALONE, NORM, "gradients[-1].norm()"),
    "clipped_by_value": (
        "vanishing#norm-or-value-said", LOOP, "for g in gradients:\n        g.clamp_(-max_norm, max_norm)",
    ),
    "short_gradients_lengthened": ("vanishing#clipping", "if norm > max_norm:", "if True:"),
    "clipped_when_short": ("vanishing#clipping", "norm > max_norm", "norm < max_norm"),
    "factor_inverted": ("vanishing#clipping", "max_norm / norm)", "norm / max_norm)"),
    "shortened_to_one": ("vanishing#clipping", "max_norm / norm)", "1 / norm)"),
    "root_missing": ("vanishing#clipping", NORM, "sum((g**2).sum() for g in gradients)"),
    "norms_added": ("vanishing#clipping", NORM, "sum(g.norm() for g in gradients)"),
    "largest_norm_taken": ("vanishing#clipping", NORM, "max(g.norm() for g in gradients)"),
    "norms_averaged": ("vanishing#clipping", NORM, "torch.stack([g.norm() for g in gradients]).mean()"),
    "norm_of_means": (
        "vanishing#clipping", NORM, "torch.cat([g.flatten() for g in gradients]).square().mean().sqrt()",
    ),
    "absolute_values_added": ("vanishing#clipping", NORM, "sum(g.abs().sum() for g in gradients)"),
    "largest_number_taken": ("vanishing#clipping", NORM, "max(g.abs().max() for g in gradients)"),
    "norm_of_last_only": ("vanishing#clipping", NORM, "gradients[-1].norm()"),
    "norm_of_first_only": ("vanishing#clipping", NORM, "gradients[0].norm()"),
    "norm_measured_again": (
        "vanishing#clipping", SCALE, "g.mul_(max_norm / torch.stack([one.norm() for one in gradients]).norm())",
    ),
    "gradients_dropped": ("vanishing#clipping", SCALE, "g.zero_()"),
    "return_in_the_loop": ("vanishing#clipping", SCALE, SCALE + "\n            return norm"),
    "norm_after_clipping": ("vanishing#clipping", "return norm", "return min(norm, max_norm)"),
    "factor_returned": ("vanishing#clipping", "return norm", "return min(1.0, max_norm / norm)"),
}  # fmt: skip


def call(answer, probe, outcome):
    """Call the answer, which may return the norm as a float or a tensor of one number."""
    gradients = [tensor.clone() for tensor in probe.tensors.values()]
    passed = [*gradients]  # a copy: the answer may change the list itself
    returned = answer(passed, probe.options["max_norm"])
    clipped = values({f"gradients[{number}]": gradient for number, gradient in enumerate(gradients)})
    if returned is None:
        raise Unfit("returns_none", clipped, name="norm")
    if (norm := number_of(returned)) is None:
        raise Unfit("wrong_form", clipped, name="norm", got=form(returned))
    outcome.values |= {"norm": torch.tensor(norm)} | clipped


def truth(gradients, max_norm):
    parameters = [torch.nn.Parameter(g.clone()) for g in gradients]
    for parameter, g in zip(parameters, gradients):
        parameter.grad = g
    return torch.nn.utils.clip_grad_norm_(parameters, max_norm)


def probes(draw):
    def probe(name, draw, share, *shapes):
        gradients = {f"g_{number}": draw(*shape) for number, shape in enumerate(shapes)}
        norm = sum(float((g**2).sum()) for g in gradients.values()) ** 0.5
        return Probe(name, gradients, {"max_norm": round(share * norm, 2)}, gradients=None)

    return [
        probe("long_gradients", draw.few, 0.4, (1,), (2,)),
        probe("short_gradients", draw.few, 1.7, (2,), (1, 2)),
        # the joint norm is too large, and no single one
        probe("long_gradients", draw, 0.95, (3, 2), (4,), (2, 3)),
        probe("long_gradients", draw, 0.1, (2, 2), (5,), (3, 4), (3,)),
    ]


QUESTION = generate_question(
    clip_reference,
    MISTAKES,
    truth=truth,
    name="clip_gradients",
    assignment="training",
    task=2,
    points=2,
    place="vanishing#clipping",
    call=call,
    probes=probes,
)
