"""Tests of stored evidence: complete, chosen by the program's rule, and recomputed where that is cheap."""

import functools
import importlib
import json
import statistics

import pytest
import torch

from companion.learning import evidence, protocol
from companion.learning.counts import Counts, KneserNey
from companion.learning.numerals import Numerals, is_held_out
from companion.learning.text import Vocabulary, load_text
from companion.learning.training import perplexity
from companion.learning.windows import split

SETTINGS = "learning_rate", "setting", "dropout"  # floats


@pytest.fixture
def memory(program):
    return program("memory")


def test_runs_are_stored_loaded_and_summarised(tmp_path, monkeypatch):
    monkeypatch.setattr(evidence, "FOLDER", tmp_path)
    runs = [{"kind": kind, "seed": seed, "right": seed + 1} for kind in ("RNN", "GRU") for seed in (0, 1, 5)]
    evidence.store("trial", 3, runs)
    assert evidence.load("trial") == runs and evidence.versions("trial")["program"] == 3
    assert evidence.load("trial", kind="GRU", seed=5) == runs[-1:] == evidence.having(runs[3:], seed=5)
    assert evidence.spread(runs, "right", "kind") == {("RNN",): (3, 1, 6, 3), ("GRU",): (3, 1, 6, 3)}
    assert evidence.spread(runs[:2], "right", "kind", "seed") == {("RNN", 0): (1, 1, 1, 1), ("RNN", 1): (2, 2, 2, 1)}
    assert [evidence.percent(some, "right") for some in (runs[:3], runs[:1])] == ["300 100–600", "100"]
    with pytest.raises(
        FileNotFoundError, match="there is no evidence 'other', only trial: `python benchmarks/evidence_other.py`"
    ):
        evidence.load("other")


@pytest.mark.parametrize("path", sorted(evidence.FOLDER.glob("*.json")), ids=lambda path: path.stem)
def test_every_file_has_the_versions_that_computed_it(program, path):
    """Check that each file has the versions of its program and of torch, and no run twice."""
    stored = json.loads(path.read_text(encoding="utf-8"))
    assert stored["versions"].keys() == {"program", "torch"} and stored["runs"]
    assert stored["versions"]["program"] == program(path.stem).VERSION
    settings = [
        json.dumps({key: value for key, value in run.items() if not isinstance(value, float) or key in SETTINGS})
        for run in stored["runs"]
    ]
    assert len({*settings}) == len(settings)


@pytest.fixture
def nothing_to_compute(monkeypatch):
    """Raise an error where a program computes or writes a run."""
    monkeypatch.setattr(importlib.import_module("evidence_protocol"), "multiprocessing", None)
    monkeypatch.setattr(evidence, "store", None)


@pytest.mark.parametrize(
    "name",
    [
        "cups",
        "hybrid",
        "layers",
        "listening",
        "memory",
        "mixers",
        "numerals",
        "sequences",
        "series",
        "text",
        "training",
    ],
)
def test_searches_are_complete(program, nothing_to_compute, name):
    """Check that the stored runs are those that the protocol chooses, and that each best rate is inside its grid."""
    module = program(name)
    importlib.import_module("evidence_protocol").main(module, [])  # raises if a run is missing or one too many
    seeds = getattr(module, "seeds", lambda method: protocol.REPORTED)
    reported = evidence.load(name, chosen=True)
    assert [*evidence.spread(reported, "seed", *module.METHOD)] == [*module.methods()]
    for method in module.methods():
        settings = dict(zip(module.METHOD, method, strict=True))
        runs = evidence.having(reported, **settings)
        assert tuple(run["seed"] for run in runs) == seeds(method)
        (best,) = {run["learning_rate"] for run in runs}
        tried = {run["learning_rate"] for run in evidence.load(name, chosen=False, **settings)}
        assert min(tried) < best < max(tried)


@pytest.mark.parametrize("name", ["memory", "text", "training"])
def test_compared_networks_have_one_size(name):
    for experiment in {run["experiment"] for run in evidence.load(name)} - {"sizes"}:
        sizes = {run["parameters"] for run in evidence.load(name, experiment=experiment)}
        assert max(sizes) / min(sizes) < 1.04  # each within 2 % of the LSTM's


def test_memory_is_reproducible(memory):
    """Recompute a run that learns without mistakes."""
    (stored,) = evidence.load("memory", chosen=True, experiment="recall", kind="GRU", start="chrono", length=20, seed=0)
    settings = [stored[name] for name in (*memory.METHOD, "seed", "learning_rate")]
    again = memory.run(settings)
    assert again == pytest.approx({name: stored[name] for name in again}, abs=5e-3)


def test_an_orthogonal_weight_stays_orthogonal_and_counts_its_free_numbers(memory):
    """Train one step, and count the free numbers as the rank of the derivative of W_hh."""
    layer = memory.KeptOrthogonal(2, 4)
    layer(torch.randn(3, 5, 2))[0].square().sum().backward()
    torch.optim.SGD(layer.parameters(), lr=0.1).step()
    weight = layer.weight_hh_l0
    assert torch.allclose(weight @ weight.T, torch.eye(4), atol=1e-5)
    h, x = torch.zeros(5, 4), torch.randn(3, 5, 2)
    for x_t in x:
        h = torch.tanh(x_t @ layer.weight_ih_l0.T + layer.bias_ih_l0 + h @ weight.T + layer.bias_hh_l0)
    assert torch.allclose(layer(x)[0][-1], h, atol=1e-5)  # the step has changed the states
    original = layer.parametrizations.weight_hh_l0.original
    gradients = [torch.autograd.grad(number, original, retain_graph=True)[0].flatten() for number in weight.flatten()]
    others = sum(p.numel() for p in layer.parameters()) - original.numel()
    assert memory.free_parameters(2, 4) == others + int(torch.linalg.matrix_rank(torch.stack(gradients), atol=1e-4))


def of_memory(measured="accuracy", chosen=True, **settings):
    """Return the sorted results of networks, in percent."""
    return sorted(round(100 * run[measured]) for run in evidence.load("memory", chosen=chosen, **settings))


ALWAYS = [100] * 5


def test_what_the_page_says_of_recall():
    tested = functools.partial(of_memory, experiment="recall")
    for gap in (20, 40, 100):
        assert tested(kind="GRU", start="torch", length=gap) == ALWAYS
        for start in ("b_f = 3", "b_f = 5", "5 and -5", "chrono"):
            assert tested(kind="LSTM", start=start, length=gap) == ALWAYS
    assert tested(kind="LSTM", start="torch", length=20) == ALWAYS
    lowest, *others = tested(kind="LSTM", start="torch", length=40)
    assert lowest in (24, 25) and others == ALWAYS[1:]
    assert tested(kind="LSTM", start="torch", length=100)[-1] < 15  # they guess
    assert [result == 100 for result in tested(kind="RNN", start="torch", length=20)].count(False) == 3
    assert tested(kind="RNN", start="torch", length=40)[-1] in (24, 25)
    assert tested(kind="RNN", start="torch", length=100)[0] == 0
    assert tested(kind="LSTM", start="b_f = 1", length=40)[1:] == ALWAYS[1:]
    assert tested(kind="LSTM", start="b_f = 1", length=100)[-1] < 67
    assert tested(kind="RNN", start="identity", length=40) == ALWAYS
    assert tested(kind="RNN", start="orthogonal", length=100)[-1] < 15
    for rate in (0.01, 0.03):  # the GRU at rates of the LSTM
        at = {"chosen": False, "length": 100, "start": "torch", "learning_rate": rate}
        assert tested(kind="GRU", **at)[0] == 100 and tested(kind="LSTM", **at)[-1] < 50
    longer = functools.partial(of_memory, experiment="recall, four times as long")
    assert longer(kind="LSTM")[0] < 100 and longer(kind="LSTM")[1:] == ALWAYS[1:]
    assert longer(kind="GRU") == ALWAYS and longer(kind="RNN")[-1] < 50


def test_what_the_page_says_of_only_long_gaps():
    tested = functools.partial(of_memory, experiment="only long gaps")
    for start in ("torch", "b_f = 1"):  # they guess, at every rate
        assert max(tested(kind="LSTM", start=start) + tested(kind="LSTM", start=start, chosen=False)) < 16
    worst = lambda start, rate: tested(kind="LSTM", start=start, chosen=False, learning_rate=rate)[0]  # noqa: E731
    rates = (0.001, 0.003, 0.01, 0.03)
    assert [worst("b_f = 3", rate) == 100 for rate in rates] == [True, True, False, False]
    assert [worst("b_f = 5", rate) == 100 for rate in rates] == [True, True, True, False]
    assert [worst(start, 0.03) for start in ("5 and -5", "chrono")] == [100, 100]
    assert 80 < tested(kind="LSTM", start="b_f = 3")[0] < 100
    for start in ("b_f = 5", "5 and -5", "chrono"):
        assert tested(kind="LSTM", start=start) == ALWAYS
    assert max(tested(kind="RNN", start="orthogonal", chosen=False)) < 16
    gru = [tested(kind="GRU", start="torch", chosen=False, learning_rate=rate) for rate in (0.003, 0.01, 0.03, 0.1)]
    assert max(gru[0] + gru[1]) < 16 and min(gru[2] + gru[3]) == 100


def test_what_the_page_says_of_adding_and_brackets():
    adding = {
        (run["kind"], run["start"]): of_memory("error", experiment="adding", kind=run["kind"], start=run["start"])
        for run in evidence.load("memory", experiment="adding", chosen=True)
    }
    learned = {method: sum(error < 3 for error in errors) for method, errors in adding.items()}
    assert learned["GRU", "torch"] == learned["LSTM", "5 and -5"] == learned["LSTM", "chrono"] == 5
    assert learned["LSTM", "torch"] == 2 and learned["LSTM", "b_f = 3"] == 1
    assert learned["LSTM", "b_f = 1"] == learned["LSTM", "b_f = 5"] == 0
    assert learned["RNN", "torch"] == learned["RNN", "identity"] == 0
    right = {kind: of_memory(experiment="brackets", kind=kind, start="torch") for kind in ("RNN", "GRU", "LSTM")}
    assert right["LSTM"][0] >= 97.5 <= right["LSTM"][-1] <= 99  # as if they remembered six to seven
    assert all(95 <= result <= 97 for kind in ("RNN", "GRU") for result in right[kind])  # five: 95.4 %


@pytest.mark.parametrize(
    "experiment, optimizer, seed",
    [
        ("one epoch", "descent", 0),
        ("one epoch", "momentum", 100),
        ("ten epochs", "Adam", 1),
        ("few characters", "Adam", 0),
    ],
)
def test_training_is_reproducible(program, experiment, optimizer, seed):
    """Recompute one epoch of a run of the search, and of reported runs."""
    stored, *_ = evidence.load("training", experiment=experiment, optimizer=optimizer, seed=seed)
    again = program("training").run((experiment, optimizer, seed, stored["learning_rate"]), epochs=1)
    parts = {"learned_from", "validation", "test"} & stored.keys()
    assert {"parameters", *parts} == again.keys() and again["parameters"] == stored["parameters"]
    for part in parts:
        assert again[part] == pytest.approx(stored[part][:1], abs=2e-3)


def test_training_keeps_its_three_parts_apart(program):
    """Check that the parts make up the text, and that networks of the search are not measured on the test part."""
    vocabulary, *parts = program("training").parts()
    assert "".join(map(vocabulary.decode, parts)) == load_text("en")
    assert [round(len(part) / len(load_text("en")), 2) for part in parts] == [0.8, 0.1, 0.1]
    assert not any("test" in run for run in evidence.load("training", chosen=False))
    assert all("test" in run for run in evidence.load("training", chosen=True))


def test_sentences_on_optimizers_hold():
    """Check step_sizes#adam-said and training#ten-epochs-said: ranges of test losses, and the costs of other rates."""
    ten = "ten epochs"
    final = {
        key: [run["test"][-1] for run in evidence.load("training", experiment=key[0], optimizer=key[1], chosen=True)]
        for key in [(e, o) for e in ("one epoch", ten) for o in ("descent", "momentum", "Adam")]
        + [("forty epochs", "Adam")]
    }
    for experiment in ("one epoch", ten):
        descent, momentum, adam = (final[experiment, name] for name in ("descent", "momentum", "Adam"))
        assert min(descent) > max(momentum) and max(adam) > min(momentum)
        assert statistics.mean(adam) < statistics.mean(momentum)
        assert statistics.mean(momentum) - statistics.mean(adam) < 0.2 * (
            statistics.mean(descent) - statistics.mean(momentum)
        )
    text, vocabulary = load_text("en"), Vocabulary(load_text("en"))
    learned_from, held_out = split(vocabulary.encode(text), held_out=0.1)
    order_2, order_3 = (Counts(learned_from, len(vocabulary), order).perplexity(held_out) for order in (2, 3))
    assert perplexity(max(final[ten, "Adam"])) < order_2 and order_3 < perplexity(min(final["forty epochs", "Adam"]))


@pytest.mark.parametrize("kind", ["LSTM", "MinGRU, in blocks", "transformer"])
def test_text_is_reproducible(program, kind):
    """Recompute one epoch."""
    module = program("text")
    (stored,) = evidence.load("text", experiment="kinds", kind=kind, seed=0)
    again = module.run([stored[name] for name in (*module.METHOD, "seed", "learning_rate")], epochs=1)
    assert again["epochs"] == pytest.approx(stored["epochs"][:1], abs=5e-3)
    assert [again[name] for name in ("parameters", "state")] == [stored[name] for name in ("parameters", "state")]
    assert len(stored["epochs"]) == module.EPOCHS


def test_text_has_three_parts(program):
    """Check that the parts make up the text, and that no network of the search is tested on the last."""
    signs, *parts = program("text").parts()
    vocabulary = Vocabulary(load_text("en"))
    assert "".join(map(vocabulary.decode, parts)) == load_text("en") and signs == len(vocabulary)
    assert [round(len(part) / len(load_text("en")), 2) for part in parts] == [0.8, 0.1, 0.1]
    assert all(("test" in run) == run["chosen"] for run in evidence.load("text"))


def of_text(experiment, **settings):
    """Return the perplexities of five networks on the last part of the text, lowest first."""
    runs = evidence.load("text", chosen=True, experiment=experiment, **settings)
    return sorted(perplexity(run["test"]) for run in runs)


@pytest.fixture(scope="module")
def tables():
    """Return the perplexity of Kneser-Ney counts by order: 4, and the best."""
    vocabulary = Vocabulary(load_text("en"))
    rest, test = split(vocabulary.encode(load_text("en")))
    learned, _ = split(rest, held_out=1 / 9)
    return {order: KneserNey(learned, len(vocabulary), order).perplexity(test) for order in (4, 8)}


def test_what_pages_say_of_kinds_of_networks_on_the_text(tables):
    kinds = {kind: of_text("kinds", kind=kind) for kind in ("GRU", "LSTM", "RNN", "transformer")}
    assert [f"{statistics.mean(five):.2f}" for five in kinds.values()] == ["3.55", "3.59", "3.77", "4.13"]
    assert kinds["LSTM"][0] < kinds["GRU"][-1] < kinds["RNN"][0] > kinds["LSTM"][-1]
    assert kinds["RNN"][-1] < kinds["transformer"][0]
    assert f"{tables[4]:.2f} {tables[8]:.2f}" == "3.56 3.31" and tables[8] < kinds["GRU"][0]


def test_what_the_page_says_of_todays_layers_on_the_text():
    single = {kind: of_text("kinds", kind=kind, num_layers=1) for kind in ("LSTM", "GRU", "RNN", "MinGRU", "MinLSTM")}
    gated = [value for kind in ("LSTM", "GRU", "RNN") for value in single[kind]]
    minimal = single["MinGRU"] + single["MinLSTM"]
    two_layers, transformer = of_text("kinds", kind="MinGRU", num_layers=2), of_text("kinds", kind="transformer")
    assert max(gated) < min(two_layers) and max(two_layers) < transformer[0] < transformer[-1] < min(minimal)
    blocks = [of_text("kinds", kind=f"{kind}, in blocks") for kind in ("LSTM", "MinGRU")]
    assert 0 < statistics.mean(blocks[1]) - statistics.mean(blocks[0]) < 0.1
    assert blocks[0][0] < single["LSTM"][0] < blocks[0][-1] > single["GRU"][-1]
    for kind in ("GLA", "MLSTM", "GatedDeltaNet, β to 2"):
        assert blocks[1][-1] < of_text("kinds", kind=f"{kind}, in blocks")[0]


def test_what_the_page_says_of_sizes(tables):
    def of(units, layers=1, dropout=0.0):
        return of_text("sizes", hidden_size=units, num_layers=layers, dropout=dropout)

    means = [statistics.mean(of(units)) for units in (32, 64, 128, 256)]
    gains = [before - after for before, after in zip(means, means[1:])]
    assert gains == sorted(gains, reverse=True) and min(gains) > 0
    assert f"{means[0]:.2f} {means[-1]:.2f}" == "4.25 3.27"
    assert min(of(64)) > tables[8] and 0 < means[2] - tables[8] < 0.05
    better = [value < tables[8] for value in (*of(256), *of(128, 2))]
    assert 0.5 < statistics.mean(better) < 1 and statistics.mean(of(256) + of(128, 2)) > tables[8] - 0.1
    assert max(of(128, 2)) < statistics.mean(of(128)) and min(of(128, 2)) < max(of(256)) > min(of(256, 1, 0.5))
    assert statistics.mean(of(64, 2)) < means[1] < min(of(64, 3)) and max(of(128, 2)) < min(of(128, 2, 0.5))
    rates = {run["learning_rate"] for run in evidence.load("text", chosen=True, kind="LSTM", num_layers=1, dropout=0.0)}
    assert rates == {0.1, 0.3}  # 0.3 with 32 units


def test_numerals_have_equal_sizes(program):
    sizes = {run["kind"]: run["parameters"] for run in evidence.load("numerals")}
    for kinds in (("fixed 42", "dot product", "additive"), program("numerals").KINDS["joined"]):
        compared = [sizes[kind] for kind in kinds]
        assert max(compared) / min(compared) < 1.03


def test_numerals_that_choose_are_not_reported(program):
    module, task = program("numerals"), Numerals("en")
    for length in (4, 9, 12):
        chosen, reported = (module.held_out(task, length, part) for part in (0, 1))
        assert len(chosen) == len(reported) == module.ASKED and not {*chosen} & {*reported}
        assert all(map(is_held_out, chosen + reported))


def test_numerals_are_reproducible(program):
    """Recompute the first two of the epochs of the smallest network."""
    (stored,) = evidence.load("numerals", kind="fixed 16", seed=protocol.REPORTED[0], chosen=True)
    again = program("numerals").run(("words", "fixed 16", 0, stored["learning_rate"]), epochs=2)
    assert again["learned"] == pytest.approx(stored["learned"], abs=0.02)
    assert again["parameters"] == stored["parameters"]


def right(kind, digits):
    """Return the shares of numbers that five networks write without a mistake, lowest first."""
    return sorted(run["right"][digits - 4] for run in evidence.load("numerals", chosen=True, kind=kind))


def test_what_pages_say_of_numerals():
    attention, (small, large) = ("dot product", "additive"), ("fixed 42", "fixed 128")
    assert {share for kind in attention for digits in range(4, 10) for share in right(kind, digits)} == {1}
    means = [statistics.mean(right(small, digits)) for digits in range(5, 10)]
    assert means == sorted(means, reverse=True) and right(small, 9)[-1] < right(large, 9)[0] < 1
    sizes = {run["kind"]: run["parameters"] for run in evidence.load("numerals")}
    assert 6 < sizes[large] / sizes["dot product"] < 7
    ten = {kind: right(kind, 10) for kind in (small, large, *attention)}
    together = sorted(share for shares in ten.values() for share in shares)
    assert statistics.median(together) < 0.1 and together[-2] > 0.29 and together[-2:] == ten["dot product"][-2:]
    assert [share > 0 for kind in attention for share in ten[kind]].count(False) == 5
    joined = {kind: right(kind, 9) for kind in ("LSTM", "LSTM, twice the steps", "transformer")}
    lstm, twice, transformer = joined.values()
    assert lstm[-1] < twice[0] < transformer[0] < twice[-1] and statistics.mean(twice) < statistics.mean(transformer)
    steps = {kind: [run["per_step"] for run in evidence.load("numerals", chosen=True, kind=kind)] for kind in joined}
    assert 2 < statistics.median(steps["transformer"]) / statistics.median(steps["LSTM"]) < 2.5


def test_speed_is_complete(program):
    """Check that every size and way that the program measures is stored, and that the LSTM is the reference."""
    module = program("speed")
    for what in ("time", "kept"):
        runs = evidence.load("speed", what=what)
        assert [tuple(run["size"]) for run in runs] == module.SIZES
        assert all(run.keys() == {"what", "size", *module.WAYS} and run["nn.LSTM"] == 1 for run in runs)
    assert [tuple(run["size"]) for run in evidence.load("speed", what="length")] == module.LONGER


def test_what_a_page_says_of_speed():
    first, *others = evidence.load("speed", what="time")
    gains = [run["loop"] / run[way] for run in others for way in ("tree", "scan")]
    assert (round(min(gains), 1), round(max(gains), 1)) == (1.5, 7.6)
    assert all(1 < first["loop"] / first[way] < 1.1 for way in ("tree", "scan"))
    faster = [run["chunks"] < run["loop"] for run in (first, *others)]
    assert faster == [False, False, True, False]
    assert others[1]["loop"] > 1 and others[2]["scan"] < min(others[0]["scan"], others[1]["scan"])
    for run in evidence.load("speed", what="kept"):
        assert 0.3 < run["scan"] < 0.34 and abs(run["scan"] - run["loop"]) < 0.002
    short, *_, long = evidence.load("speed", what="length")
    length = long["size"][0] / short["size"][0]
    assert long["seconds"] / short["seconds"] <= length and abs(long["kept"] / short["kept"] / length - 1) < 0.01
