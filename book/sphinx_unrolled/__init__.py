"""What the site needs beyond Jupyter Book. One subject a file; each has a `setup` of its own."""

from . import about, assignments, figures, fonts, frame, languages, mathematics, outputs, pictures, places, search, terms, words

PARTS = (
    about, assignments, figures, fonts, frame, languages, mathematics, outputs, pictures, places, search, terms, words,
)  # fmt: skip


def setup(app):
    for part in PARTS:
        part.setup(app)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
