"""Question `perplexity`: the perplexity over the targets at which `mask` is True."""

import math

import torch

from companion.check.engine.probe import Probe, Unfit, kind
from companion.check.engine.question_from_edits import generate_question
from companion.check.engine.run_answer import inputs_of, note_changes, seed


def call(answer, probe, outcome):
    """Call an answer, which may return a number of Python or a tensor of one number."""
    tensors = inputs_of(probe, ())
    passed = {name: tensor.clone() for name, tensor in tensors.items()}
    seed()
    returned = answer(*(passed[name] for name in ("logits", "targets", "mask")))
    if returned is None:
        raise Unfit("returns_none", name="perplexity")
    if (
        isinstance(returned, str)
        or not isinstance(returned, int | float | torch.Tensor)
        and not hasattr(returned, "__float__")
    ):
        raise Unfit("not_a_tensor", name="perplexity", got=kind(returned))
    result = (returned.detach() if isinstance(returned, torch.Tensor) else torch.tensor(float(returned))).double()
    outcome.values["perplexity"] = result.reshape(()) if result.numel() == 1 else result
    note_changes(tensors, passed, outcome)


def perplexity_reference(logits, targets, mask):
    log_p = torch.log_softmax(logits, dim=-1)
    surprise = -log_p.gather(-1, targets.unsqueeze(-1)).squeeze(-1)
    counted = surprise[mask]
    mean = counted.mean()
    return torch.exp(mean)


PLACE, LOSS = "surprise#perplexity", "surprise#loss"
MISTAKES = {
    "exp_missing": (PLACE, "torch.exp(mean)", "mean"),
    "base_two": (PLACE, "torch.exp(mean)", "2**mean"),
    "bits_returned": (PLACE, "torch.exp(mean)", "mean / math.log(2)"),
    "padding_counted": (PLACE, "surprise[mask]", "surprise.flatten()"),
    "masked_count_as_zero": (PLACE, "surprise[mask]", "surprise * mask"),
    "padding_alone_counted": (PLACE, "surprise[mask]", "surprise[~mask]"),
    "mean_of_exponentials": (PLACE, "torch.exp(mean)", "torch.exp(counted).mean()"),
    "mean_of_rows": (PLACE, "counted.mean()",
    "torch.stack([one[here].mean() for one, here in zip(surprise, mask)]).mean()"),
    "mean_of_rows~perplexities": (
        "", "torch.exp(mean)", "torch.stack([one[here].mean().exp() for one, here in zip(surprise, mask)]).mean()"),
    "sum_for_mean": (PLACE, "counted.mean()", "counted.sum()"),
    "sum_over_rows": (PLACE, "counted.mean()", "counted.sum() / len(targets)"),
    "sum_over_steps": (PLACE, "counted.mean()", "counted.sum() / targets.shape[1]"),
    "logits_for_log_probabilities": (LOSS, "torch.log_softmax(logits, dim=-1)", "logits"),
    "softmax_twice": (LOSS, "torch.log_softmax(logits, dim=-1)",
    "torch.log_softmax(torch.softmax(logits, dim=-1), dim=-1)"),
    "log_missing": (LOSS, "torch.log_softmax(logits, dim=-1)", "torch.softmax(logits, dim=-1)"),
    "axes_not_swapped": (
        LOSS, "torch.log_softmax(logits, dim=-1)",
        "torch.log_softmax(logits.reshape(len(logits), logits.shape[2], logits.shape[1]).mT, dim=-1)"),
    "index_0_not_counted": (PLACE, "surprise[mask]", "surprise[mask & (targets > 0)]"),
    "softmax_over_steps": (LOSS, "torch.log_softmax(logits, dim=-1)", "torch.log_softmax(logits, dim=1)"),
    "softmax_over_rows": (LOSS, "torch.log_softmax(logits, dim=-1)", "torch.log_softmax(logits, dim=0)"),
    "sign_missing": (LOSS, "-log_p.gather", "log_p.gather"),
    "surprise_of_likeliest": (PLACE, "targets.unsqueeze(-1)", "log_p.argmax(-1, keepdim=True)"),
    "targets_shifted_again": (
        "training#targets", "surprise[mask]", "surprise[mask & (torch.arange(mask.shape[1]) < mask.shape[1] - 1)]",
        "log_p.gather(-1, targets.unsqueeze(-1))", "log_p.gather(-1, targets.roll(-1, 1).unsqueeze(-1))"),
    "last_step_only": (LOSS, "surprise[mask]", "surprise[:, -1][mask[:, -1]]"),
    "first_row_only": (PLACE, "surprise[mask]", "surprise[0][mask[0]]"),
    "divided_by_vocabulary": (PLACE, "torch.exp(mean)", "torch.exp(mean) / logits.shape[-1]"),
}  # fmt: skip


def truth(logits, targets, mask):
    logs = []
    for row, aims, row_mask in zip(logits.tolist(), targets.tolist(), mask.tolist()):
        for scores, aim, counts in zip(row, aims, row_mask):
            logs += [math.log(sum(map(math.exp, scores))) - scores[aim]] if counts else []
    return math.exp(sum(logs) / len(logs))


def probes(draw):
    def probe(name, numbers, rows, steps, vocabulary, lengths, scale=2):
        mask = torch.arange(steps) < torch.tensor(lengths)[:, None]
        tensors = {
            "logits": scale * numbers(rows, steps, vocabulary),
            "targets": draw.whole(vocabulary, rows, steps),
            "mask": mask,
        }
        return Probe(name, tensors, gradients=None)

    return [
        probe("several", draw.few, 2, 3, 2, (3, 1)),
        probe("nothing_masked", draw, 3, 2, 4, (2, 2, 2)),
        probe("several", draw, 3, 5, 4, (2, 5, 3), scale=6),
    ]


QUESTION = generate_question(
    perplexity_reference, MISTAKES, truth=truth, by_torch=False, name="perplexity", assignment="language_model", task=1,
    points=2,
    place=PLACE, call=call, probes=probes, axes={"logits": ("batch", "step", "entry")},
)  # fmt: skip
