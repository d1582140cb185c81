"""Tests of stored evidence: complete, chosen by the program's rule, and recomputed where that is cheap."""

import importlib.util
import json
import sys

import pytest
import torch

from companion.learning import evidence
from tests.project.paths import ROOT


def program(name):
    """Import a benchmark program by name."""
    spec = importlib.util.spec_from_file_location(name, ROOT / f"benchmarks/{name}.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture(autouse=True)
def programs(monkeypatch):
    """Make the modules that the programs share importable."""
    monkeypatch.syspath_prepend(ROOT / "benchmarks")  # where they find what they share


@pytest.fixture
def memory(programs):
    return program("evidence_memory")


def test_runs_are_stored_loaded_and_summarised(tmp_path, monkeypatch):
    monkeypatch.setattr(evidence, "FOLDER", tmp_path)
    runs = [{"kind": kind, "seed": seed, "right": seed + 1} for kind in ("RNN", "GRU") for seed in (0, 1, 5)]
    evidence.store("trial", 3, runs)
    assert evidence.load("trial") == runs and evidence.versions("trial")["program"] == 3
    assert evidence.load("trial", kind="GRU", seed=5) == runs[-1:] == evidence.having(runs[3:], seed=5)
    assert evidence.spread(runs, "right", "kind") == {("RNN",): (3, 1, 6, 3), ("GRU",): (3, 1, 6, 3)}
    assert evidence.spread(runs[:2], "right", "kind", "seed") == {("RNN", 0): (1, 1, 1, 1), ("RNN", 1): (2, 2, 2, 1)}
    with pytest.raises(
        FileNotFoundError, match="there is no evidence 'other', only trial: `python benchmarks/evidence_other.py`"
    ):
        evidence.load("other")


@pytest.mark.parametrize("path", sorted(evidence.FOLDER.glob("*.json")), ids=lambda path: path.stem)
def test_every_file_has_the_versions_that_computed_it(path):
    """Check that each file has the versions of its program and of torch, and no run twice."""
    stored = json.loads(path.read_text(encoding="utf-8"))
    assert stored["versions"].keys() == {"program", "torch"} and stored["runs"]
    assert stored["versions"]["program"] == program(f"evidence_{path.stem}").VERSION
    settings = [
        json.dumps(
            {key: run[key] for key in run if not isinstance(run[key], float) or key in ("learning_rate", "setting")}
        )
        for run in stored["runs"]
    ]
    assert len({*settings}) == len(settings)


@pytest.mark.parametrize("name", ["memory", "recurrences", "series", "sizes", "training"])
def test_runs_are_complete_with_the_best_learning_rates(name, monkeypatch):
    module = program(f"evidence_{name}")
    runs = sys.modules["evidence_runs"]
    monkeypatch.setattr(runs, "multiprocessing", None)  # all runs are stored: compute nothing
    monkeypatch.setattr(evidence, "store", None)  # write nothing
    runs.main(module, [])  # raises if a run that its rule chooses is missing
    settings = [name for name in module.NAMES if name not in ("seed", "learning_rate")]
    counts = evidence.spread(evidence.load(name, chosen=True), "seed", *settings)
    assert {spread.count for spread in counts.values()} == {5}
    if name == "sizes":
        return
    for experiment in {run.get("experiment") for run in evidence.load(name)}:
        sizes = {run["parameters"] for run in evidence.load(name) if run.get("experiment") == experiment}
        assert max(sizes) / min(sizes) < 1.04  # each within 2 % of the LSTM's


def test_memory_is_reproducible(memory):
    (stored,) = evidence.load("memory", chosen=True, experiment="recall", kind="RNN", start="torch", length=5, seed=0)
    settings = [stored[name] for name in memory.NAMES]
    assert memory.run(settings) == pytest.approx(stored, abs=2e-3)
    layer = memory.network(*settings[:-1]).recurrent
    assert sum(parameter.numel() for parameter in layer.parameters()) == stored["parameters"]


def test_every_learning_rate_has_five_seeds():
    """Check the experiments where no learning rate is chosen: brackets, adding, only long gaps."""
    shown = [run for run in evidence.load("memory", chosen=False) if not run["experiment"].startswith("recall")]
    counts = evidence.spread(shown, "seed", "experiment", "kind", "start", "learning_rate")
    assert len(counts) == 4 * (7 + 4 + 3) and {spread.count for spread in counts.values()} == {5}


def test_training_is_reproducible(programs):
    """Recompute one epoch."""
    (stored,) = evidence.load("training", experiment="few characters", seed=0)
    again = program("evidence_training").run(("few characters", 0), epochs=1)
    for part in ("learned_from", "held_out"):
        assert again[part] == pytest.approx(stored[part][:1], abs=2e-3)


def test_sizes_are_reproducible(programs):
    """Recompute one epoch of the smallest network, and compare the validation loss."""
    sizes = program("evidence_sizes")
    (stored,) = evidence.load("sizes", kind="LSTM", hidden_size=32, seed=0)
    again = sizes.run([stored[name] for name in sizes.NAMES], epochs=1)
    assert again["validation"] == pytest.approx(stored["validation"][:1], abs=5e-3)
    assert again["parameters"] == stored["parameters"]


def test_sequences_are_complete_with_the_best_settings(programs, monkeypatch):
    """Check that each kind and fold has one chosen model, with the settings that were best on the other folds."""
    module = program("evidence_sequences")
    runs = sys.modules["evidence_runs"]
    monkeypatch.setattr(runs, "multiprocessing", None)
    monkeypatch.setattr(evidence, "store", None)
    runs.main(module, [])
    asked = evidence.load("sequences", chosen=True)
    assert {spread.count for spread in evidence.spread(asked, "seed", "kind").values()} == {5}
    assert len(asked) == 5 * len(module.KINDS)
    for run in asked:
        assert run["epochs"] == (
            1 if run["kind"] == "naive Bayes" else module.best_epoch(run["kind"], run["seed"], run["setting"])
        )
    for fold in range(5):  # vocabularies differ from fold to fold
        sizes = [run["parameters"] for run in asked if run["seed"] == fold and module.KINDS[run["kind"]][1]]
        assert max(sizes) / min(sizes) < 1.02


def test_sequences_are_reproducible(programs):
    """Recompute the counts, and check that no tested or validation country was in the training data."""
    module = program("evidence_sequences")
    (stored,) = evidence.load("sequences", kind="naive Bayes", seed=2)
    assert module.run([stored[name] for name in module.NAMES]) == stored
    for choosing, share in ((False, 4), (True, 3)):
        learned_from, asked = ({example.group for example in part} for part in module.data_of(2, choosing))
        assert not learned_from & asked and len(learned_from) == pytest.approx(share * len(asked), abs=4)


def test_attention_is_complete_with_the_best_learning_rates(programs, monkeypatch):
    """Check that each kind has five seeds, and that compared models have one size."""
    module = program("evidence_attention")
    runs = sys.modules["evidence_runs"]
    monkeypatch.setattr(runs, "multiprocessing", None)
    monkeypatch.setattr(evidence, "store", None)
    runs.main(module, [])
    chosen = evidence.load("attention", chosen=True)
    assert {spread.count for spread in evidence.spread(chosen, "seed", "experiment", "kind").values()} == {5}
    for kinds in (("fixed 42", "dot product", "additive"), module.KINDS["joined"]):
        sizes = {run["parameters"] for run in chosen if run["kind"] in kinds and run["experiment"] != "text"}
        assert max(sizes) / min(sizes) < 1.03
    assert max(sizes := {run["parameters"] for run in evidence.having(chosen, experiment="text")}) / min(sizes) < 1.01


def test_attention_is_reproducible(programs):
    """Recompute one epoch of the text, by a transformer."""
    module = program("evidence_attention")
    (stored,) = evidence.load("attention", experiment="text", kind="transformer", seed=0, chosen=True)
    again = module.run([stored[name] for name in module.NAMES], epochs=1)
    assert again["held_out"] == pytest.approx(stored["held_out"][:1], abs=5e-3)
    assert again["parameters"] == stored["parameters"]


def test_series_are_reproducible(programs):
    """Recompute two epochs of a network, with the error on the second part after each."""
    module = program("evidence_series")
    (stored,) = evidence.load("series", experiment="tomorrow", kind="RNN", seed=0)
    again = module.run([stored[name] for name in module.NAMES], epochs=2)
    assert again["epochs"] == pytest.approx(stored["epochs"][:2], abs=2e-3)
    assert again["parameters"] == stored["parameters"] and len(stored["epochs"]) == module.EXPERIMENTS["tomorrow"][3]
    assert stored["second"] == min(stored["epochs"]) == stored["epochs"][stored["best_epoch"] - 1]


def test_recurrences_are_reproducible(programs):
    """Recompute a run of two cups, by an LSTM, and the number of parameters of a model of blocks."""
    module = program("evidence_recurrences")
    (stored,) = evidence.load("recurrences", experiment="two cups", kind="LSTM", seed=0, chosen=True)
    again = module.run([stored[name] for name in module.NAMES])
    assert again["accuracy"] == stored["accuracy"] == 1 and again["parameters"] == stored["parameters"]
    (stored,) = evidence.load("recurrences", experiment="text", kind="MinGRU, in blocks", seed=0, chosen=True)
    with torch.device("meta"):
        assert module.count(module.text_model(stored["kind"], 54)) == stored["parameters"]


def test_speed_is_complete(programs):
    """Check that every size and way that the program measures is stored, and that the LSTM is the reference."""
    module = program("evidence_speed")
    for what in ("time", "kept"):
        runs = evidence.load("speed", what=what)
        assert [tuple(run["size"]) for run in runs] == module.SIZES
        assert all(run.keys() == {"what", "size", *module.WAYS} and run["nn.LSTM"] == 1 for run in runs)
    assert [tuple(run["size"]) for run in evidence.load("speed", what="length")] == module.LONGER
