"""The sheets on the site: `<language>/sheets/<sheet>.html`, which readers open and print."""

import re
import tomllib
from pathlib import Path

from book.editions import BOOK, ORIGINAL, read

FOLDER = Path(__file__).parent
PLACE = re.compile(r"""["(](\w+)#[a-z0-9-]+[")]""")


def write(site, built):
    """Write the sheets of editions into the site; an edition without words or without their chapters gets none."""
    for edition in built:
        if not can_be_made(edition):
            continue
        from book.sheets.document import SHEETS, make  # late: it imports torch

        folder = site / edition.language / "sheets"
        folder.mkdir(exist_ok=True)
        for name in SHEETS:
            (folder / f"{name}.html").write_text(make(name, edition.language, base="../"), encoding="utf-8")


def can_be_made(edition):
    """Return whether an edition has words for the sheets, and the chapters that these and the numbers come from."""
    words = FOLDER / "words" / f"{edition.language}.toml"
    if not words.is_file():
        return False
    quoted = tomllib.loads((FOLDER / "quotes.toml").read_text(encoding="utf-8"))["quote"]
    original = read(BOOK / ORIGINAL)
    return all(edition.has(page) for page in pages_used(words)) and all(
        original.has(quote["place"].partition("#")[0]) for quote in quoted
    )


def is_sheet(name):
    """Return whether there is a sheet of this name."""
    return (FOLDER / "templates" / f"{name}.html").is_file() and name != "sheet"


def pages_used(words):
    """Return the pages to which the sheets lead: those of the words, and those of the sheets' modules."""
    files = [words, *(FOLDER / name for name in ("calls.toml", "learning.py", "recurrences.py"))]
    return {page for file in files for page in PLACE.findall(file.read_text(encoding="utf-8"))}
