"""Attention masks: check torch's several kinds of masks, and turn them into one that is added to the scores.

An additive mask is 0 where a query may look and -∞ where it must not. If all keys of a query are masked out, its scores
are all -∞ and the softmax is 0 / 0. For such a query torch's function returns zeros, and so does its layer if it needs
no weights; with weights it returns nan. This package does the same. For self-attention in evaluation without gradients,
torch uses a fused function, which returns nan in any case; this package does not.
"""

import warnings
from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor

from companion.layers.errors import DTYPE_NAMES


def check_arguments(embed_dim: int, num_heads: int) -> None:
    """Check the arguments of the constructor of `MultiheadAttention`."""
    if embed_dim <= 0 or num_heads <= 0:
        raise ValueError(
            f"embed_dim and num_heads must be greater than 0, got embed_dim={embed_dim} and num_heads={num_heads}"
            " instead"
        )
    if embed_dim % num_heads:
        raise AssertionError("embed_dim must be divisible by num_heads")


def causal(T: int, S: int, like: Tensor) -> Tensor:
    """Return the additive mask (T, S) that lets query t look at keys 0 … t."""
    return torch.full((T, S), -torch.inf, device=like.device, dtype=like.dtype).triu(1)


def additive(mask: Tensor | None, like: Tensor) -> Tensor | None:
    """Return an additive mask, from a bool one, True where no query may look, or from an additive one."""
    if mask is None or mask.dtype != torch.bool:
        return mask
    return torch.zeros_like(mask, dtype=like.dtype).masked_fill(mask, -torch.inf)


def without_masked_out(mask: Tensor | None) -> tuple[Tensor | None, Tensor | None]:
    """Return a mask that leaves no query without keys, and the queries that had none: bool (*, T, 1), or None."""
    if mask is None:
        return None, None
    masked_out = (mask == -torch.inf).all(dim=-1, keepdim=True)
    return mask.masked_fill(masked_out, 0), masked_out


def of_function(
    query: Tensor, key: Tensor, attn_mask: Tensor | None, is_causal: bool
) -> tuple[Tensor | None, Tensor | None]:
    """Return (mask, masked_out) of `scaled_dot_product_attention`, as `without_masked_out` does."""
    if is_causal and attn_mask is not None:
        raise RuntimeError("_scaled_dot_product_attention: Explicit attn_mask should not be set when is_causal=True")
    if is_causal:
        return causal(query.size(-2), key.size(-2), query), None
    if attn_mask is not None and attn_mask.dtype not in (torch.bool, query.dtype):
        raise RuntimeError(
            "Expected attn_mask dtype to be bool or float or to match query dtype, but got attn_mask.dtype: "
            f"{DTYPE_NAMES[attn_mask.dtype][1]} and  query.dtype: {DTYPE_NAMES[query.dtype][1]} instead."
        )
    is_bool = attn_mask is not None and attn_mask.dtype == torch.bool
    return without_masked_out(additive(~attn_mask if is_bool else attn_mask, query))


def of_layer(
    layer: Any,
    query: Tensor,
    key: Tensor,
    value: Tensor,
    key_padding_mask: Tensor | None,
    attn_mask: Tensor | None,
    is_causal: bool,
    need_weights: bool,
) -> Callable[[int], tuple[Tensor | None, Tensor | None]]:
    """Check the arguments of `MultiheadAttention`, and return a function: number of keys → (mask, masked_out).

    The number includes the keys that the layer adds, which are never masked.
    """
    check_types(key_padding_mask, attn_mask)
    check_dimensions(query, key, value, key_padding_mask, attn_mask, layer.num_heads)
    if is_causal and attn_mask is None:
        raise RuntimeError(
            "Need attn_mask if specifying the is_causal hint. You may use the Transformer module method "
            "`generate_square_subsequent_mask` to create this mask."
        )
    time = 1 if layer.batch_first and query.dim() == 3 else 0
    (T, S), B = (query.size(time), key.size(time)), query.size(1 - time) if query.dim() == 3 else 1
    check_sizes(layer, query, key, value, time)
    if is_causal and key_padding_mask is None and not need_weights:  # torch trusts the hint and does not read the mask
        return lambda keys: (causal(T, keys, query), None)
    check_shapes(key_padding_mask, attn_mask, B, T, S, layer.num_heads)

    mask = additive(attn_mask, query)
    if mask is not None and mask.dim() == 3:
        mask = mask.unflatten(0, (B, layer.num_heads))
    if key_padding_mask is not None:
        padding = additive(key_padding_mask, query).view(B, 1, 1, S)
        mask = padding if mask is None else mask + padding

    def for_keys(keys):
        if mask is None:
            return None, None
        more = mask.new_zeros(*mask.shape[:-1], keys - S)
        whole = torch.cat([mask, more], dim=-1)
        return (whole, None) if need_weights else without_masked_out(whole)

    return for_keys


def of_block(src: Tensor, src_mask: Tensor | None, src_key_padding_mask: Tensor | None) -> dict[str, Tensor | None]:
    """Check the types of a transformer block's masks, and return both as additive masks."""
    check_types(src_key_padding_mask, src_mask, ("src_key_padding_mask", "src_mask"))
    return {"key_padding_mask": additive(src_key_padding_mask, src), "attn_mask": additive(src_mask, src)}


def check_types(
    key_padding_mask: Tensor | None,
    attn_mask: Tensor | None,
    names: tuple[str, str] = ("key_padding_mask", "attn_mask"),
) -> None:
    """Check the types of both masks."""
    for name, mask in zip(names, (key_padding_mask, attn_mask), strict=True):
        if mask is not None and mask.dtype != torch.bool and not mask.is_floating_point():
            raise AssertionError(f"only bool and floating types of {name} are supported")
        if mask is key_padding_mask is not None and attn_mask is not None and mask.dtype != attn_mask.dtype:
            warnings.warn(
                f"Support for mismatched {names[0]} and {names[1]} is deprecated. Use same type for both instead.",
                stacklevel=6,  # the line that calls the layer
            )


def check_dimensions(
    query: Tensor,
    key: Tensor,
    value: Tensor,
    key_padding_mask: Tensor | None,
    attn_mask: Tensor | None,
    num_heads: int,
) -> None:
    """Check the number of dimensions of all arguments."""
    if query.dim() not in (2, 3):
        raise AssertionError(
            f"query should be unbatched 2D or batched 3D tensor but received {query.dim()}-D query tensor"
        )
    kind, dim = ("batched (3-D)", 3) if query.dim() == 3 else ("unbatched (2-D)", 2)
    if key.dim() != dim or value.dim() != dim:
        raise AssertionError(
            f"For {kind} `query`, expected `key` and `value` to be {dim}-D"
            f" but found {key.dim()}-D and {value.dim()}-D tensors respectively"
        )
    if key_padding_mask is not None and key_padding_mask.dim() != dim - 1:
        raise AssertionError(
            f"For {kind} `query`, expected `key_padding_mask` to be `None` or {dim - 1}-D"
            f" but found {key_padding_mask.dim()}-D tensor instead"
        )
    if attn_mask is not None and attn_mask.dim() not in (2, 3):
        raise AssertionError(
            f"For {kind} `query`, expected `attn_mask` to be `None`, 2-D or 3-D"
            f" but found {attn_mask.dim()}-D tensor instead"
        )
    if dim == 2 and attn_mask is not None and attn_mask.dim() == 3:
        expected = (num_heads, query.size(0), key.size(0))
        if attn_mask.shape != expected:
            raise AssertionError(f"Expected `attn_mask` shape to be {expected} but got {attn_mask.shape}")


def check_sizes(layer: Any, query: Tensor, key: Tensor, value: Tensor, time: int) -> None:
    """Check the features of the query, and that there is a value for each key."""
    if query.size(-1) != layer.embed_dim:
        raise AssertionError(f"was expecting embedding dimension of {layer.embed_dim}, but got {query.size(-1)}")
    # torch checks them time first, with a batch
    key_shape, value_shape = (
        torch.Size((x.size(time), x.size(1 - time) if x.dim() == 3 else 1, x.size(-1))) for x in (key, value)
    )
    if not layer._qkv_same_embed_dim:
        if key_shape[:2] != value_shape[:2]:
            raise AssertionError(
                f"key's sequence and batch dims {key_shape[:2]} do not match value's {value_shape[:2]}"
            )
        for name, weight, x in (("key", layer.k_proj_weight, key), ("value", layer.v_proj_weight, value)):
            expected = (layer.embed_dim, x.size(-1))
            if weight.shape != expected:
                raise AssertionError(f"expecting {name} weights shape of {expected}, but got {weight.shape}")
    elif key_shape != value_shape:
        raise AssertionError(f"key shape {key_shape} does not match value shape {value_shape}")


def check_shapes(
    key_padding_mask: Tensor | None, attn_mask: Tensor | None, B: int, T: int, S: int, num_heads: int
) -> None:
    """Check the shapes of both masks."""
    if attn_mask is not None:
        dim = attn_mask.dim()
        expected = (T, S) if dim == 2 else (B * num_heads, T, S)
        if attn_mask.shape != expected:
            raise RuntimeError(f"The shape of the {dim}D attn_mask is {attn_mask.shape}, but should be {expected}.")
    if key_padding_mask is not None:
        got = (1, *key_padding_mask.shape) if key_padding_mask.dim() == 1 else key_padding_mask.shape
        for k, expected in enumerate((B, S)):
            if got[k] != expected:
                raise AssertionError(f"Expected key_padded_mask.shape[{k}] to be {expected}, but got {got[k]}")
