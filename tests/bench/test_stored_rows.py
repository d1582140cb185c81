"""Test the program that computes the rows of the companion's layers, and the rows that are stored."""

import sys

import pytest

from companion.bench import measure
from companion.learning import evidence
from tests.project.paths import ROOT

STORED = (evidence.FOLDER / "bench.json").is_file()


@pytest.fixture
def program(monkeypatch):
    monkeypatch.syspath_prepend(ROOT / "benchmarks")
    import evidence_bench

    return evidence_bench


def test_every_kind_is_measured_or_left_out_with_a_reason(program):
    methods = [*program.methods()]
    assert len({*methods}) == len(methods)
    for kind in program.KINDS:
        assert {part for part, of in methods if of == kind} >= {*measure.PARTS}
        sizes = [numbers for numbers in program.STATES if (f"recall {numbers}", kind) in methods]
        assert sizes == [numbers for numbers in program.STATES if program.reason(kind, numbers) is None]
    assert program.reason("LSTM", 4096) == "17 million weights between units"


def test_heads_and_upper_bounds_are_those_of_their_names(program):
    for kind, (usual, for_recall) in program.KINDS.items():
        layers = [make(16, 8) for make in (usual, for_recall)]
        if hasattr(layers[0], "num_heads"):
            assert [layer.num_heads for layer in layers] == [2, 1]
            assert getattr(layers[0], "most", 1) == (2 if kind.endswith("β to 2") else 1)
        assert type(layers[0]).__name__ == kind.partition(",")[0]


@pytest.mark.skipif(not STORED, reason="benchmarks/evidence_bench.py has not run")
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
