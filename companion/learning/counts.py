"""Language model without a network: it counts which index followed each past, and looks the counts up.

A long past predicts best, but is seldom seen twice; a short one is seen often, and predicts little. So all lengths are
mixed, from none up to `order` characters (Witten and Bell 1991, IEEE Transactions on Information Theory 37(4), method
C; in this interpolated form Chen and Goodman 1998, An Empirical Study of Smoothing Techniques for Language Modeling,
section 2.5).
"""

import math
from collections import Counter
from collections.abc import Sequence

import torch
from torch import Tensor

from companion.learning.indices import check_indices


class Counts:
    """Counted probabilities of the next index, given the last `order` indices of a sequence.

    indices: int64 (length), or a list: the sequence that is counted. vocab_size: the number of different indices.
    order: length of the longest past; 0 uses only the frequency of each index. followers: a dict, past → how often each
    index followed it, where a past is a tuple of 0 to `order` indices. `len()` is the number of stored counts.

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
        self.totals = {past: counts.total() for past, counts in self.followers.items()}

    def __len__(self) -> int:
        return sum(len(counts) for counts in self.followers.values())

    def probability(self, index, past):
        """Return p(index | past), above 0 for every index.

        past: a list; only its last `order` indices count.
        """
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
        """Return the probability of each index after a past: float64 (vocab_size)."""
        p = [self.probability(index, past) for index in range(self.vocab_size)]
        return torch.tensor(p, dtype=torch.float64)

    def perplexity(self, indices: Tensor | Sequence[int]) -> float:
        """Return exp of the mean of -log p over a sequence, each index but the first given those before it."""
        check_indices("indices", indices, self.vocab_size)
        if len(indices) < 2:
            raise ValueError(f"a perplexity needs at least 2 indices, not {len(indices)}")
        indices = torch.as_tensor(indices).tolist()
        loss = 0.0
        for k in range(1, len(indices)):
            loss -= math.log(self.probability(indices[k], indices[max(0, k - self.order) : k]))
        return math.exp(loss / (len(indices) - 1))
