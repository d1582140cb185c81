"""Read headings, numbers of chapters, formulas and tables of the chapters for the sheets."""

import json
import re
from functools import cache

from book.chapter_headings import headings
from book.editions import BOOK, ORIGINAL, read

DISPLAY = re.compile(r"\$\$(.+?)\$\$", re.DOTALL)
LINK = re.compile(r"\[([^\]]*)\]\([^)]*\)")


@cache
def cells(language, page):
    """Return cell id → cell of a chapter; ValueError if the edition has no such notebook."""
    path = BOOK / language / f"{page}.ipynb"
    if not path.is_file():
        raise ValueError(f"book/{language} has no {page}.ipynb, which a sheet uses")
    return {cell["id"]: cell for cell in json.loads(path.read_text(encoding="utf-8"))["cells"]}


def cell(place, language=ORIGINAL):
    """Return the cell at a place, page#cell; ValueError if the chapter has none."""
    page, _, name = place.partition("#")
    found = cells(language, page)
    if name not in found:
        raise ValueError(f"{place}: book/{language}/{page}.ipynb has no cell {name!r}")
    return found[name]


def source(place, language=ORIGINAL):
    """Return the source of a cell."""
    return "".join(cell(place, language)["source"])


def output(place):
    """Return all that a cell of the original has printed, as text."""
    parts = []
    for result in cell(place).get("outputs", []):
        parts += result.get("text", []) or result.get("data", {}).get("text/plain", [])
        parts.append("\n")
    return "".join(parts)


def formula(place):
    """Return the TeX of the first displayed formula of a cell."""
    found = DISPLAY.search(source(place))
    if not found:
        raise ValueError(f"{place} has no displayed formula")
    return found[1].strip()


def table(place, language):
    """Return the rows of a cell's table, each a list of Markdown texts, without links; the first has the headings."""
    lines = [line for line in source(place, language).splitlines() if line.startswith("|")]
    rows = [[LINK.sub(r"\1", text).strip() for text in line.strip("|").split(" | ")] for line in lines]
    rows = [row for row in rows if not set("".join(row)) <= set("-: |")]
    if not rows or len({*map(len, rows)}) > 1:
        raise ValueError(f"{place}: book/{language} has no table whose rows have equally many columns")
    return rows


def section(place, language):
    """Return the Markdown heading of a place: of its section, else of its page."""
    page, _, name = place.partition("#")
    found = headings(language, page)
    if not found or name and name not in found:
        raise ValueError(f"{place}: book/{language} has no such page or cell")
    title, heading = found[name] if name else [next(iter(found.values()))[0], ""]
    return heading or title


def number(place, language):
    """Return the number of a place's chapter, as on the site, or None for a page that has none."""
    page, road = place.partition("#")[0], read(BOOK / language).road
    return road.index(page) + 1 if page in road else None
