"""The theme of the pages: it sends only the styles and scripts that a page needs."""

import posixpath
import re
from functools import cache
from pathlib import Path

from docutils import nodes
from markupsafe import Markup
from pygments.formatters import HtmlFormatter
from pygments.token import Token
from sphinx.environment.adapters.toctree import document_toc
from sphinx.highlighting import PygmentsBridge
from sphinx.locale import _
from sphinx.transforms.post_transforms import SphinxPostTransform

from book.editions import page_names
from book.site.extension.interface_words import edition_of
from book.styles import minify
from companion.figures.figure import read

THEME = Path(__file__).parents[1] / "theme"
# Scripts that only search results need.
SEARCH_ONLY = re.compile(r"doctools|sphinx_highlight|translations\.js")
DARK = 'html[data-theme="dark"]'  # only on screens: printed pages are light

# Drawn on 24 × 24 pixels.
ICONS = {
    "menu": '<path d="M4 7h16M4 12h16M4 17h16"/>',
    "search": '<circle cx="10.5" cy="10.5" r="6"/><path d="m15 15 5.5 5.5"/>',
    "languages": '<circle cx="12" cy="12" r="8.5"/><ellipse cx="12" cy="12" rx="3.75" ry="8.5"/><path d="M3.5 12h17"/>',
    "mode": '<circle cx="12" cy="12" r="8.5"/><path d="M12 3.5v17a8.5 8.5 0 0 0 0-17" fill="currentColor"/>',
    "sections": '<path d="M9 7h11M9 12h11M9 17h11M4.5 7h.01M4.5 12h.01M4.5 17h.01"/>',
}


def icon(name):
    return Markup(f'<svg class="icon" viewBox="0 0 24 24" aria-hidden="true">{ICONS[name]}</svg>')


def prepare_page(app, pagename, templatename, context, doctree):
    """Set the variables of the templates, and adjust the page's HTML."""
    scripts = [file for file in context["script_files"] if getattr(file, "filename", None)]
    has_figures = doctree is not None and any("figure" in node for node in doctree.findall(nodes.raw))
    more = [read("figures.css")] if has_figures else []
    if pagename == app.config.root_doc:
        more.append((THEME / "front_page.css").read_text(encoding="utf-8"))
    if pagename.rpartition("/")[2] in edition_of(app).reference:
        more.append((THEME / "reference.css").read_text(encoding="utf-8"))
    context["style"] = Markup(style() + "".join(map(minify, more)))
    context["script_files"] = [file for file in scripts if not SEARCH_ONLY.search(str(file.filename))]
    for file in context["script_files"]:
        file.attributes["defer"] = ""  # show the text first
    if "body" in context:
        context["body"] = break_names(EMPTY_HEAD.sub("<td></td>", context["body"]))
        if context["language"] == "ko":
            context["body"] = keep_particles(context["body"])
    road, name = edition_of(app).road, pagename.rpartition("/")[2]
    if pagename == app.config.root_doc:
        context["prev"] = None
    elif name in page_names(edition_of(app).table) and name not in road:  # a page to look something up
        context["prev"] = context["next"] = None
    elif road[-1:] == [name]:
        context["next"] = None
    context["icon"], context["author"] = icon, app.config.author
    context["sections"] = sections(app, pagename) if doctree is not None else ""


def sections(app, pagename):
    """Return the page's sections as a list of links, without its title."""
    if pagename not in app.env.tocs:
        return ""
    title = document_toc(app.env, pagename, app.tags)
    inner = list(title.findall(nodes.bullet_list))[1:2]
    return Markup(app.builder.render_partial(inner[0])["fragment"]) if inner else ""


# Screen readers announce an empty <th> as a heading, so it becomes a <td>.
EMPTY_HEAD = re.compile(r'<th class="[^"]*"><p></p></th>')


class WrapTables(SphinxPostTransform):
    """Put every table into an element of its own, in which it can scroll."""

    default_priority = 500  # after myst-nb has chosen an output's form (4)
    formats = ("html",)

    def run(self, **kwargs):
        for table in list(self.document.findall(nodes.table)):
            place = table.parent.index(table)
            table.parent.insert(place + 1, nodes.raw("", "</div>", format="html"))
            table.parent.insert(place, nodes.raw("", '<div class="table">', format="html"))


class KeepShortCode(SphinxPostTransform):
    """Mark inline code that is too short to be broken."""

    default_priority = 500
    formats = ("html",)

    def run(self, **kwargs):
        for node in self.document.findall(nodes.literal):
            if len(node.astext()) < 20:
                node["classes"].append("short")


# A Korean particle belongs to the word before it, but browsers break lines between a bracket or quotation mark and it.
PARTICLE = re.compile(r"([)\]”’](?:</(?:code|strong|em|a|span)>)*)(?=[가-힣])")


def keep_particles(body):
    """Return the body of a page with a word joiner before such particles, except in code."""
    parts = re.split(r"(<pre.*?</pre>|<script.*?</script>)", body, flags=re.DOTALL)
    return "".join(
        part if number % 2 else PARTICLE.sub("\\1\N{WORD JOINER}", part) for number, part in enumerate(parts)
    )


def chapter_number(env, name):
    """Return the number of a chapter, or None for a page without one."""
    return next(iter(env.toc_secnumbers.get(name, {}).get("", ())), None)


class NumberChapters(SphinxPostTransform):
    """Add a chapter's number to the links that lead to it, and its number and title to the tooltips of all links."""

    default_priority = 300  # after Sphinx has resolved the links (10)
    formats = ("html",)

    def run(self, **kwargs):
        for node in list(self.document.findall(nodes.reference)):
            page, _hash, anchor = node.get("refuri", "").partition("#")
            folder = posixpath.dirname(self.env.docname)
            name = posixpath.normpath(posixpath.join(folder, page.removesuffix(".html")))
            number = chapter_number(self.env, name)
            if not node.get("internal") or not page.endswith(".html") or not number or name == self.env.docname:
                continue
            words = {"number": number, "title": self.env.titles[name].astext()}
            node["reftitle"] = _("Chapter %(number)s: %(title)s") % words
            if not anchor and self.env.docname != self.config.root_doc:
                node += nodes.inline("", _(" (chapter %(number)s)") % words, classes=["number"])


LONG_NAME = re.compile(r'(?<=<span class="pre">)[\w.]{20,}(?=</span>)')


def break_names(body):
    """Return the body of a page in which long names may be broken after an underscore or before a point."""
    return LONG_NAME.sub(lambda name: re.sub(r"(?<=_)(?=\w)|(?<=\w)(?=\.)", "<wbr>", name[0]), body)


class LeanFormatter(HtmlFormatter):
    """Format code without elements around tokens in the colour of plain text, which are more than half."""

    TABLES = {}  # of each style
    PLAIN = {Token.Name, Token.Punctuation, Token.Text, Token.Text.Whitespace, Token.Generic.Output}

    def _create_stylesheet(self):
        """Share a style's tables: Sphinx makes a formatter for each block of code."""
        if self.style not in self.TABLES:
            super()._create_stylesheet()
            self.TABLES[self.style] = self.ttype2class, self.class2style
        self.ttype2class, self.class2style = self.TABLES[self.style]

    def _get_css_classes(self, ttype):
        return "" if ttype in self.PLAIN else super()._get_css_classes(ttype)


@cache
def style():
    """Return the style sheet, which is part of every page: a file of its own would delay the text."""
    css = (THEME / "unrolled.css").read_text(encoding="utf-8")
    return minify(f"{css}{code_style('light')} @media screen {{ {code_style('dark', DARK)} }}")


def code_style(kind, parent=""):
    """Return the colours of code in light or dark mode, inside elements that match the selector `parent`."""
    rules = HtmlFormatter(style=f"a11y-high-contrast-{kind}").get_style_defs(f"{parent} .highlight".strip())
    return "\n".join(line for line in rules.splitlines() if ".highlight" in line and "linenos" not in line)


def setup(app):
    app.add_config_value("comments_config", {}, "")  # Jupyter Book sets it for an extension that is not used here
    app.add_html_theme("unrolled", str(THEME))
    PygmentsBridge.html_formatter = LeanFormatter
    app.add_js_file("page.js")
    app.add_post_transform(WrapTables)
    app.add_post_transform(KeepShortCode)
    app.add_post_transform(NumberChapters)
    app.connect("html-page-context", prepare_page, priority=900)  # after all listeners that add files
