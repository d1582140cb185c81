"""Attention: each query gets a mean of all values, weighted by how well their keys fit the query.

Thang Luong, Hieu Pham and Christopher Manning, "Effective approaches to attention-based neural machine translation"
(2015), arXiv 1508.04025; the scale and the heads are from Vaswani et al., "Attention is all you need" (2017), arXiv
1706.03762, section 3.2. Names of parameters, masks and errors are torch's.

Shapes: T queries, S keys and as many values, B sequences in the batch, E features (`embed_dim`), H heads of E / H
features each.
"""

import math
from typing import TYPE_CHECKING

import torch
from torch import Tensor, nn

from companion.layers import attention_masks
from companion.layers.linear import Linear, affine
from companion.layers.recurrent import dropout
from companion.layers.types import Device


def attend(Q, K, V, mask=None, p=0.0, scale=None):
    """Return each query's weighted mean of the values, (*, T, size of a value), and the weights (*, T, S).

    Q: (*, T, d), the queries. K: (*, S, d), the keys. V: (*, S, size), the values. mask: added to the scores, -∞ where
    a query must not look; None for none. p: the probability that a weight is set to zero. scale: 1/√d if None.
    """
    scale = 1 / math.sqrt(Q.size(-1)) if scale is None else scale
    # e = Q Kᵀ / √d:   how well each key fits each query
    scores = Q * scale @ K.transpose(-2, -1)
    # e = e + M:   where M is -∞, nothing fits
    if mask is not None:
        scores = scores + mask
    # A = softmax( e ):   every query's weights are positive, and their sum is 1
    weights = torch.softmax(scores, dim=-1)
    if p > 0:
        weights = dropout(weights, p)
    # C = A V:   the mean of the values with these weights
    return weights @ V, weights


def scaled_dot_product_attention(
    query: Tensor,
    key: Tensor,
    value: Tensor,
    attn_mask: Tensor | None = None,
    dropout_p: float = 0.0,
    is_causal: bool = False,
    scale: float | None = None,
) -> Tensor:
    """Attend without parameters, as `torch.nn.functional.scaled_dot_product_attention`.

    query: (*, T, d). key: (*, S, d). value: (*, S, size). attn_mask: to (*, T, S), bool, True where a query may look
    (the opposite of `MultiheadAttention`), or floating, added to the scores. is_causal: query t may look at keys 0 … t;
    no other mask is allowed then. dropout_p: probability that a weight is set to zero, in training or not. scale: 1/√d
    if None. Returns (*, T, size); zeros for a query whose keys are all masked. RuntimeError for a mask of another type,
    or two.
    """
    mask, masked_out = attention_masks.of_function(query, key, attn_mask, is_causal)
    context, _ = attend(query, key, value, mask, dropout_p, scale)
    return context if masked_out is None else context.masked_fill(masked_out, 0)


class MultiheadAttention(nn.Module):
    """Attention with parameters, in several heads, as `torch.nn.MultiheadAttention`.

    embed_dim: features E of queries and of the output. num_heads: the number of parts of E that attend separately.
    dropout: probability that a weight is set to zero while training. bias: with `in_proj_bias` and `out_proj.bias`, or
    without. add_bias_kv: one more key and value, learned, for all sequences. add_zero_attn: one more of zeros. kdim,
    vdim: features of keys and of values, E if None. batch_first: batches are (B, T, features).

    Parameters: `in_proj_weight` (3 * embed_dim, embed_dim), the rows those of W_q, W_k, W_v; or, with another kdim or
    vdim, `q_proj_weight` (embed_dim, embed_dim), `k_proj_weight` (embed_dim, kdim), `v_proj_weight` (embed_dim, vdim);
    `in_proj_bias` (3 * embed_dim), `out_proj.weight` (embed_dim, embed_dim), `out_proj.bias` (embed_dim), and `bias_k`
    and `bias_v` (1, 1, embed_dim). AssertionError and RuntimeError, with torch's messages, for wrong sizes and masks.
    """

    __constants__ = ["batch_first"]

    def __init__(
        self,
        embed_dim: int,
        num_heads: int,
        dropout: float = 0.0,
        bias: bool = True,
        add_bias_kv: bool = False,
        add_zero_attn: bool = False,
        kdim: int | None = None,
        vdim: int | None = None,
        batch_first: bool = False,
        device: Device = None,
        dtype: torch.dtype | None = None,
    ) -> None:
        attention_masks.check_arguments(embed_dim, num_heads)
        super().__init__()
        self.embed_dim, self.num_heads, self.head_dim = embed_dim, num_heads, embed_dim // num_heads
        self.kdim = embed_dim if kdim is None else kdim
        self.vdim = embed_dim if vdim is None else vdim
        self.dropout, self.batch_first, self.add_zero_attn = dropout, batch_first, add_zero_attn
        self._qkv_same_embed_dim = self.kdim == embed_dim == self.vdim
        together = self._qkv_same_embed_dim
        shapes = {
            "q_proj_weight": None if together else (embed_dim, embed_dim),
            "k_proj_weight": None if together else (embed_dim, self.kdim),
            "v_proj_weight": None if together else (embed_dim, self.vdim),
            "in_proj_weight": (3 * embed_dim, embed_dim) if together else None,
            "in_proj_bias": (3 * embed_dim,) if bias else None,
            "bias_k": (1, 1, embed_dim) if add_bias_kv else None,
            "bias_v": (1, 1, embed_dim) if add_bias_kv else None,
        }
        for name, shape in shapes.items():
            tensor = None if shape is None else nn.Parameter(torch.empty(shape, device=device, dtype=dtype))
            self.register_parameter(name, tensor)
        self.out_proj = Linear(embed_dim, embed_dim, bias, device, dtype)
        self._reset_parameters()

    def _reset_parameters(self):
        for name, parameter in self.named_parameters(recurse=False):
            if name.endswith("weight"):
                nn.init.xavier_uniform_(parameter)
        if self.in_proj_bias is not None:
            nn.init.zeros_(self.in_proj_bias)
            nn.init.zeros_(self.out_proj.bias)
        for parameter in (self.bias_k, self.bias_v):
            if parameter is not None:
                nn.init.xavier_normal_(parameter)

    def forward(
        self,
        query: Tensor,
        key: Tensor,
        value: Tensor,
        key_padding_mask: Tensor | None = None,
        need_weights: bool = True,
        attn_mask: Tensor | None = None,
        average_attn_weights: bool = True,
        is_causal: bool = False,
    ) -> tuple[Tensor, Tensor | None]:
        """Return the output and the weights, None unless `need_weights`.

        query: (T, B, E), (B, T, E) with batch_first, (T, E) without a batch. key, value: (S, B, kdim) and (S, B, vdim),
        in the same way. key_padding_mask, attn_mask: (B, S), and (T, S) or (B * H, T, S); bool, True where no query may
        look, or floating, added to the scores. average_attn_weights: over the heads. is_causal: states that attn_mask,
        which is required, lets query t look at keys 0 … t. Output: of the shape of the query. Weights: (B, T, S), their
        mean over the heads, or (B, H, T, S) for each; with one more key for add_bias_kv and one for add_zero_attn.
        """
        masks = attention_masks.of_layer(self, query, key, value, key_padding_mask, attn_mask, is_causal, need_weights)
        batched = query.dim() == 3
        if not batched:
            query, key, value = (x[:, None] for x in (query, key, value))
        elif self.batch_first:
            query, key, value = (x.transpose(0, 1) for x in (query, key, value))

        # q_t = W_q x_t + b_q,   k_j = W_k y_j + b_k,   v_j = W_v z_j + b_v
        weights = (self.q_proj_weight, self.k_proj_weight, self.v_proj_weight)
        weights = self.in_proj_weight.chunk(3) if self._qkv_same_embed_dim else weights
        biases = (None,) * 3 if self.in_proj_bias is None else self.in_proj_bias.chunk(3)
        q, k, v = map(affine, (query, key, value), weights, biases)

        # one more key and value that does not depend on the input: learned, or zeros
        if self.bias_k is not None:
            k, v = (torch.cat([x, b.expand(1, x.size(1), -1)]) for x, b in ((k, self.bias_k), (v, self.bias_v)))
        if self.add_zero_attn:
            k, v = (torch.cat([x, torch.zeros_like(x[:1])]) for x in (k, v))
        mask, masked_out = masks(k.size(0))

        # every head attends with its own part of the features: (T, B, E) → (B, H, T, E / H)
        q, k, v = (x.unflatten(-1, (self.num_heads, -1)).permute(1, 2, 0, 3) for x in (q, k, v))
        context, weights = attend(q, k, v, mask, self.dropout if self.training else 0.0)
        if masked_out is not None:
            context = context.masked_fill(masked_out, 0)

        # W_o [ C_1, …, C_H ] + b_o:   the heads side by side again
        output = self.out_proj(context.permute(2, 0, 1, 3).flatten(2))
        weights = weights.mean(1) if average_attn_weights else weights
        if not batched:
            output, weights = output[:, 0], weights[0]
        elif self.batch_first:
            output = output.transpose(0, 1)
        return output, weights if need_weights else None

    if TYPE_CHECKING:
        __call__ = forward
