"""Tests of stored evidence on names and cups: complete, chosen by the protocol, and partly recomputed."""

import statistics

import nbformat
import pytest

from companion.learning import evidence
from tests.project.paths import ROOT


def test_cups_are_reproducible(program):
    """Recompute an LSTM."""
    (stored,) = evidence.load("cups", kind="LSTM", seed=0)
    again = program("cups").run(("LSTM", 0, stored["learning_rate"]))
    assert again["right"] == stored["right"] and again["parameters"] == stored["parameters"]


def of_cups(kind):
    """Return the accuracies of each network by step, in a list."""
    return [run["right"] for run in evidence.load("cups", kind=kind, chosen=True)]


def test_what_the_page_says_of_cups(program):
    module = program("cups")
    kinds = {kind: of_cups(kind) for (kind,) in module.methods()}
    assert {*sum(kinds.pop("LSTM"), [])} == {1}
    for networks in kinds.values():
        assert all(min(right[:2]) == 1 and right[4] > 0.6 for right in networks)  # they follow for a few steps
        assert all(0.44 < right[step - 1] < 0.56 for right in networks for step in (20, 80))
        assert all(0.4 < share < 0.6 for right in networks for share in right[19:])  # they guess
    one, two = (statistics.mean(sum(right[:20]) / 20 for right in networks) for networks in kinds.values())
    assert 0 < two - one < 0.1  # two blocks follow a little longer
    assert module.BATCHES * 32 == 6400
    sizes = {run["kind"]: run["parameters"] for run in evidence.load("cups", chosen=True)}
    assert min(sizes, key=sizes.get) == "LSTM"
    assert {len(right) for right in kinds["transformer"]} == {module.LONGER}


def test_sequences_have_equal_sizes(program):
    """Check that networks and the most frequent pieces have about as many numbers, and epochs the planned number."""
    module = program("sequences")
    reported = evidence.load("sequences", chosen=True)
    for fold in range(module.FOLDS):
        sizes = [run["parameters"] for run in reported if run["fold"] == fold and module.COUNTING.get(run["kind"], 1)]
        assert len(sizes) == 6 and max(sizes) / min(sizes) < 1.02
    for run in reported:
        if not module.is_counted(run["kind"]):
            assert run["epochs"] == module.planned_epochs(run["kind"], run["fold"], run["learning_rate"])


def test_sequences_are_reproducible(program):
    """Recompute counts, and check that the countries for learning, choosing and reporting are not the same."""
    module = program("sequences")
    (stored,) = evidence.load("sequences", kind="naive Bayes, fewer", fold=2, chosen=True)
    again = module.run((stored["kind"], 2, 2, stored["learning_rate"]))
    assert again == {key: stored[key] for key in again}
    parts = [{example.group for example in part} for part in module.data_of(2, choosing=True)]
    parts.append({example.group for example in module.data_of(2, choosing=False)[1]})
    learned, chosen, reported = parts
    assert not (learned & chosen or learned & reported or chosen & reported)
    assert len(learned) == pytest.approx(3 * len(reported), abs=4)


def of_names(measured, kind):
    """Return a measurement of the reported model of each fold."""
    runs = evidence.load("sequences", kind=kind, chosen=True)
    return [run[measured] for run in sorted(runs, key=lambda run: run["fold"])]


def folds_ahead(kind, *others):
    """Return by how much the accuracy is ahead of the best of others, for each fold, in percentage points."""
    rivals = zip(*(of_names("accuracy", other) for other in others), strict=True)
    return [100 * (right - max(best)) for right, best in zip(of_names("accuracy", kind), rivals, strict=True)]


def test_what_the_page_says_of_names(program):
    module = program("sequences")
    ahead = {kind: folds_ahead(kind, *module.NETWORKS) for kind in module.COUNTING}
    for kind in ("naive Bayes", "logistic", "logistic, fewer"):
        assert min(ahead[kind]) > 0
    assert sum(lead < 1 for lead in ahead["logistic, fewer"]) == 3
    assert sum(lead > 0 for lead in ahead["naive Bayes, fewer"]) == 2
    means = {kind: 100 * statistics.mean(of_names("accuracy", kind)) for kind in (*module.COUNTING, *module.NETWORKS)}
    assert abs(means["naive Bayes, fewer"] - means["max"]) < 0.5
    networks = [size for kind in module.NETWORKS for size in of_names("parameters", kind)]
    for kind in ("naive Bayes", "logistic"):
        sizes = of_names("parameters", kind)
        assert 4.9 < min(sizes) / max(networks) < max(sizes) / min(networks) < 5.4
    assert max(of_names("counts", "naive Bayes")) < min(of_names("parameters", "naive Bayes")) / 2


def test_what_the_page_says_of_networks_that_read_names(program):
    module = program("sequences")
    others = [kind for kind in module.NETWORKS if kind != "max"]
    assert min(folds_ahead("max", *others)) > 0
    ahead = folds_ahead("h_n, two directions", "h_n")
    assert sum(lead > 0 for lead in ahead) == 4 and statistics.mean(ahead) < 1
    for kind in module.NETWORKS.keys() - {"padded"}:
        assert min(folds_ahead(kind, "padded")) > 0
        epochs = zip(of_names("epochs", "padded"), of_names("epochs", kind), strict=True)
        assert all(padded > other for padded, other in epochs)
    carried = {"padded": 2, "h_n": 2, "h_n, two directions": 4, "max": 3}  # vectors: h and c, and the maxima
    (cell,) = [cell for cell in nbformat.read(ROOT / "book/en/names.ipynb", 4).cells if cell.id == "evidence-table"]
    for kind, vectors in carried.items():
        assert f'"{kind}": {vectors * module.NETWORKS[kind][0]}' in cell.source
