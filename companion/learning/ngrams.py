"""Classifiers without memory: they count pieces of a text (n-grams) and ignore the order of the pieces.

Both have one table, with a row for each piece and a column for each class. The sum of the rows of a text's pieces is
its logits. Naive Bayes fills the table by counting (Maron 1961, Journal of the ACM 8(3)); logistic regression learns it
as a network does. N-grams as a sign of the language: Cavnar and Trenkle 1994.
"""

from collections import Counter
from collections.abc import Iterable
from typing import TYPE_CHECKING

import torch
from torch import Tensor, nn

from companion.learning.indices import check_indices

BEGIN, END = "\x02", "\x03"  # before and after a text, so that its first and last pieces differ from others


def ngrams(text: str, longest: int = 3) -> list[str]:
    """Return all pieces of 1 to `longest` characters; the markers of beginning and end count as characters."""
    marked = BEGIN + text + END
    starts = ((n, k) for n in range(1, longest + 1) for k in range(len(marked) - n + 1))
    return [marked[k : k + n] for n, k in starts if marked[k : k + n] not in (BEGIN, END)]


class NGrams:
    """The pieces of some texts, and their indices from 1 on. Index 0 is any other piece, and padding.

    texts: the source of the pieces. longest: the largest number of characters in a piece. `len()` counts index 0 too.
    """

    def __init__(self, texts: Iterable[str], longest: int = 3) -> None:
        self.longest = longest
        counts = Counter(piece for text in texts for piece in ngrams(text, longest))
        self.indices = {piece: index for index, piece in enumerate(sorted(counts), start=1)}

    def __len__(self) -> int:
        return len(self.indices) + 1

    def encode(self, text: str) -> Tensor:
        """Return the indices of a text's pieces, int64 (number of pieces)."""
        return torch.tensor([self.indices.get(piece, 0) for piece in ngrams(text, self.longest)])


class BagClassifier(nn.Module):
    """The sum of a table's rows: logistic regression, if the table is learned. It begins with zeros.

    num_ngrams: rows of the table, with row 0, which stays zero. num_classes: the number of classes.
    """

    def __init__(self, num_ngrams: int, num_classes: int, dtype: torch.dtype | None = None) -> None:
        super().__init__()
        self.table = nn.Embedding(num_ngrams, num_classes, padding_idx=0, dtype=dtype)
        self.bias = nn.Parameter(torch.zeros(num_classes, dtype=dtype))
        nn.init.zeros_(self.table.weight)

    def forward(self, indices: Tensor, lengths: Tensor | None = None) -> Tensor:
        """Return the logits (B, num_classes).

        indices: (T, B), padded with 0. lengths is not used: row 0 adds nothing.
        """
        # y = Σ_t W[ i_t ] + b
        return self.table(indices).sum(0) + self.bias

    if TYPE_CHECKING:
        __call__ = forward


@torch.no_grad()
def naive_bayes(
    learned_from: Iterable[tuple[Tensor, int]], num_ngrams: int, num_classes: int, alpha: float = 0.1
) -> BagClassifier:
    """Return a `BagClassifier` whose table is counted, in float64.

    learned_from: a list of (indices, number of the class). alpha: above 0, a count that every piece has in every class
    from the start. ValueError for another alpha, and for a piece or a class that the table does not have.
    """
    if alpha <= 0:
        raise ValueError(f"alpha must be above 0, not {alpha}: else an unseen piece would exclude a class")
    model = BagClassifier(num_ngrams, num_classes, dtype=torch.float64)
    counts = torch.zeros(num_ngrams, num_classes, dtype=torch.float64)
    texts = torch.zeros(num_classes, dtype=torch.float64)
    for place, (indices, label) in enumerate(learned_from):
        check_indices(f"learned_from[{place}][0]", indices, num_ngrams)
        check_indices(f"learned_from[{place}][1]", label, num_classes)
        counts[:, label] += torch.bincount(indices, minlength=num_ngrams)
        texts[label] += 1
    if not texts.any():
        raise ValueError("learned_from is empty: give at least one example")
    counts = counts[1:] + alpha
    # W[i, k] = log p( piece i | class k )   b[k] = log p( class k )
    model.table.weight[1:] = (counts / counts.sum(0)).log()
    model.bias.copy_((texts / texts.sum()).log())
    return model
