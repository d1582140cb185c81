"""Test that the README has the same commands, links and headings in all languages."""

import re

import pytest

from book import editions

ROOT = editions.BOOK.parent
ORIGINAL = ROOT / "README.md"
TRANSLATED = [edition.language for edition in editions.finished() if edition.language != editions.ORIGINAL]
OTHERS = [ROOT / f"README.{language}.md" for language in TRANSLATED]
# commands that open the chapters of one language
OWN_LANGUAGE = re.compile(r"(?<=LANGUAGE=)\w\w\b|(?<=lab book\\)\w\w\b")


def skeleton(path):
    """Return the parts of a README that do not depend on the language."""
    text = re.sub(r" LANGUAGE=\w\w\b", "", path.read_text(encoding="utf-8"))  # English commands need not name it
    text = OWN_LANGUAGE.sub("…", text)
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


@pytest.mark.parametrize("language", TRANSLATED)
def test_commands_open_the_chapters_of_the_readers_language(language):
    """Check the README and the front page, because `make lab` alone opens the English chapters."""
    readme, front_page = (
        path.read_text(encoding="utf-8")
        for path in (ROOT / f"README.{language}.md", editions.BOOK / language / "index.md")
    )
    assert set(OWN_LANGUAGE.findall(readme)) == {language} and f"`make lab LANGUAGE={language}`" in readme
    assert re.findall(r"`make lab[^`]*`", front_page) == [f"`make lab LANGUAGE={language}`"]


@pytest.mark.parametrize("path", [ORIGINAL, *OTHERS], ids=lambda path: path.name)
def test_readme_names_every_target_of_make(path):
    text = path.read_text(encoding="utf-8")
    for target in re.findall(r"(?m)^# make (\w+) ", (ROOT / "Makefile").read_text(encoding="utf-8")):
        assert target == "clean" or f"`make {target}`" in text, target


@pytest.mark.parametrize("language", TRANSLATED)
def test_commands_print_in_the_readers_language(language):
    """Check the pages, because exams and sheets are English where a command names no language."""
    paths = [ROOT / f"README.{language}.md", *sorted((editions.BOOK / language).glob("*.md"))]
    pages = [path.read_text(encoding="utf-8") for path in paths]
    commands = [command for page in pages for command in re.findall(r"make (?:exam|slides|sheets) [^`\n]+", page)]
    assert commands and all(OWN_LANGUAGE.findall(command) == [language] for command in commands), commands
    assert {word for page in pages for word in OWN_LANGUAGE.findall(page)} == {language}
