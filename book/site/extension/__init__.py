"""Sphinx extension of the site: what it needs beyond Jupyter Book. Each module is one subject with its own `setup`."""

from book.site.extension import (
    anchors,
    assignments,
    emphasis,
    front_page,
    glossary,
    interface_words,
    languages,
    metadata,
    outputs,
    theme,
)
from book.site.extension.figures import directive, pictures
from book.site.extension.mathematics import fonts, formulas
from book.site.extension.questions import insert
from book.site.extension.reference import links, pages
from book.site.extension.search import index

# Sphinx keeps this order of setup where two modules listen to one event.
MODULES = (
    metadata, assignments, pages, links, directive, fonts,
    theme, languages, formulas, outputs, pictures, anchors, insert, index, glossary,
    interface_words, emphasis, front_page,
)  # fmt: skip


def setup(app):
    for module in MODULES:
        module.setup(app)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
