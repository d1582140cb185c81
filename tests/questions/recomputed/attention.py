"""Right answers of the questions about *Attention: looking back*, computed by torch."""

import pytest
import torch
from torch import nn
from torch.nn import functional as F

from tests.questions.recomputed import count


def handed_over(hidden_size, words):
    _, state = nn.LSTM(3, hidden_size, bidirectional=True)(torch.zeros(words, 3))
    return sum(part.numel() for part in state)


def context(first, second, v1, v2, w1, w2):
    """Return the context of a query of four ones, for keys that have these scalar products with it."""
    query = torch.ones(1, 1, 4, dtype=torch.float64)
    key = torch.tensor([[first] * 4, [second] * 4], dtype=torch.float64)[None] / 4
    value = torch.tensor([[v1], [v2]], dtype=torch.float64)[None]
    weights = F.scaled_dot_product_attention(query, key, torch.eye(2, dtype=torch.float64)[None])
    assert [w1, w2] == pytest.approx(weights.flatten().tolist(), abs=0.005)
    return F.scaled_dot_product_attention(query, key, value).item()


def head_parameters(size, heads):
    return count(nn.MultiheadAttention(size, heads))
