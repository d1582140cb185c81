"""Reading time of a page, its exercises and its cells. All editions count those of the English notebook."""

import json
import re
from functools import cache
from typing import NamedTuple

from book.editions import BOOK, ORIGINAL

WORDS, LINES = 150, 15  # read in a minute
OBJECT_MINUTES = 0.5  # for a figure, a table or a displayed equation
TABLE_RULE = re.compile(r"^\|[\s:|-]+\|$", re.MULTILINE)
FENCE = re.compile(r"^```.*?\n(.*?)^```", re.MULTILINE | re.DOTALL)
EQUATION = re.compile(r"\$\$.*?\$\$", re.DOTALL)
PICTURE = re.compile(r"!\[.*?\]\(.*?\)", re.DOTALL)
LIT_PART = re.compile(r"!\[[^\]]*\]\([^)\s]*\.svg#\w+\)")  # a part of a drawing that readers know: a glance
LINK_TARGET = re.compile(r"(?<=\])\([^)\s]*\)")
EXERCISE = re.compile(r"^\*\*\d+\.\*\*", re.MULTILINE)


def english_notebook(name):
    """Return the path of a chapter's English notebook, by which all editions count minutes, or None."""
    path = BOOK / ORIGINAL / f"{name}.ipynb"
    return path if path.is_file() else None


class Length(NamedTuple):
    """The length of a page: cells and minutes without its exercises, and the number of exercises."""

    cells: int
    minutes: float
    exercises: int


def reading_time(path):
    """Return the minutes that a notebook takes to read without its exercises, rounded to five, and their number."""
    _cells, minutes, exercises = measure(path)
    return max(5, 5 * round(minutes / 5)), exercises


def measure(path):
    """Return the Length of a notebook. Cells that are not on the page, with the tag remove-cell, do not count."""
    return count(path, path.stat().st_mtime_ns)


@cache
def count(path, _changed):
    """Return what `measure` returns, for the file as it was when it was last changed."""
    cells, minutes, exercises, section = 0, 0.0, 0, ""
    for cell in json.loads(path.read_text(encoding="utf-8"))["cells"]:
        source = "".join(cell["source"])
        if "remove-cell" in cell["metadata"].get("tags", ()):
            continue
        if cell["cell_type"] == "markdown" and source.startswith("## "):
            section = cell["id"]
        if section == "exercises":
            exercises += len(EXERCISE.findall(source)) if cell["cell_type"] == "markdown" else 0
            continue
        cells += 1
        if cell["cell_type"] == "markdown":
            minutes += markdown_minutes(source)
        else:
            minutes += len(source.splitlines()) / LINES + sum(map(output_minutes, cell["outputs"]))
    return Length(cells, minutes, exercises)


def markdown_minutes(text):
    """Return the minutes for a text in Markdown."""
    lines = sum(len(code.splitlines()) for code in FENCE.findall(text))
    text = LIT_PART.sub("", FENCE.sub("", text))
    objects = 0
    for pattern in (EQUATION, PICTURE, TABLE_RULE):
        text, count = pattern.subn("", text)
        objects += count
    words = [word for word in LINK_TARGET.sub("", text).split() if re.search(r"\w", word)]
    return len(words) / WORDS + lines / LINES + objects * OBJECT_MINUTES


def output_minutes(output):
    """Return the minutes for an output: a picture, a table or a text in Markdown. Printed lines count as none."""
    data = output.get("data", {})
    if any(kind.startswith(("image/", "application/vnd.jupyter.widget")) for kind in data):
        return OBJECT_MINUTES
    if "<table" in "".join(data.get("text/html", "")):
        return OBJECT_MINUTES
    return markdown_minutes("".join(data.get("text/markdown", "")))
