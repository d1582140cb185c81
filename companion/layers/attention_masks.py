"""Where attention must not look: torch's several kinds of masks as one that is added to the scores, and what is
refused.

A mask that is added is 0 where a query may look and -∞ where it must not. Where a query may look nowhere at all, the
scores would be -∞ everywhere, and softmax 0 / 0. torch's function then gives zeros, and its layer does if it needs no
weights; with weights it gives nan, and so does ours. In evaluation without gradients torch takes a fused way, which
gives nan for such a query in any case; ours stays as it is.
"""

import warnings
from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor

from companion.layers.errors import DTYPE_NAMES


def arguments(embed_dim: int, num_heads: int) -> None:
    """Check the sizes with which `MultiheadAttention` is made."""
    if embed_dim <= 0 or num_heads <= 0:
        raise ValueError(
            f"embed_dim and num_heads must be greater than 0, got embed_dim={embed_dim} and num_heads={num_heads}"
            " instead"
        )
    if embed_dim % num_heads:
        raise AssertionError("embed_dim must be divisible by num_heads")


def causal(T: int, S: int, like: Tensor) -> Tensor:
    """The mask with which query t looks at keys 0 … t. Returns (T, S)."""
    return torch.full((T, S), -torch.inf, device=like.device, dtype=like.dtype).triu(1)


def added(mask: Tensor | None, like: Tensor) -> Tensor | None:
    """A bool mask, True where nobody may look, as one that is added; a floating one as it is."""
    if mask is None or mask.dtype != torch.bool:
        return mask
    return torch.zeros_like(mask, dtype=like.dtype).masked_fill(mask, -torch.inf)


def without_nowhere(mask: Tensor | None) -> tuple[Tensor | None, Tensor | None]:
    """A mask in which no query is left without a key, and where that was so: bool (*, T, 1), or None."""
    if mask is None:
        return None, None
    nowhere = (mask == -torch.inf).all(dim=-1, keepdim=True)
    return mask.masked_fill(nowhere, 0), nowhere


def of_function(
    query: Tensor, key: Tensor, attn_mask: Tensor | None, is_causal: bool
) -> tuple[Tensor | None, Tensor | None]:
    """The mask of `scaled_dot_product_attention`: (mask, nowhere), as `without_nowhere` returns them."""
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
    return without_nowhere(added(~attn_mask if is_bool else attn_mask, query))


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
    """Check what `MultiheadAttention` is called with. Returns a function: number of keys → (mask, nowhere).

    The number is larger than that of the given keys by those that the layer adds, and these may be looked at by all.
    """
    kinds(key_padding_mask, attn_mask)
    dimensions(query, key, value, key_padding_mask, attn_mask, layer.num_heads)
    if is_causal and attn_mask is None:
        raise RuntimeError(
            "Need attn_mask if specifying the is_causal hint. You may use the Transformer module method "
            "`generate_square_subsequent_mask` to create this mask."
        )
    time = 1 if layer.batch_first and query.dim() == 3 else 0
    (T, S), B = (query.size(time), key.size(time)), query.size(1 - time) if query.dim() == 3 else 1
    sizes(layer, query, key, value, time)
    if is_causal and key_padding_mask is None and not need_weights:  # torch believes the hint, and reads no mask
        return lambda keys: (causal(T, keys, query), None)
    shapes(key_padding_mask, attn_mask, B, T, S, layer.num_heads)

    mask = added(attn_mask, query)
    if mask is not None and mask.dim() == 3:
        mask = mask.unflatten(0, (B, layer.num_heads))
    if key_padding_mask is not None:
        padding = added(key_padding_mask, query).view(B, 1, 1, S)
        mask = padding if mask is None else mask + padding

    def for_keys(keys):
        if mask is None:
            return None, None
        more = mask.new_zeros(*mask.shape[:-1], keys - S)
        whole = torch.cat([mask, more], dim=-1)
        return (whole, None) if need_weights else without_nowhere(whole)

    return for_keys


def of_block(src: Tensor, src_mask: Tensor | None, src_key_padding_mask: Tensor | None) -> dict[str, Tensor | None]:
    """Check the kinds of a transformer's masks. Returns both as masks that are added."""
    kinds(src_key_padding_mask, src_mask, ("src_key_padding_mask", "src_mask"))
    return {"key_padding_mask": added(src_key_padding_mask, src), "attn_mask": added(src_mask, src)}


def kinds(
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


def dimensions(
    query: Tensor,
    key: Tensor,
    value: Tensor,
    key_padding_mask: Tensor | None,
    attn_mask: Tensor | None,
    num_heads: int,
) -> None:
    """Check how many dimensions everything has."""
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


def sizes(layer: Any, query: Tensor, key: Tensor, value: Tensor, time: int) -> None:
    """Check the features of the query, and that there is a value for each key."""
    if query.size(-1) != layer.embed_dim:
        raise AssertionError(f"was expecting embedding dimension of {layer.embed_dim}, but got {query.size(-1)}")
    # torch looks at them time first, with a batch
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


def shapes(key_padding_mask: Tensor | None, attn_mask: Tensor | None, B: int, T: int, S: int, num_heads: int) -> None:
    """Check the sizes of both masks."""
    if attn_mask is not None:
        dim = attn_mask.dim()
        expected = (T, S) if dim == 2 else (B * num_heads, T, S)
        if attn_mask.shape != expected:
            raise RuntimeError(f"The shape of the {dim}D attn_mask is {attn_mask.shape}, but should be {expected}.")
    if key_padding_mask is not None:
        found = (1, *key_padding_mask.shape) if key_padding_mask.dim() == 1 else key_padding_mask.shape
        for k, expected in enumerate((B, S)):
            if found[k] != expected:
                raise AssertionError(f"Expected key_padded_mask.shape[{k}] to be {expected}, but got {found[k]}")
