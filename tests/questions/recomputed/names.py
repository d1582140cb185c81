"""Right answers of the questions about *In which language is this name?*, found by counting."""

from collections import Counter

import torch

from companion.learning.ngrams import naive_bayes


def best_possible(unique, shared, texts, languages):
    """Return how many of the names the best table from text to language is right about."""
    names = [(f"own {number}", 0) for number in range(unique)]
    names += [(f"shared {number}", label) for number in range(texts) for label in range(languages)]
    assert len(names) == unique + shared == 100
    seen = Counter(names)
    best = {}
    for (text, _), count in seen.items():
        best[text] = max(best.get(text, 0), count)
    return sum(best.values())


def smoothing(alpha, pieces, total, count):
    """Return what naive Bayes learns from a text with the piece 1, and other pieces."""
    indices = torch.tensor([1] * count + [2] * (total - count))
    model = naive_bayes([(indices, 0), (torch.tensor([3]), 1)], pieces + 1, 2, alpha)
    return model.table.weight[1, 0].exp().item()
