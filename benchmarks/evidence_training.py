"""Evidence for two chapters, on training and on step sizes: two trainings from five seeds; half a minute on one core.

    python benchmarks/evidence_training.py           compute missing runs; an interrupted call can be repeated
    python benchmarks/evidence_training.py --again   recompute all runs

One chapter trains an RNN for ten epochs on the English text, the other a larger one for twenty on a tenth of it, which
it overfits. Here five networks do each, from five seeds, the first of which is the chapter's. Output:
companion/learning/evidence/training.json, with the losses after each epoch.
"""

import sys

import torch
from evidence_runs import main, parameters

import companion
from companion.learning.sequence_model import SequenceModel
from companion.learning.text import Vocabulary, load_text
from companion.learning.training import train
from companion.learning.windows import ConsecutiveWindows, split

NAME, VERSION = "training", 1  # increase when the program computes something else
NAMES = ("experiment", "seed")
# experiment → characters learned from, batch_size, hidden_size, learning rate, epochs
EXPERIMENTS = {"the whole text": (None, 32, 64, 0.01, 10), "few characters": (5000, 8, 128, 0.005, 20)}
EMBEDDING_DIM, WINDOW_SIZE = 16, 32
float64 = {"dtype": torch.float64}


def run(settings, epochs=None):
    """Train and measure one network, and return its settings and results.

    settings: the values of `NAMES`.
    """
    torch.set_num_threads(1)
    experiment, seed = settings
    length, batch_size, hidden_size, learning_rate, all_epochs = EXPERIMENTS[experiment]
    text = load_text("en")
    vocabulary = Vocabulary(text)
    learned_from, held_out = split(vocabulary.encode(text), held_out=0.1)
    torch.manual_seed(seed)
    embedding = companion.Embedding(len(vocabulary), EMBEDDING_DIM, **float64)
    layer = companion.by_hand(companion.RNN(EMBEDDING_DIM, hidden_size, **float64))
    model = SequenceModel(embedding, layer, len(vocabulary))
    optimizer = torch.optim.Adam(model.parameters(), lr=learning_rate)
    batches = ConsecutiveWindows(learned_from[:length], batch_size, WINDOW_SIZE)
    unread = ConsecutiveWindows(held_out, batch_size=1, window_size=500)
    history = train(model, batches, optimizer, epochs or all_epochs, held_out=unread, progress=False)
    results = dict(zip(NAMES, settings, strict=True)) | {"chosen": True, "hidden_size": hidden_size}
    results |= {"parameters": parameters("RNN", EMBEDDING_DIM, hidden_size), "learning_rate": learning_rate}
    results["learned_from"] = [round(epoch.loss, 4) for epoch in history]
    return results | {"held_out": [round(epoch.held_out, 4) for epoch in history]}


def first_runs(_):
    return ()  # no learning rate is chosen


def chosen_runs(experiment, _):
    """Yield the settings of the runs."""
    for seed in range(5):
        yield experiment, seed


if __name__ == "__main__":
    main(sys.modules[__name__])
