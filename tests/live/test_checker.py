"""The checker of the assignments where `torch` is the pages' small_torch: it says of an answer what it says on the real
one."""

import json
import os
import subprocess
import sys
from contextlib import contextmanager

import nbformat
import pytest

from assignments import student_version
from book import editions
from companion.check.engine.diagnosis import alike
from companion.check.engine.probe import Outcome
from companion.check.engine.question import ASSIGNMENTS, all_questions
from tests.live.checking import made, said
from tests.project.paths import ROOT
from tests.project.sampling import chosen

FINISHED = [edition.language for edition in editions.finished()]
# One wrong answer of each kind: the kind, a piece of a right answer, and what stands in its place. tests/check has a
# program for each mistake that the checker knows.
WRONG = {
    "rnn": {
        "numbers": (" + bias_hh", ""),
        "two mistakes": (
            "torch.tanh(x @ weight_ih.T + bias_ih + h @ weight_hh.T + bias_hh)",
            "torch.sigmoid(x @ weight_ih.T + bias_ih + h @ weight_hh.T)",
        ),
        "torch's cell": (
            "torch.tanh(x @ weight_ih.T + bias_ih + h @ weight_hh.T + bias_hh)",
            "torch.rnn_tanh_cell(x, h, weight_ih, weight_hh, bias_ih, bias_hh)",
        ),
        "torch's class": ("class RNNCell(nn.Module):", "RNNCell = nn.RNNCell\n\n\nclass Other(nn.Module):"),
        "results missing": ("    return torch.stack(output), h.unsqueeze(0)", "    return torch.stack(output)"),
        "gradients": ("        h = h.detach()\n", ""),
    },
    "embedding": {"no gradient": ("    return weight[indices]", "    return weight[indices].detach()")},
    "training": {
        "not in place": ("g.mul_(max_norm / norm)", "g = g * (max_norm / norm)"),
        "not as it was": ("    model.train(training)\n", ""),
    },
    "lstm": {"an error": ("x @ weight_ih.T", "x @ weight_ih")},
    "lstm_parameters": {"shapes": ("= (proj_size, hidden_size)", "= (hidden_size, proj_size)")},
    "language_model": {"not at random": ("        index = draw(logits)", "        index = int(logits.argmax())")},
}


@contextmanager
def pages_python(tmp_path):
    """Ask a Python whose torch is the small one."""
    (tmp_path / "torch").symlink_to(ROOT / "small_torch/src/small_torch", target_is_directory=True)
    path = os.pathsep.join(map(str, (tmp_path, ROOT, ROOT / "tests")))
    command = [sys.executable, str(ROOT / "tests/live/checking.py")]
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=os.environ | {"PYTHONPATH": path}
    ) as process:

        def ask(question):
            print(json.dumps(question), file=process.stdin, flush=True)
            return json.loads(process.stdout.readline())

        yield ask
        process.stdin.close()


def cells_of(path):
    """All code but what a page says takes long: the networks that are trained."""
    cells = nbformat.read(path, as_version=4).cells
    return [cell.source for cell in cells if cell.cell_type == "code" and "slow" not in cell.metadata.get("tags", ())]


def released(notebook, folder):
    """The cells of an assignment as students get it, with answers yet to be written."""
    student_version.release(notebook, folder / "released.ipynb")
    return cells_of(folder / "released.ipynb")


def changed(cells, old, new):
    """The cells up to a check, where a piece of the answer before it is another; only this check is left."""
    place = next(number for number, cell in enumerate(cells) if old in cell)
    above = [cell for cell in cells[:place] if not cell.startswith("check(")]
    return [*above, cells[place].replace(old, new), cells[place + 1]]


# Of all, these reach most for their time.
QUICK = "rnn", "training"


@pytest.mark.parametrize("assignment", chosen(ASSIGNMENTS, *QUICK))
def test_answers_are_told_what_the_real_torch_tells_them(assignment, tmp_path):
    """The right ones, and in English one wrong answer of each kind, word by word."""
    right = cells_of(editions.ASSIGNMENTS / editions.ORIGINAL / f"{assignment}.ipynb")
    asked = [one for one in all_questions().values() if one.assignment == assignment and not one.reach]
    with pages_python(tmp_path) as ask:
        told = ask(right)
        assert [mistakes for mistakes, *_ in told] == [[]] * len(asked) and told == said(right)
        for kind, (old, new) in WRONG.get(assignment, {}).items():
            wrong = changed(right, old, new)
            told = said(wrong)
            assert told[-1][0] and ask(wrong) == told, kind


@pytest.mark.parametrize("language", chosen(FINISHED, editions.ORIGINAL))
def test_words(language, tmp_path):
    """In each language an answer that is yet to be written, and one with two mistakes."""
    notebook = editions.ASSIGNMENTS / language / "rnn.ipynb"
    unwritten = released(notebook, tmp_path)
    wrong = changed(cells_of(notebook), *WRONG["rnn"]["two mistakes"])
    with pages_python(tmp_path) as ask:
        told = ask(unwritten)
        assert {one for mistakes, *_ in told for one in mistakes} == {"not_written"} and told == said(unwritten)
        told = ask(wrong)
        assert len(told[-1][0]) == 2 and told == said(wrong)


@pytest.mark.heavy
def test_every_mistake_does_the_same(tmp_path):
    """Each mistake that the checker makes to name it has the same values, gradients, notes and errors on both
    torches."""
    with pages_python(tmp_path) as ask:
        different = []
        for question in (name for name, one in all_questions().items() if not one.reach):
            theirs, ours = made(question), ask(question)
            assert theirs.keys() == ours.keys()
            different += [(question, name) for name in theirs if not same(theirs[name], ours[name])]
    assert different == []


def same(*outcomes):
    return alike(*map(Outcome.from_json, outcomes))
