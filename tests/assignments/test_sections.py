"""Test that assignments name chapters and sections by the headings that the book's pages have.

Assignments name them in words, since a student's notebook has no place in the book that a link could lead to.
"""

import re
from collections import Counter

import nbformat
import pytest

from assignments.student_version import assignments
from book.chapter_headings import FENCED, HEADING
from book.editions import BOOK, ORIGINAL, finished

LANGUAGES = [edition.language for edition in finished()]
NAMES = [assignment.name for assignment in assignments(ORIGINAL)]
# From here to the end of its paragraph, English text in italics is a title: of a chapter after "of", else of a section.
SECTIONS = re.compile(r"\bRead: |\bsections? (?=\*)")
# A chapter holds for the sections before it, back to the last ";" or end of a sentence.
TITLE_OR_END = re.compile(r"(of )?\*([^*\n]+)\*|(; |\. )")
# Per language: the end of a sentence, a word of every sentence that names sections, and the title of a chapter and
# of a section in such a sentence.
TITLES = {
    "ja": (r"。", r"節", r"「([^」]+)」の章", r"「([^」]+)」(?!の章)"),
    "ko": (r"\n\n", r"절", r"‘([^’]+)’ 장", r"‘([^’]+)’ 절"),
    "zh": (r"[。；]", r"节", r"《([^》]+)》", r"“([^”]+)”"),
}
CHAPTERS = {"en": r"\*([^*\n]+)\*", "ja": r"「([^」]+)」", "ko": r"‘([^’]+)’ 장", "zh": r"《([^》]+)》"}


def markdown(path):
    """Return cell id → text of the markdown cells of a notebook."""
    cells = nbformat.read(path, as_version=4).cells
    return {cell.id: cell.source for cell in cells if cell.cell_type == "markdown"}


def cells_of(language, name):
    path = next(assignment.path for assignment in assignments(language) if assignment.name == name)
    return markdown(path)


@pytest.fixture(scope="module")
def book():
    """Return language → page → the headings of the page, its title first."""
    return {
        language: {
            path.stem: [words for text in markdown(path).values() for _, words in HEADING.findall(FENCED.sub("", text))]
            for path in sorted((BOOK / language).glob("*.ipynb"))
        }
        for language in LANGUAGES
    }


def short(title):
    """Return the part of a title before its colon, by which texts name a chapter once it is known."""
    return re.split(r": |：", title)[0]


def page_of(title, pages):
    """Return the page with this title, or with this title before its colon; None if there is none."""
    return next((page for page, (full, *_) in pages.items() if title in (full, short(full))), None)


def named(text):
    """Return [(section, chapter or None)] of an English text, in order."""
    found = []
    for paragraph in text.split("\n\n"):
        start, waiting = SECTIONS.search(paragraph), []
        for of, title, end in TITLE_OR_END.findall(f"{paragraph[start.start() :]}; " if start else ""):
            if title and not of:
                waiting.append(title)
                continue
            found += [(section, None if end else title) for section in waiting]
            waiting = []
    return found


def chapters(language, cells):
    """Return the titles of chapters that the head of an assignment names, in its last paragraph."""
    return re.findall(CHAPTERS[language], cells["title"].split("\n\n")[-1])


def places(name, pages):
    """Return cell id → [(page, number of the heading, whether the chapter is named)], and the titles without a page.

    pages: the headings of the English pages.
    """
    cells = cells_of(ORIGINAL, name)
    head = [page for page in (page_of(title, pages) for title in chapters(ORIGINAL, cells)) if page]
    found, wrong = {}, []
    for cell, text in cells.items():
        for section, chapter in named(text):
            candidates = [page_of(chapter, pages)] if chapter else head
            page = next((page for page in candidates if page and section in pages[page][1:]), None)
            if page:
                found.setdefault(cell, []).append((page, pages[page].index(section), bool(chapter)))
            else:
                where = f"the chapter {chapter}" if chapter else "the chapters of the head"
                wrong.append(f"{cell}: {where}: no section {section}")
    return found, wrong


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("language", LANGUAGES)
def test_the_head_names_chapters_by_their_titles(book, language, name):
    cells, english = cells_of(language, name), cells_of(ORIGINAL, name)
    titles, pages = chapters(language, cells), book[language]
    assert titles and [title for title in titles if title not in [full for full, *_ in pages.values()]] == []
    assert {page_of(title, pages) for title in titles} == {
        page_of(title, book[ORIGINAL]) for title in chapters(ORIGINAL, english)
    }


@pytest.mark.parametrize("name", NAMES)
def test_named_sections_are_headings_of_the_named_chapter(book, name):
    found, wrong = places(name, book[ORIGINAL])
    assert found and wrong == []


@pytest.mark.parametrize("name", NAMES)
def test_every_chapter_of_a_section_is_in_the_head(book, name):
    pages, cells = book[ORIGINAL], cells_of(ORIGINAL, name)
    head = {page_of(title, pages) for title in chapters(ORIGINAL, cells)}
    used = {page for sections in places(name, pages)[0].values() for page, *_ in sections}
    assert used - head == set(), "the head says which chapters the tasks need"


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("language", [language for language in LANGUAGES if language != ORIGINAL])
def test_translations_name_the_headings_of_the_same_sections(book, language, name):
    """Compare each cell with the English one: the same sections of the same chapters, by their translated titles."""
    found, _ = places(name, book[ORIGINAL])
    end, mark, chapter, section = TITLES[language]
    wrong = []
    for cell, text in cells_of(language, name).items():
        sentences = (
            [sentence for sentence in re.split(end, text) if re.search(mark, sentence)] if cell != "title" else []
        )
        said = Counter(title for sentence in sentences for title in re.findall(section, sentence))
        expected = Counter(book[language][page][number] for page, number, _ in found.get(cell, []))
        if said != expected:
            wrong.append(f"{cell}: names {[*(said - expected)]} instead of {[*(expected - said)]}")
        said = {title for sentence in sentences for title in re.findall(chapter, sentence)}
        pages = {page for page, _, named in found.get(cell, []) if named}
        if (left := {page_of(title, book[language]) for title in said}) != pages:
            wrong.append(f"{cell}: names the chapters {sorted(said)}, {left} instead of {pages}")
    assert wrong == []
