"""Small pretrained language models: for each text an RNN, a GRU and an LSTM of equal size, to be compared.

    python -m companion.learning.small_writers          train and store the three of every text, a minute a text
    python -m companion.learning.small_writers en       those of one text

They are trained like the writer (companion/learning/writer.py); each has about a third of its weights.
"""

import math
from collections.abc import Callable, Mapping
from importlib.resources import files
from pathlib import Path

import torch
from torch import nn

from companion.layers import gru, lstm, rnn
from companion.layers.embedding import Embedding
from companion.layers.through_time import by_hand
from companion.learning.pretrained import named_languages, part_of, weights_of
from companion.learning.sequence_model import SequenceModel
from companion.learning.text import Vocabulary, shipped_texts
from companion.learning.training import Epoch
from companion.learning.writer import learn, store, stored

SHIPPED = Path(str(files("companion.learning") / "writers_small"))
Layers = Mapping[str, Callable[..., nn.Module]]  # by kind
OURS: Layers = {"RNN": rnn.RNN, "GRU": gru.GRU, "LSTM": lstm.LSTM}
PARTS = {"RNN": 1, "GRU": 3, "LSTM": 4}  # blocks of hidden_size rows in a layer's weights
EMBEDDING_DIM, MOST_WEIGHTS = 16, 45_000  # 90 kB each in float16: a page loads all three


def load_small_writers(
    language: str, dtype: torch.dtype = torch.float64
) -> tuple[dict[str, SequenceModel], Vocabulary]:
    """Return the three pretrained models of a text, by kind, and their vocabulary.

    FileNotFoundError for a language without models.
    """
    weights, vocabulary = stored(path_of(language), dtype)
    models = {}
    for kind in OURS:
        models[kind] = new_small_writer(len(vocabulary), kind, dtype=dtype)
        models[kind].load_state_dict(part_of(weights, kind))
        by_hand(models[kind].eval())
    return models, vocabulary


def path_of(language: str) -> Path:
    """Return the file of a language's three models."""
    return SHIPPED / f"{language}.safetensors"


def new_small_writer(
    vocab_size: int, kind: str, layers: Layers = OURS, dtype: torch.dtype | None = None
) -> SequenceModel:
    """Return an untrained model.

    layers: kind → layer: the companion's, or torch's.
    """
    embedding = Embedding(vocab_size, EMBEDDING_DIM, dtype=dtype)
    return SequenceModel(embedding, layers[kind](EMBEDDING_DIM, hidden_size(vocab_size, kind), dtype=dtype), vocab_size)


def number_of_weights(vocab_size: int, kind: str, size: int) -> int:
    """Return the number of weights of a model with `size` hidden units."""
    return vocab_size * EMBEDDING_DIM + PARTS[kind] * size * (EMBEDDING_DIM + size + 2) + vocab_size * (size + 1)


def hidden_size(vocab_size: int, kind: str) -> int:
    """Return the number of hidden units.

    An LSTM has as many as `MOST_WEIGHTS` allow; another kind gets about as many weights as the LSTM.
    """
    most = max(size for size in range(1, 256) if number_of_weights(vocab_size, "LSTM", size) <= MOST_WEIGHTS)
    wanted = number_of_weights(vocab_size, "LSTM", most)
    return min(range(1, 512), key=lambda size: abs(number_of_weights(vocab_size, kind, size) - wanted))


def train_small_writer(
    language: str, kind: str, progress: bool = True
) -> tuple[SequenceModel, Vocabulary, list[Epoch]]:
    """Train a model on all but the last tenth of its text, and return (model, vocabulary, history)."""
    layers = {kind: getattr(nn, kind)}  # torch's layers compute the same numbers, on most processors faster
    return learn(language, lambda vocab_size: new_small_writer(vocab_size, kind, layers), progress)


def main():
    """Train and store the models of the texts that are named on the command line."""
    for language in named_languages(__doc__, shipped_texts()):
        models = {}
        for kind in OURS:
            models[kind], vocabulary, history = train_small_writer(language, kind)
            count, bits = sum(p.numel() for p in models[kind].parameters()), history[-1].held_out / math.log(2)
            print(f"{language}, {kind}: {count:,} weights, {bits:.2f} bits a character on what is held out", flush=True)
        store(weights_of(models), vocabulary, path_of(language))


if __name__ == "__main__":
    main()
