"""Helpers of the grader's tests: submissions, and a worker that runs students' code."""

import contextlib
import csv
import io
import json
import platform
import sys
import zipfile
from functools import partial
from pathlib import Path

import pytest

from assignments.batch import Batch
from assignments.grade import judge
from assignments.read import answers
from assignments.report import pages
from assignments.sandbox.system_calls import MACHINES
from tests.check.lstm_answers import SOURCES
from tests.check.programs import questions

linux = pytest.mark.skipif(sys.platform != "linux", reason="this protection exists on Linux only")
# Without a sandbox some of these programs end all processes of the user, or start processes without end.
needs_sandbox = pytest.mark.skipif(
    sys.platform != "linux" or platform.machine() not in MACHINES,
    reason="without the sandbox these attacks would harm the machine",
)
IMPORTS = "import torch\nfrom torch import nn\nfrom torch.nn import functional as F\n"
WORDS = pages.words("en")
QUICK = judge.LIMITS | {"seconds": 2, "wall": 5}
ASKED = questions("lstm")


def judged(worker, question, source, seed=5, limits=judge.LIMITS):
    answer = answers.Answer([[1, IMPORTS], [2, source]], [answers.name_of(question)], True, cell=2)
    return judge.grade(worker, question, answer, seed, "en", WORDS, limits)


class Listening:
    """Passes jobs on to a worker, and records them with its replies."""

    def __init__(self, worker):
        self.worker, self.heard = worker, []

    def ask(self, job):
        self.heard.append((job, self.worker.ask(job)))
        return self.heard[-1][1]


def worker_reply(worker, question, cells, names=None, limits=QUICK):
    """Return a worker's reply to an answer before it is judged."""
    listening = Listening(worker)
    numbered = [[number, source] for number, source in enumerate([IMPORTS, *cells], start=1)]
    answer = answers.Answer(numbered, names or [question], True)
    judge.grade(listening, question, answer, 5, "en", WORDS, limits)
    return listening.heard[-1][1]


def is_running(pid):
    """Return whether a process runs, and is not a zombie that its parent has not reaped yet."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


def generations(pid):
    """Return the descendants of a process: its children, their children, and so on."""
    parents, generations_found = {}, [[pid]]
    for child in Path("/proc").iterdir():
        if child.name.isdigit():
            with contextlib.suppress(OSError):
                parents[int(child.name)] = int((child / "stat").read_text().rpartition(")")[2].split()[1])
    while generations_found[-1]:
        generations_found.append([path for path, parent in parents.items() if parent in generations_found[-1]])
    return generations_found[1:-1]


def descendants(pid):
    return {child for generation in generations(pid) for child in generation}


def error_of(kept):
    return json.loads(kept["said"].partition("\n")[2])["outcomes"][0]["error"]


SHELL = """
class LSTMCell(nn.Module):
    def __init__(self, input_size, hidden_size):
        super().__init__()
        self.input_size, self.hidden_size = input_size, hidden_size
        sizes = {"weight_ih": (input_size,), "weight_hh": (hidden_size,), "bias_ih": (), "bias_hh": ()}
        for name, size in sizes.items():
            setattr(self, name, nn.Parameter(torch.zeros(4 * hidden_size, *size)))

    def forward(self, x, state=None):
        h, c = state or (x.new_zeros(len(x), self.hidden_size),) * 2
        w = self.weight_ih, self.weight_hh, self.bias_ih, self.bias_hh
"""


def through(lines):
    return SHELL + "".join(f"        {line}\n" for line in lines.strip().split("\n"))


# Submissions


def cell(source, identity="", kind="code"):
    meta = {"nbgrader": {"grade_id": identity, "solution": True}} if identity else {}
    return {"cell_type": kind, "metadata": meta, "source": source, "outputs": [], "execution_count": None}


def notebook(sources=SOURCES, text="The LSTM", named=True, checks=True):
    cells = [cell(text, kind="markdown"), cell(IMPORTS + "from companion.check import check\n%matplotlib inline")]
    for question, source in sources.items():
        cells.append(cell(source, question if named else ""))
        if checks:
            cells.append(cell(f'check("{question}", {answers.name_of(question)})'))
    return {"cells": cells, "metadata": {}, "nbformat": 4, "nbformat_minor": 5}


def put(folder, student, name, content):
    path = folder / student / name
    path.parent.mkdir(parents=True, exist_ok=True)
    (
        path.write_bytes(content)
        if isinstance(content, bytes)
        else path.write_text(content if isinstance(content, str) else json.dumps(content), encoding="utf-8")
    )
    return path


def zipped(files, kind=zipfile.ZIP_DEFLATED):
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", kind) as archive:
        for name, content in files:
            archive.writestr(name, content)
    return buffer.getvalue()


def sent(folder, student):
    return answers.read_submission(student, folder / student)


def rows(output):
    with open(output / "grades.csv", encoding="utf-8-sig", newline="") as file:
        table = list(csv.DictReader(file))
    return {(row["student"], row["question"]): (float(row["points"]), row["mistake"]) for row in table}


def result(student, points=2.0, assignment="lstm", question="gates", most=2, language="en"):
    """Return the result of a student who answered one question."""
    verdict = {
        "assignment": assignment, "question": question, "points": points, "most": most, "stretch": False,
        "seconds": 0.1,
        "mistakes": [] if points == most else ["gates_f_i_g_o"], "paragraphs": [], "remarks": [], "walls": ["time",
        "network"],
    }  # fmt: skip
    return {
        "student": student,
        "language": language,
        "assignments": [assignment],
        "remarks": [],
        "seeds": {},
        "verdicts": [verdict],
    }


half = partial(result, points=1.5)


def graded_of(folder, output, **more):
    """Return a batch of the assignment `lstm` that prints nothing."""
    return Batch(folder, output, ("lstm",), say=lambda text: None, **more)
