"""Evidence for the chapter on names: in which language is the name of a country; half an hour on one core.

    python benchmarks/evidence_sequences.py           compute missing runs; an interrupted call can be repeated
    python benchmarks/evidence_sequences.py --again   recompute all runs

The countries are divided into five folds; a method is a kind of model and the fold that is reported. Three models with
each learning rate (for naive Bayes: each alpha) learn from three of the other folds and are evaluated on the fourth
after every epoch, until `PATIENCE` epochs in a row are no better. Their best accuracies choose the rate. The mean of
their best epochs is the number of epochs of the model that is reported, which learns from all four other folds.
Networks have about as many parameters as each other and as the counts of the most frequent pieces. Output:
companion/learning/evidence/sequences.json.
"""

import functools
import itertools
import statistics
import sys
from collections import Counter

import torch
from evidence_protocol import count, main
from torch import nn
from torch.utils.data import DataLoader

from companion.learning import evidence, protocol
from companion.learning.classifier import SequenceClassifier, answers, confusion, learn
from companion.learning.examples import ByLength, collate, hold_out, load_examples, pairs
from companion.learning.ngrams import BagClassifier, NGrams, naive_bayes, ngrams
from companion.learning.text import Vocabulary

NAME, VERSION = "sequences", 2  # increase when the program computes something else
METHOD = ("kind", "fold")
FOLDS, EPOCHS, PATIENCE, BATCH_SIZE = 5, 40, 5, 64
FEWER = 1561  # the most frequent pieces: about as many numbers as the networks have
# kinds that count pieces, with the number of pieces, None for all
COUNTING = {"naive Bayes": None, "logistic": None, "naive Bayes, fewer": FEWER, "logistic, fewer": FEWER}
# networks, with hidden_size and arguments
NETWORKS = {
    "padded": (64, {"packed": False}),
    "h_n": (64, {}),
    "h_n, two directions": (43, {}),
    "max": (64, {"summary": "max"}),
}


def methods():
    """Return the settings of every method."""
    return [*itertools.product([*COUNTING, *NETWORKS], range(FOLDS))]


def start(method):
    """Return the learning rates with which the search begins; for naive Bayes, values of alpha."""
    if is_counted(method[0]):
        return 0.03, 0.1, 0.3
    return (0.003, 0.01) if method[0] in COUNTING else (0.01, 0.03)


def seeds(method):
    """Return the seed of the model that is reported: each fold has another one."""
    return (method[1],)


def rank(run):
    """Return the numbers that choose a learning rate: wrong answers in percent after the best epoch, and this epoch."""
    return 100 - 100 * max(run["accuracies"]), best_epoch(run)


def is_counted(kind):
    """Return True for naive Bayes, which learns without epochs."""
    return kind.startswith("naive Bayes")


def best_epoch(run):
    """Return the number of epochs after which a model of the search was best."""
    return run["accuracies"].index(max(run["accuracies"])) + 1


def planned_epochs(kind, fold, rate):
    """Return the number of epochs of a reported model: the mean of the best epochs of the three of the search."""
    tried = evidence.load(NAME, kind=kind, fold=fold, learning_rate=rate, chosen=False)
    return round(statistics.mean(map(best_epoch, tried)))


def reader_of(kind, texts):
    """Return what makes indices from a text: letters for a network, pieces for a model that counts."""
    if kind in NETWORKS:
        return Vocabulary("".join(texts))
    pieces = NGrams(texts)
    if COUNTING[kind]:
        counts = Counter(piece for text in texts for piece in ngrams(text))
        frequent = sorted(counts, key=lambda piece: (-counts[piece], piece))[: COUNTING[kind]]
        pieces.indices = {piece: index for index, piece in enumerate(sorted(frequent), start=1)}
    return pieces


def new_model(kind, num_inputs, num_classes, seed):
    """Return a new model that learns by gradients."""
    torch.manual_seed(seed)
    if kind in COUNTING:
        return BagClassifier(num_inputs, num_classes)
    hidden_size, options = NETWORKS[kind]
    layer = nn.LSTM(16, hidden_size, bidirectional=kind == "h_n, two directions")
    return SequenceClassifier(nn.Embedding(num_inputs, 16), layer, num_classes, **options)


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


@functools.lru_cache(maxsize=1)
def prepared(kind, fold, choosing):
    """Return what a model gets: the number of indices, the labels, and encoded pairs for training and evaluation."""
    learned_from, evaluated = data_of(fold, choosing)
    labels = sorted({example.label for example in learned_from})
    reader = reader_of(kind, [example.text for example in learned_from])
    return (len(reader), labels, *(pairs(part, reader.encode, labels) for part in (learned_from, evaluated)))


def run(settings):
    """Train and measure one model, and return the measurements."""
    kind, fold, seed, rate = settings
    choosing = seed in protocol.CHOOSING
    num_inputs, labels, training_pairs, evaluation_pairs = prepared(kind, fold, choosing)
    evaluation_batches = loader(evaluation_pairs)
    if is_counted(kind):
        model, epochs = naive_bayes(training_pairs, num_inputs, len(labels), rate), 1
    else:
        model = new_model(kind, num_inputs, len(labels), seed)
        epochs = EPOCHS if choosing else planned_epochs(kind, fold, rate)
    # a network that reads padding gets unsorted batches, as most people make them
    batches = loader(training_pairs, seed, pool=BATCH_SIZE if kind == "padded" else 512)
    optimizer = torch.optim.Adam(model.parameters(), lr=rate)
    accuracies = []
    for epoch in range(epochs):
        if not is_counted(kind):
            learn(model, batches, optimizer, epochs=1)
        if choosing or epoch == epochs - 1:
            predicted, right = answers(model, evaluation_batches)
            accuracies.append(round((predicted == right).double().mean().item(), 5))
        if choosing and epoch - accuracies.index(max(accuracies)) == PATIENCE:
            break
    unused = len(labels) if kind in COUNTING else 0  # row 0 of the table, which stays zero
    results = {"parameters": count(model) - unused}
    if choosing:
        return results | {"accuracies": accuracies}
    if is_counted(kind):
        seen = {(int(index), label) for indices, label in training_pairs for index in indices if index}
        results["counts"] = len(seen)
    is_own = unshared(data_of(fold, choosing)[1])
    return results | {
        "epochs": epochs,
        "accuracy": accuracies[-1],
        "own": round((predicted == right)[is_own].double().mean().item(), 5),
        "confusion": confusion(predicted, right, len(labels)).tolist(),
    }


def unshared(examples):
    """Return bool (N), True for each example whose text has only one label."""
    owners = {}
    for example in examples:
        owners.setdefault(example.text, set()).add(example.label)
    return torch.tensor([len(owners[example.text]) == 1 for example in examples])


if __name__ == "__main__":
    main(sys.modules[__name__])
