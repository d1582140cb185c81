"""Numbers of the questions about *Which layer, and how large?*."""

from book.questions.parts import Numbers, count
from companion import LSTM


def second_layer(rng):
    size, units = rng.choice((4, 5, 8, 16)), rng.choice((10, 20, 30, 40, 50))
    first = count(LSTM(size, units))
    right = count(LSTM(size, units, num_layers=2)) - first
    mistakes = {
        "as_the_first": first,
        "one_bias": right - 4 * units,
        "one_matrix": right - 4 * units**2,
        "as_an_rnn": right // 4,
    }
    return Numbers(right, mistakes, {"size": size, "units": units})
