"""Put questions of the bank between the sections and at the end of each chapter, and places for the reader's guesses.

They are part of the page and no cells of the notebook. Without a script a choice shows whether it is right.
questions.js stores answers in the browser, and lists at the end of a part what to read again.
"""

import json
import posixpath
import tomllib
from pathlib import Path

from docutils import nodes
from sphinx.transforms import SphinxTransform

from book.questions import bank
from book.questions.markup import attribute, blocks, inline
from book.questions.parts import WORDS, interface
from book.questions.places import heading_of
from book.site.extension.interface_words import edition_of
from book.site.extension.questions.choose import choose, part_that_ends

END, NO_QUESTIONS = "can-do", ("exercises", "further-reading", "can-do")
GUESSES = WORDS.parent / "guesses.toml"


class InsertQuestions(SphinxTransform):
    default_priority = 875  # after the anchors (870), before the tables of contents (880)

    def apply(self, **kwargs):
        page = posixpath.basename(self.env.docname)
        path = Path(self.env.doc2path(self.env.docname))
        if path.suffix != ".ipynb" or not bank.names(page):
            return
        self.page, self.language = page, edition_of(self.app).language
        self.words = interface(self.language)
        self.sections = {node["ids"][0]: node for node in self.document.findall(nodes.section)}
        cells = json.loads(path.read_text(encoding="utf-8"))["cells"]
        chosen = choose(page, sections_of_cells(cells))
        questions = [bank.ask(name, page, self.language) for name in chosen.names()]
        for number, question in enumerate(questions, start=1):
            section = next((key for key, names in chosen.between.items() if question.name in names), None)
            html = self.question(question, number, question.name == chosen.earlier)
            if section in self.sections:
                self.sections[section].append(raw(html))
            else:
                self.insert_at_end(raw(html))
        self.insert_at_end(raw(self.summary(questions)))
        self.insert_guesses(cells)

    def insert_at_end(self, node):
        """Insert a node in the last section, before its last paragraph, which leads to the next page."""
        section = self.sections.get(END) or list(self.document.findall(nodes.section))[-1]
        last = section.children[-1]
        leads_on = END in section["ids"] and isinstance(last, nodes.paragraph)
        section.insert(len(section.children) - leads_on, node)

    def question(self, question, number, from_earlier):
        """Return the HTML of a question. Each choice has its answer below it, which appears when it is chosen."""
        words, name = self.words, attribute(f"{self.page} {question.name}")  # it may be asked again on another page
        head = words["question"].format(number=number)
        if from_earlier:
            head += f" · {words['earlier']}"
        items = ""
        for choice in question.choices:
            said = f"<p><b>{words['right' if choice.right else 'wrong']}</b></p>{blocks(choice.said)}"
            if not choice.right:
                said += f'<p><a href="{self.link(question.place)}">{words["read_again"]}</a></p>'
            items += (
                f'<li><label><input type="radio" name="{name}" value="{attribute(choice.text)}">'
                f' <span>{inline(choice.text)}</span></label><div class="said"'
                f"{' data-right' if choice.right else ''}>{said}</div></li>"
            )
        anchor, title = f"question-{number}", attribute(heading_of(question.place, self.language))
        return (
            f'<div class="quiz" id="{anchor}" role="group" aria-labelledby="{anchor}-head" data-name="{name}"'
            f' data-place="{self.link(question.place)}" data-title="{title}">'
            f'<p class="quiz-head" id="{anchor}-head">{head}</p>'
            f"{blocks(question.ask)}<ol>{items}</ol></div>"
        )

    def link(self, place):
        page, _, cell = place.partition("#")
        return f"#{cell}" if page == self.page else f"{page}.html#{cell}"

    def summary(self, questions):
        """Return the key, which is only printed, and the places that questions.js fills."""
        words = self.words
        letters = [
            f"{number} {'ABCD'[question.choices.index(question.right)]}"
            for number, question in enumerate(questions, start=1)
        ]
        html = f'<p class="quiz-key">{words["key"].format(answers=" · ".join(letters))}</p>'
        html += f'<div class="guesses" hidden><p class="quiz-head">{words["guesses"]}</p><ul></ul></div>'
        if chapters := part_that_ends(self.page):
            asked = sum(len(choose(page, {}).names()) for page in chapters)
            html += (
                f'<div class="again" hidden data-pages="{" ".join(chapters)}" data-all="{asked}"'
                f' data-answered="{attribute(words["answered"])}" data-since="{attribute(words["since"])}">'
                f'<p class="quiz-head" tabindex="-1">{words["part_done"]}</p><p class="counted"></p>'
                f'<div><p>{words["part_hint"]}</p><ul></ul><button type="button">{words["clear"]}</button></div></div>'
            )
        return html

    def insert_guesses(self, cells):
        """Insert a place to write after each cell that asks for a guess."""
        wanted = tomllib.loads(GUESSES.read_text(encoding="utf-8")).get(self.page, [])
        for cell in wanted:
            place = next((node for node in self.document.findall(is_place(cell))), None)
            if place is None:
                raise ValueError(f"{GUESSES.name}: {self.page} has no cell {cell} that begins a section or a paragraph")
            html = (
                f'<label class="guess" hidden data-cell="{attribute(cell)}"><span>{self.words["guess"]}</span>'
                f' <textarea rows="2"></textarea><small>{self.words["guess_hint"]}</small></label>'
            )
            place.parent.insert(place.parent.index(place) + 2, raw(html))  # after the content


def is_place(cell):
    """Return a condition for the target that the anchors have put before a cell's content."""
    return lambda node: isinstance(node, nodes.target) and cell in node["ids"]


def sections_of_cells(cells):
    """Return cell → the section that it belongs to, without cells whose section has no questions below it."""
    sections, section = {}, None
    for cell in cells:
        if cell["cell_type"] == "markdown" and "".join(cell["source"]).startswith("## "):
            section = cell["id"]
        if section and section not in NO_QUESTIONS:
            sections[cell["id"]] = section
    return sections


def raw(html):
    return nodes.raw("", html, format="html")


def add_script(app, pagename, templatename, context, doctree):
    """Add questions.js to the pages that have questions."""
    if doctree is not None and 'class="quiz"' in context.get("body", ""):
        app.add_js_file("questions.js", loading_method="defer")


def setup(app):
    app.add_transform(InsertQuestions)
    app.connect("html-page-context", add_script)
