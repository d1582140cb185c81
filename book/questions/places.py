"""Headings of the places that show the answers."""

import re
from functools import cache

from book.chapter_headings import headings
from book.editions import ORIGINAL

headings = cache(headings)


def heading_of(place, language):
    """Return the chapter's title and the heading of a place, page#cell, as plain text: "GRU · Shapes"."""
    page, _, cell = place.partition("#")
    found = headings(language, page) or headings(ORIGINAL, page)
    return " · ".join(plain(heading) for heading in found[cell] if heading)


def plain(heading):
    """Return a Markdown heading as plain text."""
    return re.sub(r"[`*$\\]", "", heading)
