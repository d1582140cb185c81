"""Pretrained models that read numerals: for each language one with attention and one without.

    python -m companion.learning.numeral_readers          train and store the readers of all languages
    python -m companion.learning.numeral_readers en       one language: a minute and a half on one core

File format: companion/learning/pretrained.py.
"""

import json
from collections.abc import Callable
from importlib.resources import files
from pathlib import Path

import torch
from torch import nn

from companion.layers import attention, lstm
from companion.layers.embedding import Embedding
from companion.learning.encoder_decoder import EncoderDecoder
from companion.learning.numerals import LANGUAGES, TRAINED, Numerals, all_right
from companion.learning.pretrained import named_languages, part_of, read_weights, weights_of, write_weights
from companion.learning.sequence_model import evaluation_of
from companion.learning.training import Epoch, train

SHIPPED = Path(str(files("companion.learning") / "readers"))
KINDS = ("attention", "fixed")  # with attention; with only the encoder's last state
EMBEDDING_DIM, HIDDEN_SIZE = 16, {"attention": 32, "fixed": 42}  # about equal numbers of parameters
EPOCHS, BATCHES, LEARNING_RATE = 20, 100, 0.01


def new_reader(
    language: str,
    kind: str = "attention",
    hidden_size: int | None = None,
    *,
    LSTM: Callable[..., nn.Module] = lstm.LSTM,
    MultiheadAttention: Callable[..., nn.Module] = attention.MultiheadAttention,
    dtype: torch.dtype | None = None,
) -> EncoderDecoder:
    """Return an untrained reader.

    hidden_size: the default of its kind if None. LSTM, MultiheadAttention: the companion's, or torch's.
    """
    task, size = Numerals(language), hidden_size or HIDDEN_SIZE[kind]
    return EncoderDecoder(
        Embedding(len(task.words), EMBEDDING_DIM, dtype=dtype),
        LSTM(EMBEDDING_DIM, size // 2, bidirectional=True, dtype=dtype),
        Embedding(len(task.signs), EMBEDDING_DIM, dtype=dtype),
        LSTM(EMBEDDING_DIM, size, dtype=dtype),
        len(task.signs),
        MultiheadAttention(size, 1, dtype=dtype) if kind == "attention" else None,
    )


def load_reader(
    language: str, kind: str = "attention", dtype: torch.dtype = torch.float64
) -> tuple[EncoderDecoder, Numerals]:
    """Return a pretrained reader and its task.

    FileNotFoundError for a language without a reader, ValueError for an unknown kind.
    """
    if kind not in KINDS:
        raise ValueError(f"kind must be one of {', '.join(KINDS)}, not {kind!r}")
    weights, _ = read_weights(path_of(language), "reader", dtype)
    model = new_reader(language, kind, dtype=dtype)
    model.load_state_dict(part_of(weights, kind))
    return model.eval(), Numerals(language)


def path_of(language: str) -> Path:
    """Return the file of a language's weights."""
    return SHIPPED / f"{language}.safetensors"


def train_reader(
    language: str, kind: str, epochs: int = EPOCHS, batches: int = BATCHES, progress: bool = True
) -> tuple[EncoderDecoder, list[Epoch]]:
    """Train a reader on numbers of up to `TRAINED` digits, and return (model, history)."""
    torch.manual_seed(0)
    task = Numerals(language, batches=batches)
    # torch's layers compute the same numbers faster
    model = new_reader(language, kind, LSTM=nn.LSTM, MultiheadAttention=nn.MultiheadAttention)
    optimizer = torch.optim.Adam(model.parameters(), lr=LEARNING_RATE)
    scheduler = torch.optim.lr_scheduler.OneCycleLR(
        optimizer, LEARNING_RATE, epochs * batches, pct_start=0.1, cycle_momentum=False
    )
    return model, train(model, task, optimizer, epochs, scheduler=scheduler, progress=progress)


def exact(model: EncoderDecoder, task: Numerals, length: int, count: int = 200) -> float:
    """Return the share of held-out numbers of `length` digits that a model writes without a mistake."""
    with evaluation_of(model):
        inputs, targets = task.batch(task.held_out(length, count))
        return all_right(model(inputs)[0], targets).double().mean().item()


def main():
    """Train and store the readers that are named on the command line."""
    for language in named_languages(__doc__, LANGUAGES):
        models = {}
        for kind in KINDS:
            model, _ = train_reader(language, kind, EPOCHS, BATCHES)
            models[kind] = model
            task, count = Numerals(language), sum(p.numel() for p in model.parameters())
            shares = " ".join(f"{exact(model, task, length):.3f}" for length in range(4, TRAINED + 4))
            print(f"{language}, {kind}, {count:,} parameters: of 4 to {TRAINED + 3} digits {shares} right", flush=True)
        words = json.dumps(Numerals(language).words, ensure_ascii=False)
        write_weights(weights_of(models), {"words": words}, path_of(language))


if __name__ == "__main__":
    main()
