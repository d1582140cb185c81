"""The assignments: a directive `assignments` that lists them, with the students' notebooks to download.

With the option `questions` it lists their questions instead, for instructors.
"""

import importlib.util
from functools import cache
from pathlib import Path

import editions
from docutils import nodes
from docutils.parsers.rst import directives
from sphinx.locale import _
from sphinx.util.docutils import SphinxDirective

from .words import edition_of

SOURCES = editions.BOOK.parent / "assignments" / "source"


@cache
def release():
    """assignments/release.py: its folder is the grader's, and need not be on the path of all that builds the site."""
    spec = importlib.util.spec_from_file_location("release", SOURCES.parent / "release.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


class Assignments(SphinxDirective):
    option_spec = {"questions": directives.flag}

    def run(self):
        found = release().assignments(edition_of(self.env.app).language)
        for assignment in found:
            self.env.note_dependency(str(assignment.path))
        if "questions" in self.options:
            rows = [
                [literal(question.name), _("%(points)s (stretch)") % {"points": question.points} if question.stretch else str(question.points)]
                for assignment in found
                for question in assignment.questions
            ]
            return [table([_("Question"), _("Points")], rows)]
        docname = self.env.docname
        self.env.metadata[docname]["assignments"] = [str(assignment.path) for assignment in found]
        rows = [[self.link(one), str(len(one.questions)), str(one.points)] for one in found]
        return [table([_("Notebook"), _("Questions"), _("Points")], rows)]

    def link(self, assignment):
        pieces = assignment.title.split("`")  # every other one is code
        words = [literal(piece) if number % 2 else nodes.Text(piece) for number, piece in enumerate(pieces)]
        return nodes.reference("", "", *words, refuri=f"assignments/{assignment.name}.ipynb", internal=False)


def literal(text):
    return nodes.literal("", text)


def table(head, rows):
    group = nodes.tgroup("", *(nodes.colspec("", colwidth=1) for _ in head), cols=len(head))
    group += [nodes.thead("", row(head)), nodes.tbody("", *map(row, rows))]
    return nodes.table("", group)


def row(entries):
    made = [nodes.Text(one) if isinstance(one, str) else one for one in entries]
    return nodes.row("", *(nodes.entry("", nodes.paragraph("", "", one)) for one in made))


def write_notebooks(app, exception):
    """Write the students' notebooks beside the page that lists them."""
    if exception or app.builder.format != "html":
        return
    for docname, metadata in app.env.metadata.items():
        for source in map(Path, metadata.get("assignments", ())):
            target = Path(app.outdir, docname).parent / "assignments" / source.name
            if not target.is_file() or target.stat().st_mtime < source.stat().st_mtime:
                target.parent.mkdir(parents=True, exist_ok=True)
                release().release(source, target)


def setup(app):
    app.add_directive("assignments", Assignments)
    app.connect("build-finished", write_notebooks)
