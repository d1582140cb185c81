"""Question `weight_gradient`: the gradient of the table by hand."""

import torch
from torch import nn

from companion.check.engine.library_layers import AUTOGRAD
from companion.check.engine.probe import Probe
from companion.check.engine.question import Question
from companion.check.engine.run_answer import Function
from companion.check.questions.embedding.indices import (
    INDEX_EXCLUSIVE,
    INDEX_MISTAKES,
    LOOK_UP,
    AnyShape,
    NoSuchArgument,
    balanced_indices,
    looped_reference,
    moved_to_front,
    read_reference,
)

PADDING_MISTAKES = {
    "padding_row_trained": "embedding#padding",
    "padding_idx_zero_ignored": "embedding#padding",
    "padding_always_row_zero": "embedding#padding",
    "padding_by_default": "embedding#padding",
    "padding_idx_missing": "embedding#padding",
}
GRADIENT_MISTAKES = {
    "repeats_lost": "",
    **PADDING_MISTAKES,
    "padding_place_zeroed": "embedding#padding",
    "padding_row_removed": "embedding#padding",
    "repeats_in_row_lost": "embedding#any-shape",
    "divided_by_frequency": "embedding_parameters#max-norm-said",
    "divided_by_places": "",
    "grad_output_ignored": "embedding#gradient-rows",
    "gradient_to_all_rows": "embedding#gradient-said",
    "gradient_turned": "",
    "gradient_negated": "embedding#learning",
    "batch_not_summed": "embedding#any-shape",
    "unread_rows_left_out": "embedding#gradient-said",
    "size_from_indices": "embedding#sizes",
    "last_place_left_out": "",
    **{name: place for name, place in INDEX_MISTAKES.items() if name != "shape_of_indices_lost"},
}
PADDING_EXCLUSIVE = frozenset({*PADDING_MISTAKES, "padding_place_zeroed", "padding_row_removed"})


def padding_reference(mistakes, padding_idx):
    """Return the row that gets no gradient, or None."""
    if padding_idx is not None and "padding_idx_missing" in mistakes:
        raise NoSuchArgument
    if "padding_always_row_zero" in mistakes or "padding_by_default" in mistakes and padding_idx is None:
        return 0
    if "padding_row_trained" in mistakes or "padding_idx_zero_ignored" in mistakes and padding_idx == 0:
        return None
    return padding_idx


def weight_gradient_reference(mistakes):
    def gradient_of(read, grad, size):
        """Return the sums of `grad` (k, embedding_dim) by row."""
        if "repeats_lost" in mistakes:
            sums = grad.new_zeros(size, grad.shape[-1])
            for row, gradient in zip(read.tolist(), grad):
                sums[row] = gradient
            return sums
        # by rows of the identity: negative indices count from the end, as in W[i]
        return torch.eye(size)[read].to(grad).T @ grad

    def last_of_each(read, grad, size):
        sums = grad.new_zeros(size, grad.shape[-1])
        sums[read] = grad
        return sums

    def weight_gradient(indices, grad_output, num_embeddings, padding_idx=None):
        padding_idx = padding_reference(mistakes, padding_idx)
        read, size, dim = read_reference(mistakes, indices), num_embeddings, grad_output.shape[-1]
        if "size_from_indices" in mistakes:
            size = int(indices.max()) + 1
        grad = torch.ones_like(grad_output) if "grad_output_ignored" in mistakes else grad_output.clone()
        grad = grad * looped_reference(mistakes, indices)[..., None]
        if "padding_place_zeroed" in mistakes and padding_idx is not None:
            grad[padding_idx] = 0
            padding_idx = None
        if "batch_not_summed" in mistakes and indices.dim() > 1:
            result = torch.stack([gradient_of(*row, size) for row in zip(read, grad)])
        elif "repeats_in_row_lost" in mistakes and indices.dim() > 1:
            result = sum(last_of_each(*row, size) for row in zip(read, grad))
        elif "gradient_to_all_rows" in mistakes:
            result = grad.reshape(-1, dim).sum(0).repeat(size, 1)
        else:
            result = gradient_of(read.flatten(), grad.reshape(-1, dim), size)
        if "divided_by_frequency" in mistakes:
            result = result / read.flatten().remainder(size).bincount(minlength=size).clamp(min=1)[:, None]
        if "divided_by_places" in mistakes:
            result = result / indices.numel()
        if "gradient_negated" in mistakes:
            result = -result
        kept = torch.ones(size, dtype=bool)
        if padding_idx is not None:
            result[..., padding_idx, :] = 0
            kept[padding_idx] = "padding_row_removed" not in mistakes
        if "unread_rows_left_out" in mistakes:
            kept &= torch.eye(size)[read.flatten()].any(0)
        result = result[..., kept, :]
        return result.transpose(-1, -2) if "gradient_turned" in mistakes else result

    return weight_gradient


def weight_gradient_truth(indices, grad_output, num_embeddings, padding_idx=None):
    weight = torch.zeros(num_embeddings, grad_output.shape[-1], dtype=grad_output.dtype, requires_grad=True)
    rows = nn.functional.embedding(indices, weight, padding_idx)
    return torch.autograd.grad(rows, weight, grad_output)[0]


def weight_gradient_probes(draw):
    def probe(name, draw, rows, columns, indices, **padding):
        tensors = {"indices": indices, "grad_output": draw(*indices.shape, columns)}
        return Probe(name, tensors, {"num_embeddings": rows} | padding, gradients=None)

    # an index twice in a row, an index in two rows, and rows of the table that are not read
    batch = 2 * balanced_indices(draw, 3, 3, 4)
    batch[1, 0] = batch[0, 0]
    return [
        probe("no_padding", draw.few, 3, 2, balanced_indices(draw, 2, 3)),
        probe("padding_zero", draw.few, 4, 2, moved_to_front(0, balanced_indices(draw, 3, 5)), padding_idx=0),
        probe("padding", draw, 5, 3, moved_to_front(2, balanced_indices(draw, 4, 7)), padding_idx=2),
        probe("two_dimensions", draw, 6, 2, batch),
    ]


QUESTION = Question(
    name="weight_gradient",
    assignment="embedding",
    task=3,
    points=3,
    place="embedding#gradient",
    call=AnyShape(Function(("indices", "grad_output", "num_embeddings", "padding_idx"), "gradient")),
    truth=weight_gradient_truth,
    reference=weight_gradient_reference,
    mistakes=GRADIENT_MISTAKES,
    probes=weight_gradient_probes,
    exclusive=(
        *INDEX_EXCLUSIVE,
        PADDING_EXCLUSIVE,
        frozenset({"repeats_lost", "repeats_in_row_lost", "batch_not_summed", "gradient_to_all_rows"}),
        frozenset({"gradient_to_all_rows", "unread_rows_left_out", "divided_by_frequency", "size_from_indices"}),
        frozenset({"gradient_to_all_rows", "counts_from_one", "one_too_far"}),
        frozenset({"batch_not_summed", "divided_by_frequency"}),
        frozenset({"flat_indices_only", "repeats_in_row_lost", "batch_not_summed"}),
        frozenset({"divided_by_frequency", "divided_by_places"}),
    ),
    axes={"gradient": ("row", "column")},
    forbidden=LOOK_UP | AUTOGRAD,
)
