"""Right notebooks lose no point in silence, whatever is odd in or around them."""

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

# What these need is not there. They are told so, and what to do.
TOLD = {"another_library": ("no_module", "einops"), "a_file_of_ones_own": ("no_file", "one.txt")}


@pytest.mark.heavy
def test_right_notebooks_keep_their_points_whatever_is_odd_about_them(tmp_path):
    for assignment, language, make in ODD:
        book = Book(assignment, language)
        for name, said in (make(book) or {book.name: book.text()}).items():
            put(tmp_path / "sent", make.__name__, name, said)
    command = [sys.executable, str(ROOT / "assignments"), str(tmp_path / "sent"), "--output", str(tmp_path / "grades")]
    subprocess.run(command, check=True, capture_output=True, timeout=900)
    points, lost = rows(tmp_path / "grades"), {}
    for assignment, language, make in ODD:
        asked = [one for one in all_questions().values() if one.assignment == assignment]
        if wrong := {one.name for one in asked if points[make.__name__, one.name] != (one.points, "")}:
            lost[make.__name__] = wrong
        if make.__name__ in TOLD:
            key, name = TOLD[make.__name__]
            page = (tmp_path / f"grades/feedback/{make.__name__}.html").read_text(encoding="utf-8")
            said = pages.words(language)["page"][key].format(name=name).replace("`", "")
            assert said in html.unescape(page.replace("<code>", "").replace("</code>", ""))
    assert lost == {name: {"packed"} for name in TOLD}


# Quick: how cells are read


@pytest.mark.parametrize("source, kept, left_out", [
    ("\n%%capture\n%%time\nx = 1\n!ls\n%cd ..\ndef f(): pass", "f", 0),
    ("%time x = 1\nprint('%d'\n % 3)\ndef f(): pass", "f", 0),
    ("pip install x\ndef f(): pass\nThis is right.\ndef g(): pass", "fg", 2),
    ("@torch.no_grad()\ndef f(x:\n    return 1\n\ndef g(): pass\nprint(g(", "g", 2),
    ("def f(x:\n" + "    x = 1\n" * 30 + "def g(): pass", "g", 1),
    ("def f():\n    x = 1\n    no no\ndef g(): pass", "g", 1),
    ("for x in y:\nprint(x)\ndef f(): pass", "f", 1),
    ("try:\n    x = 1\nexcept:\n    no no\ndef f(): pass\n'''never ends\n", "f", 2),
])  # fmt: skip
def test_what_is_no_python_is_left_out_alone(source, kept, left_out):
    plain = notebooks.without_magic(source)
    assert sum(isinstance(one, ast.Raise) for one in ast.parse(plain).body) == left_out
    assert notebooks.names_in(plain)[0] == set(kept)
    assert plain.count("\n") == source.count("\n")
