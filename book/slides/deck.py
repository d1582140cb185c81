"""Put the marked cells of a built page together to a reveal.js deck."""

import re
import shutil
from html import escape
from pathlib import Path

from bs4 import BeautifulSoup

from book import npm
from book.editions import BOOK, page_names
from book.questions import bank
from book.questions.markup import blocks, inline
from book.questions.parts import interface
from book.site.extension.theme import style
from book.slides import marks
from book.slides.cells import Page
from book.styles import minify
from companion.figures.figure import read as read_figure_file

HERE = Path(__file__).resolve().parent
ROOT = BOOK.parent
REVEAL = {  # file in the package → its name beside the decks
    "dist/reveal.js": "reveal.js",
    "dist/plugin/notes.js": "notes.js",
    "LICENSE": "reveal_licence.txt",
}
STYLE = "dist/reveal.css"
CONTROLS = re.compile(r" +\.controls(?![\w-])")  # its arrows; figures have a class of this name for their sliders
LETTERS = "ABCD"


def install_reveal(home=ROOT / "_build" / "reveal"):
    """Install the reveal.js that package-lock.json pins, unless it is installed; return its folder."""
    package, installed = home / "node_modules" / "reveal.js", home / "package-lock.json"
    pinned = (HERE / "package-lock.json").read_bytes()
    if not (package / "dist" / "reveal.js").is_file() or installed.read_bytes() != pinned:
        npm.install(HERE, home)
    return package


def write_shared(pages, target, reveal):
    """Write what all decks of an edition load: reveal.js, the fitting, the font of formulas, and the figures.

    pages: the folder of the edition's built pages. target: the folder of its decks. reveal: the folder of reveal.js.
    """
    folder = target / "_static"
    shutil.rmtree(folder, ignore_errors=True)
    shutil.copytree(pages / "_static" / "figures", folder / "figures")
    shutil.copy(pages / "_static" / "math.woff2", folder)
    for source, name in REVEAL.items():
        shutil.copy(reveal / source, folder / name)
    sheet = (reveal / STYLE).read_text(encoding="utf-8")
    (folder / "reveal.css").write_text(CONTROLS.sub(">.controls", sheet), encoding="utf-8")
    (folder / "slides.js").write_text((HERE / "slides.js").read_text(encoding="utf-8"), encoding="utf-8")
    css = style() + minify(read_figure_file("figures.css") + (HERE / "slides.css").read_text(encoding="utf-8"))
    (folder / "slides.css").write_text(css, encoding="utf-8")


def document(pages, edition, page):
    """Return the deck of a chapter as HTML; raise MarkError if a mark shows nothing.

    pages: the folder of the edition's built pages.
    """
    ids = [cell.id for cell in marks.cells_of(page)]
    built = Page((pages / f"{page}.html").read_text(encoding="utf-8"), ids)
    questions = [slide.question for slide in marks.slides(page) if slide.question]
    sections = []
    for slide in marks.slides(page):
        if slide.question:
            sections.append(question_slide(slide.question, questions.index(slide.question) + 1, edition))
        else:
            sections.append(text_slide(slide, built, page, edition, first=not sections))
    title = BeautifulSoup(built.title, "html.parser").get_text()
    return (
        f'<!DOCTYPE html><html lang="{edition.html}" class="measuring"><head><meta charset="utf-8">'
        f"<title>{escape(title)}</title>"
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        '<link rel="stylesheet" href="_static/reveal.css"><link rel="stylesheet" href="_static/slides.css">'
        '<style>@font-face { font-family: "Unrolled Math"; src: url("_static/math.woff2") format("woff2") }</style>'
        '<script src="_static/slides.js"></script><script src="_static/figures/common.js"></script></head>'
        f'<body><div class="reveal"><div class="slides">{"".join(sections)}</div></div>'
        '<script src="_static/reveal.js"></script><script src="_static/notes.js"></script>'
        "<script>showSlides()</script></body></html>"
    )


def caption_of(page, edition):
    """Return the title of the part that a chapter belongs to."""
    return next(part["caption"] for part in edition.table["parts"] if page in page_names(part))


def text_slide(slide, built, page, edition, first):
    """Return a slide of cells: words beside or above pictures, and all text as notes."""
    words, sights = [], []
    cells = [*slide.notes, *(cell for cell, _part, _step in slide.cells)]
    for number, (cell, part, step) in enumerate(slide.cells):
        shown = built.shown(cell, part)
        if not shown:
            raise marks.MarkError(f"{page}: the cell {cell} has nothing that a slide can show")
        for html, sight in shown:
            html = with_script(html) if sight else html
            fragment = f' class="fragment" data-fragment-index="{number}"' if step else ""
            (sights if sight else words).append(f"<div{fragment}>{html}</div>")
    name = slide.cells[0][0]
    if first:
        head = f'<p class="book">Unrolled · {escape(caption_of(page, edition))}</p><h1>{built.title}</h1>'
    else:
        head = f"<h2>{built.headings[name]}</h2>"
    columns = (("words", words), ("sights", sights))
    body = "".join(f'<div class="{kind}">{"".join(parts)}</div>' for kind, parts in columns if parts)
    notes = "".join(built.text(cell) for cell in built.blocks if cell in cells)
    return section(name, head, body, notes, "opening" if first else "")


def with_script(html):
    """Return the HTML of a figure with its script, which shows it, or other HTML unchanged."""
    element = BeautifulSoup(html, "html.parser")
    for figure in element.select("[data-figure]"):
        figure["data-prevent-swipe"] = ""
        figure.append(element.new_tag("script", src=f"_static/figures/{figure['data-figure']}.js"))
    return str(element)


def question_slide(name, number, edition):
    """Return a slide with a question and its choices. The answer and the mistakes behind other choices are notes."""
    words = interface(edition.language)
    question = bank.ask(name, bank.page_of(name), edition.language)  # the numbers that the page has
    choices = "".join(f"<li>{inline(choice.text)}</li>" for choice in question.choices)
    right = LETTERS[question.choices.index(question.right)]
    answer = f"<p><b>{right}. {words['right']}</b></p>{blocks(question.right.said)}"
    mistakes = "".join(
        f"<li><b>{letter}</b>: {inline(choice.said)}</li>"
        for letter, choice in zip(LETTERS, question.choices)
        if not choice.right
    )
    body = f'<div class="words">{blocks(question.ask)}<ol class="choices">{choices}</ol></div>'
    head = f"<h2>{words['question'].format(number=number)}</h2>"
    notes = f"{answer}<p>{words['mistakes']}</p><ul>{mistakes}</ul>"
    return section(f"question-{number}", head, body, notes, "question")


def section(name, head, body, notes, kind=""):
    return (
        f'<section id="{name}" class="{kind}"><div class="stage text">{head}<div class="content">{body}</div></div>'
        f'<aside class="notes">{notes}</aside></section>'
    )
