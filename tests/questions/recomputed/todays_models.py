"""Right answers of the questions about *Today's models*, computed by automatic differentiation and by counting."""

import torch


def delta_step_by_hand(S, k, v, beta):
    S = torch.tensor(S, dtype=torch.float64, requires_grad=True)
    ((v - S * k) ** 2 / 2).backward()
    torch.optim.SGD([S], lr=beta).step()
    return S.item()


def storage_of_a_hybrid(fixed, features, steps):
    return 3 * fixed + sum(features + features for _ in range(steps))
