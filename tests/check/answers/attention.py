"""Answers to the assignment `attention`."""

from functools import partial

import torch

from tests.check.answers import Program

MASK = """
def padding_and_causal_mask(lengths, size):
    causal = torch.tril(torch.ones(size, size)).bool()
    steps = torch.arange(size).repeat(len(lengths), 1)
    padding = steps < lengths.unsqueeze(1)
    return causal.unsqueeze(0) & padding.unsqueeze(1)
"""
BOTH = "causal.unsqueeze(0) & padding.unsqueeze(1)"
TRIL = "torch.tril(torch.ones(size, size))"
INSIDE = "steps < lengths.unsqueeze(1)"
MASK_WRONG = {
    "causal_mask_missing": [(BOTH, "padding.unsqueeze(1).expand(-1, size, -1)")],
    "padding_mask_missing": [(BOTH, "causal.expand(len(lengths), -1, -1)")],
    "masks_joined_by_or": [(" & ", " | ")],
    "causal_mask_turned": [("torch.tril", "torch.triu")],
    "causal_mask_inverted": [(TRIL, "torch.triu(torch.ones(size, size), diagonal=1)")],
    "padding_mask_inverted": [(INSIDE, "steps >= lengths[:, None]")],
    "own_step_hidden": [(TRIL, "torch.tril(torch.ones(size, size), diagonal=-1)")],
    "next_step_visible": [(TRIL, "torch.tril(torch.ones(size, size), diagonal=1)")],
    "first_padding_visible": [("steps < l", "steps <= l")],
    "key_beside_padding_hidden": [(INSIDE, "steps < lengths.unsqueeze(1) - 1")],
    "padding_on_queries": [("padding.unsqueeze(1)", "padding.unsqueeze(2)")],
    "longest_length_for_all": [(INSIDE, "steps < lengths.max()")],
    "shortest_length_for_all": [(INSIDE, "steps < min(lengths)")],
    "mask_transposed": [(BOTH, f"({BOTH}).mT")],
    "size_from_longest": [("    causal", "    size = max(lengths)\n    causal")],
    "mask_without_batch": [(BOTH, "causal")],
    "mask_without_queries": [(BOTH, "padding")],
    "mask_with_head_axis": [(BOTH, "causal[None, None] & padding[:, None, None]")],
    "mask_to_be_added": [(BOTH, f"(1 - ({BOTH}).float()).masked_fill(~({BOTH}), float('-inf'))")],
    "masks_added": [(BOTH, BOTH.replace("&", "* 1 +") + " * 1")],
}

ATTEND = """
def attend(query, key, value, mask):
    d = query.shape[2]
    scores = torch.bmm(query, key.transpose(1, 2)) / math.sqrt(d)
    scores = torch.where(mask, scores, torch.tensor(-1e30))
    weights = F.softmax(scores, dim=2)
    weights = weights * mask.any(dim=2, keepdim=True)
    mixture = torch.bmm(weights, value)
    return mixture, weights
"""
ROOT = "/ math.sqrt(d)"
SOFTMAX = "F.softmax(scores, dim=2)"
ZEROED = "weights * mask.any(dim=2, keepdim=True)"
WHERE = "torch.where(mask, scores, torch.tensor(-1e30))"
ATTEND_WRONG = {
    "scale_missing": [(ROOT, "")],
    "scale_without_root": [(ROOT, "* (1 / d)")],
    "scale_multiplied": [(ROOT, "* d**0.5")],
    "scaled_by_number_of_keys": [("query.shape[2]", "key.shape[1]")],
    "scaled_by_number_of_queries": [("query.shape[2]", "query.shape[-2]")],
    "scaled_by_value_size": [("query.shape[2]", "value.shape[2]")],
    "scaled_after_softmax": [(ROOT, ""), (SOFTMAX, f"{SOFTMAX} {ROOT}")],
    "softmax_over_queries": [
        (SOFTMAX, "F.softmax(torch.where(mask, scores, -torch.inf), dim=1)"),
        (ZEROED, "weights.nan_to_num(0)"),
    ],
    "softmax_over_batch": [(SOFTMAX, "torch.where(mask, scores, -torch.inf).softmax(0)"), (ZEROED, "weights")],
    "softmax_missing": [(SOFTMAX, "scores * mask")],
    "mask_inverted": [(WHERE, "scores.masked_fill(mask, -1e9)"), ("mask.any(dim=2", "(mask == False).any(dim=2")],
    "mask_ignored": [(WHERE, "scores")],
    "hidden_scores_zero": [(WHERE, "scores * mask")],
    "hidden_after_softmax": [(WHERE, "scores"), (ZEROED, "weights * mask")],
    "hidden_row_looks": [(WHERE, "scores - 1e8 * ~mask"), (ZEROED, "weights")],
    "hidden_row_not_a_number": [("-1e30", "-math.inf"), (ZEROED, "weights")],
    "hidden_row_gradient_not_a_number": [
        (WHERE, "scores + torch.log(mask.double())"),
        (ZEROED, "weights.nan_to_num()"),
    ],
    "hidden_row_weights_left": [
        (ZEROED, "weights"),
        ("bmm(weights, value)", "bmm(weights, value) * mask.any(2)[..., None]"),
    ],
    "causal_on_top": [("    scores = torch.where", "    mask = torch.tril(mask)\n    scores = torch.where")],
    "mask_transposed": [
        ("torch.where(mask", "torch.where(mask.transpose(1, 2)"),
        ("mask.any(dim=2", "mask.mT.any(dim=2"),
    ],
    "keys_reshaped": [("key.transpose(1, 2)", "key.view(key.shape[0], key.shape[2], key.shape[1])")],
    "keys_mixed_for_values": [("bmm(weights, value)", "bmm(weights, key)")],
    "scores_returned_for_weights": [
        ("    scores = torch.where", "    before = scores\n    scores = torch.where"),
        ("mixture, weights", "mixture, before"),
    ],
    "weights_returned_first": [("mixture, weights", "weights, mixture")],
    "weights_not_returned": [("return mixture, weights", "return mixture")],
}

MULTI = """
def multi_head(query, key, value, mask, heads, W_in, b_in, W_out, b_out):
    N, T, E = query.shape
    size = E // heads
    W_q, W_k, W_v = W_in[:E], W_in[E:2 * E], W_in[2 * E:]
    b_q, b_k, b_v = b_in[:E], b_in[E:2 * E], b_in[2 * E:]
    Q, K, V = F.linear(query, W_q, b_q), F.linear(key, W_k, b_k), F.linear(value, W_v, b_v)

    def split(x):
        return x.view(N, -1, heads, size).permute(0, 2, 1, 3)

    scores = torch.einsum("nhtd,nhsd->nhts", split(Q), split(K)) * size ** -0.5
    scores = scores.masked_fill(mask.logical_not().unsqueeze(1), float("-inf"))
    weights = scores.softmax(dim=-1)
    context = torch.einsum("nhts,nhsd->nhtd", weights, split(V))
    context = context.permute(0, 2, 1, 3).reshape(N, T, E)
    output = F.linear(context, W_out, b_out)
    return output, weights
"""
ROWS, BIASES = "W_q, W_k, W_v = W_in", "b_q, b_k, b_v = b_in"
FILL = 'scores.masked_fill(mask.logical_not().unsqueeze(1), float("-inf"))'
SPLIT = "x.view(N, -1, heads, size).permute(0, 2, 1, 3)"
JOIN = "context.permute(0, 2, 1, 3).reshape(N, T, E)"
MULTI_WRONG = {
    "scaled_by_whole_size": [("* size ** -0.5", "/ math.sqrt(E)")],
    "scale_missing": [("* size ** -0.5", "")],
    "scale_without_root": [("* size ** -0.5", "/ size")],
    "scale_multiplied": [("* size ** -0.5", "* size ** 0.5")],
    "scaled_by_number_of_heads": [("* size ** -0.5", "/ heads ** 0.5")],
    "softmax_over_queries": [("softmax(dim=-1)", "softmax(dim=2)")],
    "softmax_over_heads": [("softmax(dim=-1)", "softmax(dim=1)")],
    "mask_inverted": [("mask.logical_not()", "mask")],
    "mask_ignored": [("scores = scores.masked_fill", "scores.masked_fill")],
    "mask_on_heads": [(".unsqueeze(1), float", ", float")],
    "hidden_scores_zero": [(FILL, "scores * mask[:, None]")],
    "hidden_after_softmax": [(FILL, "scores"), ("softmax(dim=-1)", "softmax(dim=-1) * mask[:, None]")],
    "one_head": [("    size =", "    heads = 1\n    size =")],
    "heads_cut_by_view": [(SPLIT, "x.view(N, heads, x.shape[1], size)")],
    "heads_joined_by_view": [(JOIN, "context.reshape(N, T, E)")],
    "heads_interleaved": [(SPLIT, "x.view(N, -1, size, heads).permute(0, 3, 1, 2)")],
    "heads_joined_interleaved": [(JOIN, "context.permute(0, 2, 3, 1).reshape(N, T, E)")],
    "projection_rows_exchanged": [(ROWS, "W_k, W_v, W_q = W_in"), (BIASES, "b_k, b_v, b_q = b_in")],
    "projection_rows_by_head": [
        (ROWS, "W_in = W_in.view(heads, 3, size, E).transpose(0, 1).reshape(3 * E, E)\n    " + ROWS),
        (BIASES, "b_in = b_in.view(heads, 3, size).transpose(0, 1).reshape(3 * E)\n    " + BIASES),
    ],
    "values_from_keys": [("linear(value,", "linear(key,")],
    "keys_from_values": [("linear(key,", "linear(value,")],
    "self_attention_only": [("linear(value,", "linear(query,"), ("linear(key,", "linear(query,")],
    "projections_transposed": [
        ("linear(query, W_q, b_q)", "(query @ W_q + b_q)"), ("linear(key, W_k, b_k)", "(key @ W_k + b_k)",
    ),
                               ("linear(value, W_v, b_v)", "(value @ W_v + b_v)"), ("F.(", "(")],
    "projection_biases_missing": [(", b_q)", ")"), (", b_k)", ")"), (", b_v)", ")")],
    "output_projection_missing": [("F.linear(context, W_out, b_out)", "context")],
    "output_projection_transposed": [("F.linear(context, W_out, b_out)", "torch.matmul(context, W_out) + b_out")],
    "output_bias_missing": [("W_out, b_out)\n    return", "W_out)\n    return")],
    "input_added": [("return output,", "return output + query,")],
    "weights_summed_over_heads": [("output, weights", "output, weights.sum(1)")],
    "weights_with_heads_in_batch": [("output, weights", "output, weights.reshape(N * heads, T, -1)")],
    "weights_with_heads_last": [("output, weights", "output, weights.permute(0, 2, 3, 1)")],
    "scores_returned_for_weights": [("output, weights", "output, scores")],
    "weights_returned_first": [("output, weights", "weights, output")],
    "weights_not_returned": [("output, weights", "output")],
}  # fmt: skip

BEAM = """
def beam_search(step, state, start, end, width, most):
    sequences, scores, states = [[start]], [0.0], [state]
    for t in range(most):
        candidates = []
        for i, seq in enumerate(sequences):
            if len(seq) > 1 and seq[-1] == end:
                candidates.append((scores[i], seq, states[i]))
                continue
            log_p, new_state = step(seq[-1], states[i])
            for sign in range(len(log_p)):
                candidates.append((scores[i] + log_p[sign].item(), seq + [sign], new_state))
        candidates.sort(key=lambda one: one[0], reverse=True)
        candidates = candidates[:width]
        scores, sequences, states = (list(column) for column in zip(*candidates))
        if all(len(seq) > 1 and seq[-1] == end for seq in sequences):
            break
    return [(seq[1:], score) for seq, score in zip(sequences, scores)]
"""
SUM = "scores[i] + log_p[sign].item()"
CUT = "candidates = candidates[:width]"
KEEP = "candidates.append((scores[i], seq, states[i]))"
LOOP = "for sign in range(len(log_p)):"
RETURN = "return [(seq[1:], score) for seq, score in zip(sequences, scores)]"
ENDS = "len(seq) > 1 and seq[-1] == end:"
ALL = "[(one[1][1:], one[0]) for one in sorted({}, key=lambda one: -one[0])[:width]]"
BEAM_WRONG = {
    "greedy_search": [(CUT, "candidates = [max(candidates, key=lambda one: one[0])]")],
    "width_for_each_beginning": [
        (LOOP, "for sign in log_p.topk(min(width, len(log_p))).indices.tolist():"), (CUT, ""),
        (RETURN, RETURN + "[:width]"),
    ],
    "one_for_each_beginning": [(LOOP, "for sign in log_p.topk(1 if t else min(width, len(log_p))).indices.tolist():")],
    "all_sequences_kept": [(CUT, ""), (RETURN, RETURN + "[:width]")],
    "probabilities_returned": [("(seq[1:], score)", "(seq[1:], math.exp(score))")],
    "probabilities_added": [("log_p[sign].item()", "log_p[sign].exp().item()")],
    "only_last_log_p": [(SUM, "float(log_p[sign])")],
    "end_not_counted": [(SUM, "scores[i] + (0 if sign == end else log_p[sign].item())")],
    "divided_by_length": [(" score) for", " score / (len(seq) - 1)) for")],
    "finished_go_on": [
        ("if " + ENDS, "if False:"), ("if all(len(seq) > 1 and seq[-1] == end for seq in sequences)", "if False"),
    ],
    "finished_dropped": [
        (KEEP, "pass"),
        ("        candidates.sort", "        if not candidates:\n            return []\n        candidates.sort"),
    ],
    "finished_beside_the_beam": [
        ("[0.0], [state]", "[0.0], [state]\n    done = []"), (KEEP, ""), (CUT,
        CUT + "\n        done += [one for one in candidates if one[1][-1] == end]\n"
         "        candidates = [one for one in candidates if one[1][-1] != end]\n        if not candidates:\n            break"),  # noqa: E501
        (RETURN, "done += [one for one in candidates if one not in done]\n    return " + ALL.format("done")),
    ],
    "finished_repeated": [
        (KEEP, KEEP.replace("append", "extend").replace("((", "([(").replace("))", ")] * len(step(start, state)[0]))")),
    ],
    "end_repeated": [
        (KEEP, "candidates.append((scores[i], seq + [end], states[i]))"),
        ("all(len(seq) > 1 and seq[-1] == end for seq in sequences)", "t == most"),
    ],
    "stops_at_first_end": [("if all(", "if any(")],
    "unfinished_left_out": [("zip(sequences, scores)]", "zip(sequences, scores) if seq[-1] == end]")],
    "only_best_returned": [
        (RETURN,
        "best = max(range(len(scores)), key=lambda i: scores[i])\n    return [(sequences[best][1:], scores[best])]"),
    ],
    "start_in_sequence": [("(seq[1:],", "(seq,")],
    "end_left_out": [("(seq[1:], score)", "(seq[1:-1] if seq[-1] == end else seq[1:], score)")],
    "start_taken_for_end": [("len(seq) > 1 and ", "")],
    "worst_first": [("zip(sequences, scores)]", "zip(sequences[::-1], scores[::-1])]")],
    "worst_kept": [(", reverse=True", "")],
    "search_one_step_too_long": [("range(most)", "range(0, most + 1)")],
    "search_one_step_too_short": [("range(most)", "range(1, most)")],
    "most_ignored": [("for t in range(most):", "while True:")],
    "state_not_carried": [("seq + [sign], new_state", "seq + [sign], state")],
    "one_state_for_all": [
        ("log_p, new_state = step(seq[-1], states[i])", "log_p, state = step(seq[-1], state)"),
        ("seq + [sign], new_state", "seq + [sign], None"),
    ],
    "states_left_in_place": [
        ("candidates = []", "candidates, kept = [], []"), (KEEP, KEEP + "\n                kept.append(states[i])"),
        ("step(seq[-1], states[i])", "step(seq[-1], states[i])\n            kept.append(new_state)"),
        ("zip(*candidates))",
        "zip(*candidates))\n        states = [kept[min(i, len(kept) - 1)] for i in range(len(states))]"),
    ],
    "start_read_at_each_step": [("step(seq[-1],", "step(start,")],
}  # fmt: skip

BACKWARD = """
def attend_backward(query, key, value, mask, grad_mixture):
    root = math.sqrt(query.shape[-1])
    scores = torch.einsum("ntd,nsd->nts", query, key) / root
    scores[~mask] = float("-inf")
    A = torch.softmax(scores, dim=2)
    d_value = torch.einsum("nts,ntv->nsv", A, grad_mixture)
    d_A = torch.einsum("ntv,nsv->nts", grad_mixture, value)
    d_scores = A * d_A - A * (A * d_A).sum(2, keepdim=True)
    d_query = torch.einsum("nts,nsd->ntd", d_scores, key) / root
    d_key = torch.einsum("nts,ntd->nsd", d_scores, query) / root
    return d_query, d_key, d_value
"""
SLOPE = "A * d_A - A * (A * d_A).sum(2, keepdim=True)"
BY_Q = "d_scores, key) / root"
BY_K = "d_scores, query) / root"
BY_V = 'd_value = torch.einsum("nts,ntv->nsv", A, grad_mixture)'
BACKWARD_WRONG = {
    "softmax_slope_missing": [(SLOPE, "d_A")],
    "softmax_mean_missing": [(SLOPE, "A * d_A")],
    "softmax_slope_of_each_alone": [(SLOPE, "d_A * (A - A**2)")],
    "softmax_mean_without_weights": [(SLOPE, "A * (d_A - d_A.mean(-1, keepdim=True))")],
    "softmax_mean_over_queries": [(".sum(2, ", ".sum(1, ")],
    "softmax_weights_missing": [(SLOPE, "d_A - (A * d_A).sum(2, keepdim=True)")],
    "scale_missing": [("math.sqrt(query.shape[-1])", "1")],
    "scale_missing_on_way_back": [(BY_Q, "d_scores, key)"), (BY_K, "d_scores, query)")],
    "scale_twice_on_way_back": [(SLOPE, f"({SLOPE}) / root")],
    "mask_ignored": [("    scores[~mask] = float(\"-inf\")\n", "")],
    "mask_inverted": [("scores[~mask]", "scores[mask]")],
    "hidden_scores_zero": [("float(\"-inf\")", "0")],
    "softmax_over_queries": [("torch.softmax(scores, dim=2)", "torch.softmax(scores, dim=1)")],
    "weights_not_transposed_on_way_back": [(BY_V, "d_value = torch.bmm(A, grad_mixture)")],
    "scores_not_transposed_on_way_back": [
        ("torch.einsum(\"nts,ntd->nsd\", d_scores, query)", "torch.bmm(d_scores, query)"),
    ],
    "query_for_key_on_way_back": [
        ("\"nts,nsd->ntd\", d_scores, key", "\"nts,nxd->ntd\" if 0 else \"nts,nsd->ntd\", d_scores, query",
    ),
                                  ("\"nts,ntd->nsd\", d_scores, query) / root\n    return",
                                  "\"nts,ntd->nsd\", d_scores, key) / root\n    return")],
    "scores_for_weights_on_way_back": [
        ("    scores[~mask]", "    raw = scores.clone()\n    scores[~mask]"),
        (BY_V, BY_V.replace("A, grad", "raw, grad")),
    ],
    "grad_mixture_ignored": [("    root", "    grad_mixture = torch.ones_like(grad_mixture)\n    root")],
    "value_gradient_without_weights": [(BY_V, BY_V.replace("A, grad", "mask.double(), grad"))],
    "gradient_negated": [("return d_query, d_key, d_value", "return [-one for one in (d_query, d_key, d_value)]")],
    "sequences_averaged": [
        ("return d_query, d_key, d_value", "return [one / query.shape[0] for one in (d_query, d_key, d_value)]"),
    ],
    "gradients_of_key_and_value_exchanged": [("return d_query, d_key, d_value", "return d_query, d_value, d_key")],
    "gradients_of_query_and_key_exchanged": [("return d_query, d_key, d_value", "return d_key, d_query, d_value")],
}  # fmt: skip

UNTIL_FULL = """\
        going = []
        for one in candidates:
            (done if one[1][-1] == end else going).append(one)
            if len(going) == width:
                break
        candidates = going
        if not going:
            break"""

HIDDEN = (f"return {BOTH}", f"return ~({BOTH})")
FRONT = ("steps < l", "size - 1 - steps < l")
MEAN = (ZEROED, "weights")
AVERAGED = ("return output, weights", "return output, weights.mean(dim=1)")
VARIANTS = {
    "padding_and_causal_mask": {
        "mask_true_may_look": [], "mask_true_is_hidden": [HIDDEN], "mask_true_may_look_padding_in_front": [FRONT],
        "mask_true_is_hidden_padding_in_front": [HIDDEN, FRONT],
    },
    "attend": {"hidden_row_zeros": [], "hidden_row_mean": [MEAN]},
    "multi_head": {"weights_of_each_head": [], "weights_averaged": [AVERAGED]},
}  # fmt: skip

# Right in other ways

RIGHT = {
    "padding_and_causal_mask": {
        "ones and zeros": [(BOTH, f"({BOTH}).long()")],
    },
    "attend": {
        "in a list": [("return mixture, weights", "return [mixture, weights]")],
        "in float32": "lambda *given: [one.double() for one in attend(*(one.float() for one in given[:3]), given[3])]",
        "exponentials": (
            """
            def attend(query, key, value, mask):
                e = torch.exp(query @ key.mT * query.shape[-1] ** -0.5) * mask
                weights = e / e.sum(-1, keepdim=True).clamp(min=1e-12)
                return weights @ value, weights
        """
        ),
        "vmap": (
            """
            def attend(query, key, value, mask):
                def one(q, k, v, m):
                    a = torch.where(m, k @ q / len(q) ** 0.5, -1e9).softmax(0) * m
                    return a @ v, a
                return torch.vmap(torch.vmap(one, in_dims=(0, None, None, 0)))(query, key, value, mask)
        """
        ),
    },
    "multi_head": {
        "einsum, biases aside": (
            """
            def multi_head(query, key, value, mask, heads, w, b, w_out, b_out):
                W, c = w.unflatten(0, (3, heads, -1)), b.unflatten(0, (3, heads, 1, -1))
                q, k, v = (torch.einsum("nte,hde->nhtd", x, W[i]) + c[i] for i, x in enumerate((query, key, value)))
                a = (torch.einsum("nhtd,nhsd->nhts", q, k) / q.size(-1) ** 0.5).masked_fill(~mask[:, None], -1e30).softmax(-1)
                return torch.einsum("nhts,nhsd,ehd->nte", a, v, w_out.unflatten(1, (heads, -1))) + b_out, a
        """  # noqa: E501
        ),
    },
    "beam_search": {
        "tensors for numbers, and tuples": (
            """
            def beam_search(step, state, start, end, width, most):
                beam = [(torch.tensor(0.0), torch.tensor([], dtype=torch.long), torch.tensor(start), state)]
                for _ in range(most):
                    new = []
                    for p, signs, last, s in beam:
                        if len(signs) and last == end:
                            new.append((p, signs, last, s))
                        else:
                            log_p, after = step(last, s)
                            for sign, q in enumerate(log_p):
                                new.append((p + q, torch.cat([signs, torch.tensor([sign])]), torch.tensor(sign), after))
                    beam = sorted(new, key=lambda one: one[0], reverse=True)[:width]
                return tuple((signs, p) for p, signs, _, _ in beam)
        """
        ),
        "topk of each, a heap, a generator": (
            """
            import heapq
            def beam_search(step, state, start, end, width, most):
                beam = [(0.0, [start], state, False)]
                while most > 0 and not all(one[3] for one in beam):
                    new = [one for one in beam if one[3]]
                    for total, signs, s, done in beam:
                        if not done:
                            log_p, after = step(signs[-1], s)
                            best = log_p.topk(min(width, log_p.numel()))
                            new += [(total + q, signs + [i], after, i == end) for q, i in zip(best.values.tolist(), best.indices.tolist())]
                    beam = heapq.nlargest(width, new, key=lambda one: one[0])
                    most -= 1
                return ((signs[1:], total) for total, signs, *_ in beam)
        """  # noqa: E501
        ),
    },
    "attend_backward": {
        "in float32": "lambda *given: attend_backward(*(one.float() for one in given[:3]), given[3], given[4].float())",
        "with no_grad, in place": (
            """
            @torch.no_grad()
            def attend_backward(query, key, value, mask, grad_mixture):
                s = (query @ key.mT).div_(math.sqrt(query.size(-1))).masked_fill_(mask.logical_not(), -math.inf)
                a = s.sub_(s.amax(-1, keepdim=True)).exp_()
                a /= a.sum(-1, keepdim=True)
                d = torch.matmul(grad_mixture, value.mT)
                d.sub_((d * a).sum(-1, keepdim=True)).mul_(a).mul_(query.size(-1) ** -0.5)
                return torch.bmm(d, key), torch.bmm(d.mT, query), torch.bmm(a.mT, grad_mixture)
        """
        ),
    },
}


def returned(result, *given):
    return result


def by_autograd(query, key, value, mask, grad_mixture):
    given = [one.clone().requires_grad_() for one in (query, key, value)]
    return torch.autograd.grad(Program(ATTEND).answer()(*given, mask)[0], given, grad_mixture)


ANSWERS = {
    "padding_and_causal_mask": Program(MASK, MASK_WRONG, also_right=RIGHT["padding_and_causal_mask"], pairs=[
        ("own_step_hidden", "first_padding_visible"),
        ("causal_mask_turned", "longest_length_for_all"),
    ], variants=VARIANTS["padding_and_causal_mask"]),
    "attend": Program(ATTEND, ATTEND_WRONG, also_wrong=[
        ("softmax_over_queries", [(SOFTMAX, "F.softmax(scores, dim=1)"), (ZEROED, "weights")]),
    ], also_right=RIGHT["attend"], pairs=[
        ("scale_missing", "hidden_row_not_a_number"),
        ("scale_without_root", "weights_returned_first"),
        ("hidden_scores_zero", "keys_reshaped"),
    ], variants=VARIANTS["attend"]),
    "multi_head": Program(MULTI, MULTI_WRONG, also_right=RIGHT["multi_head"], pairs=[
        ("scaled_by_whole_size", "output_bias_missing"),
        ("heads_joined_by_view", "mask_inverted"),
        ("projection_biases_missing", "weights_with_heads_last"),
    ], variants=VARIANTS["multi_head"]),
    "beam_search": Program(BEAM, BEAM_WRONG, also_wrong=[
        ("finished_beside_the_beam", [
            ("[0.0], [state]", "[0.0], [state]\n    done = []"), (KEEP, ""), (CUT, UNTIL_FULL.strip()),
            (RETURN, "done += going\n    return " + ALL.format("done")),
        ]),
        ("returns_none", lambda *given: None),
        *(("wrong_form", partial(returned, given)) for given in (
            [[0, 1]], ([[0, 1]], [0.5]), {"log_p": 1}, torch.ones(2, 2), "ab", [("a", 1.0)], [([0.5j], 1)], 7,
        )),
    ], also_right=RIGHT["beam_search"], pairs=[
        ("end_not_counted", "start_in_sequence"),
        ("state_not_carried", "worst_first"),
        ("start_in_sequence", "divided_by_length"),
    ]),
    "attend_backward": Program(BACKWARD, BACKWARD_WRONG, also_wrong=[
        ("library_layer", by_autograd),
    ], also_right=RIGHT["attend_backward"], pairs=[
        ("scale_missing_on_way_back", "softmax_mean_missing"),
        ("mask_ignored", "gradients_of_key_and_value_exchanged"),
    ]),
}  # fmt: skip
