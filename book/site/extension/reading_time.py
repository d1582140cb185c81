"""How long a chapter takes to read, and how many exercises it has. Both come from the English notebook."""

import json
import re
from functools import cache
from itertools import accumulate, pairwise

from book.editions import BOOK, ORIGINAL

WORDS, LINES = 150, 15  # read in a minute
MAX_PIECE = 30  # minutes
OBJECT_MINUTES = 0.5  # for a figure, a table or a displayed equation
TABLE_RULE = re.compile(r"^\|[\s:|-]+\|$", re.MULTILINE)
FENCE = re.compile(r"^```.*?\n(.*?)^```", re.MULTILINE | re.DOTALL)
EQUATION = re.compile(r"\$\$.*?\$\$", re.DOTALL)
PICTURE = re.compile(r"!\[.*?\]\(.*?\)", re.DOTALL)
LINK_TARGET = re.compile(r"(?<=\])\([^)\s]*\)")
EXERCISE = re.compile(r"^\*\*\d+\.\*\*", re.MULTILINE)


def english_notebook(name):
    """Return the path of a chapter's English notebook, by which all editions count minutes, or None."""
    path = BOOK / ORIGINAL / f"{name}.ipynb"
    return path if path.is_file() else None


def reading_time(path):
    """Return the minutes that a notebook takes to read without its exercises, rounded to five, and their number."""
    sections, exercises = read_sections(path)
    return max(5, round_to_five(sum(sections.values()))), exercises


def read_sections(path):
    """Return the minutes of each section of a notebook, id of its first cell → minutes, and the number of exercises.

    The part before the first section has the id "". Exercises have no minutes.
    """
    return count(path, path.stat().st_mtime_ns)


@cache
def count(path, _changed):
    """Return what `read_sections` returns, for the file as it was when it was last changed."""
    sections, section, exercises = {"": 0}, "", 0
    for cell in json.loads(path.read_text(encoding="utf-8"))["cells"]:
        source = "".join(cell["source"])
        if "remove-cell" in cell["metadata"].get("tags", ()):  # not on the page
            continue
        if cell["cell_type"] == "markdown" and source.startswith("## "):
            section = cell["id"]
            sections[section] = 0
        if section == "exercises":
            exercises += len(EXERCISE.findall(source)) if cell["cell_type"] == "markdown" else 0
        elif cell["cell_type"] == "markdown":
            sections[section] += markdown_minutes(source)
        else:
            sections[section] += len(source.splitlines()) / LINES + sum(map(output_minutes, cell["outputs"]))
    return sections, exercises


def read_pieces(path, first=""):
    """Return the pieces in which a notebook can be read, section by section: id of the first section → minutes.

    They have at most MAX_PIECE minutes if the sections allow it, and are about equal. first: the section to begin with.
    """
    sections = list(read_sections(path)[0].items())
    sections = sections[[name for name, _ in sections].index(first) :]
    ends = list(accumulate(minutes for _, minutes in sections))
    for number in range(1, len(sections) + 1):
        # The first section of each piece is the one that begins nearest to its share of the time.
        shares = [k * ends[-1] / number for k in range(1, number)]
        cuts = sorted({min(range(1, len(ends)), key=lambda k: abs(ends[k - 1] - share)) for share in shares})
        bounds = [0, *(round_to_five(ends[cut - 1]) for cut in cuts), max(5, round_to_five(ends[-1]))]
        minutes = [end - start for start, end in pairwise(bounds)]
        if max(minutes) <= MAX_PIECE:
            break
    return dict(zip((sections[cut][0] for cut in [0, *cuts]), minutes, strict=True))


def round_to_five(minutes):
    return 5 * round(minutes / 5)


def markdown_minutes(text):
    """Return the minutes for a text in Markdown."""
    lines = sum(len(code.splitlines()) for code in FENCE.findall(text))
    text = FENCE.sub("", text)
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
