"""What the site needs beyond Jupyter Book. One subject a file; each has a `setup` of its own."""

from book.site.extension import about, assignments, frame, languages, outputs, places, terms, words
from book.site.extension.figures import directive, pictures
from book.site.extension.mathematics import fonts, formulas
from book.site.extension.search import index

PARTS = (
    about, assignments, directive, fonts, frame, languages, formulas, outputs, pictures, places, index, terms, words,
)  # fmt: skip


def setup(app):
    for part in PARTS:
        part.setup(app)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
