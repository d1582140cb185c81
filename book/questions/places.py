"""Headings of the places that show the answers."""

import json
import re
from functools import cache

from book.editions import BOOK, ORIGINAL


@cache
def headings(page, language):
    """Return cell → the headings of its chapter and its section as plain text, such as "GRU · Shapes"."""
    path = BOOK / language / f"{page}.ipynb"
    path = path if path.is_file() else BOOK / ORIGINAL / path.name
    found, chapter, section = {}, "", ""
    for cell in json.loads(path.read_text(encoding="utf-8"))["cells"]:
        first = "".join(cell["source"]).partition("\n")[0]
        if cell["cell_type"] == "markdown" and first.startswith("# "):
            chapter = first
        if cell["cell_type"] == "markdown" and first.startswith("## "):
            section = first
        found[cell["id"]] = " · ".join(plain(heading) for heading in (chapter, section) if heading)
    return found


def heading_of(place, language):
    """Return the headings of a place, page#cell."""
    page, _, cell = place.partition("#")
    return headings(page, language)[cell]


def plain(heading):
    """Return a Markdown heading as plain text."""
    return re.sub(r"[`*$\\]|^#+ ", "", heading)
