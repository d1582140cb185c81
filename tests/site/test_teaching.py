"""Test the pages for teachers: minutes that add up, an entry for each chapter, questions and cells that exist.

Translations change words only: they have the same links, names and numbers as the English page. Those that are stale
are left out here, because `test_nothing_to_do` names them.
"""

import re
from typing import NamedTuple

import pytest

from book.editions import BOOK, ORIGINAL, finished, page_names, read
from book.exam.papers import choose_names
from book.questions import bank
from book.site.extension.reading_time import english_notebook, reading_time
from book.tools import translations
from companion.check.engine.question import ASSIGNMENTS
from tests.questions.test_bank import cells_of

ENGLISH = read(BOOK / ORIGINAL)
MAX_WORDS_GRADING = 2400
LESSON, DAYS = 90, 5  # minutes of the lesson, days of the short course
LINK = re.compile(r"\[((?:[^\[\]`]|`[^`]*`)+)\]\(([^)\s]+)\)")
QUESTION = re.compile(r"[a-z_]+/[a-z_]+")
SECTION = re.compile(r"^\(([a-z-]+)\)=\n## [^\n]*\n(.*?)(?=^\([a-z-]+\)=$|^## |\Z)", re.MULTILINE | re.DOTALL)
ENTRY = re.compile(r"^\*\*\[[^\]]+\]\((\w+)\.ipynb\).*?(?=^\*\*\[|^#|\Z)", re.MULTILINE | re.DOTALL)
EXAM = re.compile(r'make exam TOPICS="([^"]+)" QUESTIONS=(\d+)')


class Entry(NamedTuple):
    """Entry of the page about a chapter: its aim, a misconception in each item, and what to skip."""

    chapter: str
    aim: str
    items: list
    skip: str


def up_to_date(page):
    """Return the languages of the finished editions whose page is the English one, or says the same."""
    path = BOOK / ORIGINAL / f"{page}.md"
    newest = translations.digest(translations.read(path)[0])
    paths = {edition.language: edition.folder / path.name for edition in finished()}
    found = {language: translations.read(path)[0] for language, path in paths.items() if path.is_file()}
    stored = {language: cell.metadata.get(translations.KEY) for language, cell in found.items()}
    return [language for language in found if language == ORIGINAL or stored[language] == newest]


def text_of(page, language=ORIGINAL):
    return translations.read(BOOK / language / f"{page}.md")[0].source


def sections(text):
    """Return label → the text of its section."""
    return dict(SECTION.findall(text))


def rows_of(text):
    """Return the rows of the first table of a text without its head, each a list of cells."""
    rows = [line.strip("|").split("|") for line in re.search(r"(?:^\|.*\|\n)+", text, re.MULTILINE)[0].splitlines()]
    return [[cell.strip() for cell in row] for row in rows[2:]]


def items_of(text):
    """Return the items of the first numbered list of a text."""
    lines = re.search(r"(?:^\d+\. .*\n)+", text, re.MULTILINE)[0].splitlines()
    assert [line.partition(".")[0] for line in lines] == [str(number) for number in range(1, len(lines) + 1)]
    return lines


def chapters_in(text):
    """Return the chapters that a text links as a whole."""
    return [target.removesuffix(".ipynb") for _, target in LINK.findall(text) if target.endswith(".ipynb")]


def questions_in(text):
    return [label for label, _ in LINK.findall(text) if QUESTION.fullmatch(label)]


def minutes_of(chapters):
    return sum(reading_time(english_notebook(name))[0] for name in chapters)


def entries(text):
    """Return the entries about chapters, in their order."""
    found = []
    for match in ENTRY.finditer(sections(text)["each-chapter"]):
        aim, items, *skip = match[0].strip().split("\n\n")
        found.append(Entry(match[1], aim, items.splitlines(), "\n\n".join(skip)))
    return found


in_each_language = pytest.mark.parametrize("language", up_to_date("teaching"))


@in_each_language
def test_weeks_have_each_chapter_once_and_their_minutes(language):
    section = sections(text_of("teaching", language))["weeks"]
    *weeks, total = rows_of(section)
    assert [week[0] for week in weeks] == [str(number) for number in range(1, len(weeks) + 1)]
    for number, chapters, minutes, _set in weeks:
        assert int(minutes) == minutes_of(chapters_in(chapters)), f"week {number}"
    claimed = [name for week in weeks for name in chapters_in(week[1])]
    assert int(total[2]) == minutes_of(claimed) == sum(int(week[2]) for week in weeks)
    left_out = next(paragraph for paragraph in section.split("\n\n") if chapters_in(paragraph) and "|" not in paragraph)
    assert str(minutes_of(chapters_in(left_out))) in re.findall(r"\d+", LINK.sub("", left_out))
    rest = chapters_in(left_out)
    assert claimed == [name for name in ENGLISH.road if name not in rest]
    assert sorted(claimed + rest) == sorted(ENGLISH.road)


@in_each_language
def test_weeks_ask_about_what_was_read_and_set_each_assignment_once(language):
    section = sections(text_of("teaching", language))["weeks"]
    known, weeks = set(), rows_of(section)[:-1]
    for week, item in zip(weeks, items_of(section), strict=True):
        known |= {*chapters_in(week[1])}
        assert questions_in(item), item
        assert {bank.page_of(name) for name in questions_in(item)} <= known, item
    assert sorted(name for week in weeks for name in re.findall(r"`(\w+)`", week[3])) == sorted(ASSIGNMENTS)


@in_each_language
def test_days_have_no_chapter_twice_and_their_minutes(language):
    *halves, total = rows_of(sections(text_of("teaching", language))["days"])
    assert len(halves) == 2 * DAYS
    for name, chapters, minutes, _set in halves:
        assert int(minutes) == minutes_of(chapters_in(chapters)) <= 60, name
    claimed = [name for half in halves for name in chapters_in(half[1])]
    assert int(total[2]) == minutes_of(claimed)
    assert claimed == [name for name in ENGLISH.road if name in claimed]
    given = [name for half in halves for name in re.findall(r"`(\w+)`", half[3])]
    assert {*given} <= {*ASSIGNMENTS} and len(given) == DAYS


@in_each_language
def test_minutes_of_the_lesson_add_up(language):
    steps = items_of(sections(text_of("teaching", language))["lesson"])
    assert sum(int(re.match(r"\d+\. \*\*.*?(\d+).*?\*\*", step)[1]) for step in steps) == LESSON
    assert all(LINK.search(step) for step in steps)


@in_each_language
def test_each_chapter_has_an_entry_in_the_order_of_the_book(language):
    assert [entry.chapter for entry in entries(text_of("teaching", language))] == ENGLISH.road
    parts = [page_names(part) for part in ENGLISH.table["parts"] if part.get("numbered")]
    section = sections(text_of("teaching", language))["each-chapter"]
    written = [ENTRY.finditer(part) for part in re.split(r"^### ", section, flags=re.MULTILINE)[1:]]
    assert [[match[1] for match in part] for part in written] == parts


@in_each_language
def test_each_misconception_has_a_question_and_a_cure(language):
    asked = []
    for chapter, aim, items, skip in entries(text_of("teaching", language)):
        assert len(LINK.sub("", aim)) > 20 and skip and "\n" not in skip and not skip.startswith("- "), chapter
        assert 2 <= len(items) <= 4, chapter
        for item in items:
            assert re.match(r"- \*.+?\* ", item) or language != ORIGINAL and item.startswith("- *"), item
            (label, target), *cures = LINK.findall(item)
            exercise = target.partition("#")[2].startswith("exercise")
            assert QUESTION.fullmatch(label) or exercise, item
            assert cures and all("#" in cure for _, cure in cures), item
            asked += [label] if not exercise else []
        assert any(bank.page_of(name) == chapter for item in items for name in questions_in(item)), chapter
    assert [name for name in asked if asked.count(name) > 1] == []


@pytest.mark.parametrize("page", ["teaching", "grading"])
def test_links_lead_to_questions_cells_and_pages(page):
    text = text_of(page)
    labels = {label for name in ("teaching", "grading") for label in sections(text_of(name))}  # a link finds both
    assert len(LINK.findall(text)) > 3
    for label, target in LINK.findall(text):
        if target.startswith("http"):
            continue
        name, _, place = target.partition("#")
        name, suffix = re.fullmatch(r"(\w*)(\.ipynb|\.md|)", name).groups()
        if QUESTION.fullmatch(label):
            assert label in bank.names(bank.page_of(label)), label
            assert target == bank.place_of(label).replace("#", ".ipynb#"), label
        elif suffix == ".ipynb":
            assert english_notebook(name) and (not place or place in cells_of(name)), target
        else:
            assert ENGLISH.has(name) and not place if name else place in labels, target


@pytest.mark.parametrize("page", ["teaching", "grading"])
def test_translations_have_the_same_links_in_each_paragraph(page):
    targets = targets_of(text_of(page))
    for language in up_to_date(page):
        assert targets_of(text_of(page, language)) == targets, language


def targets_of(text):
    """Return the targets of the links of each paragraph, sorted, since their order depends on the language."""
    return [found for part in text.split("\n\n") if (found := sorted(target for _, target in LINK.findall(part)))]


def test_exams_that_the_page_prints_can_be_made():
    commands = EXAM.findall(text_of("teaching"))
    assert commands
    for topics, count in commands:
        assert len(choose_names(topics.split(), int(count), seed=0)) == int(count)


def test_grading_is_short_and_keeps_its_labels():
    text = text_of("grading")
    assert sum(bool(re.search(r"\w", word)) for word in text.split()) <= MAX_WORDS_GRADING
    for language in up_to_date("grading"):
        assert {"make-an-exam", "class-list", "appeals"} <= sections(text_of("grading", language)).keys()
