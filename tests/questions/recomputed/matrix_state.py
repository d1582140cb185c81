"""Right answers of the questions about *A state that is a matrix*, computed as attention and by gradient descent."""

import torch


def read_a_mixture(v_1, v_2, first, second):
    """Read by attention without a softmax."""
    K = torch.tensor([[1, 0], [first, second]], dtype=torch.float64)
    q, v = torch.tensor([1, 0], dtype=torch.float64), torch.tensor([v_1, v_2], dtype=torch.float64)
    assert torch.allclose(K.norm(dim=1), torch.ones(2, dtype=torch.float64))
    return (q @ K.T @ v).item()


def rewritten(old, new, beta):
    """Take one step of gradient descent for the squared error of the answer."""
    k = torch.tensor([0.6, 0.8], dtype=torch.float64)
    S = (old * k).requires_grad_()
    optimizer = torch.optim.SGD([S], lr=beta)
    (0.5 * (S @ k - new) ** 2).backward()
    optimizer.step()
    return (S @ k).item()
