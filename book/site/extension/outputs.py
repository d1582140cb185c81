"""Remove empty outputs from pages, such as those of finished progress bars, and mark outputs that may wrap.

Outputs that are one line or an error message have no columns, so their lines may wrap on a narrow page.
"""

import re

from docutils import nodes
from sphinx.transforms.post_transforms import SphinxPostTransform

from book.site.extension.figures.pictures import is_output

MESSAGE = re.compile(r"^\w+(Error|Warning): ", re.MULTILINE)


class CleanOutputs(SphinxPostTransform):
    default_priority = 500  # after myst-nb has chosen an output's form (4)

    def run(self, **kwargs):
        for node in list(self.document.findall(nodes.literal_block)):
            if not is_output(node):
                continue
            text = node.astext().strip()
            if not text:
                node.parent.remove(node)
            elif node.get("language") == "myst-ansi" and ("\n" not in text or MESSAGE.search(text)):
                node["classes"].append("no-columns")


def setup(app):
    app.add_post_transform(CleanOutputs)
