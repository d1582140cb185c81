"""Headings above the cells of the chapters."""

import json
import re

from book.editions import BOOK

HEADING = re.compile(r"^(#{1,6}) +(.*?) *$", re.MULTILINE)
FENCED = re.compile(r"^(`{3,}|:{3,}).*?^\1", re.MULTILINE | re.DOTALL)


def headings(language, page, book=BOOK):
    """Return cell id → [the chapter's title, the heading above the cell or ""]; empty without that chapter."""
    path = book / language / f"{page}.ipynb"
    cells = json.loads(path.read_text(encoding="utf-8"))["cells"] if path.is_file() else []
    by_cell, title, heading = {}, "", ""
    for cell in cells:
        text = "".join(cell["source"]) if cell["cell_type"] == "markdown" else ""
        in_cell = [(len(marks), words) for marks, words in HEADING.findall(FENCED.sub("", text))]
        title = title or next((words for level, words in in_cell if level == 1), "")
        below = [words for level, words in in_cell if level > 1]
        # the first heading of a cell is its own; the last one is that of the next cell
        heading = below[0] if below else heading
        by_cell[cell["id"]] = [title, heading]
        heading = below[-1] if below else heading
    return by_cell
