"""Test that the checker gives the same results on small_torch as on torch."""

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
from tests.live.run_checker import outcomes, run_checks
from tests.project.paths import ROOT
from tests.project.sampling import chosen

FINISHED = [edition.language for edition in editions.finished()]
# assignment → kind → (a text in a correct answer, its replacement by a mistake). tests/check has a program for each
# mistake that the checker knows.
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
    """Start run_checker.py with small_torch as torch; yield a function that sends it a request."""
    (tmp_path / "torch").symlink_to(ROOT / "small_torch/src/small_torch", target_is_directory=True)
    path = os.pathsep.join(map(str, (tmp_path, ROOT, ROOT / "tests")))
    command = [sys.executable, str(ROOT / "tests/live/run_checker.py")]
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=os.environ | {"PYTHONPATH": path}
    ) as process:

        def ask(request):
            print(json.dumps(request), file=process.stdin, flush=True)
            return json.loads(process.stdout.readline())

        yield ask
        process.stdin.close()


def quick_cells(path):
    """Return the code cells without those that train networks."""
    cells = nbformat.read(path, as_version=4).cells
    return [cell.source for cell in cells if cell.cell_type == "code" and "slow" not in cell.metadata.get("tags", ())]


def released(notebook, folder):
    """Return the cells of an assignment's student version."""
    student_version.release(notebook, folder / "released.ipynb")
    return quick_cells(folder / "released.ipynb")


def with_mistake(cells, old, new):
    """Return the cells up to the check of the answer in which `old` is replaced, without the earlier checks."""
    index = next(number for number, cell in enumerate(cells) if old in cell)
    above = [cell for cell in cells[:index] if not cell.startswith("check(")]
    return [*above, cells[index].replace(old, new), cells[index + 1]]


# The assignments for `make test`, which test most for their time.
QUICK = "rnn", "training"


@pytest.mark.parametrize("assignment", chosen(ASSIGNMENTS, *QUICK))
def test_results_are_those_of_the_real_torch(assignment, tmp_path):
    """Compare the texts for correct answers and for one wrong answer of each kind, in English."""
    right = quick_cells(editions.ASSIGNMENTS / editions.ORIGINAL / f"{assignment}.ipynb")
    checked = [
        question
        for question in all_questions().values()
        if question.assignment == assignment and not question.training_goal
    ]
    with pages_python(tmp_path) as ask:
        results = ask(right)
        assert [mistakes for mistakes, *_ in results] == [[]] * len(checked) and results == run_checks(right)
        for kind, (old, new) in WRONG.get(assignment, {}).items():
            wrong = with_mistake(right, old, new)
            results = run_checks(wrong)
            assert results[-1][0] and ask(wrong) == results, kind


@pytest.mark.parametrize("language", chosen(FINISHED, editions.ORIGINAL))
def test_words_of_the_results(language, tmp_path):
    """Compare the results for unwritten answers and for an answer with two mistakes in each language."""
    notebook = editions.ASSIGNMENTS / language / "rnn.ipynb"
    unwritten = released(notebook, tmp_path)
    wrong = with_mistake(quick_cells(notebook), *WRONG["rnn"]["two mistakes"])
    with pages_python(tmp_path) as ask:
        results = ask(unwritten)
        assert {mistake for mistakes, *_ in results for mistake in mistakes} == {"not_written"}
        assert results == run_checks(unwritten)
        results = ask(wrong)
        assert len(results[-1][0]) == 2 and results == run_checks(wrong)


@pytest.mark.heavy
def test_every_mistake_has_the_same_outcome(tmp_path):
    """Compare the values, gradients, notes and errors of each mistake that the checker knows on both torches."""
    with pages_python(tmp_path) as ask:
        different = []
        for question in (name for name, definition in all_questions().items() if not definition.training_goal):
            theirs, ours = outcomes(question), ask(question)
            assert theirs.keys() == ours.keys()
            different += [(question, name) for name in theirs if not same(theirs[name], ours[name])]
    assert different == []


def same(*encoded):
    return alike(*map(Outcome.from_json, encoded))
