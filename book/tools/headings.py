"""Write the headings of the chapters' cells to which the checker sends students.

    python -m book.tools.headings       writes companion/check/headings/<language>.json from the notebooks

A question names a place such as `lstm#loop` (chapter and cell); students look for the chapter's title and the heading
above that cell. The package has these in JSON, because it does not contain the notebooks. Places that an edition lacks
are left out: there the checker shows the English ones.
"""

import json
from pathlib import Path

import yaml

from book.chapter_headings import headings
from book.editions import ORIGINAL, finished

ROOT = Path(__file__).resolve().parents[2]
PLACES = ROOT / "companion" / "check" / "headings"


def places():
    """Return all places, such as "lstm#loop", to which questions and their mistakes lead, sorted."""
    from companion.check.engine.question import all_questions

    questions = all_questions().values()
    return sorted({place for question in questions for place in (question.place, *question.mistakes.values())} - {""})


def table(language):
    """Return the contents of headings/<language>.json: the edition's address, or "", and the headings of each place."""
    base = yaml.safe_load((ROOT / "_config.yml").read_text(encoding="utf-8"))["html"].get("baseurl")
    pages = {place.split("#")[0] for place in places()}
    by_place = {
        f"{page}#{cell}": heading for page in pages for cell, heading in headings(language, page, ROOT / "book").items()
    }
    if language == ORIGINAL and (missing := [place for place in places() if place not in by_place]):
        raise ValueError(
            f"questions in companion/check/questions/ lead to cells that no chapter has: {', '.join(missing)}"
        )
    return {
        "site": f"{base.rstrip('/')}/{language}/" if base else "",
        "places": {place: by_place[place] for place in places() if place in by_place},
    }


def text(language):
    return json.dumps(table(language), ensure_ascii=False, indent=1) + "\n"


def main():
    PLACES.mkdir(exist_ok=True)
    for edition in finished():  # in drafts the checker shows the English places
        path = PLACES / f"{edition.language}.json"
        path.write_text(text(edition.language), encoding="utf-8")
        print(path.relative_to(ROOT))


if __name__ == "__main__":
    main()
