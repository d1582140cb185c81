"""The assignments, in every language there is: their answers are right, and students find all of it but the answers."""

import ast
import os
import re

import nbformat
import pytest
import reading
import release
from nbclient import NotebookClient
from nbgrader.nbgraderformat import read as read_as_nbgrader
from sampling import chosen

from companion.check import check
from companion.check.question import ASSIGNMENTS, all_questions
from companion.check.saying import words

SOURCES = [assignment for language in release.languages() for assignment in release.assignments(language)]
ENGLISH = [source for source in SOURCES if source.path.parent.name == "en"]
STUB = "raise NotImplementedError()"


def name_of(source):
    return f"{source.path.parent.name}/{source.name}"


each = pytest.mark.parametrize("source", SOURCES, ids=name_of)
some = pytest.mark.parametrize("source", chosen(SOURCES, *ENGLISH), ids=name_of)


def cells(path):
    return {cell.id: cell for cell in nbformat.read(path, as_version=4).cells}


def check_id(question):
    return f"{question.name.replace('_', '-')}-check"


def checks(path):
    """The calls of `check` in a notebook, by cell: their arguments as source."""
    found = {}
    for cell in cells(path).values():
        if cell.cell_type == "code" and cell.source.startswith("check("):
            call = ast.parse(cell.source, mode="eval").body
            keywords = {one.arg: ast.literal_eval(one.value) for one in call.keywords}
            found[cell.id] = [ast.literal_eval(call.args[0]), ast.unparse(call.args[1]), keywords]
    return found


def answers(path):
    """The answers of a notebook, run here: {question: the function or class}."""
    space, found = {"__name__": "notebook"}, {}
    asked = checks(path)
    for cell in cells(path).values():
        if cell.id in asked:
            name, answer, _ = asked[cell.id]
            found[name] = space[answer]
        elif cell.cell_type == "code":
            exec(compile(cell.source, cell.id, "exec"), space)
    return found


@pytest.fixture
def student(source, tmp_path):
    """The path of the students' version."""
    target = tmp_path / source.path.parent.name / source.path.name
    release.release(source.path, target)
    return target


def test_every_assignment_is_there_in_english():
    assert [assignment.name for assignment in release.assignments("en")] == list(ASSIGNMENTS)


@each
def test_every_question_has_its_cells(source):
    """An explanation, an answer and a check, in this order, with the question's name and points."""
    there = cells(source.path)
    language = source.path.parent.name
    wanted = {} if language == "en" else {"lang": language}
    order, graded = list(there), {}
    for question in source.questions:
        task, answer, checked = f"task-{check_id(question).removesuffix('-check')}", question.name, check_id(question)
        assert order.index(task) < order.index(answer) == order.index(checked) - 1
        form = {key: there[answer].metadata.nbgrader[key] for key in ("grade_id", "solution", "grade", "locked")}
        assert form == {"grade_id": answer, "solution": True, "grade": False, "locked": False}
        name, handed, keywords = checks(source.path)[checked]
        assert (name, keywords) == (question.name, wanted)
        assert re.search(rf"^(def|class) {handed}\(", there[answer].source, re.MULTILINE)
        number, points = re.match(r"## (\d+)\. .*\D(\d+)", there[task].source).groups()
        assert (int(number), int(points)) == (source.questions.index(question) + 1, question.points)
        graded[f"{question.name}-points"] = 0 if question.stretch else question.points  # nbgrader counts these together
    marks = [cell.metadata.nbgrader for cell in there.values() if "nbgrader" in cell.metadata]
    assert {mark.grade_id: mark.points for mark in marks if mark.grade} == graded
    assert all(mark.locked for mark in marks if mark.grade) and len(marks) == 2 * len(source.questions)
    assert any(question.stretch for question in source.questions)


@each
def test_the_cells_are_small(source):
    for cell in cells(source.path).values():
        lines = cell.source.splitlines()
        if cell.cell_type == "code":
            assert max(map(len, lines)) <= 88, cell.id
            stub = re.sub(r"(?s)### BEGIN SOLUTION.*?### END SOLUTION", STUB, cell.source)
            assert len(stub.splitlines()) <= 24 and len(lines) <= 60, cell.id
        else:
            assert cell.source.count("\n#") == 0, f"{cell.id}: one heading a cell"


@pytest.mark.parametrize("seed, source", [
    pytest.param(seed, source, marks=[pytest.mark.heavy] * (seed != 11 or source not in ENGLISH))
    for seed in (11, 12) for source in SOURCES
])  # fmt: skip
def test_the_answers_are_right(source, seed):
    """Also for other probes than those of the notebook's outputs. That ordinary slips are wrong: test_check_*.py."""
    found = answers(source.path)
    assert list(found) == [question.name for question in source.questions]
    results = {name: check(name, answer, seed=seed).mistakes for name, answer in found.items()}
    assert results == dict.fromkeys(found, [])


@each
def test_answers_are_the_same_in_all_languages(source):
    english = next(one for one in ENGLISH if one.name == source.name)
    assert [ast.dump(tree) for tree in code(source.path)] == [ast.dump(tree) for tree in code(english.path)]


def code(path):
    """The syntax of all cells with code but checks, without the strings that say what they do."""
    asked = checks(path)
    for cell in cells(path).values():
        if cell.cell_type == "code" and cell.id not in asked:
            tree = ast.parse(cell.source)
            for node in ast.walk(tree):
                if isinstance(node, ast.FunctionDef | ast.ClassDef) and ast.get_docstring(node):
                    del node.body[0]
            yield tree


@each
def test_the_grader_finds_the_answers(source):
    names = [question.name for question in source.questions]
    found = reading.answers(reading.read(source.path), names)
    said = {name: handed for name, handed, _ in checks(source.path).values()}
    assert {name: (one.written, one.names[0]) for name, one in found.items()} == {
        name: (True, said[name]) for name in names
    }
    assert {name: reading.name_of(name) for name in names} == said
    assert reading.assignment_of(reading.read(source.path)) == source.name


@each
def test_students_find_all_but_the_answers(source, student):
    ours, theirs = cells(source.path), cells(student)
    nbformat.validate(nbformat.read(student, as_version=4))
    read_as_nbgrader(student, as_version=nbformat.NO_CONVERT)
    assert list(theirs) == list(ours)
    answered = {question.name for question in source.questions}
    for name, cell in theirs.items():
        if name in answered:
            assert "SOLUTION" not in cell.source and STUB in cell.source
            solutions = re.findall(r"(?s)### BEGIN SOLUTION\n(.*?)\s*### END SOLUTION", ours[name].source)
            assert solutions and cell.source.count(STUB) == len(solutions)
            kept = {line.strip() for line in cell.source.splitlines()}
            outside = re.sub(r"(?s)\s*### BEGIN SOLUTION.*?### END SOLUTION", "", ours[name].source)
            assert {line.strip() for line in outside.splitlines()} | {STUB} == kept
        else:
            assert cell.source == ours[name].source
        assert not cell.get("outputs") and "translates" not in cell.metadata
        if "nbgrader" in cell.metadata:
            assert cell.metadata.nbgrader.checksum and not cell.metadata.get("deletable", True)
            assert cell.metadata.get("editable", True) == (name in answered)


@some
def test_students_are_told_that_nothing_is_written_yet(source, student):
    found = answers(student)
    mistakes = {name: check(name, answer).mistakes for name, answer in found.items()}
    assert mistakes == {question.name: ["not_written"] for question in source.questions}


@pytest.mark.parametrize("source", chosen(ENGLISH, ENGLISH[0]), ids=name_of)
def test_the_students_version_runs_as_a_notebook(source, student):
    """No cell fails, and each check says so calmly. The code of other languages is the same."""
    notebook = nbformat.read(student, as_version=4)
    alone = "import importlib.util\n[importlib.util.find_spec(name) for name in ('reading', 'release', 'execute')]"
    notebook.cells.append(nbformat.v4.new_code_cell(alone, id="alone"))
    client = NotebookClient(notebook, kernel_name="python3", timeout=120, extra_arguments=["--log-level=ERROR"])
    client.execute(cwd=str(student.parent), env={**os.environ, "UNROLLED_LANGUAGE": "en"})
    outputs = {cell.id: cell.outputs for cell in notebook.cells if cell.cell_type == "code"}
    assert outputs["alone"][0].data["text/plain"] == "[None, None, None]"  # it needs no folder of the project's
    says = words("en")["mistakes"]["not_written"]["says"]
    for name in checks(student):
        (output,) = outputs[name]
        assert says in output.data["text/markdown"]


def test_an_answer_without_marks_is_taken_out_whole(tmp_path):
    notebook = nbformat.read(release.assignments("en")[0].path, as_version=4)
    (cell,) = [cell for cell in notebook.cells if cell.id == "lookup"]
    cell.source = cell.source.replace("### BEGIN SOLUTION", "").replace("### END SOLUTION", "")
    nbformat.write(notebook, tmp_path / "source.ipynb")
    release.release(tmp_path / "source.ipynb", tmp_path / "student.ipynb")
    assert "weight[indices]" not in cells(tmp_path / "student.ipynb")["lookup"].source


def test_assignments_say_what_a_page_needs():
    rnn = release.assignments("en")[1]
    assert (rnn.name, rnn.title, rnn.points) == ("rnn", "Assignment: the RNN", 10)
    assert [(one.name, one.points, one.stretch) for one in rnn.questions][-1] == ("rnn_backward", 3, True)
    assert {one.name for source in release.assignments("en") for one in source.questions} == set(all_questions())
