"""Test the program that computes the rows of the companion's layers, and the rows that are stored."""

import statistics
import sys

import pytest

from companion.bench import measure
from companion.learning import evidence
from tests.project.paths import ROOT


@pytest.fixture
def program(monkeypatch):
    monkeypatch.syspath_prepend(ROOT / "benchmarks")
    import evidence_bench

    return evidence_bench


def test_every_kind_is_measured_or_left_out_with_a_reason(program):
    methods = [*program.methods()]
    assert len({*methods}) == len(methods)
    for kind in program.KINDS:
        parts = [*measure.PARTS, *(f"recall {numbers}" for numbers in program.STATES)]
        assert {part for part, of in methods if of == kind} == {p for p in parts if program.reason(kind, p) is None}
    assert program.reason("LSTM", "recall 1024") == "1 million weights between units"
    assert program.reason("DeltaNet", "text") == "DeltaNet has rows of recall only"


def test_heads_and_upper_bounds_are_those_of_their_names(program):
    for kind, (usual, for_recall) in program.KINDS.items():
        layers = [make(16, 8) for make in (usual, for_recall)]
        if hasattr(layers[0], "num_heads"):
            assert [layer.num_heads for layer in layers] == [2, 1]
            assert getattr(layers[0], "most", 1) == (2 if kind.endswith("β to 2") else 1)
        assert type(layers[0]).__name__ == kind.partition(",")[0]


def test_stored_rows_are_complete_and_reproducible(program, monkeypatch):
    protocol_of = sys.modules["evidence_protocol"]
    monkeypatch.setattr(protocol_of, "multiprocessing", None)  # all runs are stored: compute nothing
    monkeypatch.setattr(evidence, "store", None)
    protocol_of.main(program, [])
    counts = evidence.spread(evidence.load("bench", chosen=True), "seed", "part", "kind")
    assert [*counts] == [*program.methods()] and {spread.count for spread in counts.values()} == {5}
    (stored,) = evidence.load("bench", chosen=True, part="cups", kind="GRU", seed=0)
    again = program.run([stored[name] for name in (*program.METHOD, "seed", "learning_rate")])
    assert {name: stored[name] for name in again} == pytest.approx(again, abs=2e-3)


def test_what_the_page_says_of_recall():
    def right(kind, *sizes):
        runs = [run for size in sizes for run in evidence.load("bench", kind=kind, part=f"recall {size}", chosen=True)]
        return sorted(1 - run["test"] for run in runs)

    def mean(kind, size):
        return statistics.mean(right(kind, size))

    for kind in ("LinearAttention", "GatedLinearAttention", "DeltaNet"):
        assert 0.4 < mean(kind, 16) < 0.46 and 0.9 < mean(kind, 64) < 0.93 and mean(kind, 256) > 0.995
        assert all(
            mean(between, size) < mean(kind, size) for between in ("SelectiveSSM", "MLSTM") for size in (64, 256)
        )
    vectors = right("LSTM", 64, 256) + right("GRU", 64, 256) + right("MinGRU", 64, 256, 1024)
    assert round(min(vectors), 2) >= 0.13 and round(max(vectors), 2) == 0.27
    for size in (64, 256):
        assert min(mean(kind, size) for kind in ("SelectiveSSM", "MLSTM")) > 0.5
        kinds = {run["kind"] for run in evidence.load("bench", part=f"recall {size}")}
        spreads = {kind: right(kind, size)[-1] - right(kind, size)[0] for kind in kinds}
        assert max(spreads, key=spreads.get) == "GatedDeltaNet, β to 2"
    assert right("GatedDeltaNet, β to 2", 64)[0] < 0.14 and round(right("GatedDeltaNet, β to 2", 256)[-1], 2) == 0.98
