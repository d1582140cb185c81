"""Question `delta_step`: one step of the delta rule. Variants: the axes of the state, and which state is read."""

from dataclasses import replace
from functools import partial

import torch

from companion.check.engine.probe import Probe
from companion.check.engine.question_from_edits import generate_question
from companion.check.engine.run_answer import Function


def delta_step_reference(S, q, k, v, beta):
    state = "nvk"
    stored = torch.einsum(f"{state},nk->nv", S, k)
    share = beta[:, None]
    u = share * (v - stored)
    S_new = S + torch.einsum(f"nv,nk->{state}", u, k)
    read = S_new
    o = torch.einsum(f"{state},nk->nv", read, q)
    return o, S_new


RULE, READ, WRITE = "matrix_state#delta", "matrix_state#by-hand", "matrix_state#rewritten-by-hand"
STORED, CHANGE, RESULT = 'f"{state},nk->nv", S, k)', "share * (v - stored)", "return o, S_new"
NEW, OUTPUT = 'S + torch.einsum(f"nv,nk->{state}", u, k)', 'f"{state},nk->nv", read, q)'
BEFORE = 'stored = torch.einsum(f"{state},nk->nv", S, k)'
AFTER_ADDING = """S = S + torch.einsum(f"nv,nk->{state}", v, k)
    stored = torch.einsum(f"{state},nk->nv", S, k)"""
READ_AFTER = ("read = S_new",) * 2  # replaces a text by itself, so that a mistake exists in these variants only
MISTAKES = {
    "value_added_whole": (RULE, CHANGE, "share * v"),
    "share_missing": (RULE, CHANGE, "v - stored"),
    "share_of_value_only": (RULE, CHANGE, "share * v - stored"),
    "share_of_stored_only": (RULE, CHANGE, "v - share * stored"),
    "share_inverted": (RULE, CHANGE, "(1 - share) * (v - stored)"),
    "share_twice": (RULE, CHANGE, "share * (v - share * stored)"),
    "share_twice~of_difference": ("", CHANGE, "share * share * (v - stored)"),
    "share_along_features": (RULE, "beta[:, None]", "beta"),
    "change_negated": (RULE, CHANGE, "share * (stored - v)"),
    "stored_added": (RULE, CHANGE, "share * (v + stored)"),
    "value_and_stored_mixed": (RULE, CHANGE, "share * v + (1 - share) * stored"),
    "whole_state_fades": (RULE, CHANGE, "share * v", "S_new = S +", "S_new = (1 - beta[:, None, None]) * S +"),
    "whole_state_fades~difference_written": ("", "S_new = S +", "S_new = (1 - beta[:, None, None]) * S +"),
    "old_state_dropped": (RULE, NEW, 'torch.einsum(f"nv,nk->{state}", u, k)'),
    "old_state_dropped~when_returned": ("", RESULT, "return o, S_new - S", *READ_AFTER),
    "stored_read_by_query": (RULE, STORED, 'f"{state},nk->nv", S, q)'),
    "written_under_query": (RULE, NEW, 'S + torch.einsum(f"nv,nk->{state}", u, q)'),
    "output_read_by_key": (READ, OUTPUT, 'f"{state},nk->nv", read, k)'),
    "keys_and_queries_exchanged": (
        READ, STORED, 'f"{state},nk->nv", S, q)', NEW, 'S + torch.einsum(f"nv,nk->{state}", u, q)',
        OUTPUT, 'f"{state},nk->nv", read, k)'),
    "read_after_writing": (RULE, BEFORE, AFTER_ADDING, CHANGE, "-share * stored"),
    "read_after_writing~difference": ("", BEFORE, AFTER_ADDING),
    "outer_product_turned": (WRITE, NEW, 'S + torch.einsum(f"nk,nv->{state}", u, k)'),
    "state_turned_for_stored": (RULE, STORED, 'f"{state},nv->nk", S, k)'),
    "state_turned_for_output": (READ, OUTPUT, 'f"{state},nv->nk", read, q)'),
    "key_normalised": (RULE, 'state = "', 'k = k / k.norm(dim=-1, keepdim=True); state = "'),
    "key_normalised~and_query": (
        "", 'state = "', 'k, q = k / k.norm(dim=-1, keepdim=True), q / q.norm(dim=-1, keepdim=True); state = "'),
    "gradient_cut_at_stored": ("matrix_state#delta-is-learning", CHANGE, "share * (v - stored.detach())"),
    "state_detached": ("matrix_state#delta-is-learning", 'state = "', 'S = S.detach(); state = "'),
    "state_returned_first": (READ, RESULT, "return S_new, o"),
}  # fmt: skip


def truth(S, q, k, v, beta):
    """Return the step of gradient descent that the rule is, with the product of the state and one factor."""
    size = k.size(-1)
    mirror = torch.eye(size, dtype=k.dtype) - beta[:, None, None] * k[:, :, None] * k[:, None, :]
    S_new = torch.baddbmm((beta[:, None] * v)[:, :, None] * k[:, None, :], S, mirror)
    return torch.bmm(S_new, q[:, :, None]).squeeze(-1), S_new


def probes(draw, rows="values"):
    """Return the probes. rows: of the state, those of the values or the keys."""

    def probe(name, draw, N, V, K):
        shape = (N, V, K) if rows == "values" else (N, K, V)
        tensors = {"S": draw(*shape), "q": draw(N, K), "k": draw(N, K), "v": draw(N, V), "beta": draw(N) + 1}
        return Probe(name, tensors, gradients=tuple(tensors))

    return [
        probe("one_number", draw.few, 1, 1, 1),
        probe("batch_1", draw.few, 1, 2, 2),
        probe("several", draw, 2, 3, 4),
        # a size of 1 in a batch: `squeeze()` without an axis drops it
        probe("several", draw, 3, 1, 1),
        # as many values as keys, or as sequences: to mistake one for the other raises no error
        probe("several", draw, 4, 2, 2),
        probe("several", draw, 3, 3, 2),
    ]


ASKED = generate_question(
    delta_step_reference,
    MISTAKES,
    variants={
        "values_in_rows_read_after": (),
        "keys_in_rows_read_after": ('"nvk"', '"nkv"'),
        "values_in_rows_read_before": ("read = S_new", "read = S"),
        "keys_in_rows_read_before": ('"nvk"', '"nkv"', "read = S_new", "read = S"),
    },
    truth=truth,
    by_torch=False,
    name="delta_step",
    assignment="recurrence_today",
    task=4,
    points=2,
    place=RULE,
    call=Function(("S", "q", "k", "v", "beta"), ("o", "S_new")),
    probes=probes,
    axes={
        **dict.fromkeys(("S", "S_new"), ("sequence", "row", "column")),
        **dict.fromkeys(("o", "q", "k", "v"), ("sequence", "feature")), "beta": ("sequence",),
    },
)  # fmt: skip
VARIANTS = {
    name: replace(asked, probes=partial(probes, rows=name.split("_")[0])) for name, asked in ASKED.variants.items()
}
QUESTION = replace(ASKED, variants=VARIANTS)
