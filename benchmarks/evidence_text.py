"""Which layer guesses a text best? The runs on which the chapter on language models rests: half an hour on one core.

    python benchmarks/evidence_text.py           compute what is missing; it may be stopped and started again
    python benchmarks/evidence_text.py --again   compute all of it anew

RNN, GRU and LSTM learn the text of each language, with equally many parameters in the recurrent layer, within 2 %. For
each kind the learning rate is chosen first, by the loss on what is held out of the English text, on a seed of its own.
Then five other seeds learn each text with it. Written is companion/learning/evidence/text.json, with the loss on what
is held out after each epoch.
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

NAME, VERSION = "text", 1  # another version when something else is computed
NAMES = ("language", "kind", "seed", "learning_rate")
SEEDS, FIRST_SEED, FIRST_LANGUAGE = (0, 1, 2, 3, 4), 100, "en"
LEARNING_RATES = (0.003, 0.01, 0.02)
EXPERIMENTS, KINDS = ("all languages",), ("RNN", "GRU", "LSTM")
EPOCHS, BATCH_SIZE, WINDOW_SIZE = 8, 16, 32
EMBEDDING_DIM, HIDDEN_SIZE = 24, 64  # hidden_size of the LSTM; the others have as many parameters
float64 = {"dtype": torch.float64}


def texts(language):
    """The vocabulary of a language's text, what is learned from and what is held out, as indices."""
    text = load_text(language)
    vocabulary = Vocabulary(text)
    return vocabulary, *split(vocabulary.encode(text), held_out=0.1)


def run(settings, epochs=EPOCHS):
    """One network, from new to measured: a dictionary of settings and results. settings: the values of `NAMES`."""
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
    found = dict(zip(NAMES, settings, strict=True)) | {"chosen": seed in SEEDS, "hidden_size": hidden_size}
    found |= {"parameters": parameters(kind, EMBEDDING_DIM, hidden_size)}
    losses = [round(epoch.held_out, 4) for epoch in history]
    return found | {"held_out": losses, "best": min(losses), "loss": round(history[-1].loss, 4)}


def first_runs(_):
    """The settings of the runs by which learning rates are chosen."""
    for kind, rate in itertools.product(KINDS, LEARNING_RATES):
        yield FIRST_LANGUAGE, kind, FIRST_SEED, rate


def chosen_runs(_, first):
    """The settings of the runs that count, with the learning rates that the first have chosen."""
    for language, kind in itertools.product(shipped_texts(), KINDS):
        best = min(evidence.having(first, kind=kind), key=lambda one: one["best"])
        for seed in SEEDS:
            yield language, kind, seed, best["learning_rate"]


if __name__ == "__main__":
    main(sys.modules[__name__])
