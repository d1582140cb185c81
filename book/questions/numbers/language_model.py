"""Numbers of the questions about *A language model, and what it writes*."""

import torch

from book.questions.parts import Numbers, count
from companion import LSTM, RNN, Embedding
from companion.learning.generation import probabilities
from companion.learning.sequence_model import SequenceModel


def parameters(rng):
    vocabulary, size, units = rng.choice((20, 30, 40, 50, 60)), rng.choice((4, 5, 8)), rng.choice((10, 20, 30))
    right = count(SequenceModel(Embedding(vocabulary, size), LSTM(size, units), vocabulary))
    mistakes = {
        "one_bias": right - 4 * units,
        "no_embedding": right - vocabulary * size,
        "no_linear_layer": right - vocabulary * (units + 1),
        "as_an_rnn": count(SequenceModel(Embedding(vocabulary, size), RNN(size, units), vocabulary)),
    }
    return Numbers(right, mistakes, {"vocabulary": vocabulary, "size": size, "units": units})


def temperature(rng):
    p, tau = rng.choice((0.6, 0.7, 0.8, 0.9)), rng.choice((0.5, 2))
    rest = round(1 - p, 1)
    # index 0, the unknown character, is never drawn
    logits = torch.tensor([1.0, p, rest], dtype=torch.float64).log()
    mistakes = {
        "temperature_multiplied": probabilities(logits, 1 / tau)[1].item(),
        "temperature_ignored": p,
        "likeliest_only": 1.0,
        "equal_chances": 0.5,
    }
    return Numbers(probabilities(logits, tau)[1].item(), mistakes, {"p": p, "rest": rest, "tau": tau}, digits=2)
