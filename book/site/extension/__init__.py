"""What the site needs beyond Jupyter Book. One subject a file; each has a `setup` of its own."""

from book.site.extension import about
from book.site.extension import assignments
from book.site.extension.figures import figures
from book.site.extension.mathematics import fonts
from book.site.extension import frame
from book.site.extension import languages
from book.site.extension.mathematics import mathematics
from book.site.extension import outputs
from book.site.extension.figures import pictures
from book.site.extension import places
from book.site.extension.search import search
from book.site.extension import terms
from book.site.extension import words

PARTS = (
    about, assignments, figures, fonts, frame, languages, mathematics, outputs, pictures, places, search, terms, words,
)  # fmt: skip


def setup(app):
    for part in PARTS:
        part.setup(app)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
