"""The assignments: a page of each, which is the students' notebook, and a directive `assignments` that lists them.

With the option `questions` the directive lists their questions instead, for instructors.
"""

import posixpath
from html import escape
from pathlib import Path

from docutils import nodes
from docutils.parsers.rst import directives
from sphinx.locale import _
from sphinx.project import Project
from sphinx.transforms.post_transforms import SphinxPostTransform
from sphinx.util.docutils import SphinxDirective

from book.site.extension.words import edition_of

# Where a site whose cells run says on a page that it is for practice, and has buttons for the notebook with the
# answers.
PLACES = "<!-- practice -->", "<!-- hand in -->"


class Assignments(SphinxDirective):
    option_spec = {"questions": directives.flag}

    def run(self):
        from assignments import student_version  # late: it imports nbgrader

        found = student_version.assignments(edition_of(self.env.app).language)
        for assignment in found:
            self.env.note_dependency(str(assignment.path))
        if "questions" in self.options:
            rows = [
                [
                    literal(question.name),
                    (
                        _("%(points)s (stretch)") % {"points": question.points}
                        if question.stretch
                        else str(question.points)
                    ),
                ]
                for assignment in found
                for question in assignment.questions
            ]
            return [table([_("Question"), _("Points")], rows)]
        rows = [[page_of(one), str(len(one.questions)), str(one.points), notebook_of(one)] for one in found]
        return [table([_("Assignment"), _("Questions"), _("Points"), _("Notebook")], rows)]


def page_of(assignment):
    pieces = assignment.title.split("`")  # every other one is code
    words = [literal(piece) if number % 2 else nodes.Text(piece) for number, piece in enumerate(pieces)]
    return nodes.reference("", "", *words, refuri=f"assignment_{assignment.name}.html", internal=True)


def notebook_of(assignment):
    name = assignment.path.name
    return nodes.raw("", f'<a href="assignments/{escape(name)}" download>{escape(name)}</a>', format="html")


def literal(text):
    return nodes.literal("", text)


def table(head, rows):
    group = nodes.tgroup("", *(nodes.colspec("", colwidth=1) for _ in head), cols=len(head))
    group += [nodes.thead("", row(head)), nodes.tbody("", *map(row, rows))]
    return nodes.table("", group)


def row(entries):
    made = [nodes.Text(one) if isinstance(one, str) else one for one in entries]
    return nodes.row("", *(nodes.entry("", nodes.paragraph("", "", one)) for one in made))


# Pages


class WithNotebooks(Project):
    """What Sphinx knows of an edition's sources, and beside them the students' notebooks: docname → path."""

    notebooks = {}

    def discover(self, *arguments, **options):
        super().discover(*arguments, **options)
        self.docnames |= self.notebooks.keys()
        return self.docnames

    def doc2path(self, docname, absolute):
        if docname not in self.notebooks:
            return super().doc2path(docname, absolute)
        return self.notebooks[docname] if absolute else f"{docname}.ipynb"


def write_notebooks(app):
    """Write the students' notebooks where they are downloaded from, and let Sphinx make a page of each."""
    if app.builder.format != "html":
        return
    folder = posixpath.dirname(app.config.root_doc)  # `jupyter-book build .` begins further up
    app.project.__class__, app.project.notebooks = WithNotebooks, {}
    for name, source in edition_of(app).assignments.items():
        target = Path(app.outdir, folder, "assignments", source.name)
        if not target.is_file() or target.stat().st_mtime < source.stat().st_mtime:
            from assignments import student_version  # late: it imports nbgrader

            student_version.release(source, target)
        app.project.notebooks[posixpath.join(folder, name)] = str(target)


def is_assignment(env):
    return env.docname in getattr(env.project, "notebooks", {})


def stand_alone(app, doctree):
    """No table of contents has these pages: the one that lists them leads there. And whoever searches wants a
    chapter."""
    if is_assignment(app.env):
        app.env.metadata[app.env.docname] |= {"orphan": "", "nosearch": ""}


def lead_back(app, pagename, templatename, context, doctree):
    folder, name = posixpath.split(pagename)
    if name in edition_of(app).assignments:
        title = app.env.titles[posixpath.join(folder, "assignments")].astext()
        context["prev"] = {"link": "assignments.html", "title": title}


class Begin(SphinxPostTransform):
    """Lead from a page to its notebook, and leave room for what a page whose cells run has besides."""

    default_priority = 300
    formats = ("html",)

    def run(self, **kwargs):
        if not is_assignment(self.env):
            return
        name = Path(self.env.doc2path(self.env.docname)).name
        head = (
            f'<div class="begin"><a href="assignments/{escape(name)}"'
            f" download>{escape(_('Download this notebook'))}</a></div>\n"
        )
        title = next(self.document.findall(nodes.title))
        title.parent.insert(title.parent.index(title) + 1, nodes.raw("", f"{head}{PLACES[0]}\n", format="html"))
        self.document += nodes.raw("", f"{PLACES[1]}\n", format="html")


def setup(app):
    app.add_directive("assignments", Assignments)
    app.add_post_transform(Begin)
    app.connect("builder-inited", write_notebooks)
    app.connect("doctree-read", stand_alone)
    app.connect("html-page-context", lead_back)
