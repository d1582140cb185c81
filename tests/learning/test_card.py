"""Tests of what needs a graphics card, without one: `make card`, the stored evidence, and what the book says of it."""

import importlib
import json
import os
import subprocess
import sys

import pytest

from companion.learning import evidence
from tests.project.paths import ROOT

RUNS = evidence.load("card")
WITHOUT_CARD = os.environ | {"CUDA_VISIBLE_DEVICES": ""}


def cells(page):
    return json.loads((ROOT / f"book/en/{page}.ipynb").read_text(encoding="utf-8"))["cells"]


def of(what, key="steps"):
    """Return the milliseconds of what was measured: (kind, steps) or (kind, size) → milliseconds."""
    return {
        (run["kind"], *(run[key] if key == "size" else [run.get(key)])): run["milliseconds"]
        for run in evidence.having(RUNS, what=what)
    }


def test_make_card_says_that_there_is_none_and_fails():
    command = subprocess.run(["make", "--dry-run", "card"], cwd=ROOT, capture_output=True, text=True, check=True).stdout
    assert "python benchmarks/card.py\n" in command.replace(" \n", "\n")
    program = [sys.executable, "benchmarks/card.py"]
    ended = subprocess.run(program, cwd=ROOT, env=WITHOUT_CARD, capture_output=True, text=True)
    assert ended.returncode == 1 and not ended.stdout
    assert ended.stderr.startswith("No graphics card, so nothing was run: ") and ended.stderr.count("\n") == 1


@pytest.mark.heavy
def test_tests_run_on_a_device_that_is_named():
    """Run some as on a card, but on the processor, which has another name then."""
    files = ["tests/layers/test_proof.py", "tests/layers/test_packed_states.py", "tests/learning/test_windows.py"]
    program = [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", "--device", "cpu:0", *files]
    ended = subprocess.run(program, cwd=ROOT, env=WITHOUT_CARD, capture_output=True, text=True)
    assert ended.returncode == 0, ended.stdout


def test_each_run_names_where_it_comes_from(program):
    machines = {run["source"]: run for run in evidence.having(RUNS, what="machine")}
    assert {run["source"] for run in RUNS} == machines.keys()
    assert all(machine.keys() >= {"card", "torch", "cudnn", "date"} for machine in machines.values())
    card = program("card")
    assert {run["kind"] for run in evidence.having(RUNS, what="size")} == card.BY_SIZE.keys()
    assert [tuple(run["size"]) for run in evidence.having(RUNS, what="size", kind="nn.LSTM")] == card.SIZES
    attention = {"attention", "attention, bfloat16"}
    assert {run["kind"] for run in evidence.having(RUNS, what="sequence")} <= card.BY_LENGTH.keys() | attention
    assert {run["steps"] for run in evidence.having(RUNS, what="sequence")} <= {*card.LENGTHS}
    assert {run["kind"] for run in evidence.having(RUNS, what="type")} <= card.TYPES.keys()


def test_layers_that_need_not_wait_are_fast_enough():
    size, sequence = of("size", "size"), of("sequence")
    assert size["MinGRU, scan", 4096, 2, 512] <= 0.05 * size["nn.LSTM", 4096, 2, 512]
    assert sequence["LinearAttention", 4096] <= 0.1 * sequence["nn.LSTM", 4096]
    assert sequence["GatedDeltaNet", 4096] <= 0.25 * sequence["nn.LSTM", 4096]


def test_what_the_page_says_of_sizes():
    size = of("size", "size")
    loops = {tuple(key[1:]): ms for key, ms in size.items() if key[0] == "companion.LSTM"}
    assert all(0.3 < ms / steps < 0.5 for (steps, *_), ms in loops.items())
    ratios = sorted(round(ms / size["nn.LSTM", *key]) for key, ms in loops.items())
    assert (ratios[0], ratios[-1]) == (8, 97)
    assert round(loops[1024, 8, 128]) == 424 and round(loops[1024, 64, 1024]) == 397
    assert [*loops].index((4096, 2, 512)) == 4 and round(1000 * loops[4096, 2, 512] / 110_607) == 12
    scan = {key[1:]: ms for key, ms in size.items() if key[0] == "MinGRU, scan"}
    assert round(size["nn.LSTM", 4096, 2, 512] / scan[4096, 2, 512]) == 32
    assert [ms > size["nn.LSTM", *key] for key, ms in scan.items()].index(True) == 0
    processor = of("processor", "size")
    gains = [round(processor["processor", *key[1:]] / ms, 1) for key, ms in processor.items() if key[0] == "card"]
    assert gains[0] == 1.2 and round(gains[-1]) == 100


def test_what_the_pages_say_of_lengths():
    sequence = of("sequence")
    growth = {kind: round(sequence[kind, 16384] / sequence[kind, 1024]) for kind in ("attention", "LinearAttention")}
    assert growth == {"attention": 60, "LinearAttention": 4}
    short, long = ({kind: ms for (kind, n), ms in sequence.items() if n == steps} for steps in (1024, 16384))
    assert sorted(short, key=short.get)[:2] == ["attention, bfloat16", "attention"]
    ahead = {kind for kind, ms in long.items() if ms < long["attention"]}
    assert ahead >= {"MinGRU, scan", "LinearAttention", "SelectiveSSM"} and "GatedDeltaNet" not in ahead
    for steps in (1024, 4096, 16384):
        times = {kind: ms for (kind, n), ms in sequence.items() if n == steps}
        assert min(times, key=times.get) == "attention, bfloat16" and max(times, key=times.get) == "nn.LSTM"
    assert round(sequence["nn.LSTM", 4096]) == 90 and round(of("again")["nn.LSTM", 4096]) == 127
    assert [round(long[kind]) for kind in ("attention, bfloat16", "attention", "nn.LSTM")] == [2, 30, 356]
    others = [ms for kind, ms in long.items() if not kind.startswith(("attention", "nn.LSTM"))]
    assert (round(min(others)), round(max(others))) == (4, 77)


def test_what_the_page_says_of_types_and_going_deeper():
    types = of("type", "size")
    for kind, gains in {"float16": [1.7, 2.3], "bfloat16": [0.9, 1.4]}.items():
        assert [round(types["TF32", *key[1:]] / ms, 1) for key, ms in types.items() if key[0] == kind] == gains
    assert [round(ms / types["TF32", *key[1:]]) for key, ms in types.items() if key[0] == "cuDNN off"] == [8, 4]
    loops, scans = of("loop", "size"), of("scan", "size")
    deeper = next("".join(cell["source"]) for cell in cells("graphics_card") if cell["id"] == "deeper")
    told = [loops["compiled", 64, 32, 128], loops["loop", 64, 32, 128], loops["CUDA graph", 256, 32, 128]]
    told += [loops["loop", 256, 32, 128], of("size", "size")["nn.LSTM", 256, 32, 128]]
    assert all(f" {ms:.1f}" in deeper for ms in told)
    assert all(f" {ms:.2f}" in deeper for ms in scans.values())


def test_the_page_shows_the_programs_as_they_are():
    deeper = next("".join(cell["source"]) for cell in cells("graphics_card") if cell["id"] == "deeper")
    for name in ("triton_scan", "two_processes"):
        assert f"```python\n{(ROOT / f'book/programs/{name}.py').read_text(encoding='utf-8')}```" in deeper


@pytest.fixture
def messages(monkeypatch):
    monkeypatch.syspath_prepend(ROOT / "benchmarks")
    return importlib.import_module("card_messages")


def test_pages_quote_the_messages(messages):
    texts = [text for page in ("complaints", "graphics_card") for cell in cells(page) for text in cell["source"]]
    texts += [
        text for cell in cells("complaints") for output in cell.get("outputs", []) for text in output.get("text", [])
    ]
    shown = " ".join(" ".join(texts).split())
    answers = {answer for _program, answer in (messages.ON_CARD | messages.ANYWHERE).values()}
    unquoted = {answer for answer in answers if answer not in shown}
    assert unquoted == {"repeated: True"}  # the page says it in words


@pytest.mark.heavy
@pytest.mark.parametrize("name", ["half", "scaler", "scaler of a half model", "full graph", "unused parameters"])
def test_messages_that_need_no_card(messages, name):
    same, found = messages.as_quoted(*messages.ANYWHERE[name], "cpu")
    assert same, found


@pytest.mark.heavy
def test_two_processes_get_the_gradients_of_the_whole_batch():
    program = [sys.executable, "book/programs/two_processes.py"]
    ended = subprocess.run(program, cwd=ROOT, env=WITHOUT_CARD, capture_output=True, text=True, check=True)
    assert ended.stdout.count("the gradients of the whole batch: True") == 2
