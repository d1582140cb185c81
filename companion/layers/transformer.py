"""One block of a transformer: attention among all steps, then a small network for each step.

Ashish Vaswani and others, "Attention is all you need" (2017), arXiv 1706.03762, section 3. Layer norm: Ba, Kiros and
Hinton (2016), arXiv 1607.06450. Norms before instead of after: Xiong et al. (2020), arXiv 2002.04745.

Shapes: T time steps, B sequences in a batch, E features (`d_model`).
"""

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from companion.layers import attention_masks
from companion.layers.attention import MultiheadAttention
from companion.layers.linear import Dropout, Linear
from companion.layers.types import Device


class LayerNorm(nn.Module):
    """Layer norm over one dimension, as `torch.nn.LayerNorm`: mean 0 and variance 1, then scaled and shifted.

    Parameters: `weight` (size), ones at first, and `bias` (size), zeros at first, or None without.
    """

    bias: Tensor | None

    def __init__(
        self, size: int, eps: float = 1e-5, bias: bool = True, device: Device = None, dtype: torch.dtype | None = None
    ) -> None:
        super().__init__()
        self.eps = eps
        self.weight = nn.Parameter(torch.ones(size, device=device, dtype=dtype))
        bias = nn.Parameter(torch.zeros(size, device=device, dtype=dtype)) if bias else None
        self.register_parameter("bias", bias)

    def forward(self, x: Tensor) -> Tensor:
        """Return the normalised `x`, (*, size)."""
        # μ = mean of x,   σ² = mean of ( x - μ )²
        x = x - x.mean(-1, keepdim=True)
        variance = x.square().mean(-1, keepdim=True)
        # y = w ⊙ ( x - μ ) / √( σ² + ε ) + b
        y = self.weight * (x * torch.rsqrt(variance + self.eps))
        return y if self.bias is None else y + self.bias

    if TYPE_CHECKING:
        __call__ = forward

    def extra_repr(self) -> str:
        """Return the arguments that `repr` shows."""
        return f"{(*self.weight.shape,)}, eps={self.eps}, elementwise_affine=True, bias={self.bias is not None}"


class TransformerEncoderLayer(nn.Module):
    """Attention among all steps, and two linear layers for each, as `torch.nn.TransformerEncoderLayer`.

    d_model: features E of a step. nhead: heads. dim_feedforward: features between the two linear layers. dropout:
    probability of zeroing a number, at four places, while training. activation: "relu", "gelu", or a function.
    layer_norm_eps: ε of both norms. batch_first: batches are (B, T, E). norm_first: norms precede attention and linear
    layers instead of following the sums. bias: with biases, or without.

    Parameters: those of `self_attn`, a `MultiheadAttention`, of `linear1` and `linear2`, `norm1` and `norm2`.
    RuntimeError for an unknown activation. AssertionError and RuntimeError, with torch's messages, for wrong
    sizes and masks.
    """

    def __init__(
        self,
        d_model: int,
        nhead: int,
        dim_feedforward: int = 2048,
        dropout: float = 0.1,
        activation: str | Callable[[Tensor], Tensor] = F.relu,
        layer_norm_eps: float = 1e-5,
        batch_first: bool = False,
        norm_first: bool = False,
        bias: bool = True,
        device: Device = None,
        dtype: torch.dtype | None = None,
    ) -> None:
        super().__init__()
        kind: dict[str, Any] = {"device": device, "dtype": dtype}
        self.self_attn = MultiheadAttention(d_model, nhead, dropout, bias, batch_first=batch_first, **kind)
        self.linear1 = Linear(d_model, dim_feedforward, bias, **kind)
        self.dropout = Dropout(dropout)
        self.linear2 = Linear(dim_feedforward, d_model, bias, **kind)
        self.norm_first = norm_first
        self.norm1 = LayerNorm(d_model, layer_norm_eps, bias, **kind)
        self.norm2 = LayerNorm(d_model, layer_norm_eps, bias, **kind)
        self.dropout1, self.dropout2 = Dropout(dropout), Dropout(dropout)
        if isinstance(activation, str):
            if activation not in ("relu", "gelu"):
                raise RuntimeError(f"activation should be relu/gelu, not {activation}")
            activation = getattr(F, activation)
        self.activation = activation

    if TYPE_CHECKING:

        def __call__(
            self,
            src: Tensor,
            src_mask: Tensor | None = None,
            src_key_padding_mask: Tensor | None = None,
            is_causal: bool = False,
        ) -> Tensor:
            """Call `forward`."""

    def forward(self, src, src_mask=None, src_key_padding_mask=None, is_causal=False):
        """Return the block's output, in the shape of `src`.

        src: (T, B, E), (B, T, E) with batch_first, (T, E) without a batch. src_mask: (T, T) or (B *
        nhead, T, T); bool, True where no step may look, or floating, added to the scores. src_key_padding_mask: (B, T),
        in the same way. is_causal: states that src_mask, which is required, lets step t look at steps 0 … t.
        """

        masks = attention_masks.of_block(src, src_mask, src_key_padding_mask)

        def look(x):
            x, _ = self.self_attn(x, x, x, need_weights=False, is_causal=is_causal, **masks)
            return self.dropout1(x)

        def think(x):
            x = self.dropout(self.activation(self.linear1(x)))
            return self.dropout2(self.linear2(x))

        if self.norm_first:
            # y = x + attention( norm( x ) )
            y = src + look(self.norm1(src))
            # z = y + W_2 φ( W_1 norm( y ) + b_1 ) + b_2
            return y + think(self.norm2(y))
        # y = norm( x + attention( x ) )
        y = self.norm1(src + look(src))
        # z = norm( y + W_2 φ( W_1 y + b_1 ) + b_2 )
        return self.norm2(y + think(y))
