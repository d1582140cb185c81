"""Test the marks of slides: which slides they make, that wrong marks are named, and that no mark is stale."""

import subprocess
import sys

import nbformat
import pytest
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook, new_output

from book.editions import BOOK, ORIGINAL, read
from book.slides import marks
from book.tools import store, translations
from tests.project.paths import ROOT

ROAD = read(BOOK / ORIGINAL).road


@pytest.mark.parametrize("page", ROAD)
def test_a_chapter_has_slides_for_a_lesson(page):
    assert 8 <= len(marks.slides(page)) <= 14


@pytest.mark.parametrize("page", ROAD)
def test_no_mark_is_stale(page):
    stale = marks.stale(page)
    assert not stale, (
        f"{page}: {', '.join(stale)} changed since their slides were last looked at. Look at `make slides PAGE={page}`,"
        f" then run `python -m book.slides {page} --renew`"
    )


def test_only_english_notebooks_have_marks():
    keys = {marks.MARK, marks.PART, marks.ASKS, marks.SEEN}
    for edition in translations.editions():
        for page, path in translations.pages(edition).items():
            assert [cell.id for cell in translations.read(path) if keys & cell.metadata.keys()] == [], (edition, page)


# ---- A small book ----


def slide_cell(make, source, mark="slide", **more):
    metadata = {marks.MARK: {"slide_type": mark}} if mark else {}
    return make(source, metadata=metadata | more.pop("metadata", {}), **more)


def cells():
    """Return cells with marks of all kinds."""
    printed = [new_output("stream", name="stdout", text="3")]
    return [
        slide_cell(new_markdown_cell, "# LSTM\n\nWhy? Read [on](gru.ipynb).", id="title"),
        slide_cell(new_markdown_cell, "Said.", "notes", id="said"),
        slide_cell(new_markdown_cell, "## Sum\n\nAdd.", "notes", id="sum"),
        slide_cell(new_markdown_cell, "More.", "notes", id="more"),
        slide_cell(new_code_cell, "print(1 + 2)", id="three", outputs=printed),
        slide_cell(
            new_code_cell, "4", "fragment", id="four", metadata={marks.PART: "code", marks.ASKS: "lstm/forget_rows"}
        ),
        slide_cell(new_markdown_cell, "Unmarked.", "skip", id="unmarked"),
        slide_cell(new_markdown_cell, "Last.", id="last"),
    ]


@pytest.fixture
def book(tmp_path):
    """Return a function that stores cells as the chapter lstm of a small book, and returns the book's folder."""

    def write(notebook_cells):
        (tmp_path / ORIGINAL).mkdir(exist_ok=True)
        store(new_notebook(cells=notebook_cells), marks.path_of("lstm", tmp_path))
        return tmp_path

    return write


def change(folder, name, edit):
    """Change a cell of the small book."""
    path = marks.path_of("lstm", folder)
    notebook = nbformat.read(path, as_version=4)
    edit(next(cell for cell in notebook.cells if cell.id == name))
    store(notebook, path)


def test_marks_make_slides(book):
    title, numbers, question, last = marks.slides("lstm", book(cells()))
    assert title == marks.Slide([("title", "", False)], ["said"])
    assert numbers == marks.Slide([("three", "", False), ("four", "code", True)], ["sum", "more"])
    assert question == marks.Slide(question="lstm/forget_rows")
    assert last == marks.Slide([("last", "", False)])


@pytest.mark.parametrize(
    "name, metadata, said",
    [
        ("title", {marks.MARK: {"slide_type": "fragment"}}, "no cell before it begins a slide"),
        ("title", {marks.MARK: {"slide_type": "notes"}}, "no cell before it begins a slide"),
        ("last", {marks.MARK: {"slide_type": "subslide"}}, "the mark 'subslide'; it can be slide, fragment or notes"),
        ("three", {marks.MARK: {"slide_type": "notes"}}, "is not text"),
        ("last", {marks.PART: "output"}, "a code cell can have code or output"),
        ("three", {marks.PART: "picture"}, "slide_part 'picture'; a code cell can have code or output"),
        ("unmarked", {marks.ASKS: "lstm/forget_rows"}, "has slide_asks but is not on a slide"),
        ("more", {marks.PART: "code"}, "has slide_part but is not on a slide"),
        ("three", {marks.ASKS: "lstm/unknown"}, "asks 'lstm/unknown'; the bank has lstm/"),
        ("three", {marks.ASKS: "gru/step_by_hand"}, "asks 'gru/step_by_hand'; the bank has lstm/"),
    ],
)
def test_a_wrong_mark_is_named(book, name, metadata, said):
    folder = book(cells())
    change(folder, name, lambda cell: cell.metadata.update(metadata))
    with pytest.raises(marks.MarkError, match=f"book/en/lstm.ipynb: the cell {name} ") as error:
        marks.slides("lstm", folder)
    assert said in str(error.value)


def test_notes_without_a_slide_after_them_are_named(book):
    folder = book([*cells(), slide_cell(new_markdown_cell, "## End", "notes", id="end")])
    with pytest.raises(marks.MarkError, match="no slide follows the notes end"):
        marks.slides("lstm", folder)


@pytest.mark.parametrize(
    "name, edit",
    [
        ("title", lambda cell: cell.update(source=cell.source.replace("Why?", "How?"))),
        ("three", lambda cell: cell.outputs[0].update(text="4")),
        ("three", lambda cell: cell.metadata.update(mystnb={"image": {"alt": "A line."}})),
        ("more", lambda cell: cell.update(source="Other notes.")),
    ],
)
def test_a_changed_cell_is_stale_until_its_slide_is_looked_at(book, name, edit):
    folder = book(cells())
    all_marked = ["title", "said", "sum", "more", "three", "four", "last"]
    assert marks.stale("lstm", folder) == all_marked == marks.renew("lstm", book=folder)
    assert marks.stale("lstm", folder) == marks.renew("lstm", book=folder) == []
    change(folder, name, edit)
    assert marks.stale("lstm", folder) == [name]
    other = next(cell for cell in all_marked if cell != name)
    assert marks.renew("lstm", [other], folder) == []
    assert marks.stale("lstm", folder) == [name]
    assert marks.renew("lstm", [name], folder) == [name]
    assert marks.stale("lstm", folder) == []


def test_what_no_slide_shows_makes_no_mark_stale(book):
    folder = book(cells())
    marks.renew("lstm", book=folder)
    change(folder, "title", lambda cell: cell.update(source=cell.source.replace("gru.ipynb", "rnn.ipynb#proof")))
    change(folder, "three", lambda cell: cell.update(execution_count=7))
    change(folder, "unmarked", lambda cell: cell.update(source="Other words."))
    assert marks.stale("lstm", folder) == []


def test_renew_names_unknown_cells(book):
    with pytest.raises(marks.MarkError, match="lstm has no marked cell unmarked"):
        marks.renew("lstm", ["unmarked"], book(cells()))


def test_a_begun_translation_has_no_marks(tmp_path):
    folder = tmp_path / "book" / ORIGINAL
    folder.mkdir(parents=True)
    store(new_notebook(cells=cells()), folder / "lstm.ipynb")
    translations.draft("ja", "lstm", tmp_path)
    drafted = translations.read(tmp_path / "book" / "ja" / "lstm.ipynb")
    assert [cell.id for cell in drafted] == [cell.id for cell in cells()]
    assert {key for cell in drafted for key in cell.metadata} == {translations.KEY}


@pytest.mark.parametrize(
    "arguments, said",
    [
        (["teaching"], "slides: there is no chapter book/en/teaching.ipynb"),
        (["complaints"], "slides: complaints has no cell with a mark"),
        (["--renew", "--cells", "own-step"], "slides: --cells: name one chapter"),
        (["lstm", "--renew", "--cells", "imports"], "slides: lstm has no marked cell imports"),
    ],
)
def test_the_command_names_wrong_arguments(arguments, said):
    process = subprocess.run(
        [sys.executable, "-m", "book.slides", *arguments], cwd=ROOT, capture_output=True, text=True
    )
    assert process.returncode == 1
    assert process.stderr.startswith(said)
