"""Outputs that show nothing, such as the place where a progress bar was, are left off the page."""

from docutils import nodes
from sphinx.transforms.post_transforms import SphinxPostTransform

from .pictures import is_output


class EmptyOutputs(SphinxPostTransform):
    default_priority = 500  # after myst-nb has chosen an output's form (4)

    def run(self, **kwargs):
        for node in list(self.document.findall(nodes.literal_block)):
            if not node.astext().strip() and is_output(node):
                node.parent.remove(node)


def setup(app):
    app.add_post_transform(EmptyOutputs)
