"""Right answers of the questions about *Surprise, and counting as a rival*, computed by torch."""

import torch
from torch.nn import functional as F


def perplexity_by_hand(a, b):
    """Return e to the power of torch's cross-entropy, with logits that give these probabilities to the first index."""
    p = 1 / torch.tensor([a, b], dtype=torch.float64)
    logits = torch.stack([p, 1 - p], dim=1).log()
    return F.cross_entropy(logits, torch.zeros(2, dtype=torch.int64)).exp().item()
