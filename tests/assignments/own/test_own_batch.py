"""An instructor's own questions from the file on the page to grades."""

import re
import subprocess
import sys
from pathlib import Path

import nbformat
import pytest
import torch

from assignments import forget
from assignments.grade import cache
from assignments.own import __main__ as command
from assignments.own import notebooks, stored
from companion.check.engine.question import ADDED, Draw, add_questions
from tests.assignments.grading import put, rows
from tests.assignments.own.page import BLOCKS, FILE, NOT_IN_TANH, OF_NEW, OF_OLD, filled
from tests.project.paths import ROOT

ONE_VARIANT = FILE.partition("VARIANTS")[0]
LAYER = '''"""Many steps."""

import torch
from torch import nn

POINTS = 3


class LeakyLayer(nn.Module):
    def __init__(self, features, units):
        super().__init__()
        self.weight = nn.Parameter(torch.zeros(units, features))
        self.leak = nn.Parameter(torch.zeros(units))

    def forward(self, x, h_0):
        h, outputs = h_0, []
        for x_t in x:
            h = (1 - self.leak) * h + self.leak * torch.tanh(x_t @ self.weight.T + h)
            outputs.append(h)
        output = torch.stack(outputs)
        return output, h


def inputs(draw, steps, batch, features, units):
    return {"x": draw(steps, batch, features), "h_0": draw(batch, units)}


MISTAKES = {"state_not_in_tanh": {"change": {"self.weight.T + h)": "self.weight.T)"}}}
'''
OWN_LAYER = """class LeakyLayer(nn.Module):
    def __init__(self, features, units):
        super().__init__()
        self.weight = nn.Parameter(torch.rand(units, features))
        self.leak = nn.Parameter(torch.rand(units))

    def forward(self, x, h_0):
        states = [h_0]
        for x_t in x:
            states.append(leaky_step(x_t, states[-1], self.weight, self.leak))
        return torch.stack(states[1:]), states[-1]
"""


def page_of(folder, name):
    """Return the text of a page among the grades, without tags."""
    text = (folder / "grades" / name).read_text(encoding="utf-8")
    return re.sub(r"\s+", " ", re.sub(r"<[^>]+>", "", text))


def by_variant():
    """Return {variant: name of a student who gets it} of the page's question."""
    question = ADDED["leaky_step"]
    return {question.asked_of(name).variant: name for name in ("ada", "bo", "cy", "dee", "eve")}


def test_the_page_s_file_becomes_grades(tmp_path, week, released, grade):
    notebook = released(folder := week())
    names = by_variant()
    new, old = names["leak_of_new"], names["leak_of_old"]
    student = {"student": f'student("{old}")'}
    put(tmp_path / "sent", new, "week_3.ipynb", filled(notebook, leaky_step=OF_NEW, student=f'student("{new}")'))
    put(tmp_path / "sent", old, "week_3.ipynb", filled(notebook, leaky_step=OF_OLD, **student))
    put(tmp_path / "sent", "other", "week_3.ipynb", filled(notebook, leaky_step=OF_NEW, **student))
    put(tmp_path / "sent", "wrong", "week_3.ipynb", filled(notebook, leaky_step=NOT_IN_TANH))
    put(tmp_path / "sent", "empty", "week_3.ipynb", notebook)
    ending = "def leaky_step(*arguments):\n    raise SystemExit\nimport os\nos._exit(0)"
    put(tmp_path / "sent", "hostile", "week_3.ipynb", filled(notebook, leaky_step=ending))
    assert "week_3, 6: " in grade("--questions", folder, "--dry-run") and not (tmp_path / "grades").exists()
    grade("--questions", folder, "--own-code")
    assert rows(tmp_path / "grades") == {
        (new, "leaky_step"): (2, ""),
        (old, "leaky_step"): (2, ""),
        ("other", "leaky_step"): (0, "variant_leak_of_new"),
        ("wrong", "leaky_step"): (0, "state_not_in_tanh"),
        ("empty", "leaky_step"): (0, "not_written"),
        ("hostile", "leaky_step"): (0, "stopped_early"),
    }
    feedback = page_of(tmp_path, "feedback/wrong.html")
    quoted = next(block for block in BLOCKS if "The smallest example" in block)
    assert all(line in feedback for line in [*quoted.splitlines(), "h_new should be"])
    assert "What it answers is: leak is a, the share of the new value." in page_of(tmp_path, "feedback/other.html")
    assert "share = 1 - leak" in page_of(tmp_path, "review/other.html")
    assert "Nothing of the old state" not in page_of(tmp_path, "summary.html")
    assert "The new value does not see the state." in page_of(tmp_path, "summary.html")
    assert "leaky_step" in page_of(tmp_path, "questions.html")  # about the code of a right answer


def test_a_changed_file_is_graded_anew_and_stays_with_the_grades(tmp_path, week, released, grade):
    folder = week(leaky_step=ONE_VARIANT)
    put(tmp_path / "sent", "ada", "week_3.ipynb", filled(released(folder), leaky_step=OF_NEW))
    put(tmp_path / "sent", "bo", "week_3.ipynb", filled(released(folder), leaky_step=NOT_IN_TANH))
    grade("--questions", folder)
    kept = tmp_path / "grades/questions/week_3/leaky_step.py"
    assert rows(tmp_path / "grades")["ada", "leaky_step"] == (2, "") and kept.read_text() == ONE_VARIANT
    assert "2 of 2 submissions are graded already" in grade("--questions", folder)
    week(leaky_step=ONE_VARIANT.replace("POINTS = 2", "POINTS = 5"))
    assert "graded already" not in grade("--questions", folder)
    assert rows(tmp_path / "grades")["ada", "leaky_step"] == (5, "") and "POINTS = 5" in kept.read_text()
    # pages are made anew without the folder: by another batch, and when a student is deleted
    ADDED.clear()
    add_questions([])
    put(tmp_path / "sent", "cy", "week_3.ipynb", "")
    grade()
    assert rows(tmp_path / "grades")["bo", "leaky_step"] == (0, "state_not_in_tanh")
    ADDED.clear()
    add_questions([])
    stored.use([], tmp_path / "grades")
    forget.forget(tmp_path / "grades", "ada", say=lambda text: None)
    assert {student for student, _ in rows(tmp_path / "grades")} == {"bo", "cy"}


def unknown_in(path):
    """Return the assignments that a submission declares and that are not known."""
    declarations = stored.Declarations()
    cache.hash_files(path, declarations)
    return declarations.unknown()


def test_a_batch_without_the_questions_names_them(tmp_path, week, released, grade, monkeypatch):
    notebook = released(week())
    put(tmp_path / "sent", "ada", "week_3.ipynb", notebook)
    nbformat.write(notebook, tmp_path / "sent" / "bo.ipynb")  # with a line of the file for each line of a cell
    assert unknown_in(tmp_path / "sent" / "ada") == []
    ADDED.clear()
    add_questions([])
    for path in (tmp_path / "sent" / "ada", tmp_path / "sent" / "bo.ipynb"):
        assert unknown_in(path) == ["week_3"]
    opened = []

    def counted(file, *rest, open=open, **more):
        opened.append(file)
        return open(file, *rest, **more)

    for module in ("builtins", "io"):  # pathlib uses that of io
        monkeypatch.setattr(f"{module}.open", counted)
    told = grade("--dry-run")  # other processes read what is in the notebooks
    assert told.count("These notebooks ask questions of your own (week_3): add QUESTIONS=week_3\n") == 1
    sent = [Path(file).name for file in opened if str(file).startswith(str(tmp_path / "sent"))]
    assert sorted(sent) == ["bo.ipynb", "week_3.ipynb"]


@pytest.mark.parametrize("before", [2**20 - 30, 2**20 - 10, 2**20, 2**21 - 20, 5])
def test_a_declaration_is_found_wherever_it_is_in_a_file(tmp_path, before):
    """Check blocks of 1 MiB that end in it."""
    for name, text in (("ada", '"own_question(\\n",\n "    \\"week_4\\", '), ("bo", "own_question( no name")):
        (tmp_path / name).mkdir()
        (tmp_path / name / "a.ipynb").write_text(" " * before + text, encoding="utf-8")
    (tmp_path / "bo" / "b.ipynb").write_text('\\"week_5\\"', encoding="utf-8")  # in another file
    assert (unknown_in(tmp_path / "ada"), unknown_in(tmp_path / "bo")) == (["week_4"], [])


@pytest.mark.heavy
def test_layers_and_carried_errors(tmp_path, week, released, grade):
    folder = week(**{"1_leaky_step": ONE_VARIANT, "2_leaky_layer": LAYER})
    notebook = released(folder)
    put(tmp_path / "sent", "ada", "w.ipynb", filled(notebook, leaky_step=OF_NEW, leaky_layer=OWN_LAYER))
    put(tmp_path / "sent", "bo", "w.ipynb", filled(notebook, leaky_step=NOT_IN_TANH, leaky_layer=OWN_LAYER))
    renamed = OWN_LAYER.replace("self.leak", "self.rate")
    put(tmp_path / "sent", "cy", "w.ipynb", filled(notebook, leaky_step=OF_NEW, leaky_layer=renamed))
    grade("--questions", folder)
    assert rows(tmp_path / "grades") == {
        ("ada", "leaky_step"): (2, ""),
        ("ada", "leaky_layer"): (3, ""),
        ("bo", "leaky_step"): (0, "state_not_in_tanh"),
        ("bo", "leaky_layer"): (3, "state_not_in_tanh"),
        ("cy", "leaky_step"): (2, ""),
        ("cy", "leaky_layer"): (1.5, "parameter_names"),
    }
    for page in ("feedback/cy.html", "summary.html"):
        assert "another name than in the solution's layer" in page_of(tmp_path, page)


def test_a_process_that_was_not_forked_knows_the_questions(week):
    stored.use([week()])
    program = (
        "from assignments.own import stored; stored.use_environment();"
        "from companion.check.engine.question import all_questions; print([*all_questions()['leaky_step'].variants])"
    )
    done = subprocess.run([sys.executable, "-c", program], cwd=ROOT, capture_output=True, text=True)
    assert "leak_of_new" in done.stdout and "leak_of_old" in done.stdout, done.stderr


def test_the_trial_names_a_mistake_that_a_variant_leaves_out(week):
    share = '"change": {"share = leak": "share = 1"},'
    file = FILE.replace('"change": {"(1 - share) * h + share * new": "share * new"},', share)
    lines = command.describe(*stored.use([week(leaky_step=file)])[0])
    second = lines[lines.index("  variant leak_of_old") :]
    assert second[-1] == "  old_share_lost: left out, its text is changed in this variant"
    assert sum("left out" in line for line in lines) == 1


def test_a_refused_file_is_told_without_the_usage(week, monkeypatch):
    folder = week(leaky_step=FILE.replace("POINTS = 2", ""))
    monkeypatch.setattr("sys.argv", ["own", str(folder)])
    for main in (command.main, notebooks.main):
        with pytest.raises(SystemExit) as ended:
            main()
        assert ended.value.code == f"{folder / 'leaky_step.py'}: POINTS is missing, such as POINTS = 2"


def test_inputs_may_compute_with_what_is_drawn(week):
    """Check what the page says about `inputs`."""
    file = ONE_VARIANT.replace(
        "draw(units),", "draw(units).sigmoid() * (draw.whole(5, units) == 1) + int(draw.whole(5)),"
    )
    assert file != ONE_VARIANT
    _, question = stored.use([week(leaky_step=file)])[0]
    leaks = torch.cat([probe.tensors["leak"] for seed in range(40) for probe in question.probes(Draw(seed))])
    assert {*leaks.floor().int().tolist()} == {0, 1, 2, 3, 4} and (leaks % 1 > 0.25).any()


def test_the_trial_prints_what_the_page_shows(week, monkeypatch, capsys):
    monkeypatch.setattr("sys.argv", ["own", str(week())])
    with pytest.raises(SystemExit) as ended:
        command.main()
    printed = capsys.readouterr().out
    quoted = next(block for block in BLOCKS if "variant_leak_of_old:" in block)
    assert quoted in printed and ended.value.code == 0
    assert printed.count("where students' answers run: right") == 2
