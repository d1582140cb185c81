"""How long a chapter takes to read, and how many exercises it has. Both come from the English notebook."""

import json
import re

WORDS, LINES = 150, 15  # read in a minute
OBJECT_MINUTES = 0.5  # for a figure, a table or a displayed equation
TABLE_RULE = re.compile(r"^\|[\s:|-]+\|$", re.MULTILINE)
FENCE = re.compile(r"^```.*?\n(.*?)^```", re.MULTILINE | re.DOTALL)
EQUATION = re.compile(r"\$\$.*?\$\$", re.DOTALL)
PICTURE = re.compile(r"!\[.*?\]\(.*?\)", re.DOTALL)
LINK_TARGET = re.compile(r"(?<=\])\([^)\s]*\)")
EXERCISE = re.compile(r"^\*\*\d+\.\*\*", re.MULTILINE)


def reading_time(path):
    """Return the minutes that a notebook takes to read without its exercises, rounded to five, and their number."""
    minutes, exercises, in_exercises = 0, 0, False
    for cell in json.loads(path.read_text(encoding="utf-8"))["cells"]:
        source = "".join(cell["source"])
        if "remove-cell" in cell["metadata"].get("tags", ()):  # not on the page
            continue
        if cell["cell_type"] == "markdown" and source.startswith("## "):
            in_exercises = cell["id"] == "exercises"
        if in_exercises:
            exercises += len(EXERCISE.findall(source)) if cell["cell_type"] == "markdown" else 0
        elif cell["cell_type"] == "markdown":
            minutes += markdown_minutes(source)
        else:
            minutes += len(source.splitlines()) / LINES + sum(map(output_minutes, cell["outputs"]))
    return max(5, 5 * round(minutes / 5)), exercises


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
