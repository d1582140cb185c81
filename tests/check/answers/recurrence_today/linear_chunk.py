"""Answers to the question `linear_chunk`."""

from tests.check.answers import Program, drawn_pairs

CHUNK = """
def linear_chunk(q, k, v, log_alpha, S):
    N, C = log_alpha.shape
    total = torch.cumsum(log_alpha, dim=1)
    gamma = torch.exp(total)
    gap = total.unsqueeze(2) - total.unsqueeze(1)
    visible = torch.ones(C, C).tril().bool()
    Gamma = torch.exp(torch.where(visible, gap, torch.tensor(-float("inf"))))
    A = torch.bmm(q, k.mT)
    W = Gamma * A
    old = torch.bmm(q, S.mT)
    out = torch.bmm(W, v) + gamma.unsqueeze(2) * old
    last = Gamma[:, C - 1]
    new = torch.bmm((v * last.unsqueeze(2)).mT, k)
    S_C = S * gamma[:, C - 1].view(N, 1, 1) + new
    return W, out, S_C
"""
TOTAL, SHARES, SCORES, W = (
    "torch.cumsum(log_alpha, dim=1)", 'torch.exp(torch.where(visible, gap, torch.tensor(-float("inf"))))',
    "torch.bmm(q, k.mT)", "Gamma * A")  # fmt: skip
OLD, OUT, NEW, KEPT = (
    "torch.bmm(q, S.mT)", "torch.bmm(W, v) + gamma.unsqueeze(2) * old", "torch.bmm((v * last.unsqueeze(2)).mT, k)",
    "S * gamma[:, C - 1].view(N, 1, 1)")  # fmt: skip
RETURN = "return W, out, S_C"
WRONG = {
    "divided_by_products": [(SHARES, "(gamma.unsqueeze(2) / gamma.unsqueeze(1)).tril()")],
    "future_overflows": [(SHARES, "torch.exp(gap).tril()")],
    "log_alpha_for_alpha": [
        ("gamma = torch.exp(total)", "gamma = torch.cumprod(log_alpha, dim=1)"),
        (SHARES, "(gamma.unsqueeze(2) / gamma.unsqueeze(1)).tril()")],
    "factors_not_accumulated": [(TOTAL, "log_alpha")],
    "accumulated_over_batch": [("dim=1)\n    gamma", "dim=0)\n    gamma")],
    "fading_one_step_late": [(TOTAL, "torch.cat([torch.zeros(N, 1), log_alpha[:, :-1].cumsum(1)], 1)")],
    "written_fades_at_once": [(SHARES, f"{SHARES} * log_alpha.exp().unsqueeze(1)")],
    "weights_do_not_fade": [(W, "A.tril()")],
    "weights_fade_from_chunk_begin": [(W, "A.tril() * gamma.unsqueeze(2)")],
    "past_does_not_fade": [(OUT, "torch.bmm(W, v) + old")],
    "past_fades_by_one_step": [(OUT, "torch.bmm(W, v) + log_alpha.exp().unsqueeze(2) * old")],
    "past_fades_one_step_late": [(OUT, "torch.bmm(W, v) + (total - log_alpha).exp().unsqueeze(2) * old")],
    "written_does_not_fade": [(NEW, "torch.bmm(v.mT, k)")],
    "written_fades_from_chunk_begin": [("Gamma[:, C - 1]\n", "gamma\n")],
    "written_fades_to_chunk_end_only": [(NEW, "torch.bmm(v.mT, k) * gamma[:, -1].view(N, 1, 1)")],
    "given_state_ignored": [("    N, C", "    S = torch.zeros_like(S)\n    N, C")],
    "output_without_chunk": [(OUT, "gamma.unsqueeze(2) * old")],
    "new_state_without_chunk": [(f"{KEPT} + new", KEPT)],
    "new_state_read_for_past": [
        ("    return", "    out = torch.bmm(q, S_C.mT)\n    return")],
    "causal_mask_missing": [(SHARES, "torch.exp(gap)")],
    "causal_mask_turned": [(".tril().bool()", ".triu().bool()")],
    "own_step_hidden": [(".tril().bool()", ".tril(-1).bool()")],
    "softmax_on_weights": [(W, "torch.softmax(torch.where(visible, Gamma * A, -torch.inf), dim=2)")],
    "scores_scaled": [(SCORES, f"{SCORES} / math.sqrt(k.shape[2])")],
    "keys_and_queries_exchanged": [(SCORES, "torch.bmm(k, q.mT)")],
    "state_turned_for_output": [(OLD, "torch.bmm(q, S)")],
    "outer_product_turned": [(NEW, "torch.bmm((k * last.unsqueeze(2)).mT, v)")],
    "scores_without_gates_returned": [(RETURN, "return A.tril(), out, S_C")],
    "shares_returned_for_weights": [(RETURN, "return Gamma, out, S_C")],
    "state_detached": [("    N, C", "    S = S.detach()\n    N, C")],
    "weights_returned_last": [(RETURN, "return out, S_C, W")],
}  # fmt: skip

RIGHT = {
    "step by step": """
        def linear_chunk(q, k, v, log_alpha, S):
            N, C, _ = q.shape
            alpha, outputs, rows = log_alpha.exp(), [], []
            shares = []
            for t in range(C):
                S = alpha[:, t, None, None] * S + v[:, t, :, None] * k[:, t, None]
                outputs.append((S @ q[:, t, :, None])[..., 0])
                shares = [share * alpha[:, t] for share in shares] + [torch.ones(N)]
                row = [share * (q[:, t] * k[:, s]).sum(1) for s, share in enumerate(shares)]
                rows.append(torch.stack(row + [torch.zeros(N)] * (C - t - 1), dim=1))
            return torch.stack(rows, 1), torch.stack(outputs, 1), S
    """,
    "products of slices": """
        def linear_chunk(q, k, v, log_alpha, S):
            alpha, C = log_alpha.exp(), q.shape[1]
            Gamma = torch.stack([
                torch.stack([
                    alpha[:, s + 1:t + 1].prod(1) if s <= t else torch.zeros(len(q)) for s in range(C)
                ], dim=1) for t in range(C)
            ], dim=1)
            weights = Gamma * torch.einsum("ntk,nsk->nts", q, k)
            gamma = torch.stack([alpha[:, :t + 1].prod(1) for t in range(C)], dim=1)
            o = torch.einsum("nts,nsv->ntv", weights, v) + torch.einsum("nt,nvk,ntk->ntv", gamma, S, q)
            S = gamma[:, -1, None, None] * S + torch.einsum("ns,nsv,nsk->nvk", Gamma[:, -1], v, k)
            return weights, o, S
    """,
    "sums of slices": """
        def linear_chunk(q, k, v, log_alpha, S):
            C = q.shape[1]
            steps = torch.arange(C)
            inside = (steps[None, None] > steps[None, :, None]) & (steps[None, None] <= steps[:, None, None])
            log_share = (log_alpha[:, None, None] * inside).sum(-1)
            weights = (q @ k.mT) * log_share.exp().tril()
            o = weights @ v + log_alpha.cumsum(1).exp()[..., None] * (q @ S.mT)
            last = log_share[:, -1].exp()
            S = log_alpha.sum(1).exp()[:, None, None] * S + (last[..., None] * v).mT @ k
            return weights, o, S
    """,
    "exponent cut off": [(SHARES, "torch.exp(gap.masked_fill(~visible, -1e9)).tril()")],
    "exponent made zero first": [(SHARES, "torch.exp(gap * visible) * visible")],
    "row by row": """
        def linear_chunk(q, k, v, log_alpha, S):
            rows, outputs, total = [], [], log_alpha.cumsum(1)
            for t in range(q.size(1)):
                share = (total[:, t, None] - total[:, :t + 1]).exp()
                row = share * (k[:, :t + 1] @ q[:, t, :, None])[..., 0]
                rows.append(F.pad(row, (0, q.size(1) - t - 1)))
                past = total[:, t, None].exp() * (S @ q[:, t, :, None])[..., 0]
                outputs.append(past + (row[:, None] @ v[:, :t + 1])[:, 0])
            S = total[:, -1, None, None].exp() * S + (share[..., None] * v).mT @ k
            return [torch.stack(rows, 1), torch.stack(outputs, 1), S]
    """,
    "in float32": "lambda *given: linear_chunk(*(tensor.float() for tensor in given))",
}  # fmt: skip

LATE = ("gamma = torch.exp(total)", "gamma = torch.exp(total - log_alpha)")
ALSO_WRONG = [
    ("past_fades_one_step_late", [LATE]),
    ("past_fades_one_step_late", [LATE, (OUT, "torch.bmm(W, v) + total.exp().unsqueeze(2) * old")]),
    ("log_alpha_for_alpha", [(TOTAL, "torch.cumprod(log_alpha, dim=1)")]),
    ("future_overflows", [(SHARES, "torch.exp(gap) * visible")]),
    ("future_overflows", [(SHARES, "torch.exp(gap)"), (W, "(Gamma * A).tril()")]),
    ("divided_by_products", [(W, "(torch.bmm(q * gamma.unsqueeze(2), (k / gamma.unsqueeze(2)).mT)).tril()")]),
    ("past_does_not_fade", [(KEPT, "S")]),
    ("past_does_not_fade", [(OUT, "torch.bmm(W, v) + old"), (KEPT, "S")]),
    ("given_state_ignored", [(KEPT, "0")]),
    ("weights_do_not_fade", [(SHARES, "visible.to(q).expand(N, C, C)")]),
    ("softmax_on_weights", [(W, "Gamma * torch.softmax(torch.where(visible, A, -torch.inf), dim=2)")]),
    ("scores_without_gates_returned", [(RETURN, "return A, out, S_C")]),
    ("wrong_form", [(RETURN, "return out, S_C")]),
    ("returns_none", [(f"    {RETURN}\n", "")]),
    ("no_gradient", [(RETURN, "return W.detach(), out.detach(), S_C.detach()")]),
    ("library_layer", """
        def linear_chunk(q, k, v, log_alpha, S):
            from companion.layers.matrix_state import loop

            given = (x.transpose(0, 1) for x in (q, k, v, log_alpha))
            q_, k_, v_, a_ = given
            o, S = loop(q_, k_, v_, a_, torch.ones_like(a_), S)
            return torch.bmm(q, k.mT).tril(), o.transpose(0, 1), S
    """),
    (("own_step_hidden", "past_does_not_fade"),
     [(".tril().bool()", ".tril(-1).bool()"), (OUT, "torch.bmm(W, v) + old")]),
    (("keys_and_queries_exchanged", "given_state_ignored"),
     [(SCORES, "torch.bmm(k, q.mT)"), ("    N, C", "    S = torch.zeros_like(S)\n    N, C")]),
]  # fmt: skip


def left_out(pair, edits):
    """Return True if a pair changes a text twice, or if one of two results does not depend on the other's mistake."""
    hides = {"output_without_chunk", "new_state_read_for_past", "state_detached", "shares_returned_for_weights"}
    return len({old for old, _ in edits}) < len(edits) or bool(hides & {*pair})


PROGRAM = Program(CHUNK, WRONG, ALSO_WRONG, RIGHT, drawn_pairs("linear_chunk", CHUNK, WRONG, 12, left_out))
