"""Right answers of the questions about *A language model, and what it writes*, computed by torch."""

from torch import nn

from tests.questions.recomputed import count


def parameters(vocabulary, size, units):
    return sum(map(count, (nn.Embedding(vocabulary, size), nn.LSTM(size, units), nn.Linear(units, vocabulary))))


def temperature(p, rest, tau):
    """Return the probability from the odds of the two characters, which get the power 1 / τ."""
    odds = (p / rest) ** (1 / tau)
    return odds / (1 + odds)
