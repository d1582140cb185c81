"""Answers to the question `delta_step`."""

from tests.check.answers import Program, drawn_pairs

STEP = """
def delta_step(S, q, k, v, beta):
    found = (S @ k[:, :, None]).squeeze(2)
    b = beta.view(-1, 1)
    u = b * (v - found)
    outer = u[:, :, None] @ k[:, None, :]
    S_2 = S + outer
    o = (S_2 @ q[:, :, None]).squeeze(2)
    return o, S_2
"""
FOUND, U, OUTER = "(S @ k[:, :, None]).squeeze(2)", "b * (v - found)", "u[:, :, None] @ k[:, None, :]"
NEW, OUTPUT, RETURN = "S + outer", "(S_2 @ q[:, :, None]).squeeze(2)", "return o, S_2"
ADDED = "    S = S + v[:, :, None] @ k[:, None, :]\n    found = "
WRONG = {
    "value_added_whole": [(U, "b * v")],
    "share_missing": [(U, "v - found")],
    "share_of_value_only": [(U, "b * v - found")],
    "share_of_stored_only": [(U, "v - b * found")],
    "share_inverted": [(U, "(1 - b) * (v - found)")],
    "share_twice": [(U, "b * (v - b * found)")],
    "share_along_features": [("beta.view(-1, 1)", "beta")],
    "change_negated": [(U, "b * (found - v)")],
    "stored_added": [(U, "b * (found + v)")],
    "value_and_stored_mixed": [(U, "b * v + (1 - b) * found")],
    "whole_state_fades": [(U, "b * v"), (NEW, "(1 - beta.view(-1, 1, 1)) * S + outer")],
    "old_state_dropped": [(NEW, "outer")],
    "stored_read_by_query": [(FOUND, "(S @ q[:, :, None]).squeeze(2)")],
    "written_under_query": [(OUTER, "u[:, :, None] @ q[:, None, :]")],
    "output_read_by_key": [(OUTPUT, "(S_2 @ k[:, :, None]).squeeze(2)")],
    "keys_and_queries_exchanged": [("    found", "    q, k = k, q\n    found")],
    "read_after_writing": [("    found = ", ADDED), (U, "b * -found")],
    "outer_product_turned": [(OUTER, "k[:, :, None] @ u[:, None, :]")],
    "state_turned_for_stored": [(FOUND, "(k[:, None] @ S).squeeze(1)")],
    "state_turned_for_output": [(OUTPUT, "(q[:, None] @ S_2).squeeze(1)")],
    "key_normalised": [("    found", "    k = F.normalize(k, dim=-1)\n    found")],
    "gradient_cut_at_stored": [(U, "b * (v - found.detach())")],
    "state_detached": [("    found", "    S = S.data\n    found")],
    "state_returned_first": [(RETURN, "return S_2, o")],
}  # fmt: skip

RIGHT = {
    "sequence by sequence": """
        def delta_step(S, q, k, v, beta):
            outputs, states = [], []
            for n in range(S.shape[0]):
                new = S[n] + beta[n] * torch.outer(v[n] - S[n] @ k[n], k[n])
                outputs.append(new @ q[n])
                states.append(new)
            return torch.stack(outputs), torch.stack(states)
    """,
    "one factor for the state": """
        def delta_step(S, q, k, v, beta):
            k_k = torch.einsum("ni,nj->nij", k, k)
            keep = torch.eye(k.size(1)) - beta.view(-1, 1, 1) * k_k
            S = torch.bmm(S, keep) + torch.einsum("n,nv,nk->nvk", beta, v, k)
            return torch.einsum("nvk,nk->nv", S, q), S
    """,
    "output from parts": [(OUTPUT, "(S @ q[:, :, None]).squeeze(2) + u * (k * q).sum(1, keepdim=True)")],
    "sums of products": [(FOUND, "(S * k[:, None]).sum(2)"), (OUTER, "u[:, :, None] * k[:, None]"),
                         (OUTPUT, "(S_2 * q.unsqueeze(1)).sum(-1)")],
    "erase, then write": [
        (NEW, "S - beta[:, None, None] * found[:, :, None] * k[:, None] + beta[:, None, None] * v[:, :, None] * k[:, None]")],  # noqa: E501
    "vmap": """
        def delta_step(*given):
            def one(S, q, k, v, beta):
                S = torch.addr(S, beta * (v - S @ k), k)
                return S @ q, S
            return torch.vmap(one)(*given)
    """,
    "by the gradient of the error": """
        def delta_step(S, q, k, v, beta):
            error = torch.matmul(S, k.unsqueeze(-1)) - v.unsqueeze(-1)
            S = S - beta[:, None, None] * torch.matmul(error, k.unsqueeze(-2))
            return torch.matmul(S, q.unsqueeze(-1))[..., 0], S
    """,
    "in place, on its own": [("outer = ", "S = S.clone()\n    outer = "), (NEW, "S.add_(outer)")],
    "in float32": "lambda *given: delta_step(*(tensor.float() for tensor in given))",
}  # fmt: skip

ALSO_WRONG = [
    ("whole_state_fades", [(NEW, "(1 - beta.view(-1, 1, 1)) * S + outer")]),
    ("share_twice", [(OUTER, "(b * u)[:, :, None] @ k[:, None, :]")]),
    ("read_after_writing", [("    found = ", ADDED)]),
    ("change_negated", [(NEW, "S - outer")]),
    ("old_state_dropped", [(RETURN, "return o, outer")]),
    ("key_normalised", [("    found", "    q, k = F.normalize(q, dim=1), F.normalize(k, dim=1)\n    found")]),
    ("wrong_form", [(RETURN, "return o")]),
    ("changes_its_input", [(NEW, "S.add_(outer)"), (FOUND, f"{FOUND}.clone()")]),
    ("no_gradient", [(RETURN, "return o.detach(), S_2.detach()")]),
    ("single_batch_only", [(FOUND, "(S.squeeze(0) @ k.squeeze(0))[None]")]),
    (("share_missing", "output_read_by_key"), [(U, "v - found"), (OUTPUT, "(S_2 @ k[:, :, None]).squeeze(2)")]),
    (("value_added_whole", "written_under_query"), [(U, "b * v"), (OUTER, "u[:, :, None] @ q[:, None, :]")]),
]  # fmt: skip

KEYS_IN_ROWS = [(FOUND, "(k[:, None, :] @ S).squeeze(1)"), (OUTER, "k[:, :, None] @ u[:, None, :]")]


def left_out(pair, edits):
    """Return True if a pair changes a text twice, looks like another variant, or detaches another state."""
    turned = any("turned" in name or "fades" in name for name in pair)
    return (
        len({old for old, _ in edits}) < len(edits)
        or turned
        or bool({"keys_and_queries_exchanged", "state_detached"} & {*pair})
    )


PROGRAM = Program(STEP, WRONG, ALSO_WRONG, RIGHT, drawn_pairs("delta_step", STEP, WRONG, 12, left_out), {
    "values_in_rows_read_after": [],
    "keys_in_rows_read_after": [*KEYS_IN_ROWS, (OUTPUT, "(q[:, None, :] @ S_2).squeeze(1)")],
    "values_in_rows_read_before": [(OUTPUT, "(S @ q[:, :, None]).squeeze(2)")],
    "keys_in_rows_read_before": [*KEYS_IN_ROWS, (OUTPUT, "(q[:, None, :] @ S).squeeze(1)")],
})  # fmt: skip
