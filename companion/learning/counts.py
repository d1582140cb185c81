"""Language model without a network: it counts which index followed each past, and looks the counts up.

A long past predicts best, but is seldom seen twice; a short one is seen often, and predicts little. So all lengths are
mixed, from none up to `order` characters (Witten and Bell 1991, IEEE Transactions on Information Theory 37(4), method
C; in this interpolated form Chen and Goodman 1998, An Empirical Study of Smoothing Techniques for Language Modeling,
section 2.5). `KneserNey` mixes them in a way that usually predicts better.
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

    def contexts(self, past):
        """Yield what followed the last 0, 1, … `order` indices of a past, with its total, as long as any did."""
        for n in range(min(self.order, len(past)) + 1):
            recent = tuple(past[len(past) - n :])
            if recent not in self.followers:
                break  # nor is any longer past
            yield self.followers[recent], self.totals[recent]

    def probability(self, index, past):
        """Return p(index | past), above 0 for every index.

        past: a list; only its last `order` indices count.
        """
        # p_{-1}(i) = 1 / V
        p = 1 / self.vocab_size
        for found, total in self.contexts(past):
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


class KneserNey(Counts):
    """`Counts` in which a short past counts after how many different indices another index followed it.

    A short past is asked only where a longer one is seldom seen, so it says what follows it in new places. `discount`
    is taken from every count, and is the share of the shorter past (Kneser and Ney 1995, ICASSP; interpolated, with one
    discount: Chen and Goodman 1998, section 2.7).

    ValueError also for a discount that is not from 0 to 1.
    """

    def __init__(self, indices: Tensor | Sequence[int], vocab_size: int, order: int, discount: float = 0.9) -> None:
        if not 0 <= discount <= 1:
            raise ValueError(f"discount must be a number from 0 to 1, not {discount}")
        super().__init__(indices, vocab_size, order)
        self.discount = discount
        longest = {past: found for past, found in self.followers.items() if len(past) == order}
        before: dict[tuple[int, ...], Counter[int]] = {}
        for past, found in self.followers.items():
            if past:
                before.setdefault(past[1:], Counter()).update(dict.fromkeys(found, 1))
        self.followers = before | longest
        self.totals = {past: found.total() for past, found in self.followers.items()}

    def probability(self, index, past):
        """Return p(index | past), above 0 for every index, if the discount is."""
        p = 1 / self.vocab_size
        for found, total in self.contexts(past):
            # p_n(i) = ( max(c(past, i) - D, 0) + D d p_{n-1}(i) ) / c(past)
            # where c is the number of different indices before, or in the longest past the count
            p = (max(found[index] - self.discount, 0) + self.discount * len(found) * p) / total
        return p


def best_order(kind: type[Counts], indices: Tensor, validation: Tensor, vocab_size: int) -> Counts:
    """Return a table of a kind, with the first order that predicts a validation part no worse than the next order."""
    table = kind(indices, vocab_size, 0)
    best = table.perplexity(validation)
    while (value := (longer := kind(indices, vocab_size, table.order + 1)).perplexity(validation)) < best:
        table, best = longer, value
    return table
