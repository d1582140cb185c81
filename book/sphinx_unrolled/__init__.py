"""What the site needs beyond Jupyter Book. One subject a file; each has a `setup` of its own."""

from . import fonts, mathematics, pictures, style, terms


def setup(app):
    for part in (fonts, mathematics, pictures, style, terms):
        part.setup(app)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
