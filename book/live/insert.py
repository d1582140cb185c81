"""Offers on every page with cells that they can be run there: a script of few lines, and what it loads when asked.

Pages are built without it. `offer` comes after, when the site has what runs cells (fetch.py), and only then: a page
names the script, which puts a button at each cell; `running.js`, which that loads, is the modules of page/, joined.
"""

import hashlib
import html
import json
import re
import tomllib
from functools import cache
from pathlib import Path

from book import editions
from book.styles import lean
from companion.figures.figure import EXPORT, IMPORT, without_comments
from companion.figures.figure import read as read_figures

HERE = Path(__file__).resolve().parent
TESTS = HERE.parents[1] / "small_torch" / "tests"
PLACE = "<!-- live -->"  # in the head of every page
# Why a cell is not for the page, or takes long there; each is a tag of cells and a key of the words.
REASONS = "slow", "needs-torch", "needs-notebook"
AT_ONCE = "run", "slow", "elsewhere", "unloaded"  # the words that a page needs before anything runs
# On the page of an assignment: under its title what it is for, and there and at its end a button for the notebook.
PRACTICE = "practice", "hand_in"


def offer(site, there):
    """Let the pages of these editions run their cells, if the site has what that needs; else let them not say so.

    site: the folder of the built site, of which `live/` holds the parts.
    """
    live = (site / "live" / "manifest.json").is_file()
    for edition in there:
        folder = site / edition.language
        version = write_scripts(folder / "_static" / "live", edition.language) if live else None
        for page in folder.glob("*.html"):
            assignment = edition.assignments.get(page.stem)
            source = folder / "assignments" / assignment.name if assignment else edition.folder / f"{page.stem}.ipynb"
            cells = cells_of(source) if live and source.is_file() else []
            text = fill(
                page.read_text(encoding="utf-8"), PLACE, script(folder, page.stem, cells, version) if cells else ""
            )
            if assignment:
                text = practising(text, f"assignments/{source.name}" if cells else None, words(edition.language))
            page.write_text(text, encoding="utf-8")


def fill(page, place, text):
    """Return the page with `text` behind the comment `place`, instead of what an earlier call put there."""
    return re.sub(f"{place}.*", lambda _: place + text, page)


def practising(page, notebook, said):
    """The page of an assignment, with what it has where its cells run. notebook: where the page's is; None if they do
    not."""
    note, button = "", ""
    if notebook:
        button = (
            '<p class="hand-in"><button type="button"'
            f' data-notebook="{notebook}">{html.escape(said["hand_in"])}</button></p>'
        )
        note = f'<p class="practice">{html.escape(said["practice"])}</p>{button}'
    return fill(fill(page, "<!-- practice -->", note), "<!-- hand in -->", button)


def cells_of(path):
    """What a page knows of its code cells: id, source, description of a picture, why one does not run there, and
    whether it only checks an answer, so that nothing below needs it.
    """
    told = []
    for cell in json.loads(path.read_text(encoding="utf-8"))["cells"]:
        if cell["cell_type"] != "code":
            continue
        metadata = cell["metadata"]
        alt = metadata.get("mystnb", {}).get("image", {}).get("alt", "")
        why = next((tag for tag in metadata.get("tags", ()) if tag in REASONS), None)
        one = {"id": cell["id"], "source": "".join(cell["source"]), "alt": alt, "why": why}
        told.append(one | ({"checks": True} if metadata.get("nbgrader", {}).get("grade") else {}))
    return told


def script(folder, name, cells, version):
    """Write what a page's script will ask for, and return the element that names it."""
    target = folder / "_static" / "live" / "cells" / f"{name}.json"
    target.parent.mkdir(parents=True, exist_ok=True)
    target.write_text(json.dumps(cells, ensure_ascii=False), encoding="utf-8")
    kinds = {"slow": [cell["id"] for cell in cells if cell["why"] == "slow"]}
    kinds["elsewhere"] = [cell["id"] for cell in cells if cell["why"] not in (None, "slow")]
    said = "".join(f' data-{kind}="{html.escape(" ".join(ids))}"' for kind, ids in kinds.items() if ids)
    return f'<script defer src="_static/live/run.js?v={version}"{said}></script>'


def write_scripts(folder, language):
    """Write the scripts in a language into a folder; return what changes when they do."""

    folder.mkdir(parents=True, exist_ok=True)
    said = words(language)
    whole = filled(joined("running"), WORDS=said, STYLE=lean(read("page/running.css")), TESTS=count_tests())
    version = hashlib.sha256(whole.encode()).hexdigest()[:8]
    small = {name: said[name] for name in AT_ONCE}
    first = filled(without_comments(read("run.js")), WORDS=small, STYLE=lean(read("run.css")), VERSION=version)
    (folder / "run.js").write_text(first, encoding="utf-8")
    (folder / "running.js").write_text(whole, encoding="utf-8")
    (folder / "figures.css").write_text(lean(read_figures("figures.css")), encoding="utf-8")
    return hashlib.sha256((version + first).encode()).hexdigest()[:8]


def filled(text, **values):
    """A script with these values in the place of their names, which stand there as texts."""
    for name, value in values.items():
        text = text.replace(f'"{name}"', json.dumps(value, ensure_ascii=False)).replace(f"?v={name}", f"?v={value}")
    return text


def joined(name):
    """A module of page/ and all that it imports as one classic script, without comments."""
    needed = modules(name)
    bodies = [
        EXPORT.sub("", re.sub(r"^export (?=class)", "", IMPORT.sub("", module(one)), flags=re.MULTILINE))
        for one in needed
    ]
    return "(() => {\n" + "".join(map(without_comments, bodies)) + "})();\n"


def modules(name):
    """The modules of which one is made, in the order in which they need each other."""
    found = []
    for needed in IMPORT.finditer(module(name)):
        found += [one for one in modules(needed["module"]) if one not in found]
    return [*found, name]


def module(name):
    return read(f"page/{name}.js")


@cache
def read(name):
    return (HERE / name).read_text(encoding="utf-8")


@cache
def words(language):
    """What the page says in a language: key → words. What a language lacks it says in English."""
    said = {}
    for one in dict.fromkeys([editions.ORIGINAL, language]):
        path = HERE / "words" / f"{one}.toml"
        if path.is_file():
            said |= tomllib.loads(path.read_text(encoding="utf-8"))
    return said


def count_tests():
    """How many tests hold the small torch to the real one."""
    texts = [path.read_text(encoding="utf-8") for path in sorted(TESTS.glob("test_*.py"))]
    return sum(len(re.findall(r"^def test_", text, re.MULTILINE)) for text in texts)
