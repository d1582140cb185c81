"""Question `attend`: scaled dot product attention with a mask. Variants: the result of a query with no allowed key."""

import math

import torch

from companion.check.engine.library_layers import ATTENTION
from companion.check.engine.probe import Probe
from companion.check.engine.question_from_edits import generate_question
from companion.check.engine.run_answer import Function
from companion.check.questions.attention import masked


def attend_reference(query, key, value, mask):
    size, fill = query.size(-1), 0.0
    scores = query @ key.transpose(-2, -1) / math.sqrt(size)
    hidden = ~mask
    nowhere = hidden.all(dim=-1, keepdim=True)
    scores = scores.masked_fill(hidden, -torch.inf).masked_fill(nowhere, 0)
    weights = torch.softmax(scores, dim=-1)
    weights = weights.masked_fill(nowhere, fill)
    mixture = weights @ value
    return mixture, weights


SOFT, SCALE, MASK = "attention#soft", "attention#scale-said", "attention#mask"
ROOT, SOFTMAX, RESULT = "/ math.sqrt(size)", "torch.softmax(scores, dim=-1)", "return mixture, weights"
HIDE, FILL = "masked_fill(hidden, -torch.inf)", "weights.masked_fill(nowhere, fill)"
NO_SCORE, ADDED = ".masked_fill(nowhere, 0)", "scores + torch.zeros_like(scores).masked_fill(hidden, -torch.inf)"
RAW = "(query @ key.transpose(-2, -1) / math.sqrt(size))"
ZEROS = ("query.size(-1), 0.0",) * 2  # replaces a text by itself, so that this mistake exists in this variant only
MISTAKES = {
    "scale_missing": (SCALE, ROOT, ""),
    "scale_without_root": (SCALE, ROOT, "/ size"),
    "scale_multiplied": (SCALE, ROOT, "* math.sqrt(size)"),
    "scaled_by_number_of_keys": (SCALE, ROOT, "/ math.sqrt(key.size(1))"),
    "scaled_by_number_of_queries": (SCALE, ROOT, "/ math.sqrt(query.size(1))"),
    "scaled_by_value_size": (SCALE, ROOT, "/ math.sqrt(value.size(-1))"),
    "scaled_after_softmax": (SCALE, ROOT, "", FILL, f"{FILL} / math.sqrt(size)"),
    "softmax_over_queries": (SOFT, SOFTMAX, "torch.softmax(scores, dim=-2)"),
    "softmax_over_queries~nan": ("", SOFTMAX, "torch.softmax(scores, dim=-2)", NO_SCORE, ""),
    "softmax_over_queries~nan_to_num": ("", SOFTMAX, "torch.softmax(scores, dim=-2).nan_to_num(0)", NO_SCORE, ""),
    "softmax_over_queries~nan_left": ("", SOFTMAX, "torch.softmax(scores, dim=-2)", NO_SCORE, "", FILL, "weights"),
    "softmax_over_queries~finite": (
        "", SOFTMAX, "torch.softmax(scores, dim=-2)", HIDE + NO_SCORE, "masked_fill(hidden, -1e9)", FILL, "weights",
    ),
    "softmax_over_batch": (SOFT, SOFTMAX, "torch.softmax(scores, dim=0)"),
    "softmax_over_batch~nan": ("", SOFTMAX, "torch.softmax(scores, dim=0)", NO_SCORE, ""),
    "softmax_over_batch~nan_left": ("", SOFTMAX, "torch.softmax(scores, dim=0)", NO_SCORE, "", FILL, "weights"),
    "softmax_missing": (SOFT, SOFTMAX, "scores.masked_fill(hidden, 0)"),
    "mask_inverted": ("attention#two-conventions", "hidden = ~mask", "hidden = mask"),
    "mask_inverted~nan": ("", HIDE, "masked_fill(mask, -torch.inf)"),
    "mask_ignored": (MASK, HIDE, "clone()"),
    "mask_ignored~everywhere": ("", "hidden = ~mask", "hidden = ~mask & False"),
    "hidden_scores_zero": (MASK, HIDE, "masked_fill(hidden, 0)"),
    "hidden_scores_zero~also_in_hidden_rows": ("", HIDE, "masked_fill(hidden, 0)", FILL, "weights", *ZEROS),
    "hidden_after_softmax": (MASK, HIDE + NO_SCORE, "clone()", SOFTMAX, f"{SOFTMAX}.masked_fill(hidden, 0)"),
    "hidden_row_looks": (MASK, HIDE + NO_SCORE, "masked_fill(hidden & ~nowhere, -torch.inf)", FILL, "weights"),
    "hidden_row_not_a_number": (MASK, NO_SCORE, "", FILL, "weights"),
    "hidden_row_not_a_number~added": ("", f"scores.{HIDE}{NO_SCORE}", ADDED, FILL, "weights"),
    "hidden_row_not_a_number~weights": ("", NO_SCORE, "", FILL, "weights", "weights @ value", f"{FILL} @ value"),
    "hidden_row_gradient_not_a_number": (MASK, f"scores.{HIDE}{NO_SCORE}", ADDED),
    "hidden_row_weights_left": (MASK, FILL, "weights", "weights @ value", f"{FILL} @ value", *ZEROS),
    "causal_on_top": ("transformer#block", "hidden = ~mask", "hidden = ~mask | torch.ones_like(mask).triu(1)"),
    "mask_transposed": (SOFT, "hidden = ~mask", "hidden = ~mask.transpose(1, 2)"),
    "keys_reshaped": (SOFT, "query @ key.transpose(-2, -1)", "query @ key.reshape(len(key), size, -1)"),
    "keys_mixed_for_values": ("attention#five-words", "weights @ value", "weights @ key"),
    "scores_returned_for_weights": ("attention#softmax", RESULT, "return mixture, scores"),
    "scores_returned_for_weights~unmasked": ("", RESULT, f"return mixture, {RAW}"),
    "scores_returned_for_weights~masked": ("", RESULT, f"return mixture, {RAW}.{HIDE}"),
    "weights_returned_first": (SOFT, RESULT, "return weights, mixture"),
    "weights_not_returned": (SOFT, RESULT, "return mixture"),
}  # fmt: skip


def truth(query, key, value, mask):
    nowhere = ~mask.any(dim=-1, keepdim=True)
    weights = []
    for T in range(query.size(1)):
        scores = (query[:, T, None] * key).sum(dim=-1) * query.size(-1) ** -0.5
        # adds the logarithm of the mask, 0 or -inf; only 0 where all keys are hidden
        scores = scores + (mask[:, T] | nowhere[:, T]).log()
        weights.append((scores - scores.logsumexp(dim=-1, keepdim=True)).exp() * ~nowhere[:, T])
    mixture = torch.nn.functional.scaled_dot_product_attention(query, key, value, mask)
    return mixture, torch.stack(weights, dim=1)


def probes(draw):
    def probe(name, draw, *sizes, visible=False, nowhere=False):
        N, T, S, d, size = sizes
        mask = masked(draw, N, T, S) | visible
        if nowhere:
            mask[0, 0], mask[-1, -1] = False, False
        tensors = {"query": draw(N, T, d), "key": draw(N, S, d), "value": draw(N, S, size)}
        return Probe(name, tensors | {"mask": mask}, gradients=tuple(tensors))

    return [
        probe("batch_1", draw.few, 1, 1, 2, 2, 1, visible=True),
        probe("batch_1", draw.few, 1, 3, 2, 4, 1),
        probe("nothing_hidden", draw, 2, 3, 4, 5, 3, visible=True),
        probe("several", draw, 2, 3, 5, 6, 4),
        # as many queries as keys: mistaking one for the other raises no error
        probe("several", draw, 3, 4, 4, 2, 3),
        probe("some_rows_hidden", draw, 2, 4, 3, 3, 5, nowhere=True),
    ]


QUESTION = generate_question(
    attend_reference,
    MISTAKES,
    variants={"hidden_row_zeros": (), "hidden_row_mean": ("query.size(-1), 0.0", "query.size(-1), 1 / key.size(1)")},
    truth=truth,
    name="attend",
    assignment="attention",
    task=2,
    points=2,
    place=SOFT,
    call=Function(("query", "key", "value", "mask"), ("mixture", "weights")),
    probes=probes,
    axes={
        **dict.fromkeys(("mixture", "query"), ("sequence", "query", "feature")),
        **dict.fromkeys(("key", "value"), ("sequence", "key", "feature")),
        "weights": ("sequence", "query", "key"),
    },
    forbidden=ATTENTION,
)
