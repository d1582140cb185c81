"""Question `linear_chunk`: linear attention with a gate for a whole chunk at once, as masked attention and a state."""

import torch

from companion.check.engine.probe import Probe
from companion.check.engine.question_from_edits import generate_question
from companion.check.engine.run_answer import Function
from companion.check.questions.recurrence_today import chunk_probes


def linear_chunk_reference(q, k, v, log_alpha, S):
    log_gamma = log_alpha.cumsum(1)
    gamma = log_gamma.exp()
    log_left = log_gamma[:, :, None] - log_gamma[:, None, :]
    future = torch.ones(q.size(1), q.size(1), dtype=torch.bool).triu(1)
    left = log_left.masked_fill(future, -torch.inf).exp()
    scores = q @ k.transpose(1, 2)
    weights = left * scores
    past = q @ S.transpose(1, 2)
    o = gamma[:, :, None] * past + weights @ v
    written = v.transpose(1, 2) @ (left[:, -1, :, None] * k)
    S_new = gamma[:, -1, None, None] * S + written
    return weights, o, S_new


PLACE, LEFT, LONG = "chunks#chunks", "chunks#what-is-left", "without_waiting#exercises"
SUMS, SHARES, MASKED = "log_alpha.cumsum(1)", "log_left.masked_fill(future, -torch.inf).exp()", "masked_fill(future, "
WEIGHTS, SCORES, PAST = "left * scores", "q @ k.transpose(1, 2)", "q @ S.transpose(1, 2)"
READ_PAST, KEPT, WRITTEN = "gamma[:, :, None] * past", "gamma[:, -1, None, None] * S", "(left[:, -1, :, None] * k)"
SUM, RESULT, WRITE = "weights @ v", "return weights, o, S_new", f"v.transpose(1, 2) @ {WRITTEN}"
QUOTIENT = "(gamma[:, :, None] / gamma[:, None, :])"
MISTAKES = {
    "divided_by_products": (LONG, SHARES, f"{QUOTIENT}.tril()"),
    "divided_by_products~keys": (
        "", WEIGHTS, "((gamma[:, :, None] * q) @ (k / gamma[:, :, None]).transpose(1, 2)).tril()"),
    "divided_by_products~keys_and_state": (
        "", WEIGHTS, "((gamma[:, :, None] * q) @ (k / gamma[:, :, None]).transpose(1, 2)).tril()",
        WRITTEN, "(gamma[:, -1, None, None] / gamma[:, :, None] * k)"),
    "future_overflows": (LEFT, SHARES, "log_left.exp().tril()"),
    "future_overflows~product": ("", SHARES, "(log_left.exp() * ~future)"),
    "future_overflows~weights": ("", SHARES, "log_left.exp()", WEIGHTS, "(left * scores).tril()"),
    "log_alpha_for_alpha": (
        PLACE, "log_gamma.exp()", "log_alpha.cumprod(1)", SHARES, f"{QUOTIENT}.tril()"),
    "log_alpha_for_alpha~product": ("", SUMS, "log_alpha.cumprod(1)"),
    "factors_not_accumulated": (LEFT, SUMS, "log_alpha"),
    "accumulated_over_batch": (LEFT, SUMS, "log_alpha.cumsum(0)"),
    "fading_one_step_late": (LEFT, SUMS, "log_alpha.cumsum(1) - log_alpha"),
    "written_fades_at_once": (LEFT, SHARES, f"{SHARES} * log_alpha.exp()[:, None, :]"),
    "weights_do_not_fade": (LEFT, WEIGHTS, "scores.tril()"),
    "weights_do_not_fade~nor_state": ("", SHARES, "(~future).to(q).expand_as(log_left)"),
    "weights_fade_from_chunk_begin": (LEFT, WEIGHTS, "(gamma[:, :, None] * scores).tril()"),
    "past_does_not_fade": (PLACE, READ_PAST, "past"),
    "past_does_not_fade~in_state": ("", KEPT, "S"),
    "past_does_not_fade~both": ("", READ_PAST, "past", KEPT, "S"),
    "past_fades_by_one_step": (LEFT, READ_PAST, "log_alpha.exp()[:, :, None] * past"),
    "past_fades_by_one_step~in_state": ("", KEPT, "log_alpha.exp()[:, -1, None, None] * S"),
    "past_fades_by_one_step~both": (
        "", READ_PAST, "log_alpha.exp()[:, :, None] * past", KEPT, "log_alpha.exp()[:, -1, None, None] * S"),
    "past_fades_one_step_late": (LEFT, READ_PAST, "(log_gamma - log_alpha).exp()[:, :, None] * past"),
    "past_fades_one_step_late~in_state": ("", KEPT, "(log_gamma - log_alpha).exp()[:, -1, None, None] * S"),
    "past_fades_one_step_late~both": (
        "", READ_PAST, "(log_gamma - log_alpha).exp()[:, :, None] * past",
        KEPT, "(log_gamma - log_alpha).exp()[:, -1, None, None] * S"),
    "written_does_not_fade": (PLACE, WRITTEN, "k"),
    "written_fades_from_chunk_begin": (PLACE, WRITTEN, "(gamma[:, :, None] * k)"),
    "written_fades_to_chunk_end_only": (PLACE, WRITTEN, "(gamma[:, -1, None, None] * k)"),
    "given_state_ignored": (PLACE, READ_PAST, "0 * past", KEPT, "0 * S"),
    "given_state_ignored~in_output": ("", READ_PAST, "0 * past"),
    "given_state_ignored~in_state": ("", KEPT, "0 * S"),
    "output_without_chunk": (PLACE, SUM, "0 * v"),
    "new_state_without_chunk": (PLACE, WRITE, "0 * S"),
    "new_state_read_for_past": (
        PLACE, PAST, f"q @ ({KEPT} + {WRITE}).transpose(1, 2)", READ_PAST, "past", SUM, "0 * v"),
    "causal_mask_missing": ("matrix_state#same-as-attention", ".masked_fill(future, -torch.inf)", ""),
    "causal_mask_missing~no_gates": ("", WEIGHTS, "scores"),
    "causal_mask_turned": ("matrix_state#same-as-attention", "triu(1)", "tril(-1)"),
    "own_step_hidden": ("matrix_state#same-as-attention", "triu(1)", "triu(0)"),
    "softmax_on_weights": (
        "matrix_state#linear-attention", WEIGHTS, f"torch.softmax((left * scores).{MASKED}-torch.inf), dim=-1)"),
    "softmax_on_weights~of_scores": (
        "", WEIGHTS, f"left * torch.softmax(scores.{MASKED}-torch.inf), dim=-1)"),
    "scores_scaled": ("matrix_state#linear-attention", SCORES, f"{SCORES} / q.size(-1) ** 0.5"),
    "keys_and_queries_exchanged": ("matrix_state#linear-attention", SCORES, "k @ q.transpose(1, 2)"),
    "state_turned_for_output": (PLACE, PAST, "q @ S"),
    "outer_product_turned": (PLACE, WRITE, f"{WRITTEN}.transpose(1, 2) @ v"),
    "scores_without_gates_returned": (LEFT, RESULT, "return scores.tril(), o, S_new"),
    "scores_without_gates_returned~all": ("", RESULT, "return scores, o, S_new"),
    "shares_returned_for_weights": (LEFT, RESULT, "return left, o, S_new"),
    "state_detached": ("chunks#same-numbers", "log_gamma = ", "S = S.detach(); log_gamma = "),
    "weights_returned_last": (PLACE, RESULT, "return o, S_new, weights"),
}  # fmt: skip


def truth(q, k, v, log_alpha, S):
    """Return the results of the loop, whose weights are what each step reads of each earlier one."""
    T, alpha = q.size(1), log_alpha.exp()
    weights, outputs = [], []
    kept = torch.zeros(len(q), T, k.size(-1), dtype=k.dtype)  # each step's key, faded
    for t in range(T):
        now = torch.eye(T, dtype=k.dtype)[t, :, None]
        kept = alpha[:, t, None, None] * kept + now * k[:, t, None]
        S = torch.addcmul(v[:, t, :, None] * k[:, t, None, :], alpha[:, t, None, None], S)
        weights.append((kept * q[:, t, None]).sum(-1))
        outputs.append((S * q[:, t, None]).sum(-1))
    return torch.stack(weights, 1), torch.stack(outputs, 1), S


def probes(draw):
    def probe(name, draw, N, C, K, V, forgets=0):
        log_alpha = -draw(N, C).abs()
        if forgets:
            log_alpha[:, -forgets:] = -400  # the product of two of these is 0 in float64
        tensors = {"q": draw(N, C, K), "k": draw(N, C, K), "v": draw(N, C, V), "log_alpha": log_alpha}
        tensors["S"] = draw(N, V, K)
        return Probe(name, tensors, gradients=tuple(tensors))

    probes = chunk_probes(probe, draw)
    probes[-1].name = "no_zero_product"
    return [
        *probes,
        # gates so small that their product is 0
        probe("several", draw, 2, 5, 2, 3, forgets=3),
    ]


QUESTION = generate_question(
    linear_chunk_reference,
    MISTAKES,
    truth=truth,
    by_torch=False,
    name="linear_chunk",
    assignment="recurrence_today",
    task=5,
    points=4,
    place=PLACE,
    call=Function(("q", "k", "v", "log_alpha", "S"), ("weights", "o", "S_new")),
    probes=probes,
    axes={
        "weights": ("sequence", "query", "key"),
        **dict.fromkeys(("o", "q", "k", "v"), ("sequence", "step", "feature")),
        **dict.fromkeys(("S", "S_new"), ("sequence", "row", "column")), "log_alpha": ("sequence", "step"),
    },
)  # fmt: skip
