"""The assignments in all languages: their answers are right, and the students' version lacks only the answers."""

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
    """Return the calls of `check` in a notebook, by cell: their arguments as source."""
    calls = {}
    for cell in cells(path).values():
        if cell.cell_type == "code" and cell.source.startswith("check("):
            call = ast.parse(cell.source, mode="eval").body
            keywords = {keyword.arg: ast.literal_eval(keyword.value) for keyword in call.keywords}
            calls[cell.id] = [ast.literal_eval(call.args[0]), ast.unparse(call.args[1]), keywords]
    return calls


def answers(path):
    """Run a notebook, and return its answers: {question: the function or class}."""
    namespace, answers_found = {"__name__": "notebook"}, {}
    calls = checks(path)
    for cell in cells(path).values():
        if cell.id in calls:
            name, answer, _ = calls[cell.id]
            answers_found[name] = namespace[answer]
        elif cell.cell_type == "code":
            exec(compile(cell.source, cell.id, "exec"), namespace)
    return answers_found


@pytest.fixture
def student(source, tmp_path):
    """Return the path of the students' version."""
    target = tmp_path / source.path.parent.name / source.path.name
    student_version.release(source.path, target)
    return target


@pytest.mark.parametrize("name", ASSIGNMENTS)
def test_every_question_is_asked_in_english(name):
    path = student_version.SOURCE / "en" / f"{name}.ipynb"
    assert path.is_file(), f"the assignment {name} has no notebook {path.relative_to(student_version.ROOT)}"
    present = cells(path)
    missing = [question for question in questions(name) if question not in present]
    ids = {question: question.replace("_", "-") for question in missing}
    wanted = [f"task-{ids[question]}, {question} and {ids[question]}-check" for question in missing]
    assert missing == [], f"{path.relative_to(student_version.ROOT)} lacks the cells {', '.join(wanted)}"
    unknown = [asked for asked, *_ in checks(path).values() if asked not in questions(name)]
    assert unknown == [], f"{path.name} asks {unknown}, which companion/check/questions/{name} has not"
    order = [question for question in present if question in questions(name)]
    assert order == questions(name), "the questions have another order"


@each
def test_every_question_has_its_cells(source):
    """Check that each has an explanation, an answer and a check in this order, with its name and points."""
    present = cells(source.path)
    language = source.path.parent.name
    lang = {} if language == "en" else {"lang": language}
    order, calls = list(present), checks(source.path)
    for number, question in enumerate(source.questions, start=1):
        task, answer, checked = f"task-{check_id(question).removesuffix('-check')}", question.name, check_id(question)
        for cell in (task, answer, checked):
            assert cell in order, f"{question.name} has no cell with the id {cell!r}"
        assert order.index(task) < order.index(answer) == order.index(checked) - 1, (
            f"{task}, {answer}, {checked}: the order"
        )
        marked(present[answer], grade_id=answer, solution=True, grade=False, locked=False)
        points = 0 if question.stretch else question.points  # nbgrader counts these together
        marked(present[checked], grade_id=f"{answer}-points", solution=False, grade=True, locked=True, points=points)
        name, answer_name, keywords = calls.get(checked, ("", "", {}))
        assert (name, keywords) == (answer, lang), (
            f"{checked} should call check({answer!r}, {question.asks_for}, {lang})"
        )
        defines = re.search(rf"^(def|class) {answer_name}\(", present[answer].source, re.MULTILINE)
        assert defines, f"{answer} does not define {answer_name}, which {checked} hands over"
        heading = present[task].source.partition("\n")[0]
        match = re.match(r"## (\d+)\. .*\D(\d+)", heading)
        right = match and (int(match[1]), int(match[2])) == (number, question.points)
        assert right, f"{task} begins {heading!r}; it is number {number}, of {question.points} points"
    marks = [cell.id for cell in present.values() if "nbgrader" in cell.metadata]
    assert len(marks) == 2 * len(source.questions), f"of these some belong to no question: {marks}"


@each
def test_cells_for_name_variants_and_progress(source):
    """Check the cells `student`, `<question>-variant` and `progress`, and their language."""
    present = list(cells(source.path).values())
    order, language = [cell.id for cell in present], source.path.parent.name
    lang = "" if language == "en" else f', lang="{language}"'

    def index_of(cell, source_begins):
        assert cell in order, f"there is no cell with the id {cell!r}, which says {source_begins}"
        source = present[order.index(cell)].source
        assert source == source_begins or source.startswith(source_begins + "  # "), f"{cell}: {source_begins}"
        return order.index(cell)

    varied = [question.name for question in source.questions if question.variants]
    for name in varied:
        cell = name.replace("_", "-")
        index = index_of(f"{cell}-variant", f'variant("{name}"{lang})')
        assert order.index(f"task-{cell}") < index < order.index(name), f"{order[index]} stands between task and answer"
    if varied:
        assert index_of("student", f'student(""{lang})') < min(order.index(name) for name in varied)
    assert ("student" in order) == bool(varied) and sum(name.endswith("-variant") for name in order) == len(varied)
    if "progress" in order:
        last = index_of("progress", f'progress("{source.name}"{lang})')
        assert last == len(order) - 1 and order[last - 1] == "what-is-left"


def marked(cell, **wanted):
    """Check that a cell has this metadata of nbgrader."""
    wanted |= {"schema_version": 3, "task": False}
    metadata = cell.metadata.get("nbgrader", {})
    message = f"the metadata of the cell {cell.id} should have {json.dumps({'nbgrader': wanted})}"
    assert metadata == wanted, message


def test_outdated_translation_asks_fewer_questions(tmp_path, monkeypatch):
    """Check that book/tools/translations.py names what is missing, too."""
    folder = tmp_path / "assignments" / "source"
    shutil.copytree(student_version.SOURCE / "en", folder / "en")
    notebook = nbformat.read(folder / "en" / "rnn.ipynb", as_version=4)
    removed = ["task-windows", "windows", "windows-check"]
    notebook.cells = [cell for cell in notebook.cells if cell.id not in removed]
    (folder / "ja").mkdir()
    nbformat.write(notebook, folder / "ja" / "rnn.ipynb")
    for language in ("en", "ja"):
        copy_edition(tmp_path, language)
    translations.renew("ja", "assignments/rnn", [], tmp_path)
    monkeypatch.setattr(student_version, "SOURCE", folder)
    english, outdated = student_version.assignments("en")[1], student_version.assignments("ja")[0]
    assert [question.name for question in english.questions if question not in outdated.questions] == ["windows"]
    assert english.points - outdated.points == all_questions()["windows"].points
    findings = [finding for finding in translations.findings("ja", tmp_path) if finding.page == "assignments/rnn"]
    assert [str(finding) for finding in findings] == [
        f"ja/assignments/rnn {cell}: the cell is missing" for cell in removed
    ]


@each
def test_cells_are_small(source):
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
    """Check the answers on other probes than those of the notebook's outputs.

    tests/check/test_answers.py checks that common slips are wrong.
    """
    answers_found = answers(source.path)
    assert list(answers_found) == [question.name for question in source.questions]
    results = {name: check(name, answer, seed=11).mistakes for name, answer in answers_found.items()}
    assert results == dict.fromkeys(answers_found, [])


@each
def test_the_grader_finds_the_answers(source):
    names = [question.name for question in source.questions]
    answers_found = submitted_answers.find_answers(notebooks.read_notebook(source.path), names)
    names_checked = {name: answer_name for name, answer_name, _ in checks(source.path).values()}
    assert {name: (answer.written, answer.names[0]) for name, answer in answers_found.items()} == {
        name: (True, names_checked.get(name)) for name in names
    }
    assert {name: submitted_answers.name_of(name) for name in names} == names_checked
    assert submitted_answers.assignments_of(notebooks.read_notebook(source.path)) == ([source.name], [])


@each
def test_students_version_lacks_only_the_answers(source, student):
    source_cells, student_cells = cells(source.path), cells(student)
    nbformat.validate(nbformat.read(student, as_version=4))
    read_as_nbgrader(student, as_version=nbformat.NO_CONVERT)
    assert list(student_cells) == list(source_cells)
    answered = {question.name for question in source.questions}
    for name, cell in student_cells.items():
        if name in answered:
            assert "SOLUTION" not in cell.source and STUB in cell.source
            solutions = re.findall(r"(?s)### BEGIN SOLUTION\n(.*?)\s*### END SOLUTION", source_cells[name].source)
            assert solutions and cell.source.count(STUB) == len(solutions)
            kept = {line.strip() for line in cell.source.splitlines()}
            outside = re.sub(r"(?s)\s*### BEGIN SOLUTION.*?### END SOLUTION", "", source_cells[name].source)
            assert {line.strip() for line in outside.splitlines()} | {STUB} == kept
        else:
            assert cell.source == source_cells[name].source
        assert not cell.get("outputs") and "translates" not in cell.metadata
        if "nbgrader" in cell.metadata:
            assert cell.metadata.nbgrader.checksum and not cell.metadata.get("deletable", True)
            assert cell.metadata.get("editable", True) == (name in answered)


@each_english
def test_students_version_is_checked_as_not_written(source, student):
    answers_found = answers(student)
    mistakes = {name: check(name, answer).mistakes for name, answer in answers_found.items()}
    assert mistakes == {question.name: ["not_written"] for question in source.questions}


@pytest.mark.heavy
@pytest.mark.parametrize("source", [source for source in ENGLISH if source.name == "gru"], ids=name_of)
def test_the_students_version_runs_as_a_notebook(source, student):
    """Check that no cell fails. `gru` asks for a name and has variants."""
    notebook = nbformat.read(student, as_version=4)
    alone = "import importlib.util\n[importlib.util.find_spec(name) for name in ('assignments', 'book', 'benchmarks')]"
    notebook.cells.append(nbformat.v4.new_code_cell(alone, id="alone"))
    client = NotebookClient(notebook, kernel_name="python3", timeout=120, extra_arguments=["--log-level=ERROR"])
    client.execute(cwd=str(student.parent), env={**os.environ, "UNROLLED_LANGUAGE": "en"})
    outputs = {cell.id: cell.outputs for cell in notebook.cells if cell.cell_type == "code"}
    assert outputs["alone"][0].data["text/plain"] == "[None, None, None]"  # it needs no folder of the project's
    message = words("en")["mistakes"]["not_written"]["says"]
    for name in checks(student):
        (output,) = outputs[name]
        assert message in output.data["text/markdown"]


def test_answer_without_solution_marks_is_removed_whole(tmp_path):
    notebook = nbformat.read(student_version.assignments("en")[0].path, as_version=4)
    (cell,) = [cell for cell in notebook.cells if cell.id == "lookup"]
    cell.source = cell.source.replace("### BEGIN SOLUTION", "").replace("### END SOLUTION", "")
    nbformat.write(notebook, tmp_path / "source.ipynb")
    student_version.release(tmp_path / "source.ipynb", tmp_path / "student.ipynb")
    assert "weight[indices]" not in cells(tmp_path / "student.ipynb")["lookup"].source


def test_assignment_has_title_points_and_stretch_questions():
    rnn = student_version.assignments("en")[1]
    marks = [cell.metadata.get("nbgrader", {}) for cell in cells(rnn.path).values()]
    assert (rnn.name, rnn.title) == ("rnn", "Assignment: the RNN")
    marked = sum(mark.get("points", 0) for mark in marks)
    assert rnn.points == marked, f"the questions have {rnn.points} points, nbgrader's marks in {rnn.path.name} {marked}"
    assert [question.name for question in rnn.questions if question.stretch] == ["rnn_backward"]
