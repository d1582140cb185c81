"""Right answers of the questions about *What a transformer leaves out*, computed in another way."""

import torch
from torch import nn


def without_cache(start, count, terms):
    """Return the sum of an arithmetic series: the mean of its first and last term, as often as there are terms."""
    assert [int(term) for term in terms.split(" + ")] == list(range(start, start + count))
    return count * (start + start + count - 1) / 2


def cache_numbers(blocks, size, heads, steps):
    """Count the keys and values that the blocks of torch compute, cut into heads."""
    x, stored = torch.zeros(steps, size), 0
    for _ in range(blocks):
        attention = nn.MultiheadAttention(size, heads)
        _, *kept = nn.functional.linear(x, attention.in_proj_weight, attention.in_proj_bias).chunk(3, dim=-1)
        stored += sum(part.unflatten(-1, (heads, -1)).numel() for part in kept)
    return stored
