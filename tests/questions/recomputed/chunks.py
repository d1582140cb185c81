"""Right answers of the questions about *Chunks, and the mLSTM*, computed step by step with a state."""

import math

import torch


def third_step(v_1, v_2, v_3, k_21, k_32, u_2):
    """Take three steps with keys that have these products."""
    K = torch.tensor([[1, 0, 0], [k_21, k_32, math.sqrt(1 - k_21**2 - k_32**2)], [0, 1, 0]], dtype=torch.float64)
    assert torch.allclose(K.norm(dim=1), torch.ones(3, dtype=torch.float64))
    S, written = torch.zeros(3, dtype=torch.float64), []
    for k, v in zip(K, (v_1, v_2, v_3), strict=True):
        written.append((v - S @ k).item())
        S = S + written[-1] * k
    assert math.isclose(u_2, written[1])
    return written[2]


def what_is_left(alpha_1, alpha_2, alpha_3):
    """Return the gradient of the last state with respect to the number that step 1 writes."""
    written = torch.zeros(3, dtype=torch.float64, requires_grad=True)
    S = torch.ones((), dtype=torch.float64)
    for alpha, u in zip((alpha_1, alpha_2, alpha_3), written, strict=True):
        S = alpha * S + u
    S.backward()
    return written.grad[0].item()
