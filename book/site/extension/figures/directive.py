"""Interactive figures on pages, without a notebook's kernel.

A notebook stores the state of a figure like that of any widget. The page has the figure's picture and its state; two
scripts, which only pages with the figure load, replace the picture by the figure: `common.js` has what all figures
share, `<name>.js` the figure and its other modules. They are classic scripts, because a page that is opened as a file
cannot load modules.

A figure is higher than its picture. Its scripts are at its place on the page, and browsers run them before they read
on. So nothing below moves when the figure starts, and links to later sections lead to the right place in every browser.
"""

import base64
import html
import json
import re
from pathlib import Path

import nbformat
from docutils import nodes
from myst_nb.sphinx_ import NbMetadataCollector
from sphinx.transforms.post_transforms import SphinxPostTransform
from sphinx.util import logging
from sphinx.util.docutils import SphinxDirective

from book.site.extension.figures.pictures import inline
from book.site.extension.interface_words import edition_of
from companion import figures
from companion.figures.figure import EXPORT, IMPORT, modules, own_state, picture, read, source, without_comments

logger = logging.getLogger(__name__)

STATE, VIEW = "application/vnd.jupyter.widget-state+json", "application/vnd.jupyter.widget-view+json"
KINDS = [getattr(figures, name) for name in figures.__all__]
NAMES = [name.lower() for name in figures.__all__]
SCRIPTS_OF = "<!-- scripts of {} -->"  # at the end of a figure's element


class InsertFigures(SphinxPostTransform):
    """Insert a figure's picture and state where a notebook would show the widget."""

    default_priority = 400  # after myst-nb has chosen an output's form (4)
    formats = ("html",)

    def run(self, **kwargs):
        views = [node for node in self.document.findall(nodes.raw) if f'type="{VIEW}"' in node.astext()]
        if not views:
            return
        notebook = nbformat.read(self.env.doc2path(self.env.docname), as_version=4)
        states = notebook.metadata.get("widgets", {}).get(STATE, {}).get("state", {})
        for number, node in enumerate(views, start=1):
            model = json.loads(node.astext().partition(">")[2].rpartition("</script>")[0])["model_id"]
            if model not in states:
                logger.warning("the notebook has no state of this widget: run it again", location=node, type="unrolled")
                continue
            state = states[model]["state"]
            name = state.get("_anywidget_id", "").rpartition(".")[2].lower()
            if name not in NAMES:
                logger.warning("this widget is not a figure of companion.figures", location=node, type="unrolled")
                continue
            node.replace_self(nodes.raw("", figure_html(name, own_state(state), number), format="html", figure=name))


class Alive(SphinxDirective):
    """A figure in its first state, on a page that is not a notebook: ```{alive} writing```."""

    required_arguments = 1

    def run(self):
        name = self.arguments[0]
        if name not in NAMES:
            raise self.error(f"there is no figure {name!r}: it is one of {', '.join(NAMES)}")
        kind, language = KINDS[NAMES.index(name)], edition_of(self.env.app).language
        state = own_state(getattr(kind, "front_page", kind)(language).get_state())  # with which it may move by itself
        return [nodes.raw("", figure_html(name, state, 1), format="html", figure=name)]


def figure_html(name, state, number):
    """Return a figure's element as it is before its script has run: the picture and the state."""
    words = state["words"]
    svg = inline(picture(state["language"], name), f"figure{number}", words["description"])
    # "</script>" in a string would end the element
    settings = getattr(figures, figures.__all__[NAMES.index(name)]).settings  # those that a link can have
    data = json.dumps({**state, "settings": settings}, ensure_ascii=False, separators=(",", ":")).replace("</", "<\\/")
    return (
        f'<div data-figure="{name}"><figure'
        f' class="unrolled-figure">{svg}<figcaption>{html.escape(words["caption"])}</figcaption></figure><script'
        f' type="application/json">{data}</script>{SCRIPTS_OF.format(name)}</div>'
    )


def write_scripts(app):
    """Write the figures' scripts, and the weights that they load on demand, into the site."""
    if app.builder.format != "html":
        return
    folder = Path(app.outdir, "_static", "figures")
    folder.mkdir(parents=True, exist_ok=True)
    needed = {name: modules(name)[:-1] for name in NAMES}
    shared = [module for module in next(iter(needed.values())) if all(module in modules for modules in needed.values())]

    def plain(module):
        return EXPORT.sub("", IMPORT.sub("", without_comments(source(module))))

    exports = [match["name"] for module in shared for match in EXPORT.finditer(read(f"{module}.js"))]
    parts = [without_comments(read("host.js")), *map(plain, shared)]
    text = (
        f"window.unrolledFigures = (() => {{\n{''.join(parts)}\nreturn {{ mount, kinds, {', '.join(exports)}"
        " };\n})();\n"
    )
    (folder / "common.js").write_text(text, encoding="utf-8")
    for name in NAMES:
        own = [module for module in [*needed[name], name] if module not in shared]
        imports = [
            match for module in own for match in IMPORT.finditer(read(f"{module}.js")) if match["module"] in shared
        ]
        names = dict.fromkeys(name for match in imports for name in re.findall(r"\w+", match["names"]))
        text = f"const {{ {', '.join(names)} }} = unrolledFigures;\n" + "".join(map(plain, own)).replace(
            "export default", "return"
        )
        (folder / f"{name}.js").write_text(
            f'unrolledFigures.mount("{name}", (() => {{\n{text}}})());\n', encoding="utf-8"
        )
    language = edition_of(app).language
    for name, weights in (pair for kind in KINDS for pair in kind.files.items()):
        if "/" not in name or weights.stem == language:  # a folder has a file for each language
            data, target = weights.read_bytes(), folder / name
            target.parent.mkdir(exist_ok=True)
            target.write_bytes(data)
            text = f'window.unrolledFile = "{base64.b64encode(data).decode()}";\n'
            target.with_name(f"{target.name}.js").write_text(text, encoding="utf-8")


def add_scripts(app, pagename, templatename, context, doctree):
    """Add the scripts of a page's figures, and remove those that notebooks load for widgets."""
    NbMetadataCollector.get_js_files(app.env, pagename).pop("ipywidgets_state", None)
    names = dict.fromkeys(node["figure"] for node in doctree.findall(nodes.raw) if "figure" in node) if doctree else ()
    for name in ["common", *names] if names else ():
        app.add_js_file(f"figures/{name}.js")


def move_scripts(app, pagename, templatename, context, doctree):
    """Move the scripts from the head of a page into the elements of its figures, `common.js` into the first."""
    files = {
        Path(file.filename).stem: file
        for file in context["script_files"]
        if str(file.filename).startswith("_static/figures/")
    }
    context["script_files"] = [file for file in context["script_files"] if file not in files.values()]
    tags = {name: context["js_tag"](file) for name, file in files.items()}
    common = tags.pop("common", "")
    for name, tag in tags.items():
        context["body"] = (
            context["body"].replace(SCRIPTS_OF.format(name), common + tag, 1).replace(SCRIPTS_OF.format(name), tag)
        )
        common = ""


def setup(app):
    app.add_directive("alive", Alive)
    app.add_post_transform(InsertFigures)
    app.connect("builder-inited", write_scripts)
    app.connect("html-page-context", add_scripts, priority=400)  # before myst-nb's
    app.connect("html-page-context", move_scripts, priority=800)  # before prepare_page gives the others `defer`
