"""Where the checker's places are in words: of each cell the chapter's title and the heading above it, by language.

    python -m book.tools.headings       writes companion/check/headings/<language>.json from the notebooks

The checker names places such as `lstm#loop`, and a student looks for a heading. The notebooks are not in the package.
Places that an edition has not yet are left out: there the checker leads to the English one.
"""

import json
import re
from pathlib import Path

import yaml

from book.editions import ORIGINAL, finished

ROOT = Path(__file__).resolve().parents[2]
PLACES = ROOT / "companion" / "check" / "headings"
HEADING = re.compile(r"^(#{1,6}) +(.*?) *$", re.MULTILINE)
FENCED = re.compile(r"^(`{3,}|:{3,}).*?^\1", re.MULTILINE | re.DOTALL)


def places():
    """All places that the questions name."""
    from companion.check.engine.question import all_questions

    named = {place for one in all_questions().values() for place in (one.place, *one.mistakes.values())}
    return sorted(named - {""})


def headings(language, page):
    """Of each cell of a chapter, by its id: the chapter's title, and the last heading up to it, "" if there is none.

    An edition that has no such chapter yet has none of its cells.
    """
    path = ROOT / "book" / language / f"{page}.ipynb"
    cells = json.loads(path.read_text(encoding="utf-8"))["cells"] if path.is_file() else []
    found, title, heading = {}, "", ""
    for cell in cells:
        text = "".join(cell["source"]) if cell["cell_type"] == "markdown" else ""
        here = [(len(marks), words) for marks, words in HEADING.findall(FENCED.sub("", text))]
        title = title or next((words for level, words in here if level == 1), "")
        below = [words for level, words in here if level > 1]
        # a cell begins with its heading; what stands further down is another's
        heading = below[0] if below else heading
        found[cell["id"]] = [title, heading]
        heading = below[-1] if below else heading
    return found


def table(language):
    """What the checker knows of an edition. site: the edition's address, if the site has one."""
    base = yaml.safe_load((ROOT / "_config.yml").read_text(encoding="utf-8"))["html"].get("baseurl")
    pages = {place.split("#")[0] for place in places()}
    known = {f"{page}#{cell}": found for page in pages for cell, found in headings(language, page).items()}
    if language == ORIGINAL and (lost := [place for place in places() if place not in known]):
        raise ValueError(
            f"questions in companion/check/questions/ lead to cells that no chapter has: {', '.join(lost)}"
        )
    return {
        "site": f"{base.rstrip('/')}/{language}/" if base else "",
        "places": {place: known[place] for place in places() if place in known},
    }


def text(language):
    return json.dumps(table(language), ensure_ascii=False, indent=1) + "\n"


def main():
    PLACES.mkdir(exist_ok=True)
    for edition in finished():  # of one that is begun the checker knows the English places
        path = PLACES / f"{edition.language}.json"
        path.write_text(text(edition.language), encoding="utf-8")
        print(path.relative_to(ROOT))


if __name__ == "__main__":
    main()
