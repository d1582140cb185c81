"""Make a page of each public name of the package companion, and one that lists them by chapter.

Sphinx's autodoc writes the signature, and `docstrings.py` the rest, from the docstrings, which are in English in every
edition. taught.yml says which sections of the chapters teach a name.
"""

import inspect
import json
import posixpath
import re
import sys
from functools import cache
from html import escape
from pathlib import Path
from textwrap import shorten

import yaml
from docutils import nodes
from docutils.parsers.rst import roles
from sphinx import addnodes
from sphinx.highlighting import PygmentsBridge
from sphinx.locale import _
from sphinx.pycode import ModuleAnalyzer
from sphinx.transforms.post_transforms import SphinxPostTransform

import companion
from book.editions import BOOK, ORIGINAL, REFERENCE, page_names, read
from book.site.extension.interface_words import edition_of
from book.site.extension.reference import docstrings

TAUGHT = yaml.safe_load(Path(__file__).with_name("taught.yml").read_text(encoding="utf-8"))
SETTINGS = {
    "autodoc_typehints_format": "short",
    "autodoc_preserve_defaults": True,  # `F.relu`, not where it is in memory
    "python_maximum_signature_line_length": 50,  # longer ones have an argument on each line
    "nitpick_ignore_regex": [("py:.*", ".*")],  # types of torch and Python have no page here
}


def write_pages(app):
    """Write the pages' sources, if they have changed, and have Sphinx read them."""
    if app.builder.format != "html":
        return
    edition = edition_of(app)
    pages = {name: page_of(public, edition) for name, public in edition.reference.items()}
    if pages:
        pages[REFERENCE] = list_of_names(edition)
    for name, lines in pages.items():
        path = Path(app.doctreedir, REFERENCE, f"{name}.rst")
        path.parent.mkdir(parents=True, exist_ok=True)
        text = "\n".join(lines) + "\n"
        if not path.is_file() or path.read_text(encoding="utf-8") != text:
            path.write_text(text, encoding="utf-8")
        app.project.made[posixpath.join(posixpath.dirname(app.config.root_doc), name)] = str(path)


def page_of(name, edition):
    """Return the lines of the page about a name."""
    thing = getattr(companion, name)
    chapters = ", ".join(f"`{literal(title(edition, place))} <{address(edition, place)}>`__" for place in TAUGHT[name])
    taught = _("Taught in: %(chapters)s")
    summary = docstrings.split(thing.__doc__, ()).summary.replace("`", "")
    plain = ", ".join(title(edition, place).replace("`", "") for place in TAUGHT[name])
    description = f"companion.{name}: {summary} {taught % {'chapters': plain}}"
    description = shorten(description, 160, placeholder="…")  # as search engines do
    heading = f"``companion.{name}``"
    directive, member = ("autoclass" if inspect.isclass(thing) else "autofunction"), []
    if inspect.isclass(thing):
        method = ".. automethod:: forward" if hasattr(thing, "forward") else ".. autoproperty:: ok"
        member = [f"   {method}", ""]
    sources = [line for module in docstrings.modules(thing) for line in source_of(module, name)]
    return [
        ":orphan:", ":nosearch:", f":head_title: companion.{name} (PyTorch)", f":description: {description}", "",
        heading, "=" * len(heading), "",
        taught % {"chapters": chapters}, "",
        f".. {directive}:: companion.{name}", "", *member,
        ".. raw:: html", "", *(f"   {line}" for line in sources),
    ]  # fmt: skip


def source_of(module, name):
    """Return the lines of HTML that show a module's source, with a link to where it defines a name."""
    path = Path(module.__file__).relative_to(Path(companion.__file__).parents[1]).as_posix()
    code = highlighted(Path(module.__file__))
    definition = re.search(
        rf'<span class="k">(class|def)</span><span class="w"> </span><span class="n[cf]">{name}</span>', code
    )
    link = ""
    if definition:
        code = f'{code[: definition.start()]}<a id="source"></a>{code[definition.start() :]}'
        link = f'<p><a href="#source"><code>{definition[1]} {name}</code></a></p>'
    heading = f"<summary>{escape(_('Source'))}: <code>{path}</code></summary>"
    return [f'<details class="hide">{heading}{link}', *code.splitlines(), "</details>"]


def list_of_names(edition):
    """Return the lines of the page that lists the names, each under the first chapter that teaches it."""
    heading = _("Reference")
    lines = [":nosearch:", "", heading, "=" * 2 * len(heading), "", _("What the names of the package companion compute, what they take and return, and which errors they raise. The texts are in English in every edition."), ""]  # noqa: E501  # fmt: skip
    order = page_names(read(BOOK / ORIGINAL).table)
    chapters = {}
    for name, places in TAUGHT.items():
        chapters.setdefault(places[0].partition("#")[0], []).append(name)
    for chapter, names in sorted(chapters.items(), key=lambda item: order.index(item[0])):
        text = literal(title(edition, chapter))
        lines += [text, "-" * 2 * len(text), ""]
        for name in names:
            summary = docstrings.split(getattr(companion, name).__doc__, ()).summary
            lines += [f":py:obj:`companion.{name}`", f"   {docstrings.to_rst(summary, name)}", ""]
    return lines


@cache
def highlighted(path):
    """Return a module's source as HTML. A code block would take longer: Sphinx also splits it into words."""
    return PygmentsBridge("html").highlight_block(path.read_text(encoding="utf-8"), "python")


def highlight_all():
    """Highlight the modules of all names, so that forked processes share the result."""
    for name in TAUGHT:
        for module in docstrings.modules(getattr(companion, name)):
            highlighted(Path(module.__file__))


def title(edition, place):
    """Return the title of a place's chapter in an edition, or in English if the edition lacks the chapter."""
    page = place.partition("#")[0]
    folder = edition.folder if edition.has(page) else BOOK / ORIGINAL
    return title_of(folder / f"{page}.ipynb")


@cache
def title_of(path):
    """Return the title of a notebook."""
    first = json.loads(path.read_text(encoding="utf-8"))["cells"][0]["source"]
    return re.match(r"# (.+)", "".join(first))[1]


def literal(text):
    """Return a heading, whose code is in Markdown, as reStructuredText without code."""
    return re.sub(r"([\\*_|<>])", r"\\\1", text.replace("`", ""))


def address(edition, place):
    page, _hash, cell = place.partition("#")
    return f"{'' if edition.has(page) else f'../{ORIGINAL}/'}{page}.html#{cell}"


def describe(app, what, name, thing, options, lines):
    """Replace a docstring by its parts, as fields."""
    _package, public, *method = name.split(".")
    words = {
        "arguments": _("Arguments"), "shapes": _("Shapes"), "returns": _("Returns"), "errors": _("Errors"),
        "notes": _("Notes"),
    }  # fmt: skip
    if method:
        read = docstrings.read_method(thing, getattr(companion, public)) if callable(thing) else None
        lines[:] = docstrings.fields(read or docstrings.split(thing.__doc__, ()), public, words)
        return
    parts = docstrings.read(thing)
    if letters := docstrings.letters(thing):
        parts.shapes.append(letters)
    lines[:] = docstrings.fields(parts, public, words)
    if papers := docstrings.papers(thing):
        lines += [f":{_('Papers')}:", ""]
        for text in papers:
            written = [docstrings.to_rst(text, public).strip(), ""]
            lines += [f"   {line}" for line in (docstrings.to_math(text) if text.startswith(" ") else written)]


# Types that the package has for type checkers, and what they stand for.
TYPES = {
    "input: Any, hx: Any": "input: Tensor | PackedSequence, hx: Tensor | None",
    "tuple[Sequences, Any]": "tuple[Tensor | PackedSequence, Tensor | tuple[Tensor, ...]]",
    "Iterable[Any]": "Iterable[Module]",
    "**call: Any": "**call",
    "Sequences": "Tensor | PackedSequence",
}


def spell_types(app, what, name, thing, options, signature, returns):
    """Replace types that say nothing to readers."""
    signature, returns = (text and re.sub(r"~[\w.]+\.(?=\w)", "", text) for text in (signature, returns))
    if returns == "Any":
        returns = "tuple[Sequences, Tensor]"
    for short, long in TYPES.items():
        signature, returns = (text and text.replace(short, long) for text in (signature, returns))
    return signature, returns


class MarkEnglish(SphinxPostTransform):
    """Mark the descriptions as English, and the headings of their fields as the edition's language."""

    default_priority = 500
    formats = ("html",)

    def run(self, **kwargs):
        edition = edition_of(self.app)
        page = posixpath.basename(self.env.docname)
        if edition.language == ORIGINAL or page not in {REFERENCE, *edition.reference}:
            return
        english = [addnodes.desc] if page != REFERENCE else [nodes.definition]
        for kind in english:
            for node in self.document.findall(kind):
                node["classes"].append("language-en")
        for node in self.document.findall(nodes.field_name):
            node["classes"].append(f"language-{edition.html}")


ENTRY = re.compile(rf'(<li class="toctree-l1)("><a class=")(reference internal" href="{REFERENCE}\.html")')
SIGNATURE = re.compile(r'<dt class="sig .*?</dt>', re.DOTALL)


def finish_page(app, pagename, templatename, context, doctree):
    """Make the list of names the previous page of each name, and the current one among the chapters.

    The lines of a signature become spans: a list needs terms.
    """
    if posixpath.basename(pagename) in edition_of(app).reference:
        context["prev"] = {"link": f"{REFERENCE}.html", "title": _("Reference")}
        toctree = context["toctree"]
        context["toctree"] = lambda **kwargs: ENTRY.sub(r"\1 current\2current \3", toctree(**kwargs))
        context["body"] = SIGNATURE.sub(
            lambda found: re.sub("</d[ld]>", "</span>", re.sub("<d[ld]>", '<span class="line">', found[0])),
            context["body"],
        )


def set_options(app, config):
    for name, value in SETTINGS.items():
        config[name] = value
    # Autodoc would parse the modules of all base classes for comments and overloads, which no page shows.
    for name, module in [*sys.modules.items()]:
        if name.startswith(("companion", "torch.nn.modules.")):
            ModuleAnalyzer.cache["module", name] = ModuleAnalyzer("", name, getattr(module, "__file__", None) or "")


def setup(app):
    app.setup_extension("sphinx.ext.autodoc")
    # code in which no line breaks
    roles.register_local_role("formula", roles.CustomRole("formula", roles.code_role, {"class": ["formula"]}))
    app.add_post_transform(MarkEnglish)
    app.connect("config-inited", set_options, priority=100)
    app.connect("builder-inited", write_pages)
    app.connect("autodoc-process-docstring", describe)
    app.connect("autodoc-process-signature", spell_types)
    app.connect("html-page-context", finish_page)
