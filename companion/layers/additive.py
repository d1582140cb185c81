"""Additive attention: a small network scores how much each source step matters for a query.

Dzmitry Bahdanau, Kyunghyun Cho and Yoshua Bengio, "Neural machine translation by jointly learning to align and
translate" (2015), arXiv 1409.0473, appendix A.1.2.

Shapes: T queries, S keys and as many values, B sequences in a batch.
"""

from typing import TYPE_CHECKING

import torch
from torch import Tensor, nn

from companion.layers.types import Device


class AdditiveAttention(nn.Module):
    """Attention whose scores are v · tanh of a sum; called as `MultiheadAttention` is, time first.

    query_size, key_size: features of queries and keys. attention_size: features of the sum.

    Parameters: `weight_q` (attention_size, query_size), `weight_k` (attention_size, key_size), `bias` and `v`
    (attention_size), all drawn from U(-1/√attention_size, 1/√attention_size). RuntimeError for sizes that do not fit.
    """

    def __init__(
        self,
        query_size: int,
        key_size: int,
        attention_size: int,
        device: Device = None,
        dtype: torch.dtype | None = None,
    ) -> None:
        super().__init__()
        shapes = {
            "weight_q": (attention_size, query_size), "weight_k": (attention_size, key_size),
            "bias": (attention_size,), "v": (attention_size,),
        }  # fmt: skip
        bound = attention_size**-0.5
        for name, shape in shapes.items():
            weight = nn.Parameter(torch.empty(shape, device=device, dtype=dtype))
            setattr(self, name, nn.init.uniform_(weight, -bound, bound))

    if TYPE_CHECKING:

        def __call__(
            self, query: Tensor, key: Tensor, value: Tensor, key_padding_mask: Tensor | None = None
        ) -> tuple[Tensor, Tensor]:
            """Call `forward`."""

    def forward(self, query, key, value, key_padding_mask=None):
        """Return the contexts (T, B, value_size) and the weights (B, T, S).

        query: (T, B, query_size). key: (S, B, key_size). value: (S, B, value_size). key_padding_mask: bool (B, S), True
        at padding.
        """
        # (T, 1, B, …) + (S, B, …): every query with every key
        q, k = (query @ self.weight_q.T)[:, None], key @ self.weight_k.T + self.bias
        # e_tj = v · tanh( W_q q_t + W_k k_j + b )
        score = (torch.tanh(q + k) @ self.v).permute(2, 0, 1)
        if key_padding_mask is not None:
            score = score.masked_fill(key_padding_mask[:, None], -torch.inf)
        # a_t = softmax( e_t )
        weights = torch.softmax(score, dim=-1)
        # c_t = Σ_j a_tj v_j
        context = weights @ value.transpose(0, 1)
        return context.transpose(0, 1), weights
