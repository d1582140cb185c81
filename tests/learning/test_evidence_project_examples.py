"""Test the runs behind the example reports about projects: chosen by the protocol, repeated, and leaking as said."""

import pytest
import torch

from companion.learning import evidence, protocol


@pytest.fixture
def module(program):
    return program("project_examples")


def test_each_rate_is_inside_its_grid(module):
    for report, kind in module.SEARCHED:
        runs = evidence.load("project_examples", report=report, method=kind, way="fair")
        (best,) = {run["learning_rate"] for run in runs if run["chosen"]}
        tried = {}
        for run in evidence.having(runs, chosen=False):
            tried.setdefault(run["learning_rate"], []).append(run)
        assert {len(some) for some in tried.values()} == {len(protocol.CHOOSING)}
        assert best == protocol.best_rate(protocol.means(tried, module.first_choice))
        assert min(tried) < best < max(tried)


@pytest.mark.parametrize(
    ("report", "settings"),
    [
        ("wind", {"method": "LSTM", "seed": protocol.CHOOSING[0]}),
        ("tank", {"method": "GRU", "way": "as reported"}),
        ("price", {"method": "last value", "way": "random split"}),
        ("price", {"method": "last value", "way": "split by time"}),
    ],
)
def test_a_run_is_computed_again(module, report, settings):
    stored = evidence.load("project_examples", report=report, **settings)[0]
    if stored["method"] == "last value":
        again = module.price(stored["way"], None)
    else:
        again = module.run([stored[name] for name in ("report", "method", "way", "seed", "learning_rate")])
    for name, value in again.items():
        assert value == pytest.approx(stored[name], abs=2e-3), name


def test_simple_forecasts_are_computed_again(module):
    simple = [*module.simple_wind(), *module.simple_tank()]
    for again in simple:
        (stored,) = evidence.load("project_examples", report=again["report"], method=again["method"])
        assert {name: pytest.approx(value, abs=1e-4) for name, value in again.items()} == stored


def test_a_network_on_the_random_split_is_ahead_of_one_split_by_time(module, monkeypatch):
    """Train for a few epochs: the leak shows, because the walk cannot be forecast."""
    monkeypatch.setitem(module.EPOCHS, "price", 12)
    leaky, honest = (module.price(way, 0) for way in ("random split", "split by time"))
    assert leaky["r2"] > 0.8 and honest["r2"] < leaky["r2"] - 0.5


def test_no_target_is_in_two_parts_and_no_part_reads_ahead(module):
    """Cut up numbered steps: the targets of the parts follow one another, at the right distance after a window."""
    steps = torch.arange(100.0)[:, None]
    cuts = (60, 80, 100)
    for ahead in (1, 10):
        data = module.parts(steps, cuts, 20, ahead)
        targets = torch.cat([part[1][:, 0] for part in data]).long()
        assert targets.tolist() == list(range(20 + ahead - 1, 100))
        assert [int(part[1].max()) + 1 for part in data] == list(cuts)
        for inputs, wanted in data:
            assert torch.equal(wanted, inputs[-1] + ahead)


def test_the_split_by_time_does_not_see_the_test_part(module, monkeypatch):
    """Change the end of the price: the parts for learning and choosing stay as they are; the random split moves."""
    price = module.random_walk()
    changed = price.clone()
    changed[module.PRICE_CUTS[1] :] += 50
    parts = {}
    for name, series in (("price", price), ("changed", changed)):
        monkeypatch.setattr(module, "random_walk", lambda series=series: series)
        for way in ("random split", "split by time"):
            parts[name, way] = module.price_data(way)[0]
    for number, is_equal in ((0, True), (1, True), (2, False)):
        before, after = (parts[name, "split by time"][number] for name in ("price", "changed"))
        assert torch.equal(before[0], after[0]) == is_equal
    assert not torch.equal(parts["price", "random split"][0][0], parts["changed", "random split"][0][0])
