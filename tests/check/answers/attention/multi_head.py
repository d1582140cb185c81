"""Answers to the question `multi_head`."""

from tests.check.answers import Program

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
    "heads_joined_backwards": [(JOIN, "torch.cat([context[:, h] for h in reversed(range(heads))], dim=-1)")],
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
AVERAGED = ("return output, weights", "return output, weights.mean(dim=1)")

VARIANTS = {"weights_of_each_head": [], "weights_averaged": [AVERAGED]}  # fmt: skip

RIGHT = {
    "einsum, biases aside": (
        """
        def multi_head(query, key, value, mask, heads, w, b, w_out, b_out):
            W, c = w.unflatten(0, (3, heads, -1)), b.unflatten(0, (3, heads, 1, -1))
            q, k, v = (torch.einsum("nte,hde->nhtd", x, W[i]) + c[i] for i, x in enumerate((query, key, value)))
            a = (torch.einsum("nhtd,nhsd->nhts", q, k) / q.size(-1) ** 0.5).masked_fill(~mask[:, None], -1e30).softmax(-1)
            return torch.einsum("nhts,nhsd,ehd->nte", a, v, w_out.unflatten(1, (heads, -1))) + b_out, a
    """  # noqa: E501
    ),
}

PROGRAM = Program(MULTI, MULTI_WRONG, also_right=RIGHT, pairs=[
    ("scaled_by_whole_size", "output_bias_missing"),
    ("heads_joined_by_view", "mask_inverted"),
    ("projection_biases_missing", "weights_with_heads_last"),
], variants=VARIANTS)  # fmt: skip
