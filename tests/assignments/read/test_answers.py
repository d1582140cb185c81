"""The cells, files and modules that count as an answer, and the language of a submission."""

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
    """Points, mistakes and remarks of student a, and the submission."""
    found = sent(folder, "a")
    verdict = judge.grade(worker, question, found.answers.get(question), 5, "en", WORDS)
    return verdict.points, verdict.mistakes, verdict.remarks, found


@pytest.mark.parametrize("first, second, counts", [
    (STUB, GATES, ""),  # the answer in a new cell
    (GATES.rstrip() + "\n    # raise NotImplementedError()\n", "1", ""),
    (WRONG, GATES, "cell 4"),  # a copy, and the better one below
    (GATES, WRONG, "cell 2"),
])  # fmt: skip
def test_of_two_cells_the_right_one_counts(worker, tmp_path, first, second, counts):
    said = notebook({"gates": first})
    said["cells"].append(cell(second))
    put(tmp_path, "a", "lstm.ipynb", said)
    points, mistakes, remarks, _ = graded(worker, tmp_path)
    assert (points, mistakes) == (2, [])
    assert counts in "".join(remarks) and len(remarks) == bool(counts)


@pytest.mark.parametrize("names", [["lstm.ipynb", "lstm (1).ipynb"], ["lstm (9).ipynb", "lstm (10).ipynb"]])
def test_of_files_of_one_time_that_of_the_highest_number_counts(tmp_path, names):
    for name, source in zip(names, (WRONG, GATES)):
        path = put(tmp_path, "a", name, notebook({"gates": source}))
        os.utime(path, (1000 - len(name) / 10,) * 2)  # unzipped one after the other
    found = sent(tmp_path, "a")
    assert found.answers["gates"].file == names[1]
    assert found.remarks == [("several_files", f"{names[0]}: –; {names[1]}: gates")] or (
        found.remarks == [("several_files", f"{names[1]}: gates; {names[0]}: –")]
    )
    os.utime(tmp_path / "a" / names[0], (2000, 2000))  # times tell more than names
    assert sent(tmp_path, "a").answers["gates"].file == names[0]


def test_of_files_of_one_time_that_with_more_answers_counts(tmp_path):
    for name, sources in (("b.ipynb", {"gates": WRONG}), ("a.ipynb", SOURCES)):
        os.utime(put(tmp_path, "a", name, notebook(sources)), (1, 1))
    assert sent(tmp_path, "a").answers["gates"].file == "a.ipynb"


def test_commands_in_an_answers_cell(worker, tmp_path):
    """Also those whose result has a name, those of several lines, and in a cell that is indented."""
    commands = "files = !ls\n!ls \\\n  -a\nt = %timeit -o gates(1)\nif files:\n    last = !ls\n"
    for source in (commands + GATES, textwrap.indent(commands + GATES, "    ")):
        put(tmp_path, "a", "lstm.ipynb", notebook({"gates": source}))
        assert graded(worker, tmp_path)[:2] == (2, [])


HELPED = "from helping.acts import act\n" + GATES.replace("torch.sigmoid", "act")
ACTS = "import torch\nact = torch.sigmoid\n"


@pytest.mark.parametrize("how", ["a file", "a cell that writes it"])
def test_modules_that_are_handed_in_can_be_imported(worker, tmp_path, how):
    said = notebook({"gates": HELPED})
    if how == "a file":
        put(tmp_path, "a", "helping/acts.py", ACTS)
    else:
        said["cells"].insert(1, cell("%%writefile helping/acts.py\n" + ACTS))
    put(tmp_path, "a", "lstm.ipynb", said)
    points, mistakes, _, found = graded(worker, tmp_path)
    assert (points, mistakes, found.remarks) == (2, [], [])


def test_a_module_that_is_not_handed_in_is_named(worker, tmp_path):
    put(tmp_path, "a", "lstm.ipynb", notebook({"gates": HELPED}))
    points, _, remarks, _ = graded(worker, tmp_path)
    assert points == 0 and "There is no module `helping`" in "".join(remarks)


def test_two_assignments_in_one_notebook(tmp_path):
    rnn = {name: f"def {submitted_answers.name_of(name)}(*a): return a" for name in questions("rnn")}
    put(tmp_path, "a", "all.ipynb", notebook(SOURCES | rnn))
    found = sent(tmp_path, "a")
    assert set(found.assignments) == {"lstm", "rnn"} and set(found.answers) == {*SOURCES, *rnn}
    # a cell of another one that is kept as a help does not make an assignment with all others missing
    kept = next(iter(rnn))
    put(tmp_path, "a", "all.ipynb", notebook(SOURCES | {kept: rnn[kept]}))
    found = sent(tmp_path, "a")
    assert found.assignments == ["lstm"] and found.remarks == [("not_graded_too", "all.ipynb: rnn")]
    assert kept in submitted_answers.submission("a", tmp_path / "a", ["rnn"]).answers


@pytest.mark.parametrize("sources, more", [
    ({"gates": GATES}, "def gates(*a):\n    return None\n"),
    ({"gates": GATES}, "gates = nn.LSTMCell(2, 3)\nprint(gates)"),
    ({"gates": ONE_BIAS, "one_bias": GATES}, ""),  # each in the other's cell
    ({"gates": GATES.replace("def gates", "def my_gates")}, 'check("gates", my_gates)'),
])  # fmt: skip
def test_an_answer_is_found_whatever_stands_below(worker, tmp_path, sources, more):
    said = notebook(sources, checks="check" not in more)
    said["cells"].append(cell(more))
    put(tmp_path, "a", "lstm.ipynb", said)
    answers = sent(tmp_path, "a").answers
    assert answers and all(judge.grade(worker, name, one, 5, "en", WORDS).ok for name, one in answers.items())


@pytest.mark.parametrize("language, text", [
    ("en", "Write the gates."), ("ja", "ゲートを計算してください。"), ("ko", "게이트를 계산하세요."), ("zh",
    "请计算四个门。"),
])  # fmt: skip
def test_the_language_is_that_of_the_text(tmp_path, language, text):
    put(tmp_path, "a", "lstm.ipynb", notebook(text=text * 5))
    assert sent(tmp_path, "a").language == language


def test_the_language_is_that_of_the_checks(tmp_path, monkeypatch):
    """Spanish has the letters of English. Only a language that there are words in is one."""
    spoken = {
        name: source + f'\ncheck("{name}", {submitted_answers.name_of(name)}, lang="es")'
        for name, source in SOURCES.items()
    }
    put(tmp_path, "a", "lstm.ipynb", notebook(spoken, text="Calcule las puertas." * 5, checks=False))
    monkeypatch.setattr(messages, "languages", lambda: ["en", "es", "ja"])
    assert sent(tmp_path, "a").language == "es"
    put(tmp_path, "a", "lstm.ipynb", notebook(spoken | {"more": 'check("x", x, lang="ja")'}, checks=False))
    assert sent(tmp_path, "a").language == "es"
    monkeypatch.setattr(messages, "languages", lambda: ["en", "ko"])
    assert sent(tmp_path, "a").language == "en"
