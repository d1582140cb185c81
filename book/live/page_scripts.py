"""Add the scripts that run cells to every page with code cells.

Sphinx builds pages without them. If the site has what runs cells (fetch.py), `add_scripts` then adds a small script to
each page, which puts a button at each cell; at the first click it loads `running.js`, the modules of page/ joined.
"""

import hashlib
import html
import json
import re
import tomllib
from functools import cache
from pathlib import Path

from book import editions
from book.styles import minify
from companion.figures.figure import EXPORT, IMPORT, without_comments
from companion.figures.figure import read as read_figures

HERE = Path(__file__).resolve().parent
TESTS = HERE.parents[1] / "small_torch" / "tests"
PLACE = "<!-- live -->"  # in the head of every page
# Why a cell does not run on a page, or takes long; each is a tag of cells and a key of the words.
REASONS = "slow", "needs-torch", "needs-notebook"
INITIAL_WORDS = "run", "slow", "elsewhere", "unloaded"  # what run.js shows before anything runs
# Keys of the words that are part of the pages: on an assignment's page a note under its title and the button for the
# notebook, under a chapter's title the button that runs it, and on the front page how to run cells.
# On the page on series, the place to choose a file.
ON_PAGES = "practice", "hand_in", "run_page", "code_runs", "runs_here", "series_file", "series_private"

NOTICES = "honest", "real"  # keys of what pages say of their torch: small_torch, PyTorch


def add_scripts(site, built):
    """Add scripts to the pages of these editions, or remove them if the site has no live/manifest.json."""
    manifest = site / "live" / "manifest.json"
    live = manifest.is_file()
    torch = json.loads(manifest.read_text(encoding="utf-8"))["torch"] if live else ""
    for edition in built:
        folder = site / edition.language
        version = write_scripts(folder / "_static" / "live", edition.language, torch) if live else None
        for page in folder.glob("*.html"):
            assignment = edition.assignments.get(page.stem)
            source = folder / "assignments" / assignment.name if assignment else edition.folder / f"{page.stem}.ipynb"
            cells = read_cells(source) if live and source.is_file() else []
            for cell in cells:  # with the real torch, what needs it runs here, but takes long
                if cell["why"] == "needs-torch" and is_real(torch):
                    cell["why"] = "slow"
            text = fill(
                page.read_text(encoding="utf-8"), PLACE, write_cells(folder, page.stem, cells, version) if cells else ""
            )
            runs = any(cell["why"] in (None, "slow") for cell in cells)
            text = fill(text, "<!-- run page -->", run_button(words(edition.language)) if runs else "")
            text = fill(text, "<!-- own series -->", own_series(words(edition.language)) if runs else "")
            for key, place in (("code_runs", "<!-- code runs -->"), ("runs_here", "<!-- runs here -->")):
                text = fill(text, place, runs_here(words(edition.language)[key]) if live else "")
            if assignment:
                text = fill_practice(text, f"assignments/{source.name}" if cells else None, words(edition.language))
            replace_text(page, text)


def replace_text(path, text):
    """Write a file beside and rename it, because someone may be loading the page."""
    new = path.with_name(f"{path.name}.new")
    new.write_text(text, encoding="utf-8")
    new.replace(path)


def fill(page, place, text):
    """Return the page with `text` after the comment `place`, in place of the text of an earlier call."""
    return re.sub(f"{place}.*", lambda _: place + text, page)


def run_button(words):
    """Return the button that runs all cells of a page."""
    return f'<button type="button" class="run-page">{html.escape(words["run_page"])}</button>'


def own_series(words):
    """Return the place at which a reader chooses a file with a series, hidden until a script shows it."""
    label, private = (html.escape(words[key]) for key in ("series_file", "series_private"))
    return (
        f'<div class="own-series" hidden><label for="own-file">{label}</label><input type="file" id="own-file">'
        f'<p class="own-private">{private}</p><p role="status"></p></div>'
    )


def runs_here(text):
    """Return a paragraph of the front page that says that cells run on their pages, and leads to the first ones."""
    link = re.sub(r"\[(.*?)\]\((.*?)\)", r'<a href="\2">\1</a>', html.escape(text))
    return f"<p>{link}</p>"


def fill_practice(page, notebook, words):
    """Return the page of an assignment with its note and buttons.

    notebook: the address of the student version, or None if the page's cells do not run.
    """
    note, button = "", ""
    if notebook:
        button = (
            '<p class="hand-in"><button type="button"'
            f' data-notebook="{notebook}">{html.escape(words["hand_in"])}</button></p>'
        )
        note = f'<p class="practice">{html.escape(words["practice"])}</p>{button}'
    return fill(fill(page, "<!-- practice -->", note), "<!-- hand in -->", button)


def read_cells(path):
    """Return a dictionary for each code cell of a notebook that is on its page.

    Keys: id, source, alt (the description of its picture), why (one of REASONS or None), and for cells that only check
    an answer, so that no other cell needs them, checks.
    """
    cells = []
    for cell in json.loads(path.read_text(encoding="utf-8"))["cells"]:
        metadata = cell["metadata"]
        if cell["cell_type"] != "code" or "remove-cell" in metadata.get("tags", ()):  # not on the page
            continue
        alt = metadata.get("mystnb", {}).get("image", {}).get("alt", "")
        why = next((tag for tag in metadata.get("tags", ()) if tag in REASONS), None)
        checks = {"checks": True} if metadata.get("nbgrader", {}).get("grade") else {}
        cells.append({"id": cell["id"], "source": "".join(cell["source"]), "alt": alt, "why": why} | checks)
    return cells


def write_cells(folder, name, cells, version):
    """Write a page's cells as JSON for its script, and return the script element."""
    target = folder / "_static" / "live" / "cells" / f"{name}.json"
    target.parent.mkdir(parents=True, exist_ok=True)
    target.write_text(json.dumps(cells, ensure_ascii=False), encoding="utf-8")
    kinds = {"slow": [cell["id"] for cell in cells if cell["why"] == "slow"]}
    kinds["elsewhere"] = [cell["id"] for cell in cells if cell["why"] not in (None, "slow")]
    attributes = "".join(f' data-{kind}="{html.escape(" ".join(ids))}"' for kind, ids in kinds.items() if ids)
    return f'<script defer src="_static/live/run.js?v={version}"{attributes}></script>'


def write_scripts(folder, language, torch):
    """Write the scripts for a language into a folder; return a hash of them. torch: name and version."""
    folder.mkdir(parents=True, exist_ok=True)
    translated = words(language)
    notice = translated[NOTICES[is_real(torch)]]
    notice = notice.format(version=torch.partition(" ")[2], tests=count_tests())
    running = substitute(
        join_modules("running"), WORDS=translated, STYLE=minify(read("page/running.css")), NOTICE=notice
    )
    version = hashlib.sha256(running.encode()).hexdigest()[:8]
    initial = {name: translated[name] for name in INITIAL_WORDS}
    run = substitute(without_comments(read("run.js")), WORDS=initial, STYLE=minify(read("run.css")), VERSION=version)
    (folder / "run.js").write_text(run, encoding="utf-8")
    (folder / "running.js").write_text(running, encoding="utf-8")
    (folder / "figures.css").write_text(minify(read_figures("figures.css")), encoding="utf-8")
    return hashlib.sha256((version + run).encode()).hexdigest()[:8]


def substitute(text, **values):
    """Return a script in which each string that is a name, such as "WORDS", is replaced by the value as JSON."""
    for name, value in values.items():
        text = text.replace(f'"{name}"', json.dumps(value, ensure_ascii=False)).replace(f"?v={name}", f"?v={value}")
    return text


def join_modules(name):
    """Return a module of page/ and all that it imports as one classic script without comments."""
    bodies = [
        EXPORT.sub("", re.sub(r"^export (?=class)", "", IMPORT.sub("", read_module(module)), flags=re.MULTILINE))
        for module in modules(name)
    ]
    return "(() => {\n" + "".join(map(without_comments, bodies)) + "})();\n"


def modules(name):
    """Return the names of the modules that `name` imports, directly or not, and `name`: imported modules come first."""
    imported = []
    for match in IMPORT.finditer(read_module(name)):
        imported += [module for module in modules(match["module"]) if module not in imported]
    return [*imported, name]


def read_module(name):
    return read(f"page/{name}.js")


@cache
def read(name):
    return (HERE / name).read_text(encoding="utf-8")


@cache
def words(language):
    """Return key → words of the scripts in a language, with English words for missing keys."""
    translated = {}
    for source in dict.fromkeys([editions.ORIGINAL, language]):
        path = HERE / "words" / f"{source}.toml"
        if path.is_file():
            translated |= tomllib.loads(path.read_text(encoding="utf-8"))
    return translated


def is_real(torch):
    """Return whether a torch, given by name and version, is PyTorch."""
    return torch.startswith("torch ")


def count_tests():
    """Return how many tests compare small_torch with torch."""
    texts = [path.read_text(encoding="utf-8") for path in sorted(TESTS.glob("test_*.py"))]
    return sum(len(re.findall(r"^def test_", text, re.MULTILINE)) for text in texts)
