"""Torn ends of a batch: names, files and disks as they are, what is interrupted, what is appealed."""

import ast
import json
import multiprocessing
import os
import shutil
import signal
import subprocess
import sys
import time
from functools import partial

import pytest

from assignments import cli
from assignments.batch import Batch
from assignments.grade import judge
from assignments.grade import store as result_store
from assignments.read import answers, folders, notebooks
from assignments.read.names import page_name
from assignments.report import pages, summary
from assignments.report.results import write
from assignments.sandbox import pool
from assignments.submission import Grader
from companion.check.engine.question import all_questions, bank
from tests.assignments.grading import QUICK, cell, descendants, judged, linux, notebook, put, result, rows, sent, there
from tests.check.lstm_answers import GATES, SOURCES
from tests.check.programs import questions
from tests.project.paths import ROOT

ASKED = questions("lstm")
half = partial(result, points=1.5)


def graded_of(folder, output, **more):
    return Batch(folder, output, ("lstm",), say=lambda text: None, **more)


@pytest.mark.heavy
def test_the_gradebook_takes_names_of_all_kinds(tmp_path):
    nbgrader = pytest.importorskip("nbgrader.api")
    names = "山田 太郎", 'O\'Brien "x"', "two\nlines", "=cmd|' /C calc'!A0", "a" * 200, "Ada", "ada", "\u202egnp.exe"
    assert pages.gradebook(tmp_path / "gradebook.db", [result(name) for name in names]) == {}
    with nbgrader.Gradebook(f"sqlite:///{tmp_path / 'gradebook.db'}") as book:
        assert {one.id for one in book.students} == {*names}


def test_what_is_stored_under_an_older_name_is_found(tmp_path, no_gradebook):
    """The grades of an earlier batch are of a folder that may be gone."""
    output, terms = tmp_path / "grades", [tmp_path / "first", tmp_path / "second"]
    put(terms[0], "Ada L", "lstm.ipynb", "")
    put(terms[1], "Ada L", "rnn.ipynb", "")
    kept_by(output, terms[0], (), {"Ada L": half("Ada L")})
    for folder in ("done", "feedback"):
        (file,) = (output / folder).iterdir()
        file.rename(file.with_name(f"ada_l-0123abcd{file.suffix}"))
    kept_by(output, terms[1], ("rnn",), {})
    assert rows(output)["Ada L", "gates"][0] == 1.5
    assert [file.stem for file in (output / "feedback").iterdir()] == [page_name("Ada L")]


@linux
def test_a_grading_process_has_a_limit_on_memory():
    """Whatever it is that a submission has it read."""
    command = (
        "from assignments.sandbox import limits; limits.limit_own_memory(100); bytearray(50 << 20); print(1);"
        " bytearray(200 << 20)"
    )
    done = subprocess.run([sys.executable, "-c", command], capture_output=True, text=True, cwd=ROOT)
    assert done.stdout == "1\n" and done.stderr.endswith("MemoryError\n")


@pytest.fixture
def same_signals():
    kept = {number: signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)}
    yield
    for number, action in kept.items():
        signal.signal(number, action)


def test_a_batch_that_is_told_to_end_writes_what_it_has(tmp_path, here, monkeypatch, same_signals, no_gradebook):
    folder, output, store = tmp_path / "sent", tmp_path / "grades", result_store.store
    for student in ("ada", "bo"):
        put(folder, student, "lstm.ipynb", notebook({"gates": GATES}))

    def told(path, text):
        store(path, text)
        if path.parent.name == "done":
            signal.raise_signal(signal.SIGTERM)

    monkeypatch.setattr(result_store, "store", told)
    monkeypatch.setattr(sys, "argv", ["cli.py", str(folder), "--output", str(output), "--workers", "1"])
    with pytest.raises(SystemExit, match="The same command continues"):
        cli.main()
    assert {student for student, _ in rows(output)} == {"ada"} and (output / "summary.html").is_file()


class Ended(BaseException):
    """A grading process is gone."""


def test_a_grading_process_that_is_ended_costs_one_question(tmp_path, monkeypatch, no_gradebook):
    """`c` ends its own whenever `gates` is asked, `e` is its neighbour's victim once, `g`'s ended while it was idle,
    and `r` cannot be read."""
    asked, started, together, read = [], [], [], answers.submission

    class Process:
        def __init__(self, *_):
            started.append(self)
            self.line = self

        def ask(self, *asked):
            self.parts = Grader.grade(*asked)

        def said(self):
            try:
                return next(self.parts)
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

    monkeypatch.setattr("assignments.batch.Grading", Process)
    monkeypatch.setattr("assignments.batch.wait", lambda jobs, _: together.append(len(jobs)) or jobs)
    monkeypatch.setattr(Batch, "mother", lambda batch: None)
    monkeypatch.setattr(Grader, "seeds", dict.fromkeys(all_questions(), 5))
    monkeypatch.setattr(answers, "submission", submission)
    monkeypatch.setattr(judge, "grade", judged)
    for student in "abcdegr":
        put(tmp_path / "sent", student, f"{student}.ipynb", notebook())
    graded = graded_of(tmp_path / "sent", tmp_path / "grades").grade(2)
    lost = {(name, one["question"]) for name, all in graded.items() for one in all["verdicts"] if one["mistakes"]}
    assert lost == {("c", "gates"), *(("r", question) for question in ASKED)}
    assert {name for name, one in graded.items() if ["grader_stopped", ""] in one["remarks"]} == {"c", "r"}
    again = ["cgates", "elstm", "g", "r", "r"]
    assert sorted(asked) == sorted([*again, *(f"{name}{question}" for name in "abcdeg" for question in ASKED)])
    assert together[0] == 2 and together[-1] == 1 and len(started) <= 2 + 6
    # what was lost may be the fault of that day
    assert graded_of(tmp_path / "sent", tmp_path / "grades").todo == ["c", "r"]


@linux
@pytest.mark.heavy
def test_a_grading_process_that_is_stopped(tmp_path, monkeypatch, no_gradebook):
    """It says nothing more, and is ended."""
    for number in range(3):
        put(tmp_path / "sent", f"s{number}", "lstm.ipynb", notebook())
    ends = [signal.SIGSTOP]  # one: whoever is hit twice at one question is not graded there
    monkeypatch.setattr("assignments.batch.PATIENCE", 15 - 4 * judge.LIMITS["wall"])

    def say(_):
        there = multiprocessing.active_children()
        if ends and there:
            os.kill(there[0].pid, ends.pop())

    graded = Batch(tmp_path / "sent", tmp_path / "grades", ("lstm",), say=say).grade(2)
    assert not ends and len(graded) == 3
    assert not [one for each in graded.values() for one in each["verdicts"] if one["mistakes"]]
    assert not multiprocessing.active_children()


def test_what_is_too_long_to_be_parsed_is_read_all_the_same(tmp_path, monkeypatch):
    """Five megabytes of `x=1` would take 26 seconds and 3 gigabytes."""
    parse, parsed = ast.parse, []
    monkeypatch.setattr(ast, "parse", lambda source, *more: parsed.append(len(source)) or parse(source, *more))
    monkeypatch.setattr(notebooks, "LONG_CELL", 2000)
    monkeypatch.setattr(answers, "LONG", 10_000)
    said = notebook({"gates": "%matplotlib inline\n" + GATES + "# " + "a" * 3000})
    said["cells"] += [cell("x=1\n" * 2000), *(cell("x=1\n" * 400) for _ in range(30))]
    put(tmp_path, "a", "lstm.ipynb", said)
    answer = sent(tmp_path, "a").answers["gates"]
    assert sum(parsed) < 2 * 10_000 and max(parsed) <= 2000
    assert answer.written and answer.cells[answer.cell - 1][1].startswith("pass")
    assert len(answer.cells) == 34 and answer.cells[-1][1].startswith("x=1")


@pytest.mark.skipif(os.name == "nt", reason="Windows has no such files")
def test_files_that_never_end(tmp_path):
    put(tmp_path, "a", "lstm.ipynb", notebook())
    os.mkfifo(tmp_path / "a" / "more.ipynb")
    os.mkfifo(tmp_path / "b.ipynb")
    (tmp_path / "c").mkdir()
    os.symlink("/dev/zero", tmp_path / "c" / "lstm.ipynb")
    os.symlink("/etc/passwd", tmp_path / "c" / "other.ipynb")
    with open(put(tmp_path, "d", "lstm.ipynb", ""), "wb") as file:
        file.truncate(2**43)  # takes no room on the disk
    begin = time.monotonic()
    assert set(sent(tmp_path, "a").answers) == set(SOURCES)
    found = dict(folders.students(tmp_path).items())
    assert [key for key, _ in answers.submission("b", found["b"]).remarks] == ["nothing_sent"]
    assert [key for key, _ in sent(tmp_path, "c").remarks] == ["nothing_sent"]
    assert [key for key, _ in sent(tmp_path, "d").remarks] == ["file_too_large"]
    for path in found.values():
        result_store.files_digest(path)
    assert time.monotonic() - begin < 5


def test_a_submission_that_is_taken_away_or_changed_meanwhile(tmp_path, monkeypatch):
    path = put(tmp_path, "a", "lstm.ipynb", notebook())
    before = result_store.files_digest(tmp_path / "a")
    path.write_text("{}")
    assert result_store.files_digest(tmp_path / "a") != before
    walk = list(os.walk(tmp_path / "a"))
    path.unlink()
    monkeypatch.setattr(os, "walk", lambda *_, **__: walk)
    assert folders.files(tmp_path / "a") == ([], [])
    assert folders.files(tmp_path / "gone")[0] == []


@pytest.mark.heavy
def test_large_notebooks_are_read_in_time(tmp_path):
    said = notebook()
    size = 100_000
    said["cells"] += [{"cell_type": "code", "source": f"x = {number}"} for number in range(size)]
    put(tmp_path, "a", "lstm.ipynb", said)
    begin = time.process_time()
    assert set(sent(tmp_path, "a").answers) == set(SOURCES)
    assert time.process_time() - begin < size / 2000


DEEP = [
    "(" * 10**5, "-" * 10**5 + "1", "x" + ".a" * 10**5, "x" + "[0]" * 10**5, "f(" * 90 + ")" * 90,
    "lambda: " * 10**4 + "1", "a\0b", "\ud800", "if x:\n " * 10**4, "1" * 10**6, "x = " * 10**5 + "1",
]  # fmt: skip


@pytest.mark.heavy
def test_no_source_is_too_deep_to_be_read(tmp_path):
    """In a process of its own, which the stack's end would end."""
    command = "import pathlib, sys; from assignments.read import notebooks; " \
              "[print(len(notebooks.read(pathlib.Path(one)).cells), flush=True) for one in sys.argv[1:]]"  # fmt: skip
    said = [{"cells": [{"cell_type": "code", "source": source}]} for source in DEEP]
    files = [put(tmp_path, f"{number}", "lstm.ipynb", one) for number, one in enumerate(said)]
    done = subprocess.run(
        [sys.executable, "-c", command, *files], capture_output=True, text=True, timeout=120, cwd=ROOT
    )
    assert done.stdout == "1\n" * len(DEEP), done.stderr[-500:]


@pytest.mark.heavy
def test_points_given_by_hand_stay(tmp_path):
    nbgrader = pytest.importorskip("nbgrader.api")
    book = tmp_path / "gradebook.db"
    pages.gradebook(book, [half("ada"), half("bo")])
    with nbgrader.Gradebook(f"sqlite:///{book}") as opened:
        opened.find_grade("gates-points", "lstm", "lstm", "ada").manual_score = 1.75
        opened.db.commit()
    for points, another_look in ((1.5, False), (0, True)):
        by_hand = pages.gradebook(book, [half("ada", points=points), half("bo")])
        assert by_hand == {("ada", "gates"): 1.75}
        with nbgrader.Gradebook(f"sqlite:///{book}") as opened:
            found = opened.find_grade("gates-points", "lstm", "lstm", "ada")
            assert (found.manual_score, found.auto_score, found.score) == (1.75, points, 1.75)
            assert bool(found.needs_manual_grade) is another_look
    all_graded = pages.with_points_by_hand([half("ada"), half("bo")], by_hand)
    assert pages.grades_csv(all_graded).splitlines()[1:] == [
        "ada,gates,1.75,gates_f_i_g_o", "bo,gates,1.5,gates_f_i_g_o",
    ]  # fmt: skip
    assert "1.75 / 2 (given by your instructor)" in pages.feedback(all_graded[0])
    assert "given by" not in pages.feedback(all_graded[1])
    made = summary.summary(all_graded, "", {"ada": "ada.html", "bo": "bo.html"})
    assert "<td>1.75 / 2</td><td>0</td><td><code>gates</code></td>" in made


@pytest.mark.heavy
def test_a_question_that_is_added_later_is_in_the_gradebook(tmp_path):
    nbgrader = pytest.importorskip("nbgrader.api")
    pages.gradebook(tmp_path / "gradebook.db", [half("ada")])
    more = half("ada")
    more["verdicts"] += [more["verdicts"][0] | {"question": "lstm_cell", "points": 1}]
    pages.gradebook(tmp_path / "gradebook.db", [more])
    with nbgrader.Gradebook(f"sqlite:///{tmp_path / 'gradebook.db'}") as book:
        assert book.find_submission("lstm", "ada").score == 2.5


@pytest.mark.heavy
def test_an_appeal_is_graded_with_the_same_probes_and_shows_them(tmp_path, here):
    folder, output = tmp_path / "sent", tmp_path / "grades"
    put(folder, "ada", "lstm.ipynb", notebook({"gates": GATES.replace("sigmoid", "tanh")}))
    first = graded_of(folder, output).grade(1)["ada"]
    assert not list((output / "appeals").iterdir())
    same = graded_of(folder, output, again=["ada"]).grade(1)["ada"]
    assert same["seeds"] == first["seeds"]
    assert [one["paragraphs"] for one in same["verdicts"]] == [one["paragraphs"] for one in first["verdicts"]]
    shown = json.loads((output / "appeals" / "ada.json").read_text())
    assert {"probe", "right", "given"} == set(shown["gates"]["probes"][0])
    assert shown["gates"]["probes"][0]["right"]["values"].keys() >= set("ifgo")
    new = graded_of(folder, output, again=["ada"], fresh=True).grade(1)["ada"]
    assert not set(new["seeds"].values()) & set(first["seeds"].values())
    page = (output / "feedback" / "ada.html").read_text(encoding="utf-8")
    assert not any(str(seed) in page for one in (first, new) for seed in one["seeds"].values())


@pytest.mark.heavy
def test_what_cannot_be_told_is_taken_for_what_the_others_sent(tmp_path, here):
    folder, output = tmp_path / "sent", tmp_path / "grades"
    put(folder, "ada", "lstm.ipynb", notebook({"gates": GATES}))
    put(folder, "bo", "notes.pdf", "%PDF")
    graded = Batch(folder, output, say=lambda text: None).grade(1)
    assert [one["mistakes"] for one in graded["bo"]["verdicts"]] == [["no_answer"]] * len(ASKED)
    assert len(rows(output)) == 2 * len(ASKED)


def kept_by(output, folder, wanted, results, say=lambda text: None):
    """A batch whose submissions are graded already, with these results."""
    batch = Batch(folder, output, wanted, say=say)
    for student, kept in results.items():
        batch.keep(student, kept)
    write(output, batch.all_graded(), say)


def test_several_batches_into_one_folder(tmp_path, no_gradebook):
    output, terms = tmp_path / "grades", {name: tmp_path / name for name in ("first", "second")}
    for student in ("ada", "bo", "cy"):
        put(terms["first"], student, "lstm.ipynb", "")
    for student in ("ada", "cy"):
        put(terms["second"], student, "rnn.ipynb", "")
    rnn = result("ada", 0.5, "rnn", "rnn")
    kept_by(output, terms["first"], (), {name: half(name) for name in ("ada", "bo", "cy")})
    kept_by(output, terms["second"], (), {"ada": rnn, "cy": rnn | {"student": "cy"}})
    mistake = "gates_f_i_g_o"
    both = {
        ("ada", "gates"): (1.5, mistake), ("ada", "rnn"): (0.5, mistake), ("bo", "gates"): (1.5, mistake),
        ("cy", "gates"): (1.5, mistake), ("cy", "rnn"): (0.5, mistake),
    }  # fmt: skip
    assert rows(output) == both
    page = (output / "feedback" / "ada.html").read_text(encoding="utf-8")
    assert "lstm, rnn" in page and "2 of 4 points" in page
    # once more, another question right, and two have left
    shutil.rmtree(terms["first"] / "bo")
    shutil.rmtree(terms["first"] / "cy")
    kept_by(output, terms["first"], (), {"ada": result("ada")})
    del both["bo", "gates"], both["cy", "gates"]
    assert rows(output) == both | {("ada", "gates"): (2, "")}
    # the same folder, another assignment
    kept_by(output, terms["first"], ("rnn",), {"ada": rnn})
    assert rows(output) == both | {("ada", "gates"): (2, "")}


@linux  # it reads in /proc who descends from whom
@pytest.mark.heavy
def test_nothing_goes_on_after_an_interrupted_batch(tmp_path):
    """Interrupt it; test_attacks_in_a_batch.py kills it."""
    folder, output = tmp_path / "sent", tmp_path / "grades"
    for number in range(3):
        put(folder, f"s{number}", "lstm.ipynb", notebook({"gates": f"import time\ntime.sleep({10**6 + number})"}))
    running = subprocess.Popen([sys.executable, str(ROOT / "assignments"), str(folder), "--output", str(output),
    "--workers", "2"],
                               stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)  # fmt: skip
    begin = time.monotonic()
    while (
        len(started := descendants(running.pid)) < 11
    ):  # two graders, the workers' mother, two workers, and three for each
        assert running.poll() is None and time.monotonic() - begin < 60
        time.sleep(0.2)
    begin = time.monotonic()
    running.send_signal(signal.SIGINT)
    said, _ = running.communicate(timeout=60)
    assert time.monotonic() - begin < 25  # a question has 30
    assert "The same command continues" in said, said
    deadline = time.monotonic() + 10
    while (alive := [pid for pid in started if there(pid)]) and time.monotonic() < deadline:
        time.sleep(0.2)
    assert not alive
    assert not list(output.rglob("*.part"))


@linux
@pytest.mark.heavy
def test_a_disk_that_is_full_is_said_and_the_batch_goes_on_later(tmp_path, own_mounts):
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


@linux
def test_workers_of_one_mother(worker):
    """Each has walls of its own. One that is killed is begun anew; one that nobody listens to ends, and what it
    runs."""
    walls = judged(worker, "gates", GATES).walls
    first, second = (pool.Worker([], worker.mothers) for _ in range(2))
    assert judged(first, "gates", GATES).ok and judged(second, "gates", GATES).ok
    assert first.mother is second.mother is None
    spaces = {os.readlink(f"/proc/{process}/ns/mnt") for process in ("self", worker.pid, first.pid, second.pid)}
    assert len(spaces) == 4 or "processes" not in walls
    os.kill(first.pid, signal.SIGKILL)
    assert judged(first, "gates", GATES).ok
    asked = all_questions()["gates"]
    sleeping = answers.Answer([[1, "import time\ntime.sleep(10**6)\ndef gates(): pass"]], ["gates"], True)
    second.send(judge.job_of(asked, bank("gates", 5), sleeping, judge.LIMITS, needed=False))
    begin, started = time.monotonic(), ()
    while len(started := {second.pid, *descendants(second.pid)}) < 4:
        assert time.monotonic() - begin < 20
    second.close(), first.close()
    while any(map(there, started)):
        assert time.monotonic() - begin < 25  # a question has 30
        time.sleep(0.05)


@linux
@pytest.mark.heavy
def test_a_worker_whose_mother_is_gone():
    mother = pool.Mother()
    one = pool.Worker([], mother.line)
    assert judged(one, "gates", GATES).ok
    mother.process.kill()
    mother.process.wait()
    assert judged(one, "gates", GATES).ok and judged(one, "gates", GATES).ok


STAYS = """
import ctypes, os, threading, time
libc = ctypes.CDLL(None)
libc.prctl(1, 0, 0, 0, 0)  # deaf to its parent's end
for leave in (os.setsid, lambda: os.setpgid(0, 0)):
    try: leave()
    except OSError: pass
threading.Thread(target=time.sleep, args=(10**6,)).start()
def gates(*a): time.sleep(10**6)
"""


@pytest.mark.heavy
@linux
def test_no_process_survives_its_question(worker):
    verdict = judged(worker, "gates", STAYS, limits=QUICK)
    assert verdict.mistakes == ["time_limit"] and verdict.seconds < 20  # it has five, and uses no processor
    time.sleep(0.5)
    assert not [pid for pid in descendants(worker.pid) if there(pid)]
