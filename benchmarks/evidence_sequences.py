"""Evidence for the chapter on sequences: the language of country names; half an hour on one core.

    python benchmarks/evidence_sequences.py           compute missing runs; an interrupted call can be repeated
    python benchmarks/evidence_sequences.py --again   recompute all runs

The countries are dealt out to five folds. Each of five models of a kind is trained on four folds, from a seed of its
own, and tested on the fifth. One of three settings (a learning rate, or for naive Bayes its alpha) and the number of
epochs up to 12 are chosen for each fold without its data: by a model that is trained on three of the other folds and
evaluated on the fourth. All networks have about as many parameters. Output: companion/learning/evidence/sequences.json.
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

NAME, VERSION = "sequences", 1  # increase when the program computes something else
NAMES = ("kind", "seed", "setting")
EXPERIMENTS = ("names",)
FOLDS, EPOCHS, BATCH_SIZE = 5, {"padded, 36 epochs": 36}, 64  # EPOCHS elsewhere 12
RATES = (0.003, 0.01, 0.03)
# kind → settings to choose from, hidden_size, arguments of the network; kinds without a network count pieces
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
    """Return a new network of this kind."""
    _, hidden_size, options = KINDS[kind]
    torch.manual_seed(seed)
    embedding = nn.Embedding(vocab_size, 16, **float64)
    layer = nn.LSTM(16, hidden_size, bidirectional=kind == "h_n, two directions", **float64)
    return SequenceClassifier(embedding, layer, num_classes, **options)


def loader(data, seed=None, pool=512):
    """Return batches of a list of pairs, in a new order each epoch if there is a seed."""
    if seed is None:
        return DataLoader(data, batch_size=256, collate_fn=collate)
    return DataLoader(data, batch_sampler=ByLength(data, BATCH_SIZE, pool, seed), collate_fn=collate)


def data_of(fold, choosing):
    """Return the examples for training and for evaluation."""
    learned_from, evaluated = hold_out(load_examples("countries"), fold, FOLDS)
    if choosing:  # without the test fold: evaluate on the next one
        _, following = hold_out(load_examples("countries"), (fold + 1) % FOLDS, FOLDS)
        groups = {example.group for example in following}
        learned_from, evaluated = [example for example in learned_from if example.group not in groups], following
    return learned_from, evaluated


def run(settings, epochs=None):
    """Train and measure one model, and return its settings and results.

    settings: the values of `NAMES`. A seed from 100 on belongs to a model that chooses settings; its accuracy is stored
    for each epoch.
    """
    torch.set_num_threads(1)
    kind, seed, setting = settings
    choosing, fold = seed >= 100, seed % 100
    learned_from, evaluated = data_of(fold, choosing)
    labels = sorted({example.label for example in learned_from})
    texts = [example.text for example in learned_from]
    reader = Vocabulary("".join(texts)) if KINDS[kind][1] else NGrams(texts)
    training_pairs, evaluation_batches = (
        pairs(learned_from, reader.encode, labels),
        loader(pairs(evaluated, reader.encode, labels)),
    )
    results = dict(zip(NAMES, settings, strict=True)) | {"chosen": not choosing}
    if kind == "naive Bayes":
        model, epochs = naive_bayes(training_pairs, len(reader), len(labels), setting), 1
    else:
        if kind == "logistic":
            model = BagClassifier(len(reader), len(labels), **float64)
        else:
            model = network(kind, len(reader), len(labels), seed)
        epochs = epochs or (EPOCHS.get(kind, 12) if choosing else best_epoch(kind, fold, setting))
    # networks that read padding get unsorted batches, as most people make them
    batches = loader(training_pairs, seed, pool=BATCH_SIZE if kind.startswith("padded") else 512)
    optimizer = torch.optim.Adam(model.parameters(), lr=setting)
    accuracies = []
    for epoch in range(epochs):
        if kind != "naive Bayes":
            learn(model, batches, optimizer, epochs=1)
        if choosing or epoch == epochs - 1:
            predicted, right = answers(model, evaluation_batches)
            accuracies.append(round((predicted == right).double().mean().item(), 5))
    results |= {"parameters": sum(p.numel() for p in model.parameters()), "epochs": epochs}
    if choosing:
        return results | {"accuracies": accuracies}
    is_own = unshared(evaluated)
    own = (predicted == right)[is_own].double().mean().item()
    return results | {
        "accuracy": accuracies[-1],
        "own": round(own, 5),
        "confusion": confusion(predicted, right, len(labels)).tolist(),
    }


def unshared(examples):
    """Return bool (N), True for each example whose text has only one label."""
    owners = {}
    for example in examples:
        owners.setdefault(example.text, set()).add(example.label)
    return torch.tensor([len(owners[example.text]) == 1 for example in examples])


def best_epoch(kind, fold, setting):
    """Return the number of epochs that was best in the run that chose settings."""
    (tried,) = evidence.load(NAME, kind=kind, seed=100 + fold, setting=setting)
    return tried["accuracies"].index(max(tried["accuracies"])) + 1


def first_runs(experiment):
    """Yield the settings of the models that choose settings."""
    for kind, (tried, _, _) in KINDS.items():
        for fold, setting in itertools.product(range(FOLDS), tried):
            yield kind, 100 + fold, setting


def chosen_runs(experiment, first):
    """Yield the settings of the models that are tested: for each fold, the best of `first`."""
    for kind, fold in itertools.product(KINDS, range(FOLDS)):
        best = max(evidence.having(first, kind=kind, seed=100 + fold), key=lambda run: max(run["accuracies"]))
        yield kind, fold, best["setting"]


if __name__ == "__main__":
    main(sys.modules[__name__])
