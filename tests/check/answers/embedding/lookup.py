"""Answers to the question `lookup`, with lines that the layer uses as well."""

import torch
from torch import nn
from torch.nn import functional as F

from companion.check.engine.question import all_questions
from tests.check.answers import Program

LOOKUP = """
def lookup(weight, indices):
    return weight[indices]
"""
READ, RETURN = "weight[indices]", "return weight[indices]"
LOOKUP_WRONG = {
    "counts_from_one": [(READ, "weight[indices - 1]")],
    "one_too_far": [(READ, "torch.index_select(weight, 0, indices.reshape(-1) + 1).view(*indices.shape, -1)")],
    "flat_indices_only": [(READ, "torch.stack([weight[i.item()] for i in indices])")],
    "one_vector_per_row": [(RETURN, """one_hot = torch.zeros(len(indices), len(weight))
    for k, i in enumerate(indices.tolist()):
        one_hot[k, i] = 1.0
    return one_hot @ weight""")],
    "shape_of_indices_lost": [(READ, "weight.index_select(0, indices.flatten())")],
    "return_in_the_loop": [(RETURN, """rows = []
    for i in indices:
        rows.append(weight[i])
        return torch.stack(rows)""")],
    "columns_read": [(READ, "weight[:, indices]")],
    "table_turned": [(READ, "weight.t()[indices]")],
    "embedding_dim_first": [(READ, "torch.stack([weight[:, column][indices] for column in range(weight.shape[1])])")],
    "places_summed": [(READ, "torch.eye(weight.size(0))[indices].sum(dim=-2) @ weight")],
    "places_averaged": [(READ, "weight[indices].mean(dim=-2)")],
    "first_column_only": [(READ, "torch.gather(weight, 0, indices.reshape(-1, 1)).reshape(*indices.shape, 1)")],
    "repeats_left_out": [(READ, "torch.stack([weight[i] for i in sorted(set(indices.flatten().tolist()))])")],
    "rows_scaled": [(READ, "weight[indices] * torch.sqrt(torch.tensor(float(weight.shape[-1])))")],
}  # fmt: skip
LOOKUP_OTHERWISE = [
    ("flat_indices_only", [(READ, "weight.index_select(0, indices)")]),
    ("first_column_only", [(READ, "weight.gather(0, indices.flatten().unsqueeze(1)).view(indices.shape)")]),
]
LOOKUP_WRONG_AS_WELL = LOOKUP_OTHERWISE + [
    (("counts_from_one", "shape_of_indices_lost"), [(READ, "torch.stack([weight[i - 1] for i in indices.flatten()])")]),
    (("table_turned", "flat_indices_only"), [(READ, "torch.stack([weight[:, int(i)] for i in indices])")]),
    (("rows_scaled", "places_summed"), [(READ, "weight[indices].sum(-2) * weight.shape[1] ** 0.5")]),
    (("one_too_far", "no_gradient"), [(READ, "weight.data[indices + 1]")]),
    ("library_layer", lambda weight, indices: F.embedding(indices, weight)),
    ("library_layer", lambda weight, indices: torch.ops.aten.embedding(weight, indices)),
    ("library_layer", lambda weight, indices: nn.Embedding.from_pretrained(weight)(indices)),
    ("library_layer", all_questions()["lookup"].reference(frozenset())),
    ("no_gradient", [(READ, "weight.detach()[indices]")]),
    ("wrong_values", [(READ, "weight[indices] + 0.5")]),
    ("raises_error", [(READ, "weight.numpy()[indices.numpy()]")]),
]  # fmt: skip
LOOKUP_RIGHT = {
    "a product": [(READ, "F.one_hot(indices, len(weight)).to(weight.dtype) @ weight")],
    "written into place": [(RETURN, """out = torch.empty(*indices.shape, weight.shape[1])
    for place in numpy.ndindex(*indices.shape):
        out[place] = weight[indices[place]]
    return out""")],
    "inside, 32 bits": [(READ, "weight.float()[indices].double()")],
}  # fmt: skip

PROGRAM = Program(LOOKUP, LOOKUP_WRONG, LOOKUP_WRONG_AS_WELL, LOOKUP_RIGHT)  # fmt: skip
