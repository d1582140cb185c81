"""Test that no verdict depends on the speed of the machine."""

import json
import os
import re
import subprocess
import sys
import time
from functools import partial

import nbformat
import pytest

from assignments.batch import PATIENCE, RUNS, Batch
from assignments.grade import calibration, judge
from assignments.grade.calibration import CalibratedWorker, Calibration
from assignments.grade.training_steps import planned_steps
from assignments.read.answers import Answer, read_submission
from companion.check.engine.diagnosis import diagnose
from companion.check.engine.question import all_questions
from tests.assignments.grade.test_fair import BEGIN, GIVEN
from tests.assignments.grading import WORDS, judged, linux, notebook, put, rows
from tests.assignments.slowed import calibrated_worker, quota
from tests.project.paths import ROOT
from tests.project.sampling import chosen

SOURCE = ROOT / "assignments" / "source" / "en"
SOLUTIONS = {
    cell.id: cell.source
    for path in sorted(SOURCE.glob("*.ipynb"))
    for cell in nbformat.read(path, as_version=4).cells
    if cell.id in all_questions()
}
ENDLESS = "def gates(*a):\n    while True: pass"
RIGHT = {f"{given['name']}": given for given in GIVEN if not given["mistakes"]}


def test_the_measure_is_a_short_training(worker):
    reply = worker.ask(calibration.job())
    assert (reply["ended"], reply["steps"]) == ("", calibration.STEPS)
    assert 0.1 * calibration.REFERENCE < reply["processor"] <= 1.1 * reply["seconds"]


class Machine:
    """Worker on a machine whose speed is set: each measure takes the next of `paces`, and each answer ends by time."""

    def __init__(self, *paces, processor=None):
        self.paces, self.processor, self.given = [*paces], processor, []

    def ask(self, job):
        if job["names"] == ["calibrate"]:
            processor, clock = (calibration.REFERENCE * pace for pace in self.paces.pop(0))
            return {"ended": "", "said": "", "seconds": clock, "processor": processor, "steps": 30}
        self.given.append((job["limits"]["seconds"], job["limits"]["wall"]))
        spent = job["limits"]["seconds"] if self.processor is None else self.processor
        return {"ended": "time", "said": "", "seconds": spent, "processor": spent, "steps": 0}


@pytest.mark.parametrize("machine, fixed, given", [
    (Machine((0.5, 0.5), (1, 1)), False, [(10, 30)]),  # never less than today's
    (Machine((3, 4), (3, 4)), False, [(30, 120)]),
    (Machine((3, 1), (3, 1)), False, [(30, 90)]),  # the clock has at least the processor's factor
    (Machine((1, 1), (1.2, 1.2)), False, [(10, 30)]),
    (Machine((1, 1), (2, 2)), False, [(10, 30), (20, 60)]),  # it became slower: once more
    (Machine((1, 1), (1, 2)), False, [(10, 30)]),  # the processor's limit ended it, and is what it was
    (Machine((1, 1), (1, 2), processor=0), False, [(10, 30), (10, 60)]),
    (Machine((1, 1), (2, 2)), True, [(10, 30)]),  # given by hand
])  # fmt: skip
def test_limits_follow_the_machine(machine, fixed, given):
    speed = Calibration(fixed)
    speed.measure(machine)
    verdict = judged(CalibratedWorker(machine, speed), "gates", ENDLESS)
    assert machine.given == given
    assert verdict.mistakes == ["time_limit"] and f"has {given[-1][0]} seconds" in verdict.paragraphs[0]


def test_a_batch_measures_its_machine_and_keeps_its_results(tmp_path, monkeypatch):
    """Check that what is graded already stays valid on another machine: the measure is no setting."""
    machine, said = Machine((3, 4)), []
    machine.close = lambda: None
    monkeypatch.setattr("assignments.batch.Worker", lambda *_: machine)
    put(tmp_path / "sent", "ada", "lstm.ipynb", "")
    batch = Batch(tmp_path / "sent", tmp_path / "grades", say=said.append)
    batch.calibrate(None)
    assert "30 seconds of the processor and 120 by the clock" in said[0]
    assert batch.patience() == 4 * PATIENCE + RUNS * 120
    assert batch.digests == Batch(tmp_path / "sent", tmp_path / "grades").digests
    by_hand = Batch(tmp_path / "sent", tmp_path / "grades", limits=judge.time_limits(20))
    assert by_hand.calibration.fixed and by_hand.calibration.scale(by_hand.limits)["wall"] == 60


TRAINING = "def train_recall(inputs, targets):\n    {}\n        loss.backward()\n        optimizer.step()\n"
LOOPS = {
    "for step in range(300):": 300, "for step in tqdm(range(10, 300)):": 290, "for step in trange(99):": 99,
    "for i, step in enumerate(range(STEPS)):": 700, "for e in range(3):\n      for step in range(0, 100, 10):": 30,
    "for e in range(3):\n      for rows in inputs.split(64):": None, "while True:": None, "for step in range(n):": None,
}  # fmt: skip


@pytest.mark.parametrize("loop", LOOPS)
def test_steps_of_a_training_are_counted_in_its_source(loop):
    answer = Answer([[1, "STEPS = 700\nn = 1\nn = 2"], [2, TRAINING.format(loop)]], ["train_recall"], True)
    assert planned_steps(answer) == LOOPS[loop]


@pytest.mark.parametrize("loop, steps, processor, says", [
    ("for step in range(300):", 100, 8.0, "100 of 300 steps when its time was over: all of them need about 24 seconds"),
    ("for step in range(300):", 100, 0, "need about 72 seconds where answers are graded, and it has 24."),
    ("while True:", 100, 8.0, "100 steps when its time was over: it has 8 seconds"),
    ("for step in range(300):", 0, 8.0, "has 8 seconds of computing. Look for a loop that never ends"),
])  # fmt: skip
def test_the_time_limit_tells_a_training_from_an_endless_loop(loop, steps, processor, says):
    class Worker:
        def ask(self, job):
            return {"ended": "time", "said": "", "seconds": 24.0, "processor": processor, "steps": steps}

    verdict = judged(Worker(), "recall", TRAINING.format(loop))
    assert says in verdict.paragraphs[0] and verdict.mistakes == ["time_limit"]


@linux
@pytest.mark.parametrize("times", chosen((3, 6), 3))
def test_slow_processors_cost_no_points(monkeypatch, times):
    with calibrated_worker(monkeypatch, times) as worker:
        assert worker.slowness > 0.7 * times
        verdict = judged(worker, "recall", SOLUTIONS["recall"])
        assert (verdict.points, verdict.mistakes) == (4, [])
        if times > 3:
            check_all_right_answers(worker, monkeypatch)


def check_all_right_answers(worker, monkeypatch):
    """Check that all right answers have all points, and that an endless loop ends."""
    monkeypatch.setattr(judge, "diagnose", partial(diagnose, seconds=60))
    lost = {}
    for path in SOURCE.glob("*.ipynb"):
        sent = read_submission(path.stem, path)
        for question, answer in sent.answers.items():
            lost[question] = judge.grade(worker, question, answer, 7, "en", WORDS, student=sent.name).mistakes
    for name, given in RIGHT.items():
        cells = [[number, source] for number, source in enumerate([BEGIN, *given["cells"]], start=1)]
        answer = Answer(cells, [given["answer"]], True, cell=len(cells))
        lost[name] = judge.grade(worker, given["question"], answer, 7, "en", WORDS).mistakes
    assert {*SOLUTIONS} < {*lost}
    assert {name: mistakes for name, mistakes in lost.items() if mistakes} == {}
    begin = time.monotonic()
    assert judged(worker, "gates", ENDLESS).mistakes == ["time_limit"]
    assert time.monotonic() - begin < 3 * worker.calibration.scale(judge.LIMITS)["wall"]


@linux
@pytest.mark.parametrize("share", chosen((1 / 3, 1 / 6), mark=pytest.mark.deep))
def test_a_share_of_the_processor_costs_no_points(tmp_path, share):
    """Grade solutions and an endless loop by the command, while all its processes run for a part of the time only."""
    for name in ("language_model", "lstm", "training"):
        put(tmp_path / "sent", name, f"{name}.ipynb", (SOURCE / f"{name}.ipynb").read_bytes())
    put(tmp_path / "sent", "loop", "lstm.ipynb", notebook({"gates": ENDLESS}))
    command = [sys.executable, str(ROOT / "assignments"), str(tmp_path / "sent"), "--output", str(tmp_path / "grades")]
    with quota(os.getpid(), share):
        done = subprocess.run([*command, "--workers", "2"], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    mistakes = {key: mistake for key, (_, mistake) in rows(tmp_path / "grades").items()}
    assert mistakes["loop", "gates"] == "time_limit"
    assert {key: mistake for key, mistake in mistakes.items() if mistake and key[0] != "loop"} == {}
    stored = json.loads(next((tmp_path / "grades" / "done").glob("loop*.json")).read_text())["batches"]
    (seconds,) = (
        verdict["seconds"]
        for batch in stored.values() for verdict in batch["graded"]["verdicts"] if verdict["question"] == "gates"
    )  # fmt: skip
    assert seconds < 3 * int(re.search(r"and (\d+) by the clock", done.stdout)[1])
