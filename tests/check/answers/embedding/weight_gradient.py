"""Answers to the question `weight_gradient`."""

import torch

from tests.check.answers import Program

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

PROGRAM = Program(GRADIENT, GRADIENT_WRONG, GRADIENT_WRONG_AS_WELL, GRADIENT_RIGHT, pairs=[
    ("padding_idx_zero_ignored", "grad_output_ignored"),
    ("gradient_turned", "gradient_negated"),
    ("size_from_indices", "padding_idx_missing"),
])  # fmt: skip
