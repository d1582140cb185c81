"""Answers to the question `delta_chunk`."""

from tests.check.answers import Program, drawn_pairs

CHUNK = """
def delta_chunk(q, k, v, beta, S):
    C = k.shape[1]
    b = beta.unsqueeze(2)
    kk = torch.bmm(k, k.mT)
    lower = torch.tril(b * kk, -1)
    L = lower + torch.eye(C)
    rhs = b * (v - torch.bmm(k, S.mT))
    rows = []
    for t in range(C):
        found = sum(lower[:, t, s, None] * rows[s] for s in range(t))
        rows.append(rhs[:, t] - found)
    u = torch.stack(rows, 1)
    qk = torch.tril(torch.bmm(q, k.mT))
    o = torch.bmm(q, S.mT) + torch.bmm(qk, u)
    S_C = S + torch.bmm(u.mT, k)
    return L, u, o, S_C
"""
LOWER, RHS = "torch.tril(b * kk, -1)", "b * (v - torch.bmm(k, S.mT))"
QK, READ, NEW = "torch.tril(torch.bmm(q, k.mT))", "torch.bmm(q, S.mT) + torch.bmm(qk, u)", "S + torch.bmm(u.mT, k)"
LOOP = """rows = []
    for t in range(C):
        found = sum(lower[:, t, s, None] * rows[s] for s in range(t))
        rows.append(rhs[:, t] - found)
    u = torch.stack(rows, 1)
"""
RETURN = "return L, u, o, S_C"


def solved(text, more=()):
    """Return edits that put another solution in the place of the loop."""
    return [*more, (LOOP, f"u = {text}\n")]


WRONG = {
    "share_missing_in_triangle": [(LOWER, "torch.tril(kk, -1)")],
    "share_of_writing_step": [(LOWER, "torch.tril(beta.unsqueeze(1) * kk, -1)")],
    "share_missing_on_right": [(RHS, "v - torch.bmm(k, S.mT)")],
    "share_of_value_only": [(RHS, "b * v - torch.bmm(k, S.mT)")],
    "share_missing": [(LOWER, "torch.tril(kk, -1)"), (RHS, "v - torch.bmm(k, S.mT)")],
    "share_twice": [("    qk =", "    u = b * u\n    qk =")],
    "share_after_solving": [
        (LOWER, "torch.tril(kk, -1)"), (RHS, "v - torch.bmm(k, S.mT)"), ("    qk =", "    u = b * u\n    qk =")],
    "own_key_in_triangle": solved("torch.linalg.solve(L, rhs)", [(LOWER, "torch.tril(b * kk)")]),
    "later_keys_in_triangle": solved(
        "torch.linalg.solve(L, rhs)", [(LOWER, "(b * kk).masked_fill(torch.eye(C).bool(), 0)")]),
    "ones_missing_in_triangle": [(RETURN, "return lower, u, o, S_C")],
    "triangle_turned": solved("torch.linalg.solve(L, rhs)", [(LOWER, "torch.triu(b * kk, 1)")]),
    "earlier_steps_added": [("L = lower +", "L = -lower +"), ("rhs[:, t] - found", "rhs[:, t] + found")],
    "queries_in_triangle": [("kk = torch.bmm(k, k.mT)", "kk = torch.bmm(q, k.mT)")],
    "system_not_solved": solved("rhs"),
    "system_solved_for_one_step": solved("rhs - torch.bmm(lower, rhs)"),
    "given_state_ignored": [("    C =", "    S = torch.zeros_like(S)\n    C =")],
    "stored_added": [(RHS, "b * (v + torch.bmm(k, S.mT))")],
    "change_negated": [(RHS, "b * (torch.bmm(k, S.mT) - v)")],
    "stored_read_by_query": [(RHS, "b * (v - torch.bmm(q, S.mT))")],
    "output_read_by_key": [(READ, "torch.bmm(k, S.mT) + torch.bmm(qk, u)")],
    "values_read_for_written": [(READ, "torch.bmm(q, S.mT) + torch.bmm(qk, v)"), (NEW, "S + torch.bmm(v.mT, k)")],
    "output_without_chunk": [(READ, "torch.bmm(q, S.mT)")],
    "new_state_without_chunk": [(NEW, "S.clone()")],
    "own_step_hidden": [(QK, "torch.tril(torch.bmm(q, k.mT), -1)")],
    "causal_mask_missing": [(QK, "torch.bmm(q, k.mT)")],
    "keys_and_queries_exchanged": [(QK, "torch.tril(torch.bmm(k, q.mT))")],
    "similar_keys_for_scores": [(QK, "torch.tril(kk)")],
    "state_turned_for_output": [(READ, "torch.bmm(q, S) + torch.bmm(qk, u)")],
    "state_turned_for_stored": [(RHS, "b * (v - torch.bmm(k, S))")],
    "outer_product_turned": [(NEW, "S + torch.bmm(k.mT, u)")],
    "inverse_returned_for_triangle": [(RETURN, "return L.inverse(), u, o, S_C")],
    "state_detached": [("    C =", "    S = S.detach()\n    C =")],
    "triangle_returned_last": [(RETURN, "return u, o, S_C, L")],
}  # fmt: skip

RIGHT = {
    "triangular solve": solved("torch.linalg.solve_triangular(L, rhs, upper=False)"),
    "ones understood": solved("torch.linalg.solve_triangular(lower, rhs, upper=False, unitriangular=True)"),
    "general solve": solved("torch.linalg.solve(L, rhs)"),
    "inverse": solved("torch.bmm(torch.linalg.inv(L), rhs)"),
    "sum of powers": solved("sum(torch.linalg.matrix_power(-lower, n) @ rhs for n in range(C))"),
    "loop over steps": """
        def delta_chunk(q, k, v, beta, S):
            N, C, _ = k.shape
            us, outputs = [], []
            for t in range(C):
                u = beta[:, t, None] * (v[:, t] - torch.einsum("nvk,nk->nv", S, k[:, t]))
                S = S + u[:, :, None] * k[:, t, None, :]
                us.append(u)
                outputs.append(torch.einsum("nvk,nk->nv", S, q[:, t]))
            triangle = torch.eye(C).repeat(N, 1, 1)
            for t in range(C):
                for s in range(t):
                    triangle[:, t, s] = beta[:, t] * (k[:, t] * k[:, s]).sum(-1)
            return triangle, torch.stack(us, 1), torch.stack(outputs, 1), S
    """,
    "keys with their share": """
        def delta_chunk(q, k, v, beta, S):
            shared = k * beta[..., None]
            triangle = torch.einsum("ntk,nsk->nts", shared, k).tril(-1) + torch.eye(k.shape[1])
            right = v * beta[..., None] - torch.einsum("ntk,nvk->ntv", shared, S)
            u = torch.linalg.solve_triangular(triangle, right, upper=False)
            scores = torch.einsum("ntk,nsk->nts", q, k).tril()
            o = scores @ u + torch.einsum("ntk,nvk->ntv", q, S)
            return triangle, u, o, S + torch.einsum("ntv,ntk->nvk", u, k)
    """,
    "in float32": "lambda *given: delta_chunk(*(tensor.float() for tensor in given))",
}  # fmt: skip

ALSO_WRONG = [
    ("given_state_ignored", [(RHS, "b * v")]),
    ("given_state_ignored", [(NEW, "torch.bmm(u.mT, k)")]),
    ("given_state_ignored", [(READ, "torch.bmm(qk, u)")]),
    ("values_read_for_written", [(READ, "torch.bmm(q, S.mT) + torch.bmm(qk, v)")]),
    ("values_read_for_written", [(NEW, "S + torch.bmm(v.mT, k)")]),
    ("system_not_solved", solved("L @ rhs")),
    ("triangle_turned", solved("torch.linalg.solve(L.mT, rhs)")),
    ("queries_in_triangle", [("kk = torch.bmm(k, k.mT)", "kk = torch.bmm(k, q.mT)")]),
    ("wrong_form", [(RETURN, "return u, o, S_C")]),
    ("no_gradient", [(RETURN, "return L.detach(), u.detach(), o.detach(), S_C.detach()")]),
    ("library_layer", """
        def delta_chunk(q, k, v, beta, S):
            from companion.layers.matrix_state import one_chunk

            triangle = torch.eye(k.size(1)) + (beta[..., None] * (k @ k.mT)).tril(-1)
            o, new = one_chunk(q, k, v, torch.zeros_like(beta)[..., None], beta[..., None], S, True)
            return triangle, o, o, new
    """),
    (("own_step_hidden", "share_missing_on_right"),
     [(QK, "torch.tril(torch.bmm(q, k.mT), -1)"), (RHS, "v - torch.bmm(k, S.mT)")]),
]  # fmt: skip


def left_out(pair, edits):
    """Return True if a pair changes a text twice, or if one mistake hides what the other does."""
    hides = {"system_not_solved", "output_without_chunk", "new_state_without_chunk", "state_detached"}
    return len({old for old, _ in edits}) < len(edits) or bool(hides & {*pair})


PROGRAM = Program(CHUNK, WRONG, ALSO_WRONG, RIGHT, drawn_pairs("delta_chunk", CHUNK, WRONG, 12, left_out))
