"""Answers to the question `one_hot`."""

import torch
from torch.nn import functional as F

from tests.check.answers import Program

ONE_HOT = """
def one_hot(indices, num_embeddings):
    flat = indices.reshape(-1)
    out = torch.zeros(len(flat), num_embeddings)
    for k in range(len(flat)):
        out[k, flat[k]] = 1
    return out.reshape(*indices.shape, num_embeddings)
"""
SHAPED = "out.reshape(*indices.shape, num_embeddings)"
ONE_HOT_WRONG = {
    "counts_from_one": [("flat[k]", "flat[k] - 1")],
    "one_too_far": "lambda indices, n: torch.zeros(*indices.shape, n).scatter_(-1, indices.unsqueeze(-1) + 1, 1.0)",
    "index_zero_left_out": "lambda indices, n: (indices.unsqueeze(-1) == torch.arange(1, n + 1)).to(torch.float64)",
    "flat_indices_only": [("indices.reshape(-1)", "indices"), ("out[k, flat[k]]", "out[k, int(flat[k])]")],
    "shape_of_indices_lost": [(SHAPED, "out")],
    "return_in_the_loop": [("= 1", f"= 1\n        return {SHAPED}")],
    "last_place_left_out": [("range(len(flat))", "range(len(flat) - 1)")],
    "size_from_indices": "lambda indices, n: (indices[..., None] == torch.arange(indices.max() + 1)).double()",
    "one_column_too_many": "lambda indices, n: torch.eye(n + 1)[indices]",
    "integers_returned": "lambda indices, n: torch.eye(n, dtype=torch.int64)[indices]",
    "one_vector_per_row": [("indices.reshape(-1)", "indices"), (SHAPED, "out")],
    "one_vector_for_all": [
        ("len(flat), num_embeddings", "num_embeddings"),
        ("out[k, flat[k]]", "out[flat[k]]"),
        (SHAPED, "out"),
    ],
    "vocabulary_axis_first": "lambda indices, n: torch.stack([(indices == v).double() for v in range(n)])",
    "index_for_one": [("= 1", "= flat[k].double()")],
    "ones_and_zeros_swapped": "lambda indices, n: (indices[..., None] != torch.arange(n)).double()",
    "ones_up_to_index": "lambda indices, n: (torch.arange(n) <= indices[..., None]).double()",
}
ONE_HOT_WRONG_AS_WELL = [
    ("one_too_far", "lambda indices, n: (torch.arange(n) == indices[..., None] + 1).double()"),
    ("flat_indices_only", """
        def one_hot(indices, n):
            out = torch.zeros(len(indices), n, dtype=torch.float64)
            out[torch.arange(len(indices)), indices] = 1.0
            return out
    """),
    ("integers_returned", "lambda indices, n: indices[..., None] == torch.arange(n)"),
    (("counts_from_one", "shape_of_indices_lost"), "lambda indices, n: torch.eye(n)[indices.flatten() - 1]"),
    (("integers_returned", "size_from_indices"),
    "lambda indices, n: torch.eye(int(indices.max()) + 1).long()[indices]"),
    (("one_vector_for_all", "integers_returned"),
    "lambda indices, n: torch.tensor([int(v in indices) for v in range(n)])"),
    (("ones_and_zeros_swapped", "integers_returned"), "lambda indices, n: indices[..., None] != torch.arange(n)"),
    (("index_for_one", "vocabulary_axis_first"),
     "lambda indices, n: torch.stack([indices * (indices == v).double() for v in range(n)])"),
    ("library_layer", F.one_hot),
    ("library_layer", lambda indices, n: F.embedding(indices, torch.eye(n))),
    ("library_layer", lambda indices, n: torch.ops.aten.one_hot(indices, n).double()),
    ("not_a_tensor", "lambda indices, n: numpy.eye(n)[indices.numpy()]"),
    ("returns_none", "lambda indices, n: None"),
]  # fmt: skip
ONE_HOT_RIGHT = {
    "rows of a matrix": "lambda indices, n: torch.eye(n, dtype=torch.float64)[indices]",
    "numbers of 32 bits": "lambda indices, n: (indices[..., None] == torch.arange(n)).float()",
    "numpy": "lambda indices, n: torch.from_numpy(numpy.eye(n)[indices.numpy()])",
}

PROGRAM = Program(ONE_HOT, ONE_HOT_WRONG, ONE_HOT_WRONG_AS_WELL, ONE_HOT_RIGHT)  # fmt: skip
