"""Question `delta_chunk`: the delta rule for a whole chunk, by a triangular system of equations."""

import torch

from companion.check.engine.probe import Probe
from companion.check.engine.question_from_edits import generate_question
from companion.check.engine.run_answer import Function
from companion.check.questions.recurrence_today import chunk_probes


def delta_chunk_reference(q, k, v, beta, S):
    share = beta[:, :, None]
    similar = k @ k.transpose(1, 2)
    one = torch.eye(k.size(1), dtype=k.dtype)
    before = share * similar.tril(-1)
    triangle = one + before
    stored = k @ S.transpose(1, 2)
    wanted = share * (v - stored)
    u = torch.linalg.solve_triangular(triangle, wanted, upper=False)
    past = q @ S.transpose(1, 2)
    o = past + (q @ k.transpose(1, 2)).tril() @ u
    S_new = S + u.transpose(1, 2) @ k
    return triangle, u, o, S_new


HAND, FORMULA, ATTENTION = "chunks#no-states", "chunks#chunks", "matrix_state#same-as-attention"
TRIANGLE, BEFORE, WANTED = "triangle = one + before", "share * similar.tril(-1)", "share * (v - stored)"
SOLVE, WITHIN = "torch.linalg.solve_triangular(triangle, wanted, upper=False)", "(q @ k.transpose(1, 2)).tril() @ u"
READ, NEW, RESULT = "o = past + ", "S + u.transpose(1, 2) @ k", "return triangle, u, o, S_new"
MISTAKES = {
    "share_missing_in_triangle": (FORMULA, BEFORE, "similar.tril(-1)"),
    "share_of_writing_step": (FORMULA, BEFORE, "beta[:, None, :] * similar.tril(-1)"),
    "share_missing_on_right": (FORMULA, WANTED, "v - stored"),
    "share_of_value_only": (FORMULA, WANTED, "share * v - stored"),
    "share_missing": (FORMULA, BEFORE, "similar.tril(-1)", WANTED, "v - stored"),
    "share_twice": (FORMULA, SOLVE, f"share * {SOLVE}"),
    "share_after_solving": (
        FORMULA, BEFORE, "similar.tril(-1)", WANTED, "v - stored", SOLVE, f"share * {SOLVE}"),
    "own_key_in_triangle": (HAND, BEFORE, "share * similar.tril()"),
    "later_keys_in_triangle": (HAND, BEFORE, "share * (similar - similar * one)",
                               SOLVE, "torch.linalg.solve(triangle, wanted)"),
    "ones_missing_in_triangle": (HAND, RESULT, "return before, u, o, S_new"),
    "triangle_turned": (HAND, BEFORE, "share * similar.triu(1)", "upper=False", "upper=True"),
    "triangle_turned~solved_only": (
        "", SOLVE, "torch.linalg.solve_triangular(triangle.transpose(1, 2), wanted, upper=True)"),
    "earlier_steps_added": (HAND, TRIANGLE, "triangle = one - before"),
    "queries_in_triangle": (HAND, BEFORE, "share * (q @ k.transpose(1, 2)).tril(-1)"),
    "queries_in_triangle~turned": ("", BEFORE, "share * (k @ q.transpose(1, 2)).tril(-1)"),
    "system_not_solved": (HAND, SOLVE, "wanted"),
    "system_not_solved~multiplied": ("", SOLVE, "triangle @ wanted"),
    "system_solved_for_one_step": (HAND, SOLVE, "wanted - before @ wanted"),
    "given_state_ignored": (FORMULA, WANTED, "share * v", READ, "o = 0 * past + ",
                            NEW, "0 * S + u.transpose(1, 2) @ k"),
    "given_state_ignored~where_written": ("", WANTED, "share * v"),
    "given_state_ignored~in_output": ("", READ, "o = 0 * past + "),
    "given_state_ignored~in_new_state": ("", NEW, "0 * S + u.transpose(1, 2) @ k"),
    "stored_added": (FORMULA, WANTED, "share * (v + stored)"),
    "change_negated": (FORMULA, WANTED, "share * (stored - v)"),
    "stored_read_by_query": (FORMULA, "stored = k @", "stored = q @"),
    "output_read_by_key": (FORMULA, "past = q @", "past = k @"),
    "values_read_for_written": (
        FORMULA, WITHIN, "(q @ k.transpose(1, 2)).tril() @ v", NEW, "S + v.transpose(1, 2) @ k"),
    "values_read_for_written~in_output": ("", WITHIN, "(q @ k.transpose(1, 2)).tril() @ v"),
    "values_read_for_written~in_new_state": ("", NEW, "S + v.transpose(1, 2) @ k"),
    "output_without_chunk": (FORMULA, WITHIN, "0 * u"),
    "new_state_without_chunk": (FORMULA, NEW, "S + 0 * (u.transpose(1, 2) @ k)"),
    "own_step_hidden": (ATTENTION, WITHIN, "(q @ k.transpose(1, 2)).tril(-1) @ u"),
    "causal_mask_missing": (ATTENTION, WITHIN, "q @ k.transpose(1, 2) @ u"),
    "keys_and_queries_exchanged": (ATTENTION, WITHIN, "(k @ q.transpose(1, 2)).tril() @ u"),
    "similar_keys_for_scores": (ATTENTION, WITHIN, "similar.tril() @ u"),
    "state_turned_for_output": (FORMULA, "past = q @ S.transpose(1, 2)", "past = q @ S"),
    "state_turned_for_stored": (FORMULA, "stored = k @ S.transpose(1, 2)", "stored = k @ S"),
    "outer_product_turned": (FORMULA, NEW, "S + k.transpose(1, 2) @ u"),
    "inverse_returned_for_triangle": (HAND, RESULT, "return torch.linalg.inv(triangle), u, o, S_new"),
    "state_detached": ("chunks#same-numbers", "share = ", "S = S.detach(); share = "),
    "triangle_returned_last": (FORMULA, RESULT, "return u, o, S_new, triangle"),
}  # fmt: skip


def truth(q, k, v, beta, S):
    """Return the results of the loop; the triangle says what each step finds of each unit that was written."""
    written, outputs, rows = [], [], []
    T = k.size(1)
    for t in range(T):
        u = beta[:, t, None] * (v[:, t] - (S * k[:, t, None]).sum(-1))
        S = torch.baddbmm(S, u[:, :, None], k[:, t, None])
        written.append(u)
        outputs.append((S * q[:, t, None]).sum(-1))
        found = [beta[:, t] * (k[:, t] * k[:, s]).sum(-1) for s in range(t)]
        rows.append(
            torch.stack([*found, torch.ones_like(beta[:, t]), *[torch.zeros_like(beta[:, t])] * (T - t - 1)], -1)
        )
    return torch.stack(rows, 1), torch.stack(written, 1), torch.stack(outputs, 1), S


def probes(draw):
    def probe(name, draw, N, C, K, V):
        tensors = {"q": draw(N, C, K), "k": draw(N, C, K), "v": draw(N, C, V), "beta": draw(N, C) + 1}
        tensors["S"] = draw(N, V, K)
        return Probe(name, tensors, gradients=tuple(tensors))

    return chunk_probes(probe, draw)


QUESTION = generate_question(
    delta_chunk_reference,
    MISTAKES,
    truth=truth,
    by_torch=False,
    name="delta_chunk",
    assignment="recurrence_today",
    task=7,
    points=3,
    place=HAND,
    call=Function(("q", "k", "v", "beta", "S"), ("triangle", "u", "o", "S_new")),
    probes=probes,
    axes={
        "triangle": ("sequence", "row", "column"),
        **dict.fromkeys(("u", "o", "q", "k", "v"), ("sequence", "step", "feature")),
        **dict.fromkeys(("S", "S_new"), ("sequence", "row", "column")), "beta": ("sequence", "step"),
    },
    stretch=True,
)  # fmt: skip
