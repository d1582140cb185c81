"""In which language is this name of a country? The runs on which the chapter on sequences rests: half an hour on one
core.

    python benchmarks/evidence_sequences.py           compute what is missing; it may be stopped and started again
    python benchmarks/evidence_sequences.py --again   compute all of it anew

The countries are dealt out to five folds. Each of five models of a kind learns from four folds, from a seed of its own,
and is asked the fifth. What is to be chosen, one of three settings (a learning rate, or for naive Bayes its alpha) and
how many epochs up to 12, is chosen for each fold without looking at it: by a model that learns from three of the others
and is asked the fourth. All networks have about as many parameters. Written is
companion/learning/evidence/sequences.json.
"""

import itertools
import sys

import torch
from evidence_runs import main
from torch import nn
from torch.utils.data import DataLoader

from companion.learning import evidence
from companion.learning.classifier import SequenceClassifier, answers, confusion, learn
from companion.learning.examples import ByLength, collate, hold_out, load_examples, pairs
from companion.learning.ngrams import BagClassifier, NGrams, naive_bayes
from companion.learning.text import Vocabulary

NAME, VERSION = "sequences", 1  # another version when something else is computed
NAMES = ("kind", "seed", "setting")
EXPERIMENTS = ("names",)
FOLDS, EPOCHS, BATCH_SIZE = 5, {"padded, 36 epochs": 36}, 64  # EPOCHS elsewhere 12
RATES = (0.003, 0.01, 0.03)
# kind → settings to choose from, hidden_size, and how the network is made; those without a network count pieces
KINDS = {
    "naive Bayes": ((0.01, 0.1, 1.0), None, {}),
    "logistic": ((0.003, 0.01, 0.03), None, {}),
    "padded": (RATES, 64, {"packed": False}),
    "padded, 36 epochs": (RATES, 64, {"packed": False}),
    "h_n": (RATES, 64, {}),
    "h_n, two directions": (RATES, 43, {}),
    "max": (RATES, 64, {"summary": "max"}),
}
float64 = {"dtype": torch.float64}


def network(kind, vocab_size, num_classes, seed):
    """A new network of this kind."""
    _, hidden_size, options = KINDS[kind]
    torch.manual_seed(seed)
    embedding = nn.Embedding(vocab_size, 16, **float64)
    layer = nn.LSTM(16, hidden_size, bidirectional=kind == "h_n, two directions", **float64)
    return SequenceClassifier(embedding, layer, num_classes, **options)


def loader(data, seed=None, pool=512):
    """Batches of a list of pairs: in a new order each epoch if there is a seed."""
    if seed is None:
        return DataLoader(data, batch_size=256, collate_fn=collate)
    return DataLoader(data, batch_sampler=ByLength(data, BATCH_SIZE, pool, seed), collate_fn=collate)


def data_of(fold, choosing):
    """The examples to learn from, and those to be asked."""
    learned_from, asked = hold_out(load_examples("countries"), fold, FOLDS)
    if choosing:  # without the fold that is held out: of the others, the next one is asked
        _, following = hold_out(load_examples("countries"), (fold + 1) % FOLDS, FOLDS)
        groups = {one.group for one in following}
        learned_from, asked = [one for one in learned_from if one.group not in groups], following
    return learned_from, asked


def run(settings, epochs=None):
    """One model, from new to measured: a dictionary of settings and results. settings: the values of `NAMES`.

    A seed from 100 on belongs to a model by which settings are chosen. Its accuracy is kept for each epoch.
    """
    torch.set_num_threads(1)
    kind, seed, setting = settings
    choosing, fold = seed >= 100, seed % 100
    learned_from, asked = data_of(fold, choosing)
    labels = sorted({one.label for one in learned_from})
    texts = [one.text for one in learned_from]
    reader = Vocabulary("".join(texts)) if KINDS[kind][1] else NGrams(texts)
    known, unknown = pairs(learned_from, reader.encode, labels), loader(pairs(asked, reader.encode, labels))
    found = dict(zip(NAMES, settings, strict=True)) | {"chosen": not choosing}
    if kind == "naive Bayes":
        model, epochs = naive_bayes(known, len(reader), len(labels), setting), 1
    else:
        if kind == "logistic":
            model = BagClassifier(len(reader), len(labels), **float64)
        else:
            model = network(kind, len(reader), len(labels), seed)
        epochs = epochs or (EPOCHS.get(kind, 12) if choosing else best_epoch(kind, fold, setting))
    # who reads padding learns from batches that are not sorted, as most people make them
    batches = loader(known, seed, pool=BATCH_SIZE if kind.startswith("padded") else 512)
    optimizer = torch.optim.Adam(model.parameters(), lr=setting)
    accuracies = []
    for epoch in range(epochs):
        if kind != "naive Bayes":
            learn(model, batches, optimizer, epochs=1)
        if choosing or epoch == epochs - 1:
            given, right = answers(model, unknown)
            accuracies.append(round((given == right).double().mean().item(), 5))
    found |= {"parameters": sum(p.numel() for p in model.parameters()), "epochs": epochs}
    if choosing:
        return found | {"accuracies": accuracies}
    is_own = unshared(asked)
    own = (given == right)[is_own].double().mean().item()
    return found | {
        "accuracy": accuracies[-1],
        "own": round(own, 5),
        "confusion": confusion(given, right, len(labels)).tolist(),
    }


def unshared(asked):
    """Of each example whether its text has one label only: bool (N)."""
    owners = {}
    for one in asked:
        owners.setdefault(one.text, set()).add(one.label)
    return torch.tensor([len(owners[one.text]) == 1 for one in asked])


def best_epoch(kind, fold, setting):
    """How many epochs did best where this was chosen."""
    (tried,) = evidence.load(NAME, kind=kind, seed=100 + fold, setting=setting)
    return tried["accuracies"].index(max(tried["accuracies"])) + 1


def first_runs(experiment):
    """The settings of the models by which settings are chosen."""
    for kind, (tried, _, _) in KINDS.items():
        for fold, setting in itertools.product(range(FOLDS), tried):
            yield kind, 100 + fold, setting


def chosen_runs(experiment, first):
    """The settings of the models that are asked what was held out: for each fold, those that did best in choosing."""
    for kind, fold in itertools.product(KINDS, range(FOLDS)):
        best = max(evidence.having(first, kind=kind, seed=100 + fold), key=lambda run: max(run["accuracies"]))
        yield kind, fold, best["setting"]


if __name__ == "__main__":
    main(sys.modules[__name__])
