"""The assignments, in every language there is: their answers are right, and students find all of it but the answers."""

import ast
import json
import os
import re
import shutil

import nbformat
import pytest
from nbclient import NotebookClient
from nbgrader.nbgraderformat import read as read_as_nbgrader

from assignments import student_version
from assignments.read import answers as submitted_answers
from assignments.read import notebooks
from book.tools import translations
from companion.check import check
from companion.check.engine.messages import words
from companion.check.engine.question import ASSIGNMENTS, all_questions
from tests.check.programs import questions
from tests.site.small_book import copy_edition

SOURCES = [
    assignment for language in student_version.languages() for assignment in student_version.assignments(language)
]
ENGLISH = [source for source in SOURCES if source.path.parent.name == "en"]
STUB = "raise NotImplementedError()"


def name_of(source):
    return f"{source.path.parent.name}/{source.name}"


each = pytest.mark.parametrize("source", SOURCES, ids=name_of)
each_english = pytest.mark.parametrize("source", ENGLISH, ids=name_of)  # the code of other languages is the same


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
    student_version.release(source.path, target)
    return target


@pytest.mark.parametrize("name", ASSIGNMENTS)
def test_every_question_is_asked_in_english(name):
    path = student_version.SOURCE / "en" / f"{name}.ipynb"
    assert path.is_file(), f"the assignment {name} has no notebook {path.relative_to(student_version.ROOT)}"
    there = cells(path)
    lost = [one for one in questions(name) if one not in there]
    wanted = [f"task-{one.replace('_', '-')}, {one} and {one.replace('_', '-')}-check" for one in lost]
    assert lost == [], f"{path.relative_to(student_version.ROOT)} lacks the cells {', '.join(wanted)}"
    unknown = [asked for asked, *_ in checks(path).values() if asked not in questions(name)]
    assert unknown == [], f"{path.name} asks {unknown}, which companion/check/questions/{name} has not"
    assert [one for one in there if one in questions(name)] == questions(name), "the questions have another order"


@each
def test_every_question_has_its_cells(source):
    """An explanation, an answer and a check, in this order, with the question's name and points."""
    there = cells(source.path)
    language = source.path.parent.name
    lang = {} if language == "en" else {"lang": language}
    order, asked = list(there), checks(source.path)
    for number, question in enumerate(source.questions, start=1):
        task, answer, checked = f"task-{check_id(question).removesuffix('-check')}", question.name, check_id(question)
        for cell in (task, answer, checked):
            assert cell in order, f"{question.name} has no cell with the id {cell!r}"
        assert order.index(task) < order.index(answer) == order.index(checked) - 1, (
            f"{task}, {answer}, {checked}: the order"
        )
        marked(there[answer], grade_id=answer, solution=True, grade=False, locked=False)
        points = 0 if question.stretch else question.points  # nbgrader counts these together
        marked(there[checked], grade_id=f"{answer}-points", solution=False, grade=True, locked=True, points=points)
        name, handed, keywords = asked.get(checked, ("", "", {}))
        assert (name, keywords) == (answer, lang), (
            f"{checked} should call check({answer!r}, {question.asks_for}, {lang})"
        )
        defines = re.search(rf"^(def|class) {handed}\(", there[answer].source, re.MULTILINE)
        assert defines, f"{answer} does not define {handed}, which {checked} hands over"
        heading = there[task].source.partition("\n")[0]
        said = re.match(r"## (\d+)\. .*\D(\d+)", heading)
        right = said and (int(said[1]), int(said[2])) == (number, question.points)
        assert right, f"{task} begins {heading!r}; it is number {number}, of {question.points} points"
    marks = [cell.id for cell in there.values() if "nbgrader" in cell.metadata]
    assert len(marks) == 2 * len(source.questions), f"of these some belong to no question: {marks}"


@each
def test_who_is_asked_and_what_is_left_are_said(source):
    """By the cells `student`, `<question>-variant` and `progress`, which speak the notebook's language."""
    there = list(cells(source.path).values())
    order, language = [cell.id for cell in there], source.path.parent.name
    lang = "" if language == "en" else f', lang="{language}"'

    def said(cell, source_begins):
        assert cell in order, f"there is no cell with the id {cell!r}, which says {source_begins}"
        has = there[order.index(cell)].source
        assert has == source_begins or has.startswith(source_begins + "  # "), f"{cell} should say {source_begins}"
        return order.index(cell)

    varied = [question.name for question in source.questions if question.variants]
    for name in varied:
        cell = name.replace("_", "-")
        at = said(f"{cell}-variant", f'variant("{name}"{lang})')
        assert order.index(f"task-{cell}") < at < order.index(name), f"{order[at]} stands between task and answer"
    if varied:
        assert said("student", f'student(""{lang})') < min(order.index(name) for name in varied)
    assert ("student" in order) == bool(varied) and sum(one.endswith("-variant") for one in order) == len(varied)
    if "progress" in order:
        last = said("progress", f'progress("{source.name}"{lang})')
        assert last == len(order) - 1 and order[last - 1] == "what-is-left"


def marked(cell, **wanted):
    """That a cell has these marks of nbgrader's."""
    wanted |= {"schema_version": 3, "task": False}
    has = cell.metadata.get("nbgrader", {})
    told = f"the metadata of the cell {cell.id} should have {json.dumps({'nbgrader': wanted})}"
    assert has == wanted, told


def test_a_translation_that_is_behind_asks_fewer_questions(tmp_path, monkeypatch):
    """book/tools/translations.py names what is missing."""
    folder = tmp_path / "assignments" / "source"
    shutil.copytree(student_version.SOURCE / "en", folder / "en")
    notebook = nbformat.read(folder / "en" / "rnn.ipynb", as_version=4)
    gone = ["task-windows", "windows", "windows-check"]
    notebook.cells = [cell for cell in notebook.cells if cell.id not in gone]
    (folder / "ja").mkdir()
    nbformat.write(notebook, folder / "ja" / "rnn.ipynb")
    for language in ("en", "ja"):
        copy_edition(tmp_path, language)
    translations.renew("ja", "assignments/rnn", [], tmp_path)
    monkeypatch.setattr(student_version, "SOURCE", folder)
    english, behind = student_version.assignments("en")[1], student_version.assignments("ja")[0]
    assert [one.name for one in english.questions if one not in behind.questions] == ["windows"]
    assert english.points - behind.points == all_questions()["windows"].points
    found = [one for one in translations.findings("ja", tmp_path) if one.page == "assignments/rnn"]
    assert [str(one) for one in found] == [f"ja/assignments/rnn {cell}: the cell is missing" for cell in gone]


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


@each_english
def test_the_answers_are_right(source):
    """Also for other probes than those of the notebook's outputs. That ordinary slips are wrong:
    tests/check/test_answers.py."""
    found = answers(source.path)
    assert list(found) == [question.name for question in source.questions]
    results = {name: check(name, answer, seed=11).mistakes for name, answer in found.items()}
    assert results == dict.fromkeys(found, [])


@each
def test_the_grader_finds_the_answers(source):
    names = [question.name for question in source.questions]
    found = submitted_answers.find_answers(notebooks.read_notebook(source.path), names)
    said = {name: handed for name, handed, _ in checks(source.path).values()}
    assert {name: (one.written, one.names[0]) for name, one in found.items()} == {
        name: (True, said.get(name)) for name in names
    }
    assert {name: submitted_answers.name_of(name) for name in names} == said
    assert submitted_answers.assignments_of(notebooks.read_notebook(source.path)) == ([source.name], [])


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


@each_english
def test_students_are_told_that_nothing_is_written_yet(source, student):
    found = answers(student)
    mistakes = {name: check(name, answer).mistakes for name, answer in found.items()}
    assert mistakes == {question.name: ["not_written"] for question in source.questions}


@pytest.mark.heavy
@pytest.mark.parametrize("source", [one for one in ENGLISH if one.name == "gru"], ids=name_of)
def test_the_students_version_runs_as_a_notebook(source, student):
    """No cell fails, and each check says so calmly. This one asks for a name, and has variants."""
    notebook = nbformat.read(student, as_version=4)
    alone = "import importlib.util\n[importlib.util.find_spec(name) for name in ('assignments', 'book', 'benchmarks')]"
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
    notebook = nbformat.read(student_version.assignments("en")[0].path, as_version=4)
    (cell,) = [cell for cell in notebook.cells if cell.id == "lookup"]
    cell.source = cell.source.replace("### BEGIN SOLUTION", "").replace("### END SOLUTION", "")
    nbformat.write(notebook, tmp_path / "source.ipynb")
    student_version.release(tmp_path / "source.ipynb", tmp_path / "student.ipynb")
    assert "weight[indices]" not in cells(tmp_path / "student.ipynb")["lookup"].source


def test_assignments_say_what_a_page_needs():
    rnn = student_version.assignments("en")[1]
    marks = [cell.metadata.get("nbgrader", {}) for cell in cells(rnn.path).values()]
    assert (rnn.name, rnn.title) == ("rnn", "Assignment: the RNN")
    marked = sum(mark.get("points", 0) for mark in marks)
    assert rnn.points == marked, f"the questions have {rnn.points} points, nbgrader's marks in {rnn.path.name} {marked}"
    assert [one.name for one in rnn.questions if one.stretch] == ["rnn_backward"]
