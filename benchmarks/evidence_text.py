"""Evidence for the chapter on language models: RNN, GRU and LSTM on each text; half an hour on one core.

    python benchmarks/evidence_text.py           compute missing runs; an interrupted call can be repeated
    python benchmarks/evidence_text.py --again   recompute all runs

RNN, GRU and LSTM are trained on the text of each language, with equally many parameters in the recurrent layer, within
2 %. For each kind the learning rate is chosen first, by the held-out loss on the English text, on a seed of its own.
Then five other seeds use it on each text. Output: companion/learning/evidence/text.json, with the held-out loss after
each epoch.
"""

import itertools
import sys

import torch
from evidence_runs import equal_size, main, parameters

import companion
from companion.learning import evidence
from companion.learning.sequence_model import SequenceModel
from companion.learning.text import Vocabulary, load_text, shipped_texts
from companion.learning.training import train
from companion.learning.windows import ConsecutiveWindows, split

NAME, VERSION = "text", 1  # increase when the program computes something else
NAMES = ("language", "kind", "seed", "learning_rate")
SEEDS, FIRST_SEED, FIRST_LANGUAGE = (0, 1, 2, 3, 4), 100, "en"
LEARNING_RATES = (0.003, 0.01, 0.02)
EXPERIMENTS, KINDS = ("all languages",), ("RNN", "GRU", "LSTM")
EPOCHS, BATCH_SIZE, WINDOW_SIZE = 8, 16, 32
EMBEDDING_DIM, HIDDEN_SIZE = 24, 64  # hidden_size of the LSTM; the others have as many parameters
float64 = {"dtype": torch.float64}


def texts(language):
    """Return the vocabulary of a language's text, and the training and held-out parts as indices."""
    text = load_text(language)
    vocabulary = Vocabulary(text)
    return vocabulary, *split(vocabulary.encode(text), held_out=0.1)


def run(settings, epochs=EPOCHS):
    """Train and measure one network, and return its settings and results.

    settings: the values of `NAMES`.
    """
    torch.set_num_threads(1)
    language, kind, seed, learning_rate = settings
    vocabulary, learned_from, held_out = texts(language)
    torch.manual_seed(seed)
    size, hidden_size = len(vocabulary), equal_size(kind, EMBEDDING_DIM, HIDDEN_SIZE)
    layer = companion.by_hand(getattr(companion, kind)(EMBEDDING_DIM, hidden_size, **float64))
    model = SequenceModel(companion.Embedding(size, EMBEDDING_DIM, **float64), layer, size)
    optimizer = torch.optim.Adam(model.parameters(), lr=learning_rate)
    batches = ConsecutiveWindows(learned_from, BATCH_SIZE, WINDOW_SIZE)
    unread = ConsecutiveWindows(held_out, batch_size=1, window_size=500)
    history = train(model, batches, optimizer, epochs, held_out=unread, progress=False)
    results = dict(zip(NAMES, settings, strict=True)) | {"chosen": seed in SEEDS, "hidden_size": hidden_size}
    results |= {"parameters": parameters(kind, EMBEDDING_DIM, hidden_size)}
    losses = [round(epoch.held_out, 4) for epoch in history]
    return results | {"held_out": losses, "best": min(losses), "loss": round(history[-1].loss, 4)}


def first_runs(_):
    """Yield the settings of the runs that choose learning rates."""
    for kind, rate in itertools.product(KINDS, LEARNING_RATES):
        yield FIRST_LANGUAGE, kind, FIRST_SEED, rate


def chosen_runs(_, first):
    """Yield the settings of the final runs, with the learning rates chosen by `first`."""
    for language, kind in itertools.product(shipped_texts(), KINDS):
        best = min(evidence.having(first, kind=kind), key=lambda run: run["best"])
        for seed in SEEDS:
            yield language, kind, seed, best["learning_rate"]


if __name__ == "__main__":
    main(sys.modules[__name__])
