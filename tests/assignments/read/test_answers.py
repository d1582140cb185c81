"""Test which cells, files and modules count as an answer, and how the language is found."""

import os
import textwrap

import pytest

from assignments.grade import judge
from assignments.read import answers as submitted_answers
from companion.check.engine import messages
from tests.assignments.grading import WORDS, cell, notebook, put, sent
from tests.check.lstm_answers import GATES, ONE_BIAS, SOURCES
from tests.check.programs import questions

STUB = "def gates(x, h, weight_ih, weight_hh, bias_ih, bias_hh):\n    raise NotImplementedError()\n"
WRONG = GATES.replace("sigmoid", "tanh")


def graded(worker, folder, question="gates"):
    """Return the points, mistakes and remarks of student a, and the submission."""
    submission = sent(folder, "a")
    verdict = judge.grade(worker, question, submission.answers.get(question), 5, "en", WORDS)
    return verdict.points, verdict.mistakes, verdict.remarks, submission


@pytest.mark.parametrize("first, second, remark", [
    (STUB, GATES, ""),  # the answer in a new cell
    (GATES.rstrip() + "\n    # raise NotImplementedError()\n", "1", ""),
    (WRONG, GATES, "cell 4"),  # a copy, and the better one below
    (GATES, WRONG, "cell 2"),
])  # fmt: skip
def test_the_right_one_of_two_cells_counts(worker, tmp_path, first, second, remark):
    changed = notebook({"gates": first})
    changed["cells"].append(cell(second))
    put(tmp_path, "a", "lstm.ipynb", changed)
    points, mistakes, remarks, _ = graded(worker, tmp_path)
    assert (points, mistakes) == (2, [])
    assert remark in "".join(remarks) and len(remarks) == bool(remark)


@pytest.mark.parametrize("names", [["lstm.ipynb", "lstm (1).ipynb"], ["lstm (9).ipynb", "lstm (10).ipynb"]])
def test_the_highest_number_counts_among_files_of_one_time(tmp_path, names):
    for name, source in zip(names, (WRONG, GATES)):
        path = put(tmp_path, "a", name, notebook({"gates": source}))
        os.utime(path, (1000 - len(name) / 10,) * 2)  # unzipped one after the other
    submission = sent(tmp_path, "a")
    assert submission.answers["gates"].file == names[1]
    assert submission.remarks == [("several_files", f"{names[0]}: –; {names[1]}: gates")] or (
        submission.remarks == [("several_files", f"{names[1]}: gates; {names[0]}: –")]
    )
    os.utime(tmp_path / "a" / names[0], (2000, 2000))  # times count more than names
    assert sent(tmp_path, "a").answers["gates"].file == names[0]


def test_more_answers_count_among_files_of_one_time(tmp_path):
    for name, sources in (("b.ipynb", {"gates": WRONG}), ("a.ipynb", SOURCES)):
        os.utime(put(tmp_path, "a", name, notebook(sources)), (1, 1))
    assert sent(tmp_path, "a").answers["gates"].file == "a.ipynb"


def test_shell_commands_in_an_answers_cell_are_ignored(worker, tmp_path):
    """Check also assigned results, commands of several lines, and an indented cell."""
    commands = "files = !ls\n!ls \\\n  -a\nt = %timeit -o gates(1)\nif files:\n    last = !ls\n"
    for source in (commands + GATES, textwrap.indent(commands + GATES, "    ")):
        put(tmp_path, "a", "lstm.ipynb", notebook({"gates": source}))
        assert graded(worker, tmp_path)[:2] == (2, [])


HELPED = "from helping.acts import act\n" + GATES.replace("torch.sigmoid", "act")
ACTS = "import torch\nact = torch.sigmoid\n"


@pytest.mark.parametrize("how", ["a file", "a cell that writes it"])
def test_submitted_modules_can_be_imported(worker, tmp_path, how):
    book = notebook({"gates": HELPED})
    if how == "a file":
        put(tmp_path, "a", "helping/acts.py", ACTS)
    else:
        book["cells"].insert(1, cell("%%writefile helping/acts.py\n" + ACTS))
    put(tmp_path, "a", "lstm.ipynb", book)
    points, mistakes, _, submission = graded(worker, tmp_path)
    assert (points, mistakes, submission.remarks) == (2, [], [])


def test_a_missing_module_is_named(worker, tmp_path):
    put(tmp_path, "a", "lstm.ipynb", notebook({"gates": HELPED}))
    points, _, remarks, _ = graded(worker, tmp_path)
    assert points == 0 and "There is no module `helping`" in "".join(remarks)


def test_one_notebook_may_answer_two_assignments(tmp_path):
    rnn = {name: f"def {submitted_answers.name_of(name)}(*a): return a" for name in questions("rnn")}
    put(tmp_path, "a", "all.ipynb", notebook(SOURCES | rnn))
    submission = sent(tmp_path, "a")
    assert set(submission.assignments) == {"lstm", "rnn"} and set(submission.answers) == {*SOURCES, *rnn}
    # a single cell of another assignment, kept as a helper, does not submit that assignment
    helper = next(iter(rnn))
    put(tmp_path, "a", "all.ipynb", notebook(SOURCES | {helper: rnn[helper]}))
    submission = sent(tmp_path, "a")
    assert submission.assignments == ["lstm"] and submission.remarks == [("not_graded_too", "all.ipynb: rnn")]
    assert helper in submitted_answers.read_submission("a", tmp_path / "a", ["rnn"]).answers


@pytest.mark.parametrize("sources, below", [
    ({"gates": GATES}, "def gates(*a):\n    return None\n"),
    ({"gates": GATES}, "gates = nn.LSTMCell(2, 3)\nprint(gates)"),
    ({"gates": ONE_BIAS, "one_bias": GATES}, ""),  # each in the other's cell
    ({"gates": GATES.replace("def gates", "def my_gates")}, 'check("gates", my_gates)'),
])  # fmt: skip
def test_an_answer_is_found_despite_cells_below(worker, tmp_path, sources, below):
    book = notebook(sources, checks="check" not in below)
    book["cells"].append(cell(below))
    put(tmp_path, "a", "lstm.ipynb", book)
    answers = sent(tmp_path, "a").answers
    assert answers and all(judge.grade(worker, name, answer, 5, "en", WORDS).ok for name, answer in answers.items())


@pytest.mark.parametrize("language, text", [
    ("en", "Write the gates."), ("ja", "ゲートを計算してください。"), ("ko", "게이트를 계산하세요."), ("zh",
    "请计算四个门。"),
])  # fmt: skip
def test_the_language_is_that_of_the_text(tmp_path, language, text):
    put(tmp_path, "a", "lstm.ipynb", notebook(text=text * 5))
    assert sent(tmp_path, "a").language == language


def test_the_language_is_that_of_the_checks(tmp_path, monkeypatch):
    """Check with Spanish, which has the letters of English, and with a language without words in the grader."""
    sources = {
        name: source + f'\ncheck("{name}", {submitted_answers.name_of(name)}, lang="es")'
        for name, source in SOURCES.items()
    }
    put(tmp_path, "a", "lstm.ipynb", notebook(sources, text="Calcule las puertas." * 5, checks=False))
    monkeypatch.setattr(messages, "languages", lambda: ["en", "es", "ja"])
    assert sent(tmp_path, "a").language == "es"
    put(tmp_path, "a", "lstm.ipynb", notebook(sources | {"more": 'check("x", x, lang="ja")'}, checks=False))
    assert sent(tmp_path, "a").language == "es"
    monkeypatch.setattr(messages, "languages", lambda: ["en", "ko"])
    assert sent(tmp_path, "a").language == "en"
