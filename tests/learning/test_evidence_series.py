"""Test the stored runs of the chapters on series: they are complete, repeat, and look at no test part to choose."""

import importlib.util
import statistics
import sys

import pytest
import torch

from companion.learning import evidence, protocol
from tests.project.paths import ROOT


@pytest.fixture
def module(monkeypatch):
    """Import the program that computes the runs."""
    monkeypatch.syspath_prepend(ROOT / "benchmarks")
    spec = importlib.util.spec_from_file_location("evidence_series", ROOT / "benchmarks/evidence_series.py")
    program = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(program)
    return program


def test_runs_are_complete_with_the_best_learning_rates(module, monkeypatch):
    shared = sys.modules["evidence_protocol"]
    monkeypatch.setattr(shared, "multiprocessing", None)  # all runs are stored: compute nothing
    monkeypatch.setattr(evidence, "store", None)  # write nothing
    shared.main(module, [])  # raises if a run that the protocol chooses is missing
    for method in module.methods():
        runs = evidence.load("series", chosen=True, **dict(zip(module.METHOD, method, strict=True)))
        assert tuple(run["seed"] for run in runs) == module.seeds(method)
        assert {len(run["test"]) for run in runs} == {len(module.ORIGINS[method[0]])}
        assert max(run["epoch"][0] for run in runs) <= (module.TREES if "trees" in method else module.EPOCHS)
    sizes = {run["parameters"] for run in evidence.load("series", reads="lags", forecasts="value") if "units" in run}
    assert len(sizes) == 3 and max(sizes) / min(sizes) < 1.01


@pytest.mark.parametrize(
    ("experiment", "kind"), [("weather", "GRU"), ("weather", "trees"), ("tank", "RNN"), ("tank", "trees")]
)
def test_a_run_of_each_table_is_computed_again(module, experiment, kind):
    """Repeat the first run of the search for a learning rate, at one origin."""
    stored = evidence.load("series", experiment=experiment, kind=kind, reads="lags", seed=100)[0]
    again = module.run([*(stored[name] for name in module.METHOD), stored["seed"], stored["learning_rate"]])
    for measured in ("choose", "test"):
        assert again[measured] == pytest.approx(stored[measured], abs=0.02)
    assert again.get("parameters") == stored.get("parameters") and again.get("leaves") == stored.get("leaves")


@pytest.mark.parametrize("kind", ["LSTM", "trees"])
def test_nothing_is_chosen_by_the_test_part(module, monkeypatch, kind):
    """Compute a run with another test part: it chooses the same."""
    cuts = module.ORIGINS["weather"][0]
    weather = module.load_series("seattle", ["temp_max"])
    settings = ("weather", "lags", kind, "value", protocol.CHOOSING[0], 0.1)
    results = []
    for change in (0, 5):
        series = torch.cat([weather[: cuts[1]], weather[cuts[1] :] + change])
        monkeypatch.setattr(module, "load_series", lambda name, columns: series)
        module.trees.cache_clear()
        results.append(module.run(settings, epochs=3))
    assert results[0]["choose"] == results[1]["choose"] and results[0]["epoch"] == results[1]["epoch"]
    assert results[0]["test"] != results[1]["test"]


def means(**settings):
    """Return the mean error over the origins of each reported run, in order."""
    return sorted(statistics.mean(run["test"]) for run in evidence.load("series", chosen=True, **settings))
