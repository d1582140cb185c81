"""Recurrent layers with a matrix as state: linear attention, with forgetting, with the delta rule, with both.

`matrix_state.py` has the equations of the state and the papers. This module computes queries, keys (both of length 1),
values and gates (one number for each head, or for each feature of its key) from the input.
"""

import math

import torch
from torch.nn import functional as F

from companion.layers import errors, matrix_state
from companion.layers.initialisation import time_steps
from companion.layers.sequence_layer import SequenceLayer
from companion.layers.types import Device


class LinearAttention(SequenceLayer):
    """Linear attention: masked attention without a softmax, whose state is a sum that never forgets.

    hidden_size: features of queries, keys, values and the output, of all heads together. num_heads: the number of
    heads, each with hidden_size / num_heads of these features and a matrix of its own. Rows of the parameters: those of
    q, k, v, hidden_size each. State: (B, num_heads, hidden_size / num_heads, hidden_size / num_heads), in the order
    values, keys. Other arguments and the call: `SequenceLayer`. ValueError for a hidden_size that is not a multiple of
    num_heads.
    """

    forgets = corrects = per_key = False
    # how the steps are computed: or `matrix_state.loop`, or `functools.partial(matrix_state.chunks, at_once=True)`
    way = staticmethod(matrix_state.chunks)

    def __init__(
        self,
        input_size: int,
        hidden_size: int,
        num_heads: int = 1,
        batch_first: bool = False,
        device: Device = None,
        dtype: torch.dtype | None = None,
    ) -> None:
        self.check_sizes(hidden_size, num_heads)
        self.num_heads = num_heads
        super().__init__(input_size, hidden_size, batch_first, device, dtype)

    @staticmethod
    def check_sizes(hidden_size: int, num_heads: int) -> None:
        """Check that the features can be divided among the heads."""
        errors.multiple(hidden_size=hidden_size, num_heads=num_heads)

    def rows(self) -> list[int]:
        """Return the number of rows for q, k, v and the gates."""
        alpha = self.hidden_size if self.per_key else self.num_heads
        return [self.hidden_size] * 3 + [alpha] * self.forgets + [self.num_heads] * self.corrects

    @torch.no_grad()
    def reset_parameters(self) -> None:
        """Draw the weights and biases from U(-k, k), but the biases of gates for each head so that σ(b) = e^(-A Δ).

        A is from U(0, 16) and Δ from 0.001 to 0.1, even over its logarithm, as in the code of Gated DeltaNet. There the
        gate is e^(-A · softplus(W x + b)); here A is part of b: σ(W x + b) is e^(-softplus(-W x - b)).
        """
        super().reset_parameters()
        if self.forgets and not self.per_key:
            bias = self.bias_ih_l0.split(self.parts)[3]
            rates = 16 * (1 - torch.rand_like(bias)) * time_steps(bias)
            # softplus( -b ) = A Δ
            bias[:] = -torch.log(torch.expm1(rates))

    def still(self) -> list[float]:
        """Return the parts of a step that changes nothing: α is σ( ∞ ) = 1, and the key 0."""
        return [0] * 3 + [math.inf] * self.forgets + [0] * self.corrects

    def state_shapes(self) -> list[tuple[int, ...]]:
        """Return the state's shape for one sequence."""
        size = self.hidden_size // self.num_heads
        return [(self.num_heads, size, size)]

    def extra_repr(self) -> str:
        """Return the arguments that `repr` shows."""
        heads = f", num_heads={self.num_heads}" if self.num_heads > 1 else ""
        return super().extra_repr() + heads

    def run(self, q, k, v, *gates_and_state):
        """Return the output, (T, B, hidden_size), and the new state."""
        *gates, (S,) = gates_and_state
        # (T, B, hidden_size) → (T, B, heads, size of a head)
        q, k, v = (x.unflatten(-1, (self.num_heads, -1)) for x in (q, k, v))
        # q_t / |q_t|,   k_t / |k_t|
        q, k = F.normalize(q, dim=-1), F.normalize(k, dim=-1)
        log_alpha, beta = torch.zeros_like(q[..., 0]), torch.ones_like(q[..., 0])
        # α_t = σ( W_α x_t + b_α ),   or 1;  for each feature of the key its 16th root
        if self.forgets:
            log_alpha = F.logsigmoid(gates[0])
            if self.per_key:
                log_alpha = log_alpha.unflatten(-1, (self.num_heads, -1)) / 16
        # β_t = σ( W_β x_t + b_β ), at most `most`,   or 1
        if self.corrects:
            beta = self.most * torch.sigmoid(gates[-1])
        output, S = self.way(q, k, v, log_alpha, beta, S, self.corrects)
        return output.flatten(-2), (S,)


class GatedLinearAttention(LinearAttention):
    """Linear attention that forgets: at each step a gate for each feature of the key multiplies a column of the state.

        S_t = S_{t-1} Diag( α_t ) + v_t k_tᵀ,   α_t = σ( W x_t + b )^(1/16)

    Songlin Yang et al. (2023), arXiv 2312.06635, where W is a product of two smaller matrices. per_key: False for one
    gate for each head, `α_t = σ( W x_t + b )`, as in Mamba-2 (Dao and Gu 2024, arXiv 2405.21060) and, fixed, in RetNet
    (Sun et al. 2023, arXiv 2307.08621). Rows of the parameters: those of q, k, v, hidden_size each, then of α,
    hidden_size or num_heads.
    """

    forgets = True

    def __init__(
        self,
        input_size: int,
        hidden_size: int,
        num_heads: int = 1,
        batch_first: bool = False,
        device: Device = None,
        dtype: torch.dtype | None = None,
        *,
        per_key: bool = True,
    ) -> None:
        self.per_key = per_key
        super().__init__(input_size, hidden_size, num_heads, batch_first, device, dtype)

    def extra_repr(self) -> str:
        """Return the arguments that `repr` shows."""
        return super().extra_repr() + ("" if self.per_key else ", per_key=False")


class DeltaNet(LinearAttention):
    """Linear attention with the delta rule: it writes the difference to the value already stored under the key.

    most: the upper bound of β, above 0 and at most 2. Above 1 an eigenvalue of the state's factor can be negative, so
    that the state can follow swaps (Grazzi et al. 2024, arXiv 2411.12537). Rows of the parameters: those of q, k, v,
    hidden_size each, then of β, num_heads. ValueError for a `most` that is not above 0 and at most 2.
    """

    corrects = True

    def __init__(
        self,
        input_size: int,
        hidden_size: int,
        num_heads: int = 1,
        most: float = 1.0,
        batch_first: bool = False,
        device: Device = None,
        dtype: torch.dtype | None = None,
    ) -> None:
        if isinstance(most, bool) or not 0 < most <= 2:
            raise ValueError(f"most must be above 0 and at most 2, or the state would grow without end, got {most}")
        super().__init__(input_size, hidden_size, num_heads, batch_first, device, dtype)
        self.most = most

    def extra_repr(self) -> str:
        """Return the arguments that `repr` shows."""
        return super().extra_repr() + (f", most={self.most}" if self.most != 1 else "")


class GatedDeltaNet(DeltaNet):
    """Linear attention with the delta rule and forgetting.

        S_t = α_t S_{t-1} + β_t ( v_t - α_t S_{t-1} k_t ) k_tᵀ,   o_t = S_t q_t

    For each head, the matrix S_t is the state and o_t the output. q_t, k_t and v_t are parts of `W x_t + b`, q_t and
    k_t brought to length 1; `α_t = σ(…)` and `β_t = most · σ(…)` of two more parts. Rows of the parameters: those of q,
    k, v, hidden_size each, then of α and of β, num_heads each.

    Note: α_t begins as in the published layer, with memories of one step to thousands, drawn for each head. For a
    longer memory add to α's bias: `bias_ih_l0.data[-2 * num_heads : -num_heads] += 4`. Note: The published layer adds a
    convolution, a norm and an output gate.
    """

    forgets = True
