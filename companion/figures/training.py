"""The models of training.js in Python, with the same initial weights."""

import math
from collections.abc import Callable, Sequence

import torch
from torch import nn

from companion.figures.numbers import normal, uniform
from companion.layers.embedding import Embedding
from companion.layers.gru import GRU
from companion.layers.lstm import LSTM
from companion.layers.rnn import RNN
from companion.learning.sequence_model import SequenceModel

LAYERS: dict[str, Callable[..., nn.Module]] = {"RNN": RNN, "GRU": GRU, "LSTM": LSTM}


def build_model(kind: str, sizes: dict[str, int], values: Sequence[float] | None = None) -> SequenceModel:
    """Return a model in float64: embedding → RNN, GRU or LSTM → linear layer.

    values: all its weights, in the order of the parameters.
    """
    recurrent = LAYERS[kind](sizes["embedding_dim"], sizes["hidden_size"], dtype=torch.float64)
    embedding = Embedding(sizes["vocab_size"], sizes["embedding_dim"], dtype=torch.float64)
    model = SequenceModel(embedding, recurrent, sizes["num_outputs"])
    if values is not None:
        torch.nn.utils.vector_to_parameters(torch.tensor(values, dtype=torch.float64), model.parameters())
    return model


def initial_model(kind: str, sizes: dict[str, int], seed: int) -> SequenceModel:
    """Return a model with the page's initial weights: embedding from N(0, 1), others from U(-1/√H, 1/√H).

    H is hidden_size.
    """
    count = sum(p.numel() for p in build_model(kind, sizes).parameters())
    bound, drawn = 1 / math.sqrt(sizes["hidden_size"]), sizes["vocab_size"] * sizes["embedding_dim"]
    values = [normal(seed, k) if k < drawn else bound * (2 * uniform(seed, k) - 1) for k in range(count)]
    return build_model(kind, sizes, values)
