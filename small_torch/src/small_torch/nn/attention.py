"""Multi-head attention, and the transformer's encoder layer.

Shapes: T queries, S keys and as many values, B sequences in the batch, E features, H heads of E / H features each.
"""

import math
import warnings

from ..creation import zeros_like
from ..dtypes import bool_
from ..joining import cat
from ..messages import error, refuse
from . import functional as F
from . import init
from .layers import Dropout, LayerNorm, Linear
from .module import Module
from .parameter import add_parameters


class NonDynamicallyQuantizableLinear(Linear):
    """A `Linear`; the name is what torch's `MultiheadAttention` shows."""


class MultiheadAttention(Module):
    """Attention: each query gets a mean of all values, weighted by how well their keys fit it.

    Each head works on its own part of the features. The parameters are torch's: `in_proj_weight` (3 E, E), or one for
    each of query, key and value if kdim or vdim differs from E; `in_proj_bias` (3 E); `out_proj`; `bias_k`, `bias_v`.
    """

    def __init__(
        self, embed_dim, num_heads, dropout=0.0, bias=True, add_bias_kv=False, add_zero_attn=False, kdim=None,
        vdim=None, batch_first=False, device=None, dtype=None,
    ):  # fmt: skip
        refuse(embed_dim <= 0 or num_heads <= 0, "attention sizes", embed_dim, num_heads)
        super().__init__()
        self.embed_dim, self.num_heads, self.head_dim = embed_dim, num_heads, embed_dim // num_heads
        self.kdim, self.vdim = embed_dim if kdim is None else kdim, embed_dim if vdim is None else vdim
        self.dropout, self.batch_first, self.add_zero_attn = dropout, batch_first, add_zero_attn
        self._qkv_same_embed_dim = together = self.kdim == embed_dim == self.vdim
        refuse(embed_dim % num_heads, "embed_dim must be divisible by num_heads", kind=AssertionError)
        E, one_row, factory = embed_dim, (1, 1, embed_dim), {"device": device, "dtype": dtype}
        shapes = {"q_proj_weight": (E, E), "k_proj_weight": (E, self.kdim), "v_proj_weight": (E, self.vdim)}
        shapes = dict.fromkeys(shapes) if together else shapes
        shapes |= {"in_proj_weight": (3 * E, E) if together else None, "in_proj_bias": (3 * E,) if bias else None}
        shapes |= dict.fromkeys(("bias_k", "bias_v"), one_row if add_bias_kv else None)
        add_parameters(self, **factory, **shapes)
        self.out_proj = NonDynamicallyQuantizableLinear(embed_dim, embed_dim, bias, **factory)
        self._reset_parameters()

    def _reset_parameters(self):
        for name, parameter in self.named_parameters(recurse=False):
            if name.endswith("weight"):
                init.xavier_uniform_(parameter)
            elif name == "in_proj_bias":
                init.zeros_(parameter)
                init.zeros_(self.out_proj.bias)
            else:
                init.xavier_normal_(parameter)

    def forward(
        self, query, key, value, key_padding_mask=None, need_weights=True, attn_mask=None, average_attn_weights=True,
        is_causal=False,
    ):  # fmt: skip
        """Return the output, in the shape of the query, and the weights: (B, T, S), (B, H, T, S), or None.

        query: (T, B, E), (B, T, E) with batch_first, (T, E) without a batch; key and value: (S, B, …) in the same way.
        key_padding_mask: (B, S), and attn_mask: (T, S) or (B H, T, S): bool, True where attention is not allowed, or
        added to the scores.
        """
        self._check(query, key, value, key_padding_mask, attn_mask, is_causal)
        batched = query.dim() == 3
        if not batched:
            query, key, value = (x.unsqueeze(1) for x in (query, key, value))
        elif self.batch_first:
            query, key, value = (x.transpose(0, 1) for x in (query, key, value))
        hint = is_causal and key_padding_mask is None and not need_weights  # then torch reads no mask
        mask = None if hint else self._mask(query, key, key_padding_mask, attn_mask)

        weights = (self.q_proj_weight, self.k_proj_weight, self.v_proj_weight)
        weights = self.in_proj_weight.chunk(3) if self._qkv_same_embed_dim else weights
        biases = (None,) * 3 if self.in_proj_bias is None else self.in_proj_bias.chunk(3)
        q, k, v = map(F.linear, (query, key, value), weights, biases)
        if self.bias_k is not None:
            k, v = (cat([x, b.expand(1, x.size(1), -1)]) for x, b in ((k, self.bias_k), (v, self.bias_v)))
        if self.add_zero_attn:
            k, v = (cat([x, zeros_like(x[:1])]) for x in (k, v))
        if mask is not None and len(k) > mask.size(-1):  # all queries may attend to the added keys
            mask = cat([mask, mask.new_zeros(*mask.shape[:-1], len(k) - mask.size(-1))], dim=-1)

        # split the features among the heads: (T, B, E) → (B, H, T, E / H)
        q, k, v = (x.unflatten(-1, (self.num_heads, -1)).permute(1, 2, 0, 3) for x in (q, k, v))
        p = self.dropout if self.training else 0.0
        if need_weights:
            scores = q * math.sqrt(1 / self.head_dim) @ k.transpose(-2, -1)
            weights = F.softmax(scores if mask is None else scores + mask, dim=-1)
            weights = F.dropout(weights, p) if p > 0 else weights
            attended = weights @ v
            weights = weights.mean(1) if average_attn_weights else weights
            weights = weights if batched else weights.squeeze(0)
        else:
            attended, weights = F.scaled_dot_product_attention(q, k, v, mask, p, hint), None
        output = self.out_proj(attended.permute(2, 0, 1, 3).flatten(2))  # the heads side by side again
        output = output.transpose(0, 1) if batched and self.batch_first else output
        return output if batched else output.squeeze(1), weights

    def _check(self, query, key, value, key_padding_mask, attn_mask, is_causal):
        check_masks(key_padding_mask, attn_mask, "key_padding_mask", "attn_mask")
        refuse(query.dim() not in (2, 3), "query axes", query.dim())
        form, dim = ("batched (3-D)", 3) if query.dim() == 3 else ("unbatched (2-D)", 2)
        refuse(key.dim() != dim or value.dim() != dim, "attention inputs", form, dim, key.dim(), value.dim())
        refuse(is_causal and attn_mask is None, "causal without mask")
        refuse(query.size(-1) != self.embed_dim, "embedding size", self.embed_dim, query.size(-1))
        if self._qkv_same_embed_dim and key.shape != value.shape:
            shapes = [x.transpose(0, 1).shape if dim == 3 and self.batch_first else x.shape for x in (key, value)]
            raise error("key and value", shapes[0], shapes[1])

    def _mask(self, query, key, key_padding_mask, attn_mask):
        """Combine both masks into one that is added to the scores: (B or 1, H or 1, T, S), or None."""
        (T, B), S, H = query.shape[:2], len(key), self.num_heads
        if attn_mask is not None:
            expected = (T, S) if attn_mask.dim() == 2 else (B * H, T, S)
            refuse(attn_mask.shape != expected, "attention mask size", attn_mask.dim(), attn_mask.shape, expected)
            attn_mask = additive_mask(attn_mask, query)
            attn_mask = attn_mask.unflatten(0, (B, H)) if attn_mask.dim() == 3 else attn_mask[None, None]
        if key_padding_mask is None:
            return attn_mask
        mask_shape = key_padding_mask.shape if key_padding_mask.dim() == 2 else (1, *key_padding_mask.shape)
        for k, expected in enumerate((B, S)):
            refuse(mask_shape[k] != expected, "padding mask size", k, expected, mask_shape[k])
        padding = additive_mask(key_padding_mask, query).view(B, 1, 1, S)
        return padding if attn_mask is None else attn_mask + padding


def additive_mask(mask, like):
    """Return a mask to add to the scores: a bool one becomes -∞ where it is True, and 0 elsewhere."""
    return zeros_like(mask, dtype=like.dtype).masked_fill(mask, -math.inf) if mask.dtype is bool_ else mask


def check_masks(padding, other, name, other_name):
    """Check the types of both masks."""
    for mask, mask_name in ((padding, name), (other, other_name)):
        refuse(mask is not None and mask.dtype is not bool_ and not mask.is_floating_point(), "mask type", mask_name)
    if padding is not None and other is not None and padding.dtype is not other.dtype:
        warnings.warn(
            f"Support for mismatched {name} and {other_name} is deprecated. Use same type for both instead.",
            stacklevel=5,  # the line that calls the layer
        )


class TransformerEncoderLayer(Module):
    """Attention among all steps, and two linear layers for each step."""

    def __init__(
        self, d_model, nhead, dim_feedforward=2048, dropout=0.1, activation=F.relu, layer_norm_eps=1e-5,
        batch_first=False, norm_first=False, bias=True, device=None, dtype=None,
    ):  # fmt: skip
        super().__init__()
        factory = {"device": device, "dtype": dtype}
        self.self_attn = MultiheadAttention(d_model, nhead, dropout, bias, batch_first=batch_first, **factory)
        self.linear1, self.dropout = Linear(d_model, dim_feedforward, bias, **factory), Dropout(dropout)
        self.linear2, self.norm_first = Linear(dim_feedforward, d_model, bias, **factory), norm_first
        self.norm1, self.norm2 = (LayerNorm(d_model, layer_norm_eps, bias=bias, **factory) for _ in range(2))
        self.dropout1, self.dropout2 = Dropout(dropout), Dropout(dropout)
        if isinstance(activation, str):
            refuse(activation not in ("relu", "gelu"), "activation should be relu/gelu, not {}", activation)
            activation = getattr(F, activation)
        self.activation = activation

    def forward(self, src, src_mask=None, src_key_padding_mask=None, is_causal=False):
        """Return the encoded sequences, in the shape of src: (T, B, E), (B, T, E) with batch_first, or (T, E)."""
        check_masks(src_key_padding_mask, src_mask, "src_key_padding_mask", "src_mask")
        masks = {"attn_mask": src_mask, "key_padding_mask": src_key_padding_mask}
        masks = {name: mask if mask is None else additive_mask(mask, src) for name, mask in masks.items()}

        def attend(x):
            return self.dropout1(self.self_attn(x, x, x, need_weights=False, is_causal=is_causal, **masks)[0])

        def feed_forward(x):
            return self.dropout2(self.linear2(self.dropout(self.activation(self.linear1(x)))))

        if self.norm_first:
            x = src + attend(self.norm1(src))
            return x + feed_forward(self.norm2(x))
        x = self.norm1(src + attend(src))
        return self.norm2(x + feed_forward(x))
