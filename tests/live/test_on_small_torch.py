"""Chapters as on a page: on the small torch every cell gives what is stored, which is what torch gave."""

import re

import nbformat
import pytest
from nbformat.v4 import new_code_cell, new_notebook, new_output

from book import editions
from tests.live import on_small_torch
from tests.project.sampling import chosen

# Of all chapters these few reach most lines of the small torch for their time.
QUICK = ["changing_the_cell", "embedding", "gru"]
NAMES = [page.stem for page in sorted((editions.BOOK / "en").glob("*.ipynb")) if page.stem != "assignments"]
TRANSLATED = [one.folder for one in editions.editions() if one.language != editions.ORIGINAL]
# Cells that train for long, and those that show what these trained. They run with `--slow-cells`, once a week. Of the
# small torch only they reach `pdist`, `gelu`, `softplus`, `binary_cross_entropy_with_logits`, `nn.init.eye_`,
# `multinomial` and the second half of `OneCycleLR`, as coverage shows; test_operations.py, test_nn.py, test_random.py
# and test_optim.py hold these to torch.
LEFT_OUT = {
    "attention": "search-counted length-normalised solution-mixing",
    "complaints": "check-past-cell solution-answers solution-distance",
    "first_network": "solution-size",
    "gru": "solution-no-reset-picture",
    "language_model": (
        """
        learns-and-writes lines-written perplexity-picture perplexity-fell counts-table which-layer-picture forced beyond-counting-table
        which-layer-table solution-forgetting
    """  # noqa: E501
    ),
    "matrix_state": "learns writes solution-more-keys solution-longer",
    "memory": "new-and-trained new-and-trained-picture one-chrono adding brackets solution-how-exact solution-longer",
    "training": (
        """
        learning-rates-run learning-rates-picture adam-five-seeds ten-epochs-run ten-epochs-picture written guesses-compared
        overfitting-run overfitting-picture solution-how-far-back
    """  # noqa: E501
    ),
    "without_waiting": "selective-learns solution-newton",
}
# In translation the code is the same but for its words, as translations.py sees to. These cells show words of each
# kind: what they print, the labels of a picture, a figure's, and a table of `compare`; they need the others.
WORDS = "lstm", {"keep", "forget-gate-at-work", "gates-figure", "proof-layer"} | {"imports", "sentence"}


@pytest.fixture(scope="module")
def code(tmp_path_factory):
    """The folder of the book's code, as pages find it."""
    folder = tmp_path_factory.mktemp("code")
    on_small_torch.lay_out(folder)
    return folder


def different(page, code, wanted):
    """Run the cells that are wanted; return in what each differs from what is stored, if it does, and how many there
    were."""
    cells = [
        (cell.id, on_small_torch.differences(cell.outputs, outputs))
        for cell, outputs, _ in on_small_torch.run(page, code, wanted)
    ]
    return {name: found for name, found in cells if found}, len(cells)


@pytest.mark.parametrize("name", chosen(NAMES, *QUICK, mark=pytest.mark.deep))
def test_chapter(name, code, request):
    """Every cell in English, but for those that are left out without `--slow-cells`."""
    left_out = () if request.config.getoption("--slow-cells") else LEFT_OUT.get(name, "").split()
    found, count = different(editions.BOOK / "en" / f"{name}.ipynb", code, lambda cell: cell.id not in left_out)
    assert count and found == {}


@pytest.mark.heavy
@pytest.mark.parametrize("folder", TRANSLATED, ids=lambda folder: folder.name)
def test_words_of_a_translation(folder, code):
    chapter, cells = WORDS
    assert different(folder / f"{chapter}.ipynb", code, lambda cell: cell.id in cells) == ({}, len(cells))


CELLS = {
    'print("a"); 1 + 1': [("stdout", "a\n"), ("text/plain", "2")],
    "_ + Out[1] + len(In)": [("text/plain", "7")],
    "_;": [],
    'import sys; print("b"); print("c", file=sys.stderr)': [("stdout", "b\n"), ("stderr", "c\n")],
    'text = """\n%x\n"""\ntext': [("text/plain", r"'\n%x\n'")],
    "x = 1\n%time x": [("SyntaxError", ['"Cell In[6]", line 2', "%time x", "lines with % or ! are Jupyter's own"])],
    "def f(n):\n    return 1 / n\n\ntry:\n    f(0)\nexcept ValueError:\n    pass": [
        (
            "ZeroDivisionError",
            ["Cell In[7], line 5", "----> 5     f(0)", "line 2, in f", "----> 2     return 1 / n", "by zero"],
        )
    ],
    "try:\n    {}[0]\nexcept KeyError as error:\n    raise ValueError from error": [
        (
            "ValueError",
            ["----> 2     {}[0]", "KeyError: 0", "the direct cause of", "----> 4     raise ValueError from error"],
        )
    ],
    "try:\n    {}[0]\nexcept KeyError:\n    ''.y": [
        ("AttributeError", ["----> 2     {}[0]", "another exception occurred", "----> 4     ''.y"])
    ],
    "input()": [("RuntimeError", ["----> 1 input()", "a page's cell cannot ask for input"])],
    "print('d', end=''); len(In)": [("stdout", "d"), ("text/plain", "12")],
}


def test_session(code, tmp_path):
    """What each form of a cell gives, in which order, and where an error comes from: without a line of our own."""
    nbformat.write(new_notebook(cells=[new_code_cell(source) for source in CELLS]), tmp_path / "cells.ipynb")
    for cell, outputs, _ in on_small_torch.run(tmp_path / "cells.ipynb", code):
        assert len(outputs) == len(CELLS[cell.source])
        for output, (kind, expected) in zip(outputs, CELLS[cell.source], strict=True):
            if output.output_type == "error":
                told = re.sub(r"\x1b\[[\d;]*m", "", "\n".join(output.traceback))
                assert output.ename == kind and re.search(".*".join(map(re.escape, expected)), told, re.DOTALL), told
                assert "cells.py" not in told
            else:
                assert (kind, expected) == (
                    output.get("name", "text/plain"),
                    output.get("text") or output.data["text/plain"],
                )


def shown(text, kind="text/plain"):
    return new_output("execute_result", {kind: text})


STORED = shown("tensor(1.2345)")
PRINTED = new_output("stream", name="stdout", text="0.125\n")
FAILED = new_output("error", ename="ValueError", evalue="no")
DRAWING = '<svg><g id="p7c1"><use x="12.50" y="-3.25e1" href="#p7c1"/></g></svg>'


def redrawn(old, new):
    """Return a drawing as it is stored and as it is drawn again, with something else in it."""
    return shown(DRAWING, "image/svg+xml"), [shown(DRAWING.replace(old, new), "image/svg+xml")]


@pytest.mark.parametrize("stored, fresh, found", [
    (STORED, [STORED], []),
    (STORED, [shown("tensor(1.2346)")], ["- tensor(1.2345)\n+ tensor(1.2346)"]),
    (STORED, [shown("tensor(1.2345)\n")], ["- None\n+ "]),
    (STORED, [], ["['text/plain'] became []"]),
    (STORED, [FAILED], ["['text/plain'] became ['error']", "ValueError: no"]),
    (STORED, [PRINTED, STORED], ["['text/plain'] became ['stdout', 'text/plain']"]),
    (*redrawn("7c1", "0aa"), []),  # names are drawn by lot
    (*redrawn("12.50", "12.54"), []),
    (*redrawn("12.50", "12.56"), ["another drawing"]),
    (*redrawn("-3.25e1", "-3.25e2"), ["another drawing"]),
    (*redrawn("<use", "<path"), ["another drawing"]),
])  # fmt: skip
def test_difference(stored, fresh, found):
    assert on_small_torch.differences([stored], fresh) == found
