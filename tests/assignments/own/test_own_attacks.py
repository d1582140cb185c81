"""Answers that look for the reference of an own question in their process: it is not there."""

from pathlib import Path

import pytest
import torch

from assignments.batch import Batch
from assignments.own import stored
from assignments.sandbox.pool import Worker
from companion.check import check
from companion.check.engine.question import all_questions, bank
from tests.assignments.grading import Listening, judged, needs_sandbox
from tests.assignments.own.page import FILE
from tests.project.sampling import chosen

ONE_VARIANT = FILE.partition("VARIANTS")[0]
# Each looks for the reference: a function `found`, or its text. With it the answer would be right.
SEARCHES = {
    "the file": "text = open({path!r}).read()",
    "the file by system calls": "import os\ntext = os.read(os.open({path!r}, os.O_RDONLY), 10**5).decode()",
    "the file by torch": "text = bytes(torch.from_file({path!r}, size={size}, dtype=torch.uint8).tolist()).decode()",
    "the folder": "import os\n"
        "for name in os.listdir({folder!r}): text = open(os.path.join({folder!r}, name)).read()",
    "all folders": "import os\n"
        "for folder, _, names in os.walk('/'):\n"
        "    for name in names:\n"
        "        if name == 'leaky_step.py': text = open(os.path.join(folder, name)).read()",
    "the import path": "import sys\nsys.path.insert(0, {folder!r})\nfrom leaky_step import leaky_step as found",
    "its module": "import sys\nfound = sys.modules['question_leaky_step'].leaky_step",
    "all modules": "import sys\n"
        "found = [m.leaky_step for m in [*sys.modules.values()] if {{'inputs', 'MISTAKES'}} <= {{*dir(m)}}][0]",
    "the questions": "from companion.check.engine.question import all_questions\n"
        "found = all_questions()['leaky_step'].truth",
    "the reader": "from companion.check.own import build\nfound = build.load([{folder!r}])[0][1].truth",
    "the environment": "import os\n"
        "folder = os.environ['UNROLLED_QUESTIONS']\ntext = open(os.path.join(folder, 'leaky_step.py')).read()",
    "the parent's environment": "import os\n"
        "folders = open('/proc/%d/environ' % os.getppid()).read().split('UNROLLED_QUESTIONS=')[1].split(chr(0))[0]\n"
        "text = open(os.path.join(folders, 'leaky_step.py')).read()",
    "memory": "import gc\n"
        "text = [o['leaky_step'] for o in gc.get_objects() if isinstance(o, dict) and 'MISTAKES' in o][0]\n"
        "found = text",
    "all texts": "import gc\n"
        "texts = [t for o in gc.get_objects() for t in gc.get_referents(o) if isinstance(t, str)]\n"
        "text = [t for t in texts if 'h_new = (1 - ' + 'share)' in t and 'def inputs' in t][0]",
}  # fmt: skip
LATE = {
    "frames": "import sys\n"
        "frame = sys._getframe()\n"
        "while frame:\n"
        "    for value in [*frame.f_locals.values(), *frame.f_globals.values()]:\n"
        "        if getattr(value, '__name__', '') in ('leaky_step', 'reference') and value.__code__ is not own:\n"
        "            return value(*arguments)\n"
        "    frame = frame.f_back",
    "right results in memory": "import gc\n"
        "for outcome in gc.get_objects():\n"
        "    if isinstance(outcome, dict) and 'h_new' in outcome and 'grad of x' in outcome:\n"
        "        return outcome['h_new'].clone()",
}  # fmt: skip
QUICK = "the file", "the import path", "the reader", "its module", "the environment", "memory", "frames"
EXECUTE = """
try:
    if 'def leaky_step' in text:
        space = {}
        exec(text, space)
        found = space['leaky_step']
except NameError:
    pass
def leaky_step(*arguments):
    return found(*arguments)
"""


def answer_of(search, folder):
    """Return the program of an answer that uses the reference if its search finds it."""
    if search in LATE:
        body = "\n".join("    " + line for line in LATE[search].split("\n"))
        return f"def leaky_step(*arguments):\n{body}\n    raise LookupError\nown = leaky_step.__code__\n"
    path, size = str(folder / "leaky_step.py"), len(ONE_VARIANT.encode())
    return SEARCHES[search].format(path=path, folder=str(folder), size=size) + EXECUTE


@pytest.fixture
def visible(worker):
    """Return a folder with the page's question, which the worker may not see, among packages, which it may see."""
    folder = Path(worker.secret)
    (folder / "leaky_step.py").write_text(ONE_VARIANT)
    stored.use([folder])
    yield folder
    (folder / "leaky_step.py").unlink()


@needs_sandbox
@pytest.mark.parametrize("search", chosen([*SEARCHES, *LATE], *QUICK))
def test_the_reference_is_not_found(worker, visible, search):
    verdict = judged(worker, "leaky_step", answer_of(search, visible))
    assert verdict.points == 0 and {"files", "processes"} <= {*verdict.walls}
    assert verdict.mistakes != ["not_written"]


@pytest.mark.parametrize("search", ["the file by system calls", "the file by torch", "the import path", "the reader"])
def test_the_searches_would_succeed_without_walls(visible, search):
    """Check that the programs above are right answers where the file can be read."""
    space = {"torch": torch}
    exec(answer_of(search, visible), space)
    assert check("leaky_step", space["leaky_step"]).ok


def test_a_job_holds_neither_the_file_nor_the_right_results(worker, visible):
    """Check what is sent to the process of an answer."""
    listening = Listening(worker)
    verdict = judged(listening, "leaky_step", "def leaky_step(x, h, weight, leak):\n    return 0 * h")
    job = repr(listening.heard[0][0])
    assert verdict.points == 0 and "'h_new'" in job  # the name of the result, for messages about its form
    question = all_questions()["leaky_step"]
    for secret in ("1 - share", "share = leak", "tanh(", "MISTAKES", "old_share_lost", str(visible), question.right):
        assert secret not in job, secret
    right = [number for outcome in judged_outcomes(question) for number in outcome]
    assert not [number for number in right if repr(number) in job]


def judged_outcomes(question):
    """Return the numbers of the right results on the probes of `judged`."""
    return [outcome.values["h_new"].flatten().tolist() for outcome in bank(question.name, 5).expected]


@needs_sandbox
@pytest.mark.heavy
def test_a_batch_hides_the_files(tmp_path, monkeypatch):
    """Check a file that lies among packages, which students' code may read otherwise."""
    folder = tmp_path / "site-packages"
    folder.mkdir()
    (folder / "leaky_step.py").write_text(ONE_VARIANT)
    monkeypatch.syspath_prepend(str(folder))
    stored.use([folder])
    (tmp_path / "sent" / "ada").mkdir(parents=True)
    hidden = Batch(tmp_path / "sent", tmp_path / "grades").hidden
    assert str(folder / "leaky_step.py") in hidden
    points = []
    for files in (hidden, [file for file in hidden if not file.startswith(str(folder))]):
        worker = Worker(files)
        points.append(judged(worker, "leaky_step", answer_of("the file", folder)).points)
        worker.close()
    assert points == [0, 2]  # without hiding it the search finds it
