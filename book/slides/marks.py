"""The marks that make slides of cells: read them, check them, and record that a slide has been looked at."""

import hashlib
import json
import re
from dataclasses import dataclass, field

import nbformat

from book.editions import BOOK, ORIGINAL, read
from book.questions import bank
from book.tools import store
from book.tools.translated_cells import description
from book.tools.translations import SLIDE_KEYS

MARK, PART, ASKS, SEEN = SLIDE_KEYS
BEGIN, STEP, NOTES = "slide", "fragment", "notes"
NONE = "", "-", "skip"  # other choices of JupyterLab for a cell without a mark
CODE, OUTPUT = "code", "output"  # parts of a code cell
# slides do not have the links of a text, so a target that moves changes no slide
TARGET = re.compile(r"(?<=\])\([^()\s]+\)")


class MarkError(ValueError):
    """A mark that makes no slide."""


@dataclass
class Slide:
    """One slide. cells: (id, part, whether it is shown as a step). part: code, output, or "" for both.

    notes: ids of the cells whose text is notes. question: the name of a question, on a slide without cells, or "".
    """

    cells: list[tuple[str, str, bool]] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    question: str = ""


def path_of(page, book=BOOK):
    return book / ORIGINAL / f"{page}.ipynb"


def cells_of(page, book=BOOK):
    """Return the cells of an English chapter; raise MarkError if there is no such notebook."""
    path = path_of(page, book)
    if not path.is_file():
        raise MarkError(f"there is no chapter book/{ORIGINAL}/{page}.ipynb")
    return nbformat.v4.reads(path.read_text(encoding="utf-8")).cells


def mark_of(cell):
    """Return the mark of a cell, or an empty string."""
    mark = cell.metadata.get(MARK, {}).get("slide_type", "")
    return "" if mark in NONE else mark


def digest(cell):
    """Return a hash of what a slide shows of a cell: its text without the targets of links, and its outputs."""
    outputs = [{key: output.get(key) for key in ("data", "text")} for output in cell.get("outputs", ())]
    shown = [TARGET.sub("()", cell.source), description(cell), outputs]
    return hashlib.sha256(json.dumps(shown, sort_keys=True).encode()).hexdigest()[:12]


def slides(page, book=BOOK):
    """Return the slides of a chapter, an empty list without marks; raise MarkError that names a wrong mark.

    Notes that begin with a heading, and those after them, belong to the next slide, others to the current slide.
    """
    made, questions, notes = [], [], []
    for cell in cells_of(page, book):
        mark, asks, part = mark_of(cell), cell.metadata.get(ASKS, ""), cell.metadata.get(PART, "")
        check(cell, page, not made)
        if mark == BEGIN:
            made += [*questions, Slide(notes=notes)]
            questions, notes = [], []
        if mark in (BEGIN, STEP):
            made[-1].cells.append((cell.id, part, mark == STEP))
        elif mark == NOTES:
            (notes if notes or cell.source.startswith("#") else made[-1].notes).append(cell.id)
        questions += [Slide(question=asks)] if asks else []
    if notes:
        raise MarkError(f"book/{ORIGINAL}/{page}.ipynb: no slide follows the notes {notes[-1]}, which begin a section")
    return made + questions


def check(cell, page, first):
    """Raise MarkError if the marks of a cell are wrong. first: whether no slide has begun before this cell."""
    mark, asks, part = mark_of(cell), cell.metadata.get(ASKS), cell.metadata.get(PART)
    place = f"book/{ORIGINAL}/{page}.ipynb: the cell {cell.id}"
    if mark not in ("", BEGIN, STEP, NOTES):
        raise MarkError(f"{place} has the mark {mark!r}; it can be {BEGIN}, {STEP} or {NOTES}")
    if (asks or part) and mark not in (BEGIN, STEP):
        raise MarkError(f"{place} has {ASKS if asks else PART} but is not on a slide")
    if part and (part not in (CODE, OUTPUT) or cell.cell_type != "code"):
        raise MarkError(f"{place} has {PART} {part!r}; a code cell can have {CODE} or {OUTPUT}")
    if mark in (STEP, NOTES) and first:
        raise MarkError(f"{place} has the mark {mark!r}, but no cell before it begins a slide")
    if mark == NOTES and cell.cell_type != "markdown":
        raise MarkError(f"{place} has the mark {NOTES!r}, but it is not text")
    if asks and asks not in bank.names(page):
        raise MarkError(f"{place} asks {asks!r}; the bank has {', '.join(bank.names(page)) or 'no such page'}")


def marked_pages(book=BOOK):
    """Return the chapters that have slides, in the order of the book."""
    return [name for name in read(book / ORIGINAL).road if any(map(mark_of, cells_of(name, book)))]


def stale(page, book=BOOK):
    """Return the ids of marked cells that have changed since their slide was last looked at."""
    return [cell.id for cell in cells_of(page, book) if mark_of(cell) and cell.metadata.get(SEEN) != digest(cell)]


def renew(page, names=(), book=BOOK):
    """Record that the slides of these cells (all if empty) have been looked at; return the ids of the renewed cells.

    Raise MarkError if a name is not a marked cell.
    """
    path = path_of(page, book)
    cells_of(page, book)
    notebook = nbformat.read(path, as_version=4)
    marked = [cell for cell in notebook.cells if mark_of(cell)]
    if unknown := [name for name in names if name not in [cell.id for cell in marked]]:
        raise MarkError(f"{page} has no marked cell {', '.join(unknown)}")
    renewed = []
    for cell in marked:
        if (not names or cell.id in names) and cell.metadata.get(SEEN) != digest(cell):
            cell.metadata[SEEN] = digest(cell)
            renewed.append(cell.id)
    if renewed:
        store(notebook, path)
    return renewed
