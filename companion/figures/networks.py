"""The models of networks.js in Python: the same numbers to begin with."""

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


def model_of(kind: str, sizes: dict[str, int], values: Sequence[float] | None = None) -> SequenceModel:
    """Embedding → RNN, GRU or LSTM → linear layer, in float64. values: all its numbers, in the order of the
    parameters."""
    recurrent = LAYERS[kind](sizes["embedding_dim"], sizes["hidden_size"], dtype=torch.float64)
    embedding = Embedding(sizes["vocab_size"], sizes["embedding_dim"], dtype=torch.float64)
    model = SequenceModel(embedding, recurrent, sizes["num_outputs"])
    if values is not None:
        torch.nn.utils.vector_to_parameters(torch.tensor(values, dtype=torch.float64), model.parameters())
    return model


def begin(kind: str, sizes: dict[str, int], seed: int) -> SequenceModel:
    """A model whose weights are the page's: the embedding from N(0, 1), all else from U(-1/√H, 1/√H), H being
    hidden_size."""
    count = sum(p.numel() for p in model_of(kind, sizes).parameters())
    bound, drawn = 1 / math.sqrt(sizes["hidden_size"]), sizes["vocab_size"] * sizes["embedding_dim"]
    values = [normal(seed, k) if k < drawn else bound * (2 * uniform(seed, k) - 1) for k in range(count)]
    return model_of(kind, sizes, values)
