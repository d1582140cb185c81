"""Test that right notebooks keep their points, however unusual their form."""

import ast
import html
import subprocess
import sys

import pytest

from assignments.read import notebooks
from assignments.report import pages
from companion.check.engine.question import all_questions
from tests.assignments.grading import put, rows
from tests.assignments.read.odd_notebooks import ODD
from tests.assignments.read.right_notebook import Book
from tests.project.paths import ROOT

# Notebooks that need a missing module or file: their page names it.
MISSING = {"another_library": ("no_module", "einops"), "a_file_of_ones_own": ("no_file", "one.txt")}


@pytest.mark.heavy
def test_right_notebooks_in_unusual_forms_keep_their_points(tmp_path):
    for assignment, language, change in ODD:
        book = Book(assignment, language)
        for name, content in (change(book) or {book.name: book.text()}).items():
            put(tmp_path / "sent", change.__name__, name, content)
    command = [sys.executable, str(ROOT / "assignments"), str(tmp_path / "sent"), "--output", str(tmp_path / "grades")]
    subprocess.run(command, check=True, capture_output=True, timeout=900)
    points, lost = rows(tmp_path / "grades"), {}
    for assignment, language, change in ODD:
        student = change.__name__
        questions = [question for question in all_questions().values() if question.assignment == assignment]
        if wrong := {asked.name for asked in questions if points[student, asked.name] != (asked.points, "")}:
            lost[student] = wrong
        if student in MISSING:
            key, name = MISSING[student]
            page = (tmp_path / f"grades/feedback/{student}.html").read_text(encoding="utf-8")
            remark = pages.words(language)["page"][key].format(name=name).replace("`", "")
            assert remark in html.unescape(page.replace("<code>", "").replace("</code>", ""))
    assert lost == {name: {"packed"} for name in MISSING}


# Cells alone


@pytest.mark.parametrize("source, defined, replaced", [
    ("\n%%capture\n%%time\nx = 1\n!ls\n%cd ..\ndef f(): pass", "f", 0),
    ("%time x = 1\nprint('%d'\n % 3)\ndef f(): pass", "f", 0),
    ("pip install x\ndef f(): pass\nThis is right.\ndef g(): pass", "fg", 2),
    ("@torch.no_grad()\ndef f(x:\n    return 1\n\ndef g(): pass\nprint(g(", "g", 2),
    ("def f(x:\n" + "    x = 1\n" * 30 + "def g(): pass", "g", 1),
    ("def f():\n    x = 1\n    no no\ndef g(): pass", "g", 1),
    ("for x in y:\nprint(x)\ndef f(): pass", "f", 1),
    ("try:\n    x = 1\nexcept:\n    no no\ndef f(): pass\n'''never ends\n", "f", 2),
])  # fmt: skip
def test_only_statements_that_do_not_parse_are_replaced(source, defined, replaced):
    plain = notebooks.without_magic(source)
    assert sum(isinstance(node, ast.Raise) for node in ast.parse(plain).body) == replaced
    assert notebooks.names_in(plain)[0] == set(defined)
    assert plain.count("\n") == source.count("\n")
