"""Own questions in a student's notebook, with and without the file of the question."""

import nbformat
import pytest

from assignments.own import notebooks, stored
from companion.check import check, own_question, progress, student, variant
from companion.check.engine.question import ADDED
from companion.check.own.notebook import READ, VARIABLE
from tests.assignments.own.page import FILE, NOT_IN_TANH, OF_NEW
from tests.assignments.own.test_own_batch import LAYER, OWN_LAYER


def run_cells(notebook, answers):
    """Run a notebook's cells with these answers in place of the stubs; return what each last expression gives."""
    namespace, shown = {}, {}
    for cell in notebook.cells:
        if cell.cell_type == "code":
            source = answers.get(cell.id, cell.source)
            try:
                shown[cell.id] = eval(source, namespace)
            except SyntaxError:  # statements
                exec(source, namespace)
    return shown


def forget():
    ADDED.clear()
    READ.clear()


def test_the_notebook_has_all_cells_and_no_answer(week, released):
    notebook = released(week(**{"1_leaky_step": FILE, "2_leaky_layer": LAYER + "STRETCH = True\n"}))
    assert [cell.id for cell in notebook.cells] == [
        "title", "how-it-works", "imports", "own-questions", "student", "task-leaky-step", "leaky-step-variant",
        "leaky_step", "leaky-step-check", "task-leaky-layer", "leaky_layer", "leaky-layer-check", "what-is-left",
        "progress",
    ]  # fmt: skip
    sources = {cell.id: cell.source for cell in notebook.cells}
    assert sources["task-leaky-step"].startswith("## 1. A unit that leaks · 2 points\n\n`leaky_step(x, h,")
    assert sources["task-leaky-layer"].startswith("## 2. `leaky_layer` · a stretch, points: 3\n\nMany steps.")
    assert sources["leaky_step"] == "def leaky_step(x, h, weight, leak):\n    raise NotImplementedError()"
    assert sources["leaky_layer"].count("raise NotImplementedError()") == 2
    graded = {cell.metadata.nbgrader.grade_id: cell.metadata.nbgrader for cell in notebook.cells if cell.metadata}
    assert graded["leaky_step-points"]["points"] == 2 and graded["leaky_step-points"]["locked"]
    assert graded["leaky_layer-points"]["points"] == 0
    everything = nbformat.writes(notebook)
    for secret in ("(1 - share)", "share = ", "torch.tanh", "MISTAKES", "Nothing of the old state"):
        assert secret not in everything, secret


def test_notebooks_are_written_in_each_language(tmp_path, week):
    texts = 'TEXTS = {"ja": "# 漏れるユニット\\n\\n次の状態を計算します。"}\n'
    folder = week(leaky_step=FILE + texts)
    (folder / "intro.md").write_text("# Week 3\n\nUnits that forget.", encoding="utf-8")
    (folder / "intro.ko.md").write_text("# 3주차", encoding="utf-8")
    paths = notebooks.write_notebooks(stored.use([folder]), tmp_path / "out")
    cells = {path.parent.name: nbformat.read(path, as_version=4).cells for path in paths}
    assert set(cells) == {"en", "ja", "ko", "zh"}
    titles = {language: cells[language][0].source for language in cells}
    assert titles["en"] == titles["ja"] == "# Week 3\n\nUnits that forget." and titles["ko"] == "# 3주차"
    tasks = {language: cells[language][5].source for language in cells}
    assert tasks["ja"] == "## 1. 漏れるユニット（2点）\n\n次の状態を計算します。"
    assert tasks["zh"].startswith("## 1. A unit that leaks · 2 分\n\n`leaky_step(")
    assert cells["ja"][-1].source == 'progress("week_3", lang="ja")'


def test_without_the_file_it_is_checked_later(tmp_path, week, released, monkeypatch):
    notebook = released(week())
    forget()
    monkeypatch.setenv(VARIABLE, "")
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "elsewhere" / "leaky_step.py").write_text(OF_NEW)  # a student's own module is no file of a question
    monkeypatch.chdir(tmp_path / "elsewhere")
    shown = run_cells(notebook, {"student": 'student("ada")'})
    assert repr(shown["leaky-step-check"]).startswith("`leaky_step` is not checked here.")
    assert not shown["leaky-step-check"].ok
    assert "| `leaky_step` | 0 / 2 | not checked |" in repr(shown["progress"])
    # the variant is the one that the grader asks for
    names = [f"student {number}" for number in range(8)]
    asked = [student(name) and repr(variant("leaky_step")) for name in names]
    questions = {question.name: question for _, question in stored.use([week()])}
    expected = [questions["leaky_step"].asked_of(name).variant == "leak_of_new" for name in names]
    assert ["the share of the new value" in text for text in asked] == expected and len({*asked}) == 2


@pytest.mark.parametrize("beside", [True, False])
def test_with_the_file_it_is_checked_at_once(tmp_path, week, released, monkeypatch, beside):
    notebook = released(folder := week(**{"1_leaky_step": FILE, "2_leaky_layer": LAYER}))
    forget()
    monkeypatch.setenv(VARIABLE, "" if beside else str(folder))
    monkeypatch.chdir(folder if beside else tmp_path)
    shown = run_cells(notebook, {"leaky_step": NOT_IN_TANH})
    assert shown["leaky-step-check"].mistakes == ["state_not_in_tanh"]
    assert "The new value does not see the state." in repr(shown["leaky-step-check"])
    shown = run_cells(notebook, {"leaky_step": OF_NEW, "leaky_layer": OWN_LAYER})
    assert shown["leaky-step-check"].ok and shown["leaky-layer-check"].ok
    assert "5 of 5 points" in repr(shown["progress"])


def test_a_faulty_file_does_not_stop_the_notebook(week, monkeypatch, capsys):
    monkeypatch.chdir(week(leaky_step=FILE.replace("POINTS = 2", "")))
    own_question("week_3", "leaky_step", points=2)
    assert "POINTS is missing" in capsys.readouterr().out
    assert check("leaky_step", None).mistakes == ["graded_later"] and "0 / 2" in repr(progress("week_3"))
