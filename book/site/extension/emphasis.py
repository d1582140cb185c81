"""Mark emphasised words in Latin letters, such as titles, which get no dots in Japanese, Korean and Chinese."""

from unicodedata import east_asian_width

from docutils import nodes
from sphinx.transforms.post_transforms import SphinxPostTransform


class MarkLatin(SphinxPostTransform):
    default_priority = 500

    def run(self, **kwargs):
        for node in self.document.findall(nodes.emphasis):
            if not any(east_asian_width(character) in "WF" for character in node.astext()):
                node["classes"].append("latin")


def setup(app):
    app.add_post_transform(MarkLatin)
