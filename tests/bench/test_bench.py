"""Test the bench: what it loads, what its check finds, how it sizes layers, and the whole command."""

import json
import subprocess
import sys
from pathlib import Path

import pytest
import torch
from torch import nn

import companion
from companion.bench import measure, table
from companion.bench.__main__ import main, parts_of
from companion.bench.check import check
from companion.bench.load import Refused, Wrapped, count, load, size_of
from companion.learning import evidence
from tests.bench import layers
from tests.bench.layers import changed
from tests.project.paths import ROOT

FILE = Path(layers.__file__)


def test_layers_are_loaded_by_file_or_module(tmp_path, monkeypatch):
    monkeypatch.setattr(sys, "path", [*sys.path])
    (tmp_path / "neighbour.py").write_text("SIZE = 3\n")
    (tmp_path / "mine.py").write_text(
        "import torch\nfrom neighbour import SIZE\ndef make(i, h): return torch.nn.GRU(i, h)\n"
    )
    monkeypatch.chdir(tmp_path)
    make, digest = load("mine.py:make")
    assert isinstance(make(2, 3), nn.GRU)
    (tmp_path / "mine.py").write_text("import torch\ndef make(i, h): return torch.nn.RNN(i, h)\n# changed\n")
    again, other = load(f"{tmp_path}/mine.py:make")
    assert isinstance(again(2, 3), nn.RNN) and digest != other
    (tmp_path / "mine.py").write_text(
        "# changed\n" + (tmp_path / "mine.py").read_text().replace(" return", "\n  return")
    )
    assert load("mine.py:make")[1] == other
    assert load("companion:MinGRU")[0] is companion.MinGRU


@pytest.mark.parametrize(
    ("where", "message"),
    [
        ("mine.py", "'mine.py' does not name a layer: write path.py:Name"),
        ("nothing.py:Mine", "there is no file 'nothing.py' in "),
        ("nothing:Mine", "importing nothing failed: ModuleNotFoundError: No module named 'nothing'"),
        ("faulty.py:Mine", "importing faulty.py failed: ZeroDivisionError: division by zero (faulty.py, line 2)"),
        (f"{FILE}:Leak", "no class or function 'Leak'; it has Leaky"),
        ("companion:MinGRUU", "companion has no class or function 'MinGRUU'; it has MinGRU"),
    ],
)
def test_what_cannot_be_loaded_is_named(where, message, tmp_path, monkeypatch):
    monkeypatch.setattr(sys, "path", [*sys.path])
    monkeypatch.chdir(tmp_path)
    Path("faulty.py").write_text("one = 1\none / 0\n")
    with pytest.raises(Refused) as refused:
        load(where)
    assert message in str(refused.value)


FORGETFUL = type("Forgetful", (layers.Leaky,), {"keep": 0.0})  # no output depends on an earlier input


@pytest.mark.parametrize("kind", [layers.Leaky, layers.AsDictionary, FORGETFUL, nn.LSTM, companion.MLSTM])
def test_equal_forms_pass(kind):
    before = torch.get_rng_state()
    assert check(kind) < 1e-10 and torch.get_default_dtype() == torch.float32
    assert torch.equal(torch.get_rng_state(), before)


STEPWISE = "one call over 37 steps differs from one step at a time, "


@pytest.mark.parametrize(
    ("kind", "message"),
    [
        (layers.OffByOne, STEPWISE + "first in the output of step 1,"),
        (layers.WrongLater, STEPWISE + "not in the output, at most by "),
        (layers.WrongInLongCalls, STEPWISE + "first in the output of step 0"),
        (changed(before=lambda s: (s + s.detach()) / 2), STEPWISE + "not in the output, .*weight.grad"),
        (lambda *sizes: nn.LSTM(*sizes, bidirectional=True), STEPWISE + "first in the output of step 0"),
        (lambda *sizes: nn.LSTM(*sizes, batch_first=True), r"failed: .*\(1, 37, .*\nAn input is \(T, B, features\)"),
        (layers.InFloat32, "failed: .*\n.*the check runs in float64"),
        (changed(before=lambda s: s.mul_(1)), "failed: .*\n.*must not change its input or state in place"),
        (changed(lambda h, end: (h.sigmoid_(), h.sigmoid_()[-1])), "the check of .*gradient computation.*\n.*in place"),
        (layers.Few, "Few.5, 1. failed: TypeError: .*positional arguments"),
        (layers.no_module, "no_module.5, 1. is a function, not a torch.nn.Module"),
        (layers.Untrained, "Untrained.5, 1. does not learn: it has no parameters .a plain list hides"),
        (
            changed(lambda h, end: (h * torch.ones(1, requires_grad=True), end)),
            "learns numbers that parameters.. lacks",
        ),
        (changed(lambda h, end: (h.detach(), end.detach())), "does not learn: its output depends on no parameter"),
        (layers.Spare, "^no gradient of what Spare.* reaches spare: unused, or detached"),
        (changed(before=torch.detach), "reaches tensor 1 of the state handed in: unused, or detached"),
        (layers.DetachedEachStep, "no gradient of the last output of .* reaches the first input: usually a detach"),
        (changed(lambda h, end: (h + h.mean(1, keepdim=True), end)), "mixes the sequences of a batch"),
        (changed(lambda h, end: (h, end * 1j if len(h) > 1 else end)), "complex numbers: a tuple of two real tensors"),
        (changed(lambda h, end: h), r"must return \(output, state\), not Tensor"),
        (changed(lambda h, end: (end, end)), r"turned an input \(T, B, features\) \(1, 1, 5\) into \(1, 1\)"),
        (changed(lambda h, end: (h, None)), "returned a state that cannot be handed on: it must consist of tensors"),
        (layers.OtherInEvaluation, "other numbers in evaluation mode, or when called again"),
        (layers.Growing, r"grows: \[\(4, 3, 5\)\] after 4 steps, \[\(41, 3, 5\)\] after 37 more"),
        (changed(lambda h, end: (nn.functional.dropout(h), end)), "or when called again, as dropout does"),
        (changed(lambda h, end: (h / 0, end)), "has numbers or gradients that are not finite"),
        (changed(lambda h, end: h.missing), r"without a state failed: AttributeError: .* \(test_bench.py, line \d+\)"),
    ],
)
def test_faults_are_named(kind, message):
    with pytest.raises(Refused, match=message):
        check(kind)


def test_a_step_becomes_a_layer():
    make, _ = load(f"{FILE}:PeepholeStep")
    layer = make(3, 4)
    assert layer.weight_cf_l0.shape == (4,) and layer(torch.randn(5, 2, 3))[0].shape == (5, 2, 4)
    assert check(make) < 1e-10 and make.__name__ == "PeepholeStep"


def test_layers_are_sized_by_state_or_parameters():
    assert [size_of(nn.LSTM, 32, numbers, True) for numbers in (64, 1024)] == [32, 512]
    assert size_of(nn.GRU, 32, 64, True) == 64 and size_of(companion.SelectiveSSM, 32, 64, True) == 4
    assert size_of(companion.DeltaNet, 32, 256, True) == 16
    assert size_of(layers.AsDictionary, 32, 63, True) == 64  # heads refuse 63
    for kind in (nn.LSTM, nn.GRU, companion.MLSTM):
        wanted = count(nn.LSTM(16, 48))
        sizes = {size: abs(count(kind(16, size)) - wanted) for size in range(1, 300)}
        assert size_of(kind, 16, wanted, False) == min(sizes, key=sizes.get)
    with pytest.raises(Refused, match="no hidden_size gives about 64 numbers of state; the nearest, .*, gives 5"):
        size_of(layers.FixedState, 32, 64, True)


def test_cost_counts_what_is_kept():
    layer = Wrapped(nn.RNN, 16, 32)
    assert layer.numbers == layer.hidden_size == 32
    assert measure.cost(layer, rounds=1)["kept"] == 4 * 32 * 65 / 64  # h of each of 64 steps, and the first
    assert measure.cost(layer, rounds=1)["time"] > 0


def test_runs_are_reproducible_and_parts_apart(monkeypatch):
    original = measure.data_of

    def little(name, seed):
        data = original(name, seed)
        if name == "text":
            return data._replace(epochs=1)
        for task in data[:3]:
            task.batches = 2
        return data

    monkeypatch.setattr(measure, "data_of", little)
    for part in ("recall 64", "cups", "copying"):
        runs = [measure.run(part, nn.GRU, 0, rate) for rate in (0.01, 0.01, 0.02)]
        assert runs[0] == runs[1] != runs[2] and runs[0]["choose"] != runs[0]["test"]
    assert runs[0]["parameters"] == pytest.approx(6400, rel=0.03)
    learn, choose, test = original("text", 0)[:3]
    assert learn.inputs.shape[0] > 7 * choose.inputs.shape[0] == 7 * test.inputs.shape[0]
    batches = [next(part.epoch(-1))[0] for part in original("cups", 0)[:3]]
    assert not torch.equal(batches[1], batches[2]) and [len(batch) for batch in batches] == [20, 80, 80]


def test_baselines():
    cups = measure.baselines("cups")
    assert (
        cups["guessing"] == pytest.approx(2 / 3) and 0.6 < cups[measure.COUNTS] < 0.65
    )  # the first steps can be counted
    assert measure.baselines("recall 64")[measure.COUNTS] == pytest.approx(7 / 8, abs=0.01)
    text = measure.baselines("text")
    assert table.shown("text", text["guessing"]) == "54.00" and table.shown("text", text[measure.COUNTS]) == "3.30"


def test_the_whole_command(tmp_path):
    command = [sys.executable, "-m", "companion.bench", f"{FILE}:Leaky", "--quick", "--only", "cups,recall 64"]
    runs = [
        subprocess.run(command, cwd=tmp_path, env={"PYTHONPATH": str(ROOT)}, capture_output=True, text=True, check=True)
        for _ in range(2)
    ]
    first, second = runs
    assert "run 2: recall 64, rate 0.01, seed 0: " in first.stderr and ", stored\n" not in first.stderr
    assert "Leaky.bench.json has 2 runs of this layer" in second.stderr and second.stderr.count(", stored\n") == 2
    assert "of five networks" not in first.stdout and "All parts" in first.stdout
    assert first.stdout == second.stdout and first.stdout.endswith("It is no evidence.\n")
    for line in (
        "Shell game, three cups",
        "by a state of 64 numbers",
        "Leaky (yours)",
        "guessing",
        "counts of the last inputs",
    ):
        assert line in first.stdout
    stored = json.loads((tmp_path / "Leaky.bench.json").read_text())
    assert [run["part"] for run in stored["runs"]] == ["cups", "recall 64"]
    failed = subprocess.run(
        [*command[:3], f"{FILE}:OffByOne"], cwd=tmp_path, env={"PYTHONPATH": str(ROOT)}, capture_output=True, text=True
    )
    assert failed.returncode == 1 and failed.stderr.startswith("refused: OffByOne(5, ")


@pytest.fixture
def runs(monkeypatch):
    """Replace measured runs by made-up ones, of which the rate 0.3 is the best, and return the list of calls."""
    calls = []

    def run(part, make, seed, rate):
        calls.append((part, seed, rate))
        if rate > 0.3 or seed == 3:
            raise FloatingPointError
        result = round(1 - rate, 4)
        return {
            "hidden_size": 8,
            "parameters": 1000,
            "state": 64,
            "loss": 1.0,
            "choose": result,
            "test": result + seed / 100,
        }

    monkeypatch.setattr(measure, "run", run)
    return calls


def test_rates_are_searched_and_five_others_reported(runs, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    main([f"{FILE}:Leaky", "--only", "cups"])
    assert [rate for _, seed, rate in runs if seed == 101] == [0.003, 0.01, 0.03, 0.1, 0.3, 1.0]
    assert [(seed, rate) for _, seed, rate in runs if seed < 100] == [(seed, 0.3) for seed in range(5)]
    printed = capsys.readouterr().out
    assert printed.endswith("of five networks.\n") and "All parts" not in printed and "numbers of state" in printed
    (line,) = [line for line in printed.splitlines() if "1 diverged" in line]
    # 100 · (0.3 - seed / 100) for seeds 0, 1, 2, 4
    assert line.split() == ["Leaky", "(yours),", "1", "diverged", "28.2", "26.0", "30.0", "0.3", "8", "1,000", "64"]


def test_an_interruption_loses_no_run_and_another_layer_uses_none(runs, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    whole = measure.run

    def stops(*settings):
        if len(runs) == 4:
            raise KeyboardInterrupt
        return whole(*settings)

    monkeypatch.setattr(measure, "run", stops)
    with pytest.raises(SystemExit) as stopped:
        main([f"{FILE}:Leaky", "--only", "cups", "--store", "mine.json"])
    assert stopped.value.code == 130 and "interrupted: the same command goes on" in capsys.readouterr().err
    monkeypatch.setattr(measure, "run", whole)
    main([f"{FILE}:Leaky", "--only", "cups", "--store", "mine.json"])
    assert len(runs) == len({*runs}) == 23
    others = [run | {"layer": "another"} for run in json.loads(Path("mine.json").read_text())["runs"]]
    Path("mine.json").write_text(json.dumps({"runs": others}))
    for more, total in ([], 46), ([], 46), (["--again"], 69):
        main([f"{FILE}:Leaky", "--only", "cups", "--store", "mine.json", *more])
        stored = json.loads(Path("mine.json").read_text())["runs"]
        assert len(runs) == total and stored[:23] == others and len(stored) == 46


def test_stored_rows_are_shown_or_missed(runs, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(evidence, "FOLDER", tmp_path)
    arguments = [f"{FILE}:Leaky", "--only", "cups", "--quick"]
    main(arguments)
    assert "none are stored for version 1 of the bench" in capsys.readouterr().err
    row = {"part": "cups", "kind": "LSTM", "seed": 0, "learning_rate": 0.03, "hidden_size": 32}
    row |= {"parameters": 6400, "state": 64, "test": 0}
    evidence.store("bench", measure.VERSION, [row | {"chosen": True}, row | {"chosen": False, "test": 0.5}])
    main(arguments)
    assert "LSTM 100.0 100.0 100.0 0.03 32 6,400 64" in " ".join(capsys.readouterr().out.split())
    evidence.store("bench", measure.VERSION + 1, [row | {"chosen": True}])
    main(arguments)
    captured = capsys.readouterr()
    assert "none are stored for version 1 of the bench" in captured.err and "  LSTM" not in captured.out


def test_names_of_parts():
    assert parts_of("recall") == ["recall 64", "recall 256", "recall 1024"]
    assert parts_of("text,cups,recall 4096") == ["text", "cups", "recall 4096"]
    for names in ("nothing", "recall many", "", "recall,,text", "text, cups"):
        with pytest.raises(Exception, match="is not a list of recall, recall 64"):
            parts_of(names)
