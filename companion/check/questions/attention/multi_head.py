"""Question `multi_head`: several heads, as in nn.MultiheadAttention. Variants: weights averaged over heads or not."""

import math

import torch

from companion.check.engine.library_layers import ATTENTION
from companion.check.engine.probe import Probe
from companion.check.engine.question_from_edits import generate_question
from companion.check.engine.run_answer import Function
from companion.check.questions.attention import masked

WEIGHTS = ("in_proj_weight", "in_proj_bias", "out_proj_weight", "out_proj_bias")


def multi_head_reference(query, key, value, mask, heads, in_proj_weight, in_proj_bias, out_proj_weight, out_proj_bias):
    size = query.size(-1) // heads
    w_q, w_k, w_v = in_proj_weight.chunk(3)
    b_q, b_k, b_v = in_proj_bias.chunk(3)
    q = query @ w_q.T + b_q
    k = key @ w_k.T + b_k
    v = value @ w_v.T + b_v
    q, k, v = (x.unflatten(-1, (heads, size)).transpose(1, 2) for x in (q, k, v))
    hidden = ~mask[:, None]
    scores = q @ k.transpose(-2, -1) / math.sqrt(size)
    scores = scores.masked_fill(hidden, -torch.inf)
    weights = torch.softmax(scores, dim=-1)
    mixture = weights @ v
    joined = mixture.transpose(1, 2).flatten(2)
    output = joined @ out_proj_weight.T + out_proj_bias
    looks = weights
    return output, looks


HEADS, SCALE, MASK = "attention#heads", "attention#scale-said", "attention#mask"
ROOT = "/ math.sqrt(size)"
SOFTMAX = "torch.softmax(scores, dim=-1)"
RESULT = "return output, looks"
OUT = "joined @ out_proj_weight.T"
HIDE = "masked_fill(hidden, -torch.inf)"
SPLIT = "x.unflatten(-1, (heads, size)).transpose(1, 2)"
JOIN = "mixture.transpose(1, 2).flatten(2)"
W, B = "w_q, w_k, w_v = in", "b_q, b_k, b_v = in"


def exchanged(order):
    """Return the changes that take the rows in another order."""
    return W, ", ".join(f"w_{part}" for part in order) + " = in", B, ", ".join(f"b_{part}" for part in order) + " = in"


def by_head(name, shape):
    """Return the changes that take each head's q, k and v from one block of rows."""
    return f"{name}.unflatten(0, (heads, 3, size)).transpose(0, 1).reshape(3, {shape})"


MISTAKES = {
    "scaled_by_whole_size": (SCALE, ROOT, "/ math.sqrt(size * heads)"),
    "scale_missing": (SCALE, ROOT, ""),
    "scale_without_root": (SCALE, ROOT, "/ size"),
    "scale_multiplied": (SCALE, ROOT, "* math.sqrt(size)"),
    "scaled_by_number_of_heads": (SCALE, ROOT, "/ math.sqrt(heads)"),
    "softmax_over_queries": (HEADS, SOFTMAX, "torch.softmax(scores, dim=-2)"),
    "softmax_over_heads": (HEADS, SOFTMAX, "torch.softmax(scores, dim=1)"),
    "mask_inverted": ("attention#two-conventions", "hidden = ~mask", "hidden = mask"),
    "mask_ignored": (MASK, HIDE, "clone()"),
    "mask_on_heads": (MASK, "~mask[:, None]", "~mask"),
    "hidden_scores_zero": (MASK, HIDE, "masked_fill(hidden, 0)"),
    "hidden_after_softmax": (MASK, HIDE, "clone()", SOFTMAX, f"{SOFTMAX}.masked_fill(hidden, 0)"),
    "one_head": (HEADS, "size = query.size(-1) // heads", "heads, size = 1, query.size(-1)"),
    "heads_cut_by_view": (HEADS, SPLIT, "x.reshape(len(x), heads, -1, size)"),
    "heads_cut_by_view~and_joined": (
        "", SPLIT, "x.reshape(len(x), heads, -1, size)", JOIN, "mixture.reshape(query.shape)",
    ),
    "heads_joined_by_view": (HEADS, JOIN, "mixture.reshape(query.shape)"),
    "heads_interleaved": (HEADS, SPLIT, "x.unflatten(-1, (size, heads)).movedim(-1, 1)"),
    "heads_interleaved~and_joined": (
        "", SPLIT, "x.unflatten(-1, (size, heads)).movedim(-1, 1)", JOIN, "mixture.movedim(1, -1).flatten(2)",
    ),
    "heads_joined_backwards": (HEADS, JOIN, "mixture.transpose(1, 2).flip(2).flatten(2)"),
    "heads_joined_interleaved": (HEADS, JOIN, "mixture.movedim(1, -1).flatten(2)"),
    "projection_rows_exchanged": ("attention#heads-by-hand", *exchanged("kqv")),
    "projection_rows_exchanged~q_v": ("", *exchanged("vkq")),
    "projection_rows_exchanged~k_v": ("", *exchanged("qvk")),
    "projection_rows_exchanged~k_v_q": ("", *exchanged("kvq")),
    "projection_rows_exchanged~v_q_k": ("", *exchanged("vqk")),
    "projection_rows_by_head": (
        "attention#heads-by-hand", "in_proj_weight.chunk(3)", by_head("in_proj_weight", "size * heads, -1"),
        "in_proj_bias.chunk(3)", by_head("in_proj_bias", "-1"),
    ),
    "values_from_keys": (HEADS, "value @ w_v.T", "key @ w_v.T"),
    "keys_from_values": (HEADS, "key @ w_k.T", "value @ w_k.T"),
    "self_attention_only": (HEADS, "key @ w_k.T", "query @ w_k.T", "value @ w_v.T", "query @ w_v.T"),
    "projections_transposed": (HEADS, "w_q.T", "w_q", "w_k.T", "w_k", "w_v.T", "w_v"),
    "projection_biases_missing": (HEADS, " + b_q", "", " + b_k", "", " + b_v", ""),
    "output_projection_missing": (HEADS, f"{OUT} + out_proj_bias", "joined"),
    "output_projection_transposed": (HEADS, OUT, "joined @ out_proj_weight"),
    "output_bias_missing": (HEADS, " + out_proj_bias", ""),
    "input_added": ("transformer#block", OUT, f"query + {OUT}"),
    "weights_summed_over_heads": ("attention#heads-said", RESULT, "return output, weights.sum(dim=1)"),
    "weights_with_heads_in_batch": ("attention#heads-said", RESULT, "return output, weights.flatten(0, 1)"),
    "weights_with_heads_last": ("attention#heads-said", RESULT, "return output, weights.movedim(1, -1)"),
    "scores_returned_for_weights": ("attention#softmax", "looks = weights", "looks = scores"),
    "weights_returned_first": ("attention#heads-said", RESULT, "return looks, output"),
    "weights_not_returned": ("attention#heads-said", RESULT, "return output"),
}  # fmt: skip


def truth(query, key, value, mask, heads, in_proj_weight, in_proj_bias, out_proj_weight, out_proj_bias):
    E = query.size(-1)
    layer = torch.nn.MultiheadAttention(E, heads, batch_first=True)
    weights = dict(zip(("in_proj_weight", "in_proj_bias", "out_proj.weight", "out_proj.bias"),
                       (in_proj_weight, in_proj_bias, out_proj_weight, out_proj_bias)))  # fmt: skip
    hidden = ~mask.repeat_interleave(heads, dim=0)
    options = {"attn_mask": hidden, "average_attn_weights": False}
    return torch.func.functional_call(layer, weights, (query, key, value), options)


def probes(draw):
    def probe(probe_name, draw, *sizes, visible=False):
        N, T, S, heads, size = sizes
        E = heads * size
        tensors = {"query": draw(N, T, E), "key": draw(N, S, E), "value": draw(N, S, E)}
        shapes = zip(WEIGHTS, ((3 * E, E), (3 * E,), (E, E), (E,)))
        tensors |= {name: draw(*shape) for name, shape in shapes}
        mask = {"mask": masked(draw, N, T, S) | visible}
        return Probe(probe_name, tensors | mask, {"heads": heads}, gradients=tuple(tensors))

    return [
        probe("batch_1", draw.few, 1, 2, 3, 2, 1, visible=True),
        probe("one_head", draw, 2, 3, 4, 1, 3),
        probe("nothing_hidden", draw, 2, 4, 3, 3, 2, visible=True),
        probe("several", draw, 3, 4, 5, 2, 3),
        # equal sizes: mistaking one for another raises no error
        probe("several", draw, 2, 3, 3, 2, 4),
    ]


QUESTION = generate_question(
    multi_head_reference,
    MISTAKES,
    variants={"weights_of_each_head": (), "weights_averaged": ("looks = weights", "looks = weights.mean(dim=1)")},
    truth=truth,
    name="multi_head",
    assignment="attention",
    task=3,
    points=4,
    place=HEADS,
    call=Function(("query", "key", "value", "mask", "heads", *WEIGHTS), ("output", "weights")),
    probes=probes,
    axes={
        **dict.fromkeys(("output", "query"), ("sequence", "query", "feature")),
        **dict.fromkeys(("key", "value"), ("sequence", "key", "feature")),
        **dict.fromkeys(("in_proj_weight", "out_proj_weight"), ("row", "feature")),
        **dict.fromkeys(("in_proj_bias", "out_proj_bias"), ("row",)),
    },
    forbidden=ATTENTION,
)
