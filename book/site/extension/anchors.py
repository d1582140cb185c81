"""Anchors that are the same in every language.

By default a heading's id comes from its words, which differ between languages. Here a notebook's cell gives its own id
to the section that it begins, or else to an empty target before its content. Pages without cells number their headings.
"""

import json
import posixpath
from pathlib import Path

from docutils import nodes
from sphinx.transforms import SphinxTransform

from book.site.extension.interface_words import edition_of
from book.site.redirects import page_script

CELL = 10_000  # myst-nb counts the lines of cell k from (k + 1) * 10_000


class SetAnchors(SphinxTransform):
    default_priority = 870  # after the ids of labels (260), before the tables of contents (880)

    def apply(self, **kwargs):
        self.named = set()
        path = Path(self.env.doc2path(self.env.docname))
        if path.suffix == ".ipynb":
            cells = json.loads(path.read_text(encoding="utf-8"))["cells"]
            self.cells = [cell.get("id") for cell in cells]  # cells of older notebooks have none
            self.name_content(self.document)
        else:
            for number, section in enumerate(self.document.findall(nodes.section), start=1):
                self.name_section(section, f"section-{number}")
        # MyST resolves links to these: [text](#cell-state), and from other pages [text](lstm.ipynb#cell-state).
        self.document.myst_slugs = getattr(self.document, "myst_slugs", {}) | {
            name: (None, name, "") for name in self.named
        }
        self.env.metadata[self.env.docname]["myst_slugs"] = self.document.myst_slugs

    def name_content(self, parent):
        """Set the anchors in a section, in the order of the page."""
        for node in list(parent.children):
            cell = self.cell_id(node)
            if isinstance(node, nodes.section):
                if cell:
                    used = sum(name.partition("--")[0] == cell for name in self.named)
                    self.name_section(node, f"{cell}--{used + 1}" if used else cell)
                self.name_content(node)
            elif cell and cell not in self.named and not isinstance(node, (nodes.title, nodes.Invisible)):
                self.named.add(cell)
                target = nodes.target("", "", ids=[cell], classes=["place"])
                parent.insert(parent.index(node), target)

    def cell_id(self, node):
        """Return the id of the cell that a node comes from, or None."""
        index = (node.line or 0) // CELL - 1
        if isinstance(node, nodes.container):
            index = node.get("cell_index", index)
        return self.cells[index] if 0 <= index < len(self.cells) else None

    def name_section(self, section, anchor):
        """Replace the id that comes from the heading's words by `anchor`; labels written by hand remain."""
        document = self.document
        written = {document.nameids[name] for name, explicit in document.nametypes.items() if explicit}
        for name, label in document.nameids.items():
            if label in section["ids"] and label not in written:
                document.nameids[name] = anchor
        section["ids"] = [anchor, *(label for label in section["ids"] if label in written and label != anchor)]
        section["classes"].append("place")
        document.ids[anchor] = section
        self.named.add(anchor)


def add_script(app, pagename, templatename, context, doctree):
    """Add a script to a page that cells have left, which leads their old anchors to the cells."""
    script = page_script(edition_of(app), posixpath.basename(pagename))
    context["metatags"] = context.get("metatags", "") + script


def setup(app):
    app.add_transform(SetAnchors)
    app.connect("html-page-context", add_script)
