"""What the site needs beyond Jupyter Book. One subject a file; each has a `setup` of its own."""

from . import about, figures, fonts, frame, languages, mathematics, pictures, places, search, terms, words


def setup(app):
    for part in (about, figures, fonts, frame, languages, mathematics, pictures, places, search, terms, words):
        part.setup(app)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
