"""A batch that is interrupted, loses a process or has no room on the disk."""

import multiprocessing
import os
import signal
import subprocess
import sys
import time

import pytest

from assignments import cli
from assignments.batch import RUNS, Batch
from assignments.grade import cache, judge
from assignments.read import answers
from assignments.submission import Grader
from companion.check.engine.question import all_questions
from tests.assignments.grading import ASKED, descendants, graded_of, is_running, linux, notebook, put, rows
from tests.check.lstm_answers import GATES
from tests.project.paths import ROOT


@pytest.fixture
def same_signals():
    actions = {number: signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)}
    yield
    for number, action in actions.items():
        signal.signal(number, action)


def test_terminated_batch_writes_its_results(tmp_path, grading_in_process, monkeypatch, same_signals, no_gradebook):
    folder, output, write = tmp_path / "sent", tmp_path / "grades", cache.write_atomically
    for student in ("ada", "bo"):
        put(folder, student, "lstm.ipynb", notebook({"gates": GATES}))

    def write_and_terminate(path, text):
        write(path, text)
        if path.parent.name == "done":
            signal.raise_signal(signal.SIGTERM)

    monkeypatch.setattr(cache, "write_atomically", write_and_terminate)
    monkeypatch.setattr(sys, "argv", ["cli.py", str(folder), "--output", str(output), "--workers", "1"])
    with pytest.raises(SystemExit, match="The same command continues"):
        cli.main()
    assert {student for student, _ in rows(output)} == {"ada"} and (output / "summary.html").is_file()


class Ended(BaseException):
    """The grading process has ended."""


def test_crashed_grading_process_costs_one_question(tmp_path, monkeypatch, no_gradebook):
    """Let grading processes crash, and check which questions are lost.

    `c` crashes at each run of `gates`; `e` crashes once, as the victim of another submission; the process of `g` ends
    while idle; `r` cannot be read.
    """
    asked, started, together, read = [], [], [], answers.read_submission

    class Process:
        def __init__(self, *_):
            started.append(self)
            self.connection = self

        def send(self, *arguments):
            self.messages = Grader.grade(*arguments)

        def receive(self):
            try:
                return next(self.messages)
            except Ended:
                return None

        def close(self):
            pass

    def submission(student, *more):
        if student == "r" or student == "g" and not asked.count("g"):
            asked.append(student)
            raise Ended
        return read(student, *more)

    def judged(worker, question, answer, *_):
        asked.append(answer.file[0] + question)
        if asked[-1] == "cgates" or asked[-1] == "elstm" and asked.count("elstm") == 1:
            raise Ended
        return judge.Verdict(question, 1.0, 1, [], [])

    monkeypatch.setattr("assignments.batch.GradingProcess", Process)
    monkeypatch.setattr("assignments.batch.wait", lambda jobs, _: together.append(len(jobs)) or jobs)
    monkeypatch.setattr(Batch, "fork_server", lambda batch: None)
    monkeypatch.setattr(Batch, "calibrate", lambda *_: None)
    monkeypatch.setattr(Grader, "seeds", dict.fromkeys(all_questions(), 5))
    monkeypatch.setattr(answers, "read_submission", submission)
    monkeypatch.setattr(judge, "grade", judged)
    for student in "abcdegr":
        put(tmp_path / "sent", student, f"{student}.ipynb", notebook())
    graded = graded_of(tmp_path / "sent", tmp_path / "grades").grade(2)
    verdicts = [(name, verdict) for name, result in graded.items() for verdict in result["verdicts"]]
    lost = {(name, verdict["question"]) for name, verdict in verdicts if verdict["mistakes"]}
    assert lost == {("c", "gates"), *(("r", question) for question in ASKED)}
    assert {name for name, result in graded.items() if ["grader_stopped", ""] in result["remarks"]} == {"c", "r"}
    repeated = ["cgates", "elstm", "g", "r", "r"]
    assert sorted(asked) == sorted([*repeated, *(f"{name}{question}" for name in "abcdeg" for question in ASKED)])
    assert together[0] == 2 and together[-1] == 1 and len(started) <= 2 + 6
    # what was lost may be the fault of that day
    assert graded_of(tmp_path / "sent", tmp_path / "grades").todo == ["c", "r"]


@linux
@pytest.mark.heavy
def test_stopped_grading_process_is_killed(tmp_path, monkeypatch, no_gradebook):
    for number in range(3):
        put(tmp_path / "sent", f"s{number}", "lstm.ipynb", notebook())
    signals = [signal.SIGSTOP]  # only one, since a second crash at a question ends it
    monkeypatch.setattr("assignments.batch.PATIENCE", 15 - RUNS * judge.LIMITS["wall"])

    def say(_):
        processes = multiprocessing.active_children()
        if signals and processes:
            os.kill(processes[0].pid, signals.pop())

    graded = Batch(tmp_path / "sent", tmp_path / "grades", ("lstm",), say=say).grade(2)
    assert not signals and len(graded) == 3
    assert not [verdict for each in graded.values() for verdict in each["verdicts"] if verdict["mistakes"]]
    assert not multiprocessing.active_children()


@linux  # reads the process tree in /proc
@pytest.mark.heavy
def test_no_process_survives_an_interrupted_batch(tmp_path):
    """Interrupt a batch; test_attacks_in_a_batch.py kills one."""
    folder, output = tmp_path / "sent", tmp_path / "grades"
    for number in range(3):
        put(folder, f"s{number}", "lstm.ipynb", notebook({"gates": f"import time\ntime.sleep({10**6 + number})"}))
    running = subprocess.Popen([sys.executable, str(ROOT / "assignments"), str(folder), "--output", str(output),
    "--workers", "2"],
                               stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)  # fmt: skip
    begin = time.monotonic()
    while (
        len(started := descendants(running.pid)) < 11
    ):  # two graders, the fork server, two workers, and three for each
        assert running.poll() is None and time.monotonic() - begin < 60
        time.sleep(0.2)
    running.send_signal(signal.SIGINT)
    printed, _ = running.communicate(timeout=100)
    assert not list(output.rglob("done/*.json"))  # the batch did not wait until the questions' 30 seconds were over
    assert "The same command continues" in printed, printed
    deadline = time.monotonic() + 10
    while (alive := [pid for pid in started if is_running(pid)]) and time.monotonic() < deadline:
        time.sleep(0.2)
    assert not alive
    assert not list(output.rglob("*.part"))


@linux
@pytest.mark.heavy
def test_full_disk_is_reported_and_the_batch_continues_later(tmp_path, own_mounts):
    folder, output = tmp_path / "sent", tmp_path / "grades"
    output.mkdir()
    for number in range(4):
        put(folder, f"s{number}", "lstm.ipynb", notebook({"gates": GATES}))
    again = f"{sys.executable} {ROOT / 'assignments'} {folder} --output {output}"
    shell = f"mount -t tmpfs -o size=16k tmpfs {output} && {again}; " \
            f"echo code $?; find {output} -name '*.part'; mount -o remount,size=64m {output}; " \
            f"{again}; wc -l < {output}/grades.csv"  # fmt: skip
    done = subprocess.run(["unshare", "--user", "--map-root-user", "--mount", "sh", "-c", shell],
                          capture_output=True, text=True, timeout=300)  # fmt: skip
    assert "No space left" in done.stderr and "the same command continues" in done.stderr, done.stderr
    assert "code 1" in done.stdout and ".part" not in done.stdout and "Traceback" not in done.stderr
    assert done.stdout.strip().endswith("21"), done.stdout
