"""Assignments on the site: a page with the student version of each, and a directive `assignments` that lists them.

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

from book.site.extension.interface_words import edition_of

# Where page_scripts.py inserts a note that the page is for practice, and buttons for the notebook with the answers.
PRACTICE, HAND_IN = "<!-- practice -->", "<!-- hand in -->"


class Assignments(SphinxDirective):
    option_spec = {"questions": directives.flag}

    def run(self):
        from assignments import student_version  # late: it imports nbgrader

        listed = student_version.assignments(edition_of(self.env.app).language)
        for assignment in listed:
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
                for assignment in listed
                for question in assignment.questions
            ]
            return [table([_("Question"), _("Points")], rows)]
        rows = [
            [
                page_link(assignment),
                str(len(assignment.questions)),
                str(assignment.points),
                notebook_link(assignment),
            ]
            for assignment in listed
        ]
        return [table([_("Assignment"), _("Questions"), _("Points"), _("Notebook")], rows)]


def page_link(assignment):
    pieces = assignment.title.split("`")  # every other piece is code
    words = [literal(piece) if number % 2 else nodes.Text(piece) for number, piece in enumerate(pieces)]
    return nodes.reference("", "", *words, refuri=f"assignment_{assignment.name}.html", internal=True)


def notebook_link(assignment):
    name = assignment.path.name
    return nodes.raw("", f'<a href="assignments/{escape(name)}" download>{escape(name)}</a>', format="html")


def literal(text):
    return nodes.literal("", text)


def table(head, rows):
    group = nodes.tgroup("", *(nodes.colspec("", colwidth=1) for _ in head), cols=len(head))
    group += [nodes.thead("", row(head)), nodes.tbody("", *map(row, rows))]
    return nodes.table("", group)


def row(entries):
    cells = [nodes.Text(entry) if isinstance(entry, str) else entry for entry in entries]
    return nodes.row("", *(nodes.entry("", nodes.paragraph("", "", cell)) for cell in cells))


class ProjectWithMadePages(Project):
    """Sphinx's list of an edition's sources, with pages that the build makes. made: docname → path."""

    made = {}

    def discover(self, *arguments, **options):
        super().discover(*arguments, **options)
        self.docnames |= self.made.keys()
        return self.docnames

    def doc2path(self, docname, absolute):
        if docname not in self.made:
            return super().doc2path(docname, absolute)
        return self.made[docname] if absolute else docname + Path(self.made[docname]).suffix


def write_notebooks(app):
    """Write the student versions to where readers download them, and have Sphinx make a page of each."""
    if app.builder.format != "html":
        return
    folder = posixpath.dirname(app.config.root_doc)  # not empty with `jupyter-book build .`
    app.project.__class__, app.project.made = ProjectWithMadePages, {}
    for name, source in edition_of(app).assignments.items():
        target = Path(app.outdir, folder, "assignments", source.name)
        if not target.is_file() or target.stat().st_mtime < source.stat().st_mtime:
            from assignments import student_version  # late: it imports nbgrader

            student_version.release(source, target)
        app.project.made[posixpath.join(folder, name)] = str(target)


def is_assignment(env):
    return posixpath.basename(env.docname) in edition_of(env.app).assignments


def exclude_from_search(app, doctree):
    """Keep assignments out of the search, and let them be in no table of contents."""
    if is_assignment(app.env):
        app.env.metadata[app.env.docname] |= {"orphan": "", "nosearch": ""}


def link_list_of_assignments(app, pagename, templatename, context, doctree):
    """Make the list of assignments the previous page of each assignment."""
    folder, name = posixpath.split(pagename)
    if name in edition_of(app).assignments:
        title = app.env.titles[posixpath.join(folder, "assignments")].astext()
        context["prev"] = {"link": "assignments.html", "title": title}


class InsertNotebookLink(SphinxPostTransform):
    """Insert a link to the notebook, and the comments at which page_scripts.py inserts the rest."""

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
        title.parent.insert(title.parent.index(title) + 1, nodes.raw("", f"{head}{PRACTICE}\n", format="html"))
        self.document += nodes.raw("", f"{HAND_IN}\n", format="html")


def setup(app):
    app.add_directive("assignments", Assignments)
    app.add_post_transform(InsertNotebookLink)
    app.connect("builder-inited", write_notebooks)
    app.connect("doctree-read", exclude_from_search)
    app.connect("html-page-context", link_list_of_assignments)
