"""Causal attention as a layer with a state, so that it can stand between recurrent layers."""

from typing import TYPE_CHECKING

import torch
from torch import Tensor, nn

from companion.layers import errors
from companion.layers.attention import scaled_dot_product_attention
from companion.layers.linear import Linear
from companion.layers.types import Device


class CausalAttention(nn.Module):
    """Attention to the last steps, called like a recurrent layer: `output, state = layer(input, state)`.

        q_t, k_t, v_t = W_in x_t + b_in,   y_t = W_out attend( q_t, k_{t-n+1} … k_t, v_{t-n+1} … v_t ) + b_out

    input_size: features of the input. hidden_size: features of queries, keys, values and the output, of all heads.
    num_heads: parts that attend separately. window: n, the steps that a query sees, with its own; None for all. Called
    with an input (T, B, input_size), T time steps of B sequences; output (T, B, hidden_size). State: a tuple of keys
    and values of the last n - 1 steps or fewer, (B, num_heads, steps, hidden_size / num_heads) each. ValueError for a
    hidden_size that is not a multiple of num_heads, and for a window below 1; RuntimeError for a state
    or an input of another size; TypeError for a packed sequence. As its state grows, a `Stream` refuses it.

    It knows no positions. Recurrent layers before it tell it the order, as in Kimi Linear, arXiv 2510.26692.
    """

    num_layers, bidirectional, batch_first, proj_size = 1, False, False, 0

    def __init__(
        self,
        input_size: int,
        hidden_size: int,
        num_heads: int = 1,
        window: int | None = None,
        device: Device = None,
        dtype: torch.dtype | None = None,
    ) -> None:
        super().__init__()
        errors.integers(input_size=input_size)
        errors.multiple(hidden_size=hidden_size, num_heads=num_heads)
        if window is not None and window < 1:
            raise ValueError(f"window must be 1 or more, or None, got {window}")
        self.input_size, self.hidden_size, self.num_heads, self.window = input_size, hidden_size, num_heads, window
        self.in_proj = Linear(input_size, 3 * hidden_size, device=device, dtype=dtype)
        self.out_proj = Linear(hidden_size, hidden_size, device=device, dtype=dtype)

    if TYPE_CHECKING:

        def __call__(
            self, x: Tensor, state: tuple[Tensor, Tensor] | None = None
        ) -> tuple[Tensor, tuple[Tensor, Tensor]]:
            """Call `forward`."""

    # A chapter prints this method.
    # fmt: off
    def forward(self, x, state=None):
        """Return the output and the state. x: (T, B, input_size). state: returned by the call before, or None."""
        self._check(x, state)
        # (T, B, features) → (B, num_heads, T, size)
        q, k, v = (
            part.unflatten(-1, (self.num_heads, -1)).movedim(0, 2)
            for part in self.in_proj(x).chunk(3, dim=-1)
        )
        if state is not None:
            k, v = (torch.cat(parts, dim=2) for parts in zip(state, (k, v), strict=True))
        # query t sees the steps from t - n + 1 to t
        T, S = q.size(2), k.size(2)
        sees = torch.ones(T, S, dtype=torch.bool, device=x.device).tril(S - T)
        if self.window is not None:
            sees = sees.triu(S - T - self.window + 1)
        y = scaled_dot_product_attention(q, k, v, sees).movedim(2, 0).flatten(2)
        kept = S if self.window is None else self.window - 1
        return self.out_proj(y), tuple(part[:, :, max(0, S - kept) :] for part in (k, v))

    # fmt: on
    def _check(self, x, state):
        """Check the arguments of `forward`."""
        if not isinstance(x, Tensor):
            raise TypeError(f"CausalAttention reads a tensor (T, B, input_size), not a {type(x).__name__}")
        errors.layer_input(x, self.input_size, self.in_proj.weight, 3)
        for name, part in zip(("keys", "values"), state or (), strict=False):
            expected = x.size(1), self.num_heads, self.hidden_size // self.num_heads
            if part.dim() != 4 or (*part.shape[:2], part.size(3)) != expected:
                B, heads, size = expected
                raise RuntimeError(f"Expected {name} of size ({B}, {heads}, steps, {size}), got {tuple(part.shape)}")

    def extra_repr(self) -> str:
        """Return the arguments that `repr` shows."""
        window = "" if self.window is None else f", window={self.window}"
        return f"{self.input_size}, {self.hidden_size}, num_heads={self.num_heads}{window}"
