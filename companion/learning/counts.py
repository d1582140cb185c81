"""Counts: a language model without a network. It has counted what followed each past, and looks it up.

A long past says most, but is seldom seen twice; a short one is seen often, and says little. So all lengths are mixed,
from none up to `order` characters (Witten and Bell 1991, IEEE Transactions on Information Theory 37(4), method C; in
this interpolated form Chen and Goodman 1998, An Empirical Study of Smoothing Techniques for Language Modeling, section
2.5).
"""

import math
from collections import Counter
from collections.abc import Sequence

import torch
from torch import Tensor

from companion.learning.indices import check_indices


class Counts:
    """The probabilities of the next index, by what followed the last `order` indices in a sequence.

    indices: int64 (length), or a list: what is counted. vocab_size: how many indices there are. order: how many
    indices the longest past has; 0 knows only how often each index occurs. followers: a dict, each past, a tuple of
    0 to `order` indices, → how often each index followed it. `len()` is how many counts are stored in all.

    ValueError for an order below 0, and for an index that is not from 0 to vocab_size - 1.
    """

    def __init__(self, indices: Tensor | Sequence[int], vocab_size: int, order: int) -> None:
        if order < 0:
            raise ValueError(f"order must be a number from 0 on, not {order}")
        self.vocab_size, self.order = vocab_size, order
        self.followers: dict[tuple[int, ...], Counter[int]] = {}
        check_indices("indices", indices, vocab_size)
        indices = torch.as_tensor(indices).tolist()
        for n in range(order + 1):
            for k in range(n, len(indices)):
                past = tuple(indices[k - n : k])
                self.followers.setdefault(past, Counter())[indices[k]] += 1
        self.totals = {past: found.total() for past, found in self.followers.items()}

    def __len__(self) -> int:
        return sum(len(found) for found in self.followers.values())

    def probability(self, index, past):
        """p(index | past), above 0 for every index. past: a list; of a longer one the last `order` indices count."""
        # p_{-1}(i) = 1 / V
        p = 1 / self.vocab_size
        for n in range(min(self.order, len(past)) + 1):
            recent = tuple(past[len(past) - n :])
            if recent not in self.followers:
                break  # nor is any longer past
            found, total = self.followers[recent], self.totals[recent]
            # p_n(i) = ( c(past, i) + d p_{n-1}(i) ) / ( c(past) + d )
            # where d is the number of different indices that followed
            p = (found[index] + len(found) * p) / (total + len(found))
        return p

    def probabilities(self, past: Sequence[int]) -> Tensor:
        """The probability of each index after a past, a list: float64 (vocab_size). They sum to one."""
        p = [self.probability(index, past) for index in range(self.vocab_size)]
        return torch.tensor(p, dtype=torch.float64)

    def perplexity(self, indices: Tensor | Sequence[int]) -> float:
        """exp of the mean of -log p over a sequence, each index but the first given those before it in the sequence."""
        check_indices("indices", indices, self.vocab_size)
        indices = torch.as_tensor(indices).tolist()
        loss = 0.0
        for k in range(1, len(indices)):
            loss -= math.log(self.probability(indices[k], indices[max(0, k - self.order) : k]))
        return math.exp(loss / (len(indices) - 1))
