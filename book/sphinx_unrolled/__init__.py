"""What the site needs beyond Jupyter Book. One subject a file; each has a `setup` of its own."""

from . import assignments, figures, fonts, languages, mathematics, pictures, places, search, style, terms, words


def setup(app):
    for part in (assignments, figures, fonts, languages, mathematics, pictures, places, search, style, terms, words):
        part.setup(app)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
