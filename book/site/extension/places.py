"""Names for the places of a page that are the same in every language.

A heading's id comes from its words, and these differ. So a notebook's cell gives its own id to what it renders: to
the section that it begins, or else to a mark before it. On a page without cells the headings are counted.
"""

import json
from pathlib import Path

from docutils import nodes
from sphinx.transforms import SphinxTransform

CELL = 10_000  # myst-nb counts the lines of cell k from (k + 1) * 10_000


class NamePlaces(SphinxTransform):
    default_priority = 870  # the ids of labels are there (260); the tables of contents are not yet made (880)

    def apply(self, **kwargs):
        self.named = set()
        path = Path(self.env.doc2path(self.env.docname))
        if path.suffix == ".ipynb":
            cells = json.loads(path.read_text(encoding="utf-8"))["cells"]
            self.cells = [cell.get("id") for cell in cells]  # an older notebook's have none
            self.name_content(self.document)
        else:
            for number, section in enumerate(self.document.findall(nodes.section), start=1):
                self.name_section(section, f"section-{number}")

    def name_content(self, parent):
        """Name what stands in a section, in the order of the page."""
        for node in list(parent.children):
            cell = self.cell_of(node)
            if isinstance(node, nodes.section):
                if cell:
                    again = sum(name.partition("--")[0] == cell for name in self.named)
                    self.name_section(node, f"{cell}--{again + 1}" if again else cell)
                self.name_content(node)
            elif cell and cell not in self.named and not isinstance(node, (nodes.title, nodes.Invisible)):
                self.named.add(cell)
                mark = nodes.target("", "", ids=[cell], classes=["place"])
                parent.insert(parent.index(node), mark)

    def cell_of(self, node):
        """The id of the cell that a node comes from."""
        index = (node.line or 0) // CELL - 1
        if isinstance(node, nodes.container):
            index = node.get("cell_index", index)
        return self.cells[index] if 0 <= index < len(self.cells) else None

    def name_section(self, section, place):
        """Put a name in the place of the id from the heading's words. Labels written by hand remain."""
        document = self.document
        written = {document.nameids[name] for name, explicit in document.nametypes.items() if explicit}
        for name, anchor in document.nameids.items():
            if anchor in section["ids"] and anchor not in written:
                document.nameids[name] = place
        section["ids"] = [place, *(anchor for anchor in section["ids"] if anchor in written and anchor != place)]
        section["classes"].append("place")
        document.ids[place] = section
        self.named.add(place)


def setup(app):
    app.add_transform(NamePlaces)
