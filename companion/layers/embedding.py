"""Embedding: row `i` of a matrix is the vector of index `i`."""

from typing import TYPE_CHECKING, Self

import torch
from torch import Tensor, nn

from companion.layers import errors
from companion.layers.through_time import exporting, recorded
from companion.layers.types import Device


class Embedding(nn.Module):
    """A table of vectors, looked up by index, as `torch.nn.Embedding`.

    num_embeddings: the number of rows; indices are 0 … num_embeddings - 1. embedding_dim: numbers in a row.
    padding_idx: an index (negative ones count from the end) whose row starts as zeros and gets no gradient. max_norm,
    norm_type: if max_norm is given, every row that is looked up is first shortened, in place, to at most this
    `norm_type`-norm.
    scale_grad_by_freq: divide each row's gradient by how often the row was looked up in this call. sparse: let
    `weight.grad` be a sparse tensor that holds the looked-up rows only.

    Parameter: `weight` (num_embeddings, embedding_dim), drawn from N(0, 1). Called with indices of any shape (*), int64
    or int32, returns (*, embedding_dim). AssertionError for a `padding_idx` outside the table, IndexError for an index
    outside it, RuntimeError for indices that are not integers.
    """

    __constants__ = [
        "num_embeddings", "embedding_dim", "padding_idx", "max_norm", "norm_type", "scale_grad_by_freq", "sparse",
    ]  # fmt: skip

    def __init__(
        self,
        num_embeddings: int,
        embedding_dim: int,
        padding_idx: int | None = None,
        max_norm: float | None = None,
        norm_type: float = 2.0,
        scale_grad_by_freq: bool = False,
        sparse: bool = False,
        _weight: Tensor | None = None,
        _freeze: bool = False,
        device: Device = None,
        dtype: torch.dtype | None = None,
    ) -> None:
        super().__init__()
        self.num_embeddings = num_embeddings
        self.embedding_dim = embedding_dim
        self.padding_idx = errors.padding_index(padding_idx, num_embeddings)
        self.max_norm = max_norm
        self.norm_type = norm_type
        self.scale_grad_by_freq = scale_grad_by_freq
        self.sparse = sparse
        if _weight is None:
            _weight = torch.empty((num_embeddings, embedding_dim), device=device, dtype=dtype)
            self.weight = nn.Parameter(_weight, requires_grad=not _freeze)
            self.reset_parameters()
        elif list(_weight.shape) != [num_embeddings, embedding_dim]:
            raise AssertionError("Shape of weight does not match num_embeddings and embedding_dim")
        else:
            self.weight = nn.Parameter(_weight, requires_grad=not _freeze)

    @classmethod
    def from_pretrained(
        cls,
        embeddings: Tensor,
        freeze: bool = True,
        padding_idx: int | None = None,
        max_norm: float | None = None,
        norm_type: float = 2.0,
        scale_grad_by_freq: bool = False,
        sparse: bool = False,
    ) -> Self:
        """Make an Embedding whose weight is `embeddings` (num_embeddings, embedding_dim), not trained if `freeze`."""
        if embeddings.dim() != 2:
            raise AssertionError("Embeddings parameter is expected to be 2-dimensional")
        num_embeddings, embedding_dim = embeddings.shape
        options = (max_norm, norm_type, scale_grad_by_freq, sparse)
        return cls(num_embeddings, embedding_dim, padding_idx, *options, embeddings, freeze)

    def reset_parameters(self) -> None:
        """Draw the table from N(0, 1), and zero the padding row."""
        nn.init.normal_(self.weight)
        if self.padding_idx is not None:
            with torch.no_grad():
                self.weight[self.padding_idx] = 0

    def forward(self, input: Tensor) -> Tensor:
        """Return the rows of `input`, indices of shape (*), as (*, embedding_dim)."""
        errors.embedding_indices(input)
        weight, indices = self.weight, input.flatten()
        padding_idx = errors.padding_index(self.padding_idx, self.num_embeddings)
        if self.max_norm is not None:
            shorten(weight.detach(), indices, self.max_norm, self.norm_type)
        # elsewhere than in an export a sparse gradient stays sparse
        plain = recorded() if self.scale_grad_by_freq else exporting()
        if (self.scale_grad_by_freq or self.sparse) and not plain:
            rows = LookUp.apply(weight, indices, padding_idx, self.scale_grad_by_freq, self.sparse)
        else:
            # e_k = W[ i_k ]
            rows = weight.index_select(0, indices)
            if self.scale_grad_by_freq:  # recorded: the same numbers, with the gradient divided
                count = weight.new_zeros(len(weight)).index_add(0, indices, weight.new_ones(len(indices)))
                rows = rows.detach() + (rows - rows.detach()) / count[indices][:, None]
            if padding_idx is not None:  # the padding row gets no gradient
                rows = torch.where((indices == padding_idx)[:, None], rows.detach(), rows)
        return rows.view(*input.shape, weight.size(1))

    if TYPE_CHECKING:
        __call__ = forward

    def extra_repr(self) -> str:
        """Return the arguments that `repr` shows."""
        usual = {"padding_idx": None, "max_norm": None, "norm_type": 2, "scale_grad_by_freq": False, "sparse": False}
        parts = [f"{self.num_embeddings}, {self.embedding_dim}"]
        parts += [f"{name}={getattr(self, name)}" for name, value in usual.items() if getattr(self, name) != value]
        return ", ".join(parts)


def shorten(weight: Tensor, indices: Tensor, max_norm: float, norm_type: float) -> None:
    """Shorten the rows of `weight` that `indices` (n) read, in place, to a norm of at most `max_norm`."""
    rows = weight.index_select(0, indices)
    norm = rows.norm(norm_type, dim=1, keepdim=True)
    # w_i ← w_i · max_norm / ‖w_i‖   where ‖w_i‖ > max_norm
    rows = torch.where(norm > max_norm, rows * (max_norm / (norm + 1e-7)), rows)
    weight.index_copy_(0, indices.long(), rows)


class LookUp(torch.autograd.Function):
    """The look-up whose gradient autograd does not provide: scaled by frequency, or sparse.

    weight: (num_embeddings, embedding_dim). indices: (n), integers. Returns (n, embedding_dim).
    """

    generate_vmap_rule = True

    @staticmethod
    def forward(weight, indices, padding_idx, scale_grad_by_freq, sparse):
        """Return the rows of the indices."""
        # e_k = W[ i_k ]
        return weight.index_select(0, indices)

    @staticmethod
    def setup_context(ctx, inputs, output):
        """Save the indices and options for the backward pass."""
        weight, indices, ctx.padding_idx, ctx.scale_grad_by_freq, ctx.sparse = inputs
        ctx.save_for_backward(indices)
        ctx.save_for_forward(indices)
        ctx.shape = weight.shape

    @staticmethod
    def jvp(ctx, tangent, *_):
        """Return the derivative of the rows along `tangent`, one of the table."""
        return tangent.index_select(0, *ctx.saved_tensors)

    @staticmethod
    def backward(ctx, grad):
        """Return the gradient of the table, dense or sparse."""
        (indices,) = ctx.saved_tensors
        is_padding = indices == ctx.padding_idx if ctx.padding_idx is not None else None
        if ctx.sparse:
            if ctx.scale_grad_by_freq:
                raise RuntimeError("embedding_backward: scale_grad_by_freq not supported with sparse gradients")
            if is_padding is not None:
                indices, grad = indices[~is_padding], grad[~is_padding]
            rows = torch.sparse_coo_tensor(indices[None], grad, ctx.shape, check_invariants=False)
            return rows, None, None, None, None
        if is_padding is not None:
            grad = grad.masked_fill(is_padding[:, None], 0)
        # each row's gradient, divided by how often it was read
        count = torch.bincount(indices, minlength=ctx.shape[0])
        grad = grad / count[indices, None]
        return sum_by_row(grad, indices, ctx.shape), None, None, None, None


def sum_by_row(grad, indices, shape):
    """Return the gradient of a table of this shape.

    grad: (n, embedding_dim), row k for the look-up of row indices[k].
    """
    # ∂L/∂W_i = Σ over the k with i_k = i of  ∂L/∂e_k
    return grad.new_zeros(shape).index_add(0, indices, grad)
