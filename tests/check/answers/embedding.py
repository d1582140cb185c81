"""Answers to the assignment `embedding`."""

import torch
from torch import nn
from torch.nn import functional as F

import companion
from companion.check.engine.question import all_questions
from tests.check.answers import Program

# One-hot vectors

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

# The look-up: the layer below uses the same lines

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

# The gradient

GRADIENT = """
def weight_gradient(indices, grad_output, num_embeddings, padding_idx=None):
    grad = torch.zeros(num_embeddings, grad_output.shape[-1])
    for i, g in zip(indices.flatten(), grad_output.flatten(0, -2)):
        grad[i] += g
    if padding_idx is not None:
        grad[padding_idx] = 0
    return grad
"""
ADD, LOOP = "grad[i] += g", GRADIENT[GRADIENT.index("    for") : GRADIENT.index("    if")]
CLEAR = GRADIENT[GRADIENT.index("    if") : GRADIENT.index("    return")]
NO_PADDING = [(", padding_idx=None", ""), (CLEAR, "")]
GRADIENT_WRONG = {
    "repeats_lost": [(LOOP, "    grad[indices] += grad_output\n")],
    "padding_row_trained": [(CLEAR, "")],
    "padding_idx_zero_ignored": [("if padding_idx is not None", "if padding_idx")],
    "padding_by_default": [("padding_idx=None", "padding_idx=0")],
    "padding_always_row_zero": [(ADD, "grad[i] += g * (i > 0)"), (CLEAR, "")],
    "padding_idx_missing": NO_PADDING,
    "padding_place_zeroed": [
        ("    grad =",
        "    pieces = grad_output.clone().flatten(0, -2)\n    if padding_idx is not None:\n        pieces[padding_idx] = 0\n    grad ="),  # noqa: E501
        ("grad_output.flatten(0, -2)):", "pieces):"), (CLEAR, ""),
    ],
    "padding_row_removed": [("return grad",
    "return torch.stack([row for v, row in enumerate(grad) if v != padding_idx])")],
    "repeats_in_row_lost": [(LOOP, "    for sequence, g in zip(indices, grad_output):\n        grad[sequence] += g\n")],
    "divided_by_frequency": [("return grad",
    "return grad / indices.flatten().bincount(minlength=num_embeddings).clamp(min=1)[:, None]")],
    "divided_by_places": [(ADD, "grad[i] += g / indices.numel()")],
    "grad_output_ignored": [(ADD, "grad[i] += 1")],
    "gradient_to_all_rows": [(ADD, "grad += g")],
    "gradient_turned": [("return grad", "return grad.T")],
    "gradient_negated": [(ADD, "grad[i] -= g")],
    "batch_not_summed": [(LOOP, "    grad = torch.eye(num_embeddings)[indices].transpose(-2, -1) @ grad_output\n"),
    ("grad[padding_idx]", "grad[..., padding_idx, :]")],
    "unread_rows_left_out": [("return grad", "return grad[indices.flatten().unique()]")],
    "size_from_indices": [("torch.zeros(num_embeddings,", "torch.zeros(max(indices.flatten().tolist()) + 1,")],
    "last_place_left_out": [("indices.flatten()", "indices.flatten()[:-1]")],
    "counts_from_one": [(ADD, "grad[i - 1] += g")],
    "one_too_far": [(LOOP, "    grad = grad.index_add(0, 1 + indices.flatten(), grad_output.flatten(0, -2))\n")],
    "flat_indices_only": [("zip(indices.flatten(), grad_output.flatten(0, -2))", "zip(indices, grad_output)"), (ADD,
    "grad[i.item()] += g")],
    "return_in_the_loop": [(ADD,
    "grad[i] += g\n        if padding_idx is not None:\n            grad[padding_idx] = 0\n        return grad")],
}  # fmt: skip


def by_autograd(indices, grad_output, n, padding_idx=None):
    weight = torch.zeros(n, grad_output.shape[-1], requires_grad=True)
    return torch.autograd.grad(weight[indices], weight, grad_output)[0]


GRADIENT_WRONG_AS_WELL = [
    (("repeats_lost", "padding_row_trained"), [(LOOP, "    grad[indices] = grad_output\n"), (CLEAR, "")]),
    (("flat_indices_only", "padding_row_trained"), [(LOOP, "    grad.index_add_(0, indices, grad_output)\n"), (CLEAR,
    "")]),
    ("library_layer", lambda i, g, n, p=-1: torch.ops.aten.embedding_dense_backward(g, i, n, p, False)),
    ("library_layer", by_autograd),
    ("changes_its_input", [("    grad =", "    grad_output[indices == padding_idx] = 0\n    grad ="), (CLEAR, "")]),
]  # fmt: skip
GRADIENT_RIGHT = {
    "in float32": [
        ("grad_output.flatten(0, -2)", "grad_output.flatten(0, -2).float()"),
        ("return grad", "return grad.float()"),
    ],
    "index_add": [(LOOP, "    grad.index_add_(0, indices.flatten(), grad_output.flatten(0, -2))\n")],
    "numpy": (
        """
        def weight_gradient(indices, grad_output, num_embeddings, padding_idx=None):
            grad = numpy.zeros((num_embeddings, grad_output.shape[-1]))
            numpy.add.at(grad, indices.numpy(), grad_output.numpy())
            grad[padding_idx if padding_idx is not None else []] = 0
            return torch.tensor(grad)
    """
    ),
}

# The layer

LAYER = (
    LOOKUP
    + """

class Embedding(nn.Module):
    def __init__(self, num_embeddings, embedding_dim, padding_idx=None):
        super().__init__()
        self.padding_idx = padding_idx
        self.weight = nn.Parameter(torch.randn(num_embeddings, embedding_dim))
        if padding_idx is not None:
            self.weight.data[padding_idx] = 0

    def table(self):
        if self.padding_idx is None:
            return self.weight
        mask = (torch.arange(len(self.weight)) == self.padding_idx).unsqueeze(1)
        return torch.where(mask, self.weight.detach(), self.weight)

    def forward(self, indices):
        return lookup(self.table(), indices)
"""
)
DRAWN, ZEROED = "torch.randn(num_embeddings, embedding_dim)", "self.weight.data[padding_idx] = 0"
KEPT, SAID = "self.padding_idx = padding_idx", "lookup(self.table(), indices)"
TRANSPOSED = [(DRAWN, "torch.randn(embedding_dim, num_embeddings)"), ("data[padding_idx]", "data[:, padding_idx]")]
LAYER_WRONG = LOOKUP_WRONG | {
    "padding_row_trained": [("self.table()", "self.weight")],
    "padding_idx_zero_ignored": [("if padding_idx is not None", "if padding_idx"), ("if self.padding_idx is None",
    "if not self.padding_idx")],
    "padding_by_default": [("padding_idx=None", "padding_idx=0")],
    "padding_always_row_zero": [(KEPT, "padding_idx = self.padding_idx = 0")],
    "padding_idx_missing": [(", padding_idx=None", ""), (KEPT, "padding_idx = self.padding_idx = None")],
    "padding_row_not_zero": [(ZEROED, "nn.init.uniform_(self.weight)")],
    "padding_read_as_zeros": [
        (f"return {SAID}",
        "rows = self.weight[indices]\n        return rows if self.padding_idx is None else rows * (indices != self.padding_idx).unsqueeze(-1)"),  # noqa: E501
    ],
    "table_transposed": [
        *TRANSPOSED, ("self.weight.data[",
        "self.weight.register_post_accumulate_grad_hook(self.clear)\n            self.weight.data["), (SAID,
        "self.weight.T[indices]"),
        ("    def forward",
        "    def clear(self, weight):\n        weight.grad[:, self.padding_idx] = 0\n\n    def forward"),
    ],
    "weight_frozen": [(f"{DRAWN})", f"{DRAWN}, requires_grad=False)")],
}  # fmt: skip
LAYER_WRONG_AS_WELL = LOOKUP_OTHERWISE + [
    (("padding_row_trained", "padding_row_not_zero"), [("self.table()", "self.weight"), (ZEROED, "pass")]),
    (("padding_row_trained", "padding_read_as_zeros"), [
        ("self.table()", "self.weight"),
        ("indices):\n        return lookup",
        "indices):\n        if self.padding_idx is not None:\n            self.weight.data[self.padding_idx] = 0\n        return lookup"),  # noqa: E501
    ]),
    (("table_transposed", "padding_row_trained"), [*TRANSPOSED, (SAID, "self.weight[:, indices].movedim(0, -1)")]),
    (("padding_row_trained", "flat_indices_only"), [(SAID, "torch.stack([self.weight[int(i)] for i in indices])")]),
    (("padding_row_not_zero", "parameter_names"), [("self.weight", "self.rows"), ("self.rows.data[padding_idx] = 0",
    "pass")]),
    (("table_transposed", "parameter_names"), """
        class Embedding(nn.Module):
            def __init__(self, num_embeddings, embedding_dim, padding_idx=None):
                super().__init__()
                self.n = num_embeddings
                self.linear = nn.Linear(num_embeddings, embedding_dim, bias=False)
                if padding_idx is not None:
                    self.linear.weight.data[:, padding_idx] = 0
                    self.linear.weight.register_hook(lambda g: g * (torch.arange(self.n) != padding_idx))

            def forward(self, x):
                return self.linear(F.one_hot(x, self.n).double())
    """),
    ("library_layer", nn.Embedding),
    ("library_layer", companion.Embedding),
    ("library_layer", [(f"nn.Parameter({DRAWN})", "nn.Embedding(num_embeddings, embedding_dim, padding_idx).weight"),
    (SAID, "torch.embedding(self.weight, indices)")]),
    ("not_a_module", "lambda *arguments, **options: lambda x: x"),
    ("tensor_not_parameter", [(f"nn.Parameter({DRAWN})", DRAWN)]),
]  # fmt: skip
TABLE = """
class Table(torch.autograd.Function):
    @staticmethod
    def forward(ctx, weight, indices, padding_idx):
        ctx.save_for_backward(indices)
        ctx.shape, ctx.padding_idx = weight.shape, padding_idx
        return weight[indices]

    @staticmethod
    def backward(ctx, grad):
        grad = torch.zeros(ctx.shape).index_add(0, ctx.saved_tensors[0].flatten(), grad.flatten(0, -2))
        if ctx.padding_idx is not None:
            grad[ctx.padding_idx] = 0
        return grad, None, None

"""
LAYER_RIGHT = {
    "a buffer of ones": [
        (KEPT, "self.register_buffer('trained', torch.ones(num_embeddings, 1))"),
        (ZEROED,
        "self.trained[padding_idx] = 0\n            with torch.no_grad():\n                self.weight.mul_(self.trained)"),  # noqa: E501
        ("self.table()", "self.weight * self.trained + (self.weight * (1 - self.trained)).detach()"),
    ],
    "a hook": [
        (ZEROED,
        f"{ZEROED}\n            self.weight.register_hook(lambda g: g.index_fill(0, torch.tensor(padding_idx), 0))"),
        (SAID, "torch.index_select(self.weight, 0, indices.flatten()).view(indices.shape + self.weight.shape[1:])"),
    ],
    "a hook afterwards": [
        (ZEROED, f"{ZEROED}\n            self.weight.register_post_accumulate_grad_hook(self.clear)"),
        ("    def forward",
        "    def clear(self, weight):\n        weight.grad[self.padding_idx] = 0\n\n    def forward"),
        (SAID, "torch.stack([self.weight[int(i)] for i in indices.flatten()]).reshape(*indices.shape, -1)"),
    ],
    "rows without a gradient": [
        (ZEROED, "nn.init.zeros_(self.weight[padding_idx])"), (KEPT,
        "self.padding_idx = -1 if padding_idx is None else padding_idx"),
        (f"return {SAID}", "rows = F.one_hot(indices, len(self.weight)).to(self.weight.dtype) @ self.weight\n"
                           "        is_padding = indices.eq(self.padding_idx).unsqueeze(-1)\n"
                           "        return rows.masked_fill(is_padding, 0) + rows.detach() * is_padding"),
    ],
    "an autograd function": [("class Embedding", f"{TABLE}class Embedding"), (SAID,
    "Table.apply(self.weight, indices, self.padding_idx)")],
    "32 bits": [("self.table()", "self.table().to(torch.float32)")],
}  # fmt: skip

# The bags

BAG = """
def embedding_bag(weight, indices, offsets):
    ends = offsets.tolist()[1:] + [len(indices)]
    means = []
    for start, end in zip(offsets.tolist(), ends):
        bag = weight[indices[start:end]]
        means.append(bag.sum(0) / max(len(bag), 1))
    return torch.stack(means)
"""
MEAN, PIECE = "bag.sum(0) / max(len(bag), 1)", "indices[start:end]"
BAG_WRONG = {
    "bag_summed": [(MEAN, "bag.sum(0)")],
    "bag_largest": [(MEAN, "bag.max(0).values if len(bag) else torch.zeros(weight.shape[1])")],
    "last_bag_missing": [(" + [len(indices)]", "")],
    "empty_bag_not_a_number": [(MEAN, "bag.mean(0)")],
    "empty_bag_left_out": [("means.append", "if len(bag) > 0: means.append")],
    "offsets_as_lengths": [("for start, end in zip(offsets.tolist(), ends)",
    "for piece in indices.split(offsets.tolist())"), (PIECE, "piece")],
    "last_index_left_out": [("[len(indices)]", "[-1]")],
    "bag_end_included": [(PIECE, "indices[start : end + 1]")],
    "bag_end_too_early": [(PIECE, "indices[start : max(end - 1, 0)]")],
    "bag_start_too_late": [(PIECE, "indices[start + 1 : end]")],
    "bags_begin_at_zero": [("means = []", "means, sums = [], weight[indices].cumsum(0)"), (MEAN,
    "sums[end - 1] / end")],
    "divided_by_bags": [("max(len(bag), 1)", "len(offsets)")],
    "divided_by_places": [("max(len(bag), 1)", "len(indices)")],
    "repeats_counted_once": [(PIECE, f"{PIECE}.unique()")],
    "counts_from_one": [(PIECE, f"{PIECE} - 1")],
    "one_too_far": [(PIECE, f"{PIECE} + 1")],
    "return_in_the_loop": [(f"{MEAN})", f"{MEAN})\n        return torch.stack(means)")],
}  # fmt: skip
BAG_WRONG_AS_WELL = [
    ("bag_end_included", [(PIECE, "indices[start : end + 1 if end > start else end]")]),
    ("library_layer", lambda weight, indices, offsets: F.embedding_bag(indices, weight, offsets)),
    ("library_layer", lambda weight, indices, offsets: nn.EmbeddingBag.from_pretrained(weight)(indices, offsets)),
]
BAG_RIGHT = {
    "index_add": (
        """
        def embedding_bag(weight, indices, offsets):
            which = torch.searchsorted(offsets, torch.arange(len(indices)), right=True) - 1
            sums = torch.zeros(len(offsets), weight.shape[1]).index_add(0, which, weight[indices])
            return sums / torch.bincount(which, minlength=len(offsets)).clamp(min=1).unsqueeze(1)
    """
    ),
    "means that are no numbers, mended": (
        """
        def embedding_bag(weight, indices, offsets):
            means = [weight[bag].mean(0).nan_to_num() for bag in torch.tensor_split(indices, offsets[1:])]
            return torch.stack(means)
    """
    ),
}

ANSWERS = {
    "one_hot": Program(ONE_HOT, ONE_HOT_WRONG, ONE_HOT_WRONG_AS_WELL, ONE_HOT_RIGHT),
    "lookup": Program(LOOKUP, LOOKUP_WRONG, LOOKUP_WRONG_AS_WELL, LOOKUP_RIGHT),
    "weight_gradient": Program(GRADIENT, GRADIENT_WRONG, GRADIENT_WRONG_AS_WELL, GRADIENT_RIGHT, pairs=[
        ("padding_idx_zero_ignored", "grad_output_ignored"),
        ("gradient_turned", "gradient_negated"),
        ("size_from_indices", "padding_idx_missing"),
    ]),
    "embedding_layer": Program(LAYER, LAYER_WRONG, LAYER_WRONG_AS_WELL, LAYER_RIGHT),
    "embedding_bag": Program(BAG, BAG_WRONG, BAG_WRONG_AS_WELL, BAG_RIGHT, pairs=[
        ("bag_summed", "last_bag_missing"),
        ("empty_bag_not_a_number", "counts_from_one"),
        ("last_index_left_out", "empty_bag_not_a_number"),
        ("bag_summed", "bag_end_included"),
    ]),
}  # fmt: skip
