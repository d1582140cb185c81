"""The look of the pages, beside the theme's own."""

from pathlib import Path

STATIC = Path(__file__).parent / "static"


def setup(app):
    # An absolute path, because every edition has a source folder of its own.
    app.config.html_static_path.append(str(STATIC))
    app.add_css_file("unrolled.css", priority=900)  # after the theme's
