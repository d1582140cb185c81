"""Answers to the question `embedding_layer`."""

from torch import nn

import companion
from tests.check.answers import Program
from tests.check.answers.embedding.lookup import LOOKUP, LOOKUP_OTHERWISE, LOOKUP_WRONG

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

PROGRAM = Program(LAYER, LAYER_WRONG, LAYER_WRONG_AS_WELL, LAYER_RIGHT)  # fmt: skip
