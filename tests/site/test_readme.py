"""Test that the README has the same commands, links and headings in all languages."""

import re

import pytest

from book import editions

ROOT = editions.BOOK.parent
ORIGINAL = ROOT / "README.md"
OTHERS = [ROOT / f"README.{e.language}.md" for e in editions.finished() if e.language != editions.ORIGINAL]


def skeleton(path):
    """Return the parts of a README that do not depend on the language."""
    text = path.read_text(encoding="utf-8")
    blocks = re.findall(r"(?ms)^```.*?^```", text)
    prose = re.sub(r"(?ms)^```.*?^```", "", text)
    return {
        "blocks": blocks,
        "code": sorted(re.findall(r"`[^`\n]+`", prose)),
        "links": sorted(re.findall(r"\]\(([^)]+)\)", prose)),
        "headings": [len(marks) for marks in re.findall(r"(?m)^(#+) ", prose)],
        "rows": len(re.findall(r"(?m)^\|", prose)),
    }


@pytest.mark.parametrize("path", OTHERS, ids=lambda path: path.name)
def test_same_commands_links_and_headings(path):
    assert skeleton(path) == skeleton(ORIGINAL)


@pytest.mark.parametrize("path", [ORIGINAL, *OTHERS], ids=lambda path: path.name)
def test_readme_names_every_target_of_make(path):
    text = path.read_text(encoding="utf-8")
    for target in re.findall(r"(?m)^# make (\w+) ", (ROOT / "Makefile").read_text(encoding="utf-8")):
        assert target == "clean" or f"`make {target}`" in text, target
