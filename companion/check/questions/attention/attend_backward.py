"""Question `attend_backward`: the gradients of attention by hand, through weighted sum, softmax and scores."""

import math

import torch

from companion.check.engine.library_layers import ATTENTION, AUTOGRAD
from companion.check.engine.probe import Probe
from companion.check.engine.question_from_edits import generate_question
from companion.check.engine.run_answer import Function
from companion.check.questions.attention import masked


def attend_backward_reference(query, key, value, mask, grad_mixture):
    scale = 1 / math.sqrt(query.size(-1))
    scores = query @ key.transpose(-2, -1) * scale
    weights = torch.softmax(scores.masked_fill(~mask, -torch.inf), dim=-1)
    grad_value = weights.transpose(-2, -1) @ grad_mixture
    grad_weights = grad_mixture @ value.transpose(-2, -1)
    mean = (weights * grad_weights).sum(dim=-1, keepdim=True)
    grad_scores = weights * (grad_weights - mean)
    grad_query = grad_scores @ key * scale
    grad_key = grad_scores.transpose(-2, -1) @ query * scale
    return grad_query, grad_key, grad_value


SOFT, SCALE = "attention#soft", "attention#scale-said"
SLOPE = "weights * (grad_weights - mean)"
MEAN = "(weights * grad_weights).sum(dim=-1, keepdim=True)"
BY_Q = "grad_scores @ key * scale"
BY_K = "grad_scores.transpose(-2, -1) @ query * scale"
BY_V = "weights.transpose(-2, -1) @ grad_mixture"
RESULT = "return grad_query, grad_key, grad_value"
MISTAKES = {
    "softmax_slope_missing": (SOFT, SLOPE, "grad_weights"),
    "softmax_slope_missing~visible": ("", SLOPE, "grad_weights * mask"),
    "softmax_mean_missing": (SOFT, SLOPE, "weights * grad_weights"),
    "softmax_slope_of_each_alone": (SOFT, SLOPE, "weights * (1 - weights) * grad_weights"),
    "softmax_mean_without_weights": (SOFT, MEAN, "grad_weights.mean(dim=-1, keepdim=True)"),
    "softmax_mean_without_weights~sum": ("", MEAN, "grad_weights.sum(dim=-1, keepdim=True)"),
    "softmax_mean_over_queries": (SOFT, MEAN, "(weights * grad_weights).sum(dim=-2, keepdim=True)"),
    "softmax_weights_missing": (SOFT, SLOPE, "grad_weights - mean"),
    "softmax_weights_missing~visible": ("", SLOPE, "(grad_weights - mean) * mask"),
    "scale_missing": (SCALE, "1 / math.sqrt(query.size(-1))", "1.0"),
    "scale_missing_on_way_back": (SCALE, BY_Q, "grad_scores @ key", BY_K, "grad_scores.transpose(-2, -1) @ query"),
    "scale_missing_on_way_back~query": ("", BY_Q, "grad_scores @ key"),
    "scale_missing_on_way_back~key": ("", BY_K, "grad_scores.transpose(-2, -1) @ query"),
    "scale_twice_on_way_back": (SCALE, SLOPE, f"{SLOPE} * scale"),
    "mask_ignored": ("attention#mask", ".masked_fill(~mask, -torch.inf)", ""),
    "mask_inverted": ("attention#two-conventions", "~mask", "mask"),
    "hidden_scores_zero": ("attention#mask", "-torch.inf", "0"),
    "softmax_over_queries": (SOFT, "-torch.inf), dim=-1)", "-torch.inf), dim=-2)"),
    "weights_not_transposed_on_way_back": (SOFT, BY_V, "weights @ grad_mixture"),
    "scores_not_transposed_on_way_back": (SOFT, BY_K, "grad_scores @ query * scale"),
    "query_for_key_on_way_back": (
        SOFT, BY_Q, "grad_scores @ query * scale", BY_K, "grad_scores.transpose(-2, -1) @ key * scale",
    ),
    "scores_for_weights_on_way_back": (SOFT, BY_V, "scores.transpose(-2, -1) @ grad_mixture"),
    "scores_for_weights_on_way_back~visible": ("", BY_V, "(scores * mask).transpose(-2, -1) @ grad_mixture"),
    "grad_mixture_ignored": (
        SOFT, "grad_mixture @ value", "torch.ones_like(grad_mixture) @ value", BY_V,
        "weights.transpose(-2, -1) @ torch.ones_like(grad_mixture)",
    ),
    "value_gradient_without_weights": (SOFT, BY_V, "mask.transpose(-2, -1).to(value.dtype) @ grad_mixture"),
    "gradient_negated": (SOFT, RESULT, "return -grad_query, -grad_key, -grad_value"),
    "sequences_averaged": (
        SOFT, RESULT, "return grad_query / len(query), grad_key / len(query), grad_value / len(query)",
    ),
    "gradients_of_key_and_value_exchanged": (SOFT, RESULT, "return grad_query, grad_value, grad_key"),
    "gradients_of_query_and_key_exchanged": (SOFT, RESULT, "return grad_key, grad_query, grad_value"),
}  # fmt: skip


def truth(query, key, value, mask, grad_mixture):
    with torch.enable_grad():
        inputs = [tensor.detach().requires_grad_() for tensor in (query, key, value)]
        mixture = torch.nn.functional.scaled_dot_product_attention(*inputs, mask)
        return torch.autograd.grad(mixture, inputs, grad_mixture)


def probes(draw):
    def probe(name, draw, *sizes, visible=False):
        N, T, S, d, size = sizes
        tensors = {"query": draw(N, T, d), "key": draw(N, S, d), "value": draw(N, S, size)}
        mask = {"mask": masked(draw, N, T, S) | visible}
        return Probe(name, tensors | mask | {"grad_mixture": draw(N, T, size)}, gradients=None)

    return [
        probe("batch_1", draw.few, 1, 2, 3, 2, 1, visible=True),
        probe("nothing_hidden", draw, 2, 3, 4, 5, 3, visible=True),
        probe("several", draw, 2, 3, 5, 6, 4),
        # equal sizes: mistaking one for another raises no error
        probe("several", draw, 3, 4, 4, 2, 2),
    ]


QUESTION = generate_question(
    attend_backward_reference,
    MISTAKES,
    truth=truth,
    name="attend_backward",
    assignment="attention",
    task=5,
    points=3,
    place=SOFT,
    call=Function(("query", "key", "value", "mask", "grad_mixture"), ("grad_query", "grad_key", "grad_value")),
    probes=probes,
    axes={
        "grad_query": ("sequence", "query", "feature"),
        **dict.fromkeys(("grad_key", "grad_value"), ("sequence", "key", "feature")),
    },
    forbidden=ATTENTION | AUTOGRAD,
    stretch=True,
)
