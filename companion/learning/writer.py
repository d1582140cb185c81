"""Pretrained language models ("writers"): for each text of the package one model, small enough to come with it.

    python -m companion.learning.writer          train and store the writers of all texts, about twenty seconds each
    python -m companion.learning.writer en       one of them

File format: companion/learning/pretrained.py.
"""

import hashlib
import json
from collections.abc import Callable, Mapping
from importlib.resources import files
from pathlib import Path

import torch
from torch import Tensor, nn

from companion.layers.embedding import Embedding
from companion.layers.lstm import LSTM
from companion.layers.through_time import by_hand
from companion.learning.pretrained import named_languages, read_weights, write_weights
from companion.learning.sequence_model import SequenceModel
from companion.learning.text import Vocabulary, load_text, shipped_texts
from companion.learning.training import Epoch, perplexity, train
from companion.learning.windows import ConsecutiveWindows, split

Trained = tuple[SequenceModel, Vocabulary, list[Epoch]]
SHIPPED = files("companion.learning") / "writers"
EMBEDDING_DIM, MOST_WEIGHTS = 24, 140_000  # 280 kB in float16: pages load it, too
EPOCHS, BATCH_SIZE, WINDOW_SIZE, LEARNING_RATE, WEIGHT_DECAY = 24, 4, 32, 0.01, 0.1


def load_writer(language: str, dtype: torch.dtype = torch.float64) -> tuple[SequenceModel, Vocabulary]:
    """Return the writer of a text, and its vocabulary; FileNotFoundError for a language without a writer."""
    weights, vocabulary = stored(path_of(language), dtype)
    model = new_writer(len(vocabulary), dtype=dtype)
    model.load_state_dict(weights)
    return by_hand(model.eval()), vocabulary


def path_of(language: str) -> Path:
    """Return the file of a writer's weights."""
    return Path(str(SHIPPED / f"{language}.safetensors"))


def stored(path: Path, dtype: torch.dtype = torch.float64) -> tuple[dict[str, Tensor], Vocabulary]:
    """Return (weights, vocabulary) from a file of `store`; FileNotFoundError if there is none."""
    weights, metadata = read_weights(path, "writer", dtype)
    return weights, Vocabulary.of(json.loads(metadata["characters"]))


def store(weights: Mapping[str, Tensor], vocabulary: Vocabulary, path: Path) -> None:
    """Write weights, their vocabulary, and a hash of the training text, whose name is the file's."""
    write_weights(
        weights, {"characters": json.dumps(vocabulary.characters), "text": fingerprint(load_text(path.stem))}, path
    )


def new_writer(
    vocab_size: int, lstm: Callable[..., nn.Module] = LSTM, dtype: torch.dtype | None = None
) -> SequenceModel:
    """Return an untrained writer of the largest allowed size.

    lstm: `companion.LSTM` or `torch.nn.LSTM`.
    """
    embedding = Embedding(vocab_size, EMBEDDING_DIM, dtype=dtype)
    return SequenceModel(embedding, lstm(EMBEDDING_DIM, hidden_size(vocab_size), dtype=dtype), vocab_size)


def hidden_size(vocab_size: int) -> int:
    """Return the largest multiple of 8 with which a writer has at most `MOST_WEIGHTS` weights."""

    def weights(size):
        return vocab_size * EMBEDDING_DIM + 4 * size * (EMBEDDING_DIM + size + 2) + vocab_size * (size + 1)

    return max(size for size in range(8, 512, 8) if weights(size) <= MOST_WEIGHTS)


def train_writer(language: str, progress: bool = True) -> Trained:
    """Train a writer on all but the last tenth of its text, and return (model, vocabulary, history)."""
    # torch's layer computes the same numbers, on most processors faster
    return learn(language, lambda vocab_size: new_writer(vocab_size, nn.LSTM), progress)


def learn(language: str, new_model: Callable[[int], SequenceModel], progress: bool = True) -> Trained:
    """Train new_model(vocab_size) on a text as all writers are, and return (model, vocabulary, history)."""
    torch.manual_seed(0)
    text = load_text(language)
    vocabulary = Vocabulary(text)
    learned_from, held_out = split(vocabulary.encode(text))
    batches = ConsecutiveWindows(learned_from, BATCH_SIZE, WINDOW_SIZE)
    unread = ConsecutiveWindows(held_out, 1, 500)
    model = new_model(len(vocabulary))
    optimizer = torch.optim.AdamW(model.parameters(), lr=LEARNING_RATE, weight_decay=WEIGHT_DECAY)
    scheduler = torch.optim.lr_scheduler.OneCycleLR(
        optimizer, LEARNING_RATE, EPOCHS * len(batches), pct_start=0.1, cycle_momentum=False
    )
    history = train(model, batches, optimizer, EPOCHS, held_out=unread, scheduler=scheduler, progress=progress)
    return model, vocabulary, history


def fingerprint(text: str) -> str:
    """Return a hash of a text, stored with a writer to detect that its text has changed."""
    return hashlib.sha256(text.encode()).hexdigest()


def main():
    """Train and store the writers that are named on the command line."""
    for language in named_languages(__doc__, shipped_texts()):
        model, vocabulary, history = train_writer(language)
        path = path_of(language)
        store(model.state_dict(), vocabulary, path)
        last = history[-1]
        print(
            f"{language}: perplexity {perplexity(last.loss):.1f}, on what is held out {perplexity(last.held_out):.1f}; "
            f"{path.stat().st_size / 1000:.0f} kB"
        )


if __name__ == "__main__":
    main()
