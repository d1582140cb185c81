"""Tests of checkpoints: a run that is interrupted or killed ends as an uninterrupted one does."""

import functools
import io
import os
import signal
import subprocess
import sys
import threading

import numpy
import pytest
import torch

from companion.learning import checkpoint as module
from companion.learning.windows import ConsecutiveWindows
from tests.learning.training_runs import SEQUENCE, Run, model_of, resume, same, weights_of
from tests.project.paths import ROOT


@functools.cache
def uninterrupted_result(kind="consecutive", name="LSTM"):
    """Return the result of an uninterrupted run."""
    return Run(kind=kind, name=name).train().result()


# each of three epochs calls the model 4 times to train and twice to evaluate; with random windows 5 times in all
@pytest.mark.parametrize(
    "interrupted_at", [(1,), (3,), (4,), (5,), (6,), (7,), (12,), (16,), (18,), (2, 1, 1, 3, 4, 1)], ids=str
)
@pytest.mark.parametrize(("kind", "name"), [("consecutive", "LSTM"), ("random", "GRU")])
def test_interrupted_run_ends_like_an_uninterrupted_one(tmp_path, kind, name, interrupted_at):
    path, options = tmp_path / "run.pt", {"kind": kind, "name": name}
    expected = uninterrupted_result(**options)
    handler = signal.getsignal(signal.SIGINT)
    for k, call in enumerate(interrupted_at):
        run = Run(path, seed=k, **options)
        run.interrupts_at = {call: 1}
        with pytest.raises(KeyboardInterrupt):
            run.train()
        assert signal.getsignal(signal.SIGINT) is handler
    assert same(resume(path, **options).result(), expected)
    saved = path.read_bytes()
    assert same(resume(path, **options).result(), expected)  # a finished run trains no further
    assert path.read_bytes() == saved and [*tmp_path.iterdir()] == [path]


KILLED = """
import os, signal, sys
sys.path.insert(0, {root!r})
import torch
from companion.learning import checkpoint
from tests.learning.training_runs import Run
checkpoint.SECONDS = -1
run, save, saved = Run({path!r}), torch.save, []

def half(kept, path):
    saved.append(path)
    save(kept, path)
    if len(saved) == 8:
        os.truncate(path, os.path.getsize(path) // 2)
        os.kill(os.getpid(), {end})

torch.save = half
run.train()
"""


@pytest.mark.heavy
def test_run_killed_while_saving_can_be_resumed(tmp_path):
    path = tmp_path / "run.pt"
    end = getattr(signal, "SIGKILL", signal.SIGTERM)  # on Windows SIGTERM ends a process as abruptly
    program = KILLED.format(end=int(end), root=str(ROOT), path=str(path))
    killed = subprocess.run([sys.executable, "-c", program], check=False)
    assert killed.returncode == (end if os.name == "nt" else -end)
    kept = torch.load(path)
    # each epoch saves after 4 steps and at its end: the eighth save is after the third step of the second epoch
    assert len(kept["history"]) == 1 and len(kept["losses"]) == 2
    assert same(resume(path).result(), uninterrupted_result())
    assert [*tmp_path.iterdir()] == [path]


def test_when_a_run_is_saved(tmp_path, monkeypatch):
    path, seen = tmp_path / "run.pt", []
    monkeypatch.setattr(module.os, "replace", lambda a, b: seen.append(run.calls) or os.rename(a, b))
    for seconds, expected in ((999, [6, 12, 18]), (-1, [1, 2, 3, 4, 6, 7, 8, 9, 10, 12, 13, 14, 15, 16, 18])):
        monkeypatch.setattr(module, "SECONDS", seconds)
        seen.clear()
        run = Run(path)
        run.train()
        assert seen == expected
        path.unlink()
    clock = [0.0]
    monkeypatch.setattr(module, "SECONDS", 30)
    monkeypatch.setattr(module.time, "monotonic", lambda: clock[0])
    run = Run(path)
    run.model.register_forward_hook(lambda *_: clock.__setitem__(0, clock[0] + 12))
    seen.clear()
    run.train()
    assert seen == [3, 6, 9, 12, 15, 18]


def test_interrupt_without_a_checkpoint_waits_for_the_step():
    whole = Run()
    whole.epochs = 1
    whole.train()
    stopped = Run()
    stopped.interrupts_at = {4: 1}
    with pytest.raises(KeyboardInterrupt):
        stopped.train()
    assert stopped.calls == 4 and same(weights_of(stopped.model), weights_of(whole.model))


def test_second_interrupt_does_not_wait(tmp_path):
    run, handler = Run(tmp_path / "run.pt"), signal.getsignal(signal.SIGINT)
    run.interrupts_at, before = {1: 2}, weights_of(run.model)
    with pytest.raises(KeyboardInterrupt):
        run.train()
    assert same(weights_of(run.model), before) and not [*tmp_path.iterdir()]
    assert signal.getsignal(signal.SIGINT) is handler


def test_training_works_in_a_thread():
    expected, run = uninterrupted_result(), Run()
    thread = threading.Thread(target=run.train)
    thread.start()
    thread.join()
    assert same(run.result()[:4], expected[:4])


def test_finished_run_can_be_continued_with_more_epochs(tmp_path):
    path, expected = tmp_path / "run.pt", uninterrupted_result()
    run = Run(path)
    run.epochs = 1
    run.train()
    assert same(resume(path).result(), expected)


def test_run_from_a_machine_with_more_gpus_can_be_resumed(tmp_path, monkeypatch):
    path, run, seen = tmp_path / "run.pt", Run(tmp_path / "run.pt"), []
    restore = torch.cuda.set_rng_state_all
    monkeypatch.setattr(torch.cuda, "set_rng_state_all", lambda states: [seen.append(len(states)), restore(states)])
    run.interrupts_at = {2: 1}
    with pytest.raises(KeyboardInterrupt):
        run.train()
    kept = torch.load(path)
    kept["random on cuda"].append(torch.zeros(16, dtype=torch.uint8))
    torch.save(kept, path)
    assert same(resume(path).result(), uninterrupted_result()) and seen == [torch.cuda.device_count()]


def sgd(model, **options):
    return torch.optim.SGD(model.parameters(), **{"lr": 0.01} | options)


def adamw(model, **options):
    return torch.optim.AdamW(model.parameters(), **{"lr": 0.01} | options)


def two_groups(model):
    return torch.optim.AdamW([{"params": model.recurrent.parameters()}, {"params": model.linear.parameters()}], lr=0.01)


OTHER_RUNS = {
    "model": ({"model": lambda: model_of(name="GRU", dropout=0.3)}, "parameters"),
    "precision": ({"model": lambda: model_of(dropout=0.3, dtype=torch.float32)}, "parameters"),
    "optimizer": ({"optimizer": sgd}, "optimizer, options of the optimizer"),
    "learning rate": ({"optimizer": lambda m: adamw(m, lr=0.02)}, "options of the optimizer"),
    "betas": ({"optimizer": lambda m: adamw(m, betas=(0.8, 0.9))}, "options of the optimizer"),
    "groups": ({"optimizer": two_groups}, "parameters of the optimizer"),
    "scheduler": ({"scheduler": None}, "scheduler"),
    "clip": ({"clip": None}, "clip"),
    "length": ({"windows": ConsecutiveWindows(SEQUENCE[:30], 3, 3)}, "steps in an epoch, data"),
    "data": ({"windows": ConsecutiveWindows((SEQUENCE + 1) % 5, 3, 4)}, "data"),
}


@pytest.mark.parametrize(("changes", "differences"), OTHER_RUNS.values(), ids=OTHER_RUNS)
def test_checkpoint_of_another_run_is_refused(tmp_path, changes, differences):
    path = tmp_path / "run.pt"
    first = Run(path)
    first.epochs = 1
    first.train()
    raw, run = path.read_bytes(), Run(path, seed=5)
    if "model" in changes:
        run.model = changes["model"]()
    if {"model", "optimizer"} & {*changes}:
        run.optimizer = changes.get("optimizer", adamw)(run.model)
        run.scheduler = torch.optim.lr_scheduler.CosineAnnealingLR(run.optimizer, 20)
    run.windows = changes.get("windows", run.windows)
    before, random = weights_of(run.model), torch.get_rng_state()
    with pytest.raises(
        ValueError, match=f"run.pt' keeps another run: it differs in {differences}. Call train as that run"
    ):
        run.train(**{name: changes[name] for name in ("clip", "scheduler") if name in changes})
    assert path.read_bytes() == raw and same(weights_of(run.model), before) and torch.get_rng_state().equal(random)


def test_file_that_is_not_a_checkpoint_is_refused_and_kept(tmp_path):
    path = tmp_path / "run.pt"
    first = Run(path)
    first.epochs = 1
    first.train()
    raw = path.read_bytes()
    contents = [b"", b"\n", b"a text", b"\x80\x02.", raw[:99], raw[: len(raw) // 2], raw[:-9], raw[len(raw) // 2 :]]
    for stored in (weights_of(first.model), torch.zeros(3), [1, 2], {"settings": 3}, {"settings": "ab"}):
        buffer = io.BytesIO()
        torch.save(stored, buffer)
        contents.append(buffer.getvalue())
    run = Run(path, seed=5)
    before, random = weights_of(run.model), torch.get_rng_state()
    for raw in contents:
        path.write_bytes(raw)
        with pytest.raises(ValueError, match="run.pt' is not a checkpoint. To start again, delete or rename it"):
            run.train()
        assert path.read_bytes() == raw and same(weights_of(run.model), before)
        assert torch.get_rng_state().equal(random)


def test_missing_folder_is_reported_before_training(tmp_path):
    run = Run(tmp_path / "none" / "run.pt")
    with pytest.raises(FileNotFoundError, match="there is no folder .*none' to keep run.pt in"):
        run.train()
    assert run.calls == 0
    with pytest.raises(ValueError, match="is a folder; give the path of a file in it"):
        Run(tmp_path).train()


@pytest.mark.parametrize("interrupted", [False, True])
def test_run_of_more_epochs_is_refused_and_kept(tmp_path, interrupted):
    path, run = tmp_path / "run.pt", Run(tmp_path / "run.pt")
    if interrupted:
        run.interrupts_at = {14: 1}
        with pytest.raises(KeyboardInterrupt):
            run.train()
    else:
        run.train()
    fewer, raw = Run(path, seed=5), path.read_bytes()
    fewer.epochs, before = 2, weights_of(fewer.model)
    with pytest.raises(
        ValueError, match=f"a run of {'2 epochs and 2 steps' if interrupted else '3 epochs'}, more than"
    ):
        fewer.train()
    assert same(weights_of(fewer.model), before) and path.read_bytes() == raw


def test_run_that_could_not_be_loaded_is_not_saved(tmp_path):
    run = Run(tmp_path / "run.pt")
    scheduler = torch.optim.lr_scheduler.LambdaLR(run.optimizer, lambda step: 1 / numpy.sqrt(step + 1))
    with pytest.raises(TypeError, match="neither a tensor nor a Python number, such as one of numpy"):
        run.train(scheduler=scheduler)
    assert not (tmp_path / "run.pt").exists()
