"""Answers to the question `combine_steps`."""

from tests.check.answers import Program, drawn_pairs

COMBINE = """
def combine_steps(A_1, b_1, A_2, b_2):
    A = torch.bmm(A_2, A_1)
    moved = torch.bmm(A_2, b_1.unsqueeze(2)).squeeze(2)
    b = moved + b_2
    return A, b
"""
A, MOVED, B = "torch.bmm(A_2, A_1)", "torch.bmm(A_2, b_1.unsqueeze(2)).squeeze(2)", "moved + b_2"
WRONG = {
    "steps_in_other_order": [(A, "torch.bmm(A_1, A_2)"), (MOVED, MOVED.replace("A_2", "A_1").replace("b_1", "b_2")),
                             (B, "moved + b_1")],
    "factors_in_other_order": [(A, "A_1 @ A_2")],
    "other_b_multiplied": [(MOVED, MOVED.replace("A_2", "A_1").replace("b_1", "b_2")), (B, "moved + b_1")],
    "b_by_own_factor": [(MOVED, "(A_1 @ b_1[..., None])[..., 0]")],
    "b_by_both_factors": [(MOVED, "(A @ b_1[..., None])[..., 0]")],
    "both_b_multiplied": [("b_1.unsqueeze(2)", "(b_1 + b_2).unsqueeze(2)"), (B, "moved")],
    "b_not_multiplied": [(B, "b_1 + b_2")],
    "first_b_lost": [(B, "b_2")],
    "second_b_lost": [(B, "moved")],
    "b_by_transposed_factor": [(MOVED, "torch.einsum('nji,nj->ni', A_2, b_1)")],
    "b_subtracted": [(B, "moved - b_2")],
    "factors_added": [(A, "A_2 + A_1")],
    "factors_number_by_number": [(A, "A_2 * A_1")],
    "first_factor_lost": [(A, "A_2.clone()")],
    "second_factor_lost": [(A, "A_1.clone()")],
    "b_returned_first": [("return A, b", "return b, A")],
}  # fmt: skip

RIGHT = {
    "sequence by sequence": """
        def combine_steps(A_1, b_1, A_2, b_2):
            As, bs = [], []
            for n in range(len(A_1)):
                As.append(A_2[n] @ A_1[n])
                bs.append(A_2[n] @ b_1[n] + b_2[n])
            return torch.stack(As), torch.stack(bs)
    """,
    "numbers in loops": """
        def combine_steps(A_1, b_1, A_2, b_2):
            N, D = b_1.shape
            A, b = torch.zeros(N, D, D), b_2.clone()
            for i in range(D):
                for j in range(D):
                    A[:, i, j] = sum(A_2[:, i, m] * A_1[:, m, j] for m in range(D))
                    b[:, i] += A_2[:, i, j] * b_1[:, j]
            return [A, b]
    """,
    "one matrix with a row more": """
        def combine_steps(A_1, b_1, A_2, b_2):
            def joined(A, b):
                top = torch.cat([A, b[:, :, None]], dim=2)
                bottom = torch.zeros_like(top[:, :1])
                bottom[:, :, -1] = 1
                return torch.cat([top, bottom], dim=1)

            both = joined(A_2, b_2) @ joined(A_1, b_1)
            return both[:, :-1, :-1], both[:, :-1, -1]
    """,
    "steps applied to vectors": """
        def combine_steps(A_1, b_1, A_2, b_2):
            def both(h):
                h = torch.einsum("nij,nj->ni", A_1, h) + b_1
                return torch.einsum("nij,nj->ni", A_2, h) + b_2

            b = both(torch.zeros_like(b_1))
            units = torch.eye(b.size(1)).expand(len(b), -1, -1)
            return torch.stack([both(unit) - b for unit in units.unbind(1)], dim=2), b
    """,
    "vmap": """
        def combine_steps(*given):
            return torch.vmap(lambda A, b, C, d: (C @ A, C @ b + d))(*given)
    """,
    "by its own rows": [("torch.bmm(A_2, A_1)", "(A_1.mT @ A_2.mT).mT"), (MOVED, "(b_1[:, None] @ A_2.mT)[:, 0]")],
    "in float32": "lambda *given: combine_steps(*(tensor.float() for tensor in given))",
}  # fmt: skip

ALSO_WRONG = [
    # as the chapter does for one number
    ("factors_number_by_number", [(A, "A_2 * A_1"), (MOVED, "A_2 * b_1")]),
    ("wrong_form", [("return A, b", "return torch.cat([A, b[:, :, None]], dim=2)")]),
    ("raises_error", [(MOVED, "A_2 @ b_1")]),
    ("wrong_shape", [(".squeeze(2)", ".squeeze()")]),
    ("no_gradient", [("return A, b", "return A.detach(), b.detach()")]),
    ("factors_number_by_number", [(A, "torch.einsum('nij,nij->nij', A_2, A_1)")]),
    ("b_by_both_factors", [(MOVED, "torch.bmm(A, b_1.unsqueeze(2)).squeeze(2)"), (B, "b_2 + moved")]),
    ("both_b_multiplied", [
        (B, "moved + torch.bmm(A_2, b_2.unsqueeze(2)).squeeze(2)"),
    ]),
    (("factors_added", "b_not_multiplied"), [(A, "A_1 + A_2"), (B, "b_1 + b_2")]),
    ("single_batch_only", [(MOVED, "A_2 @ b_1.view(b_1.shape[1])")]),
]  # fmt: skip

PROGRAM = Program(
    COMBINE,
    WRONG,
    ALSO_WRONG,
    RIGHT,
    drawn_pairs("combine_steps", COMBINE, WRONG, 12, lambda pair, edits: len({old for old, _ in edits}) < len(edits)),
    {
        "states_are_columns": [],
        "states_are_rows": [(A, "torch.bmm(A_1, A_2)"), (MOVED, "torch.bmm(b_1.unsqueeze(1), A_2).squeeze(1)")],
    },
)
