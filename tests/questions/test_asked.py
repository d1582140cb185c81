"""Test the page of questions that are asked: fifty short answers, each with cells that exist and hold its numbers."""

import re
from collections import Counter
from typing import NamedTuple

import pytest

from book.editions import BOOK, ORIGINAL, editions
from tests.questions.test_bank import cells_of

LANGUAGES = [edition.language for edition in editions() if edition.has("asked")]
MARKS = {"ja": "？", "zh": "？"}  # elsewhere "?"
LINK = re.compile(r"\[([^\]]*)\]\(([^)\s]+)\)")
PLACE = re.compile(r"(\w+)\.ipynb#([a-z0-9-]+)")
CODE_OR_FORMULA = re.compile(r"`[^`]+`|\$[^$]+\$")
NUMBER = re.compile(r"(?<![\w.,])\d+(?:[.,]\d+)*(?![\d万만])", re.ASCII)  # also in 5% and −1, not in S4


class Question(NamedTuple):
    """A heading and the text below it."""

    heading: str
    answer: str

    @property
    def links(self):
        return [target for _, target in LINK.findall(self.answer)]

    @property
    def text(self):
        """The answer without the targets of its links."""
        return LINK.sub(r"\1", self.answer)

    @property
    def numbers(self):
        return NUMBER.findall(CODE_OR_FORMULA.sub("", self.text))


def read(language):
    """Return the groups of the page, and the questions in them."""
    page = (BOOK / language / "asked.md").read_text(encoding="utf-8")
    _, *groups = re.split(r"^## (.+)$", page, flags=re.MULTILINE)
    questions = []
    for group in groups[1::2]:
        _, *parts = re.split(r"^### (.+)$", group, flags=re.MULTILINE)
        questions += map(Question, parts[::2], (answer.strip() for answer in parts[1::2]))
    return groups[::2], questions


def holds(cell, number):
    """Return whether a cell has a number as a whole: 3.7 has no 3 and no 7."""
    return re.search(rf"(?<![\w.,]){re.escape(number)}(?!\w|[.,]\d)", cell, re.ASCII) is not None


def linked_cells(question, language):
    """Return the texts of the cells that an answer links, in an edition."""
    places = [PLACE.fullmatch(target) for target in question.links]
    return [cells_of(place[1], language)[place[2]] for place in places]


QUESTIONS = read(ORIGINAL)[1]
each = pytest.mark.parametrize("question", QUESTIONS, ids=lambda question: question.heading)


@pytest.mark.parametrize("language", LANGUAGES)
def test_there_are_fifty_questions_in_a_few_groups(language):
    groups, questions = read(language)
    assert 5 <= len(groups) <= 8 and len(questions) == 50
    mark = MARKS.get(language, "?")
    assert [question.heading for question in questions if not question.heading.endswith(mark)] == []
    assert max(Counter(question.heading for question in questions).values()) == 1


@pytest.mark.parametrize("language", LANGUAGES)
def test_each_answer_is_one_paragraph_with_links_to_cells(language):
    for heading, answer in read(language)[1]:
        assert answer and "\n" not in answer, heading
        links = Question(heading, answer).links
        assert links, heading
        for target in links:
            place = PLACE.fullmatch(target)
            assert place and (BOOK / ORIGINAL / f"{place[1]}.ipynb").is_file(), f"{heading} {target}"
            assert place[2] in cells_of(place[1]), f"{heading} {target}"


@each
def test_an_answer_takes_thirty_seconds(question):
    assert 45 <= sum(bool(re.search(r"\w", word)) for word in question.text.split()) <= 80


@pytest.mark.parametrize("language", LANGUAGES)
def test_each_number_stands_in_a_linked_cell(language):
    missing = {}
    for question in read(language)[1]:
        cells = linked_cells(question, language)
        if numbers := [number for number in question.numbers if not any(holds(cell, number) for cell in cells)]:
            missing[question.heading] = numbers
    assert missing == {}


def test_evidence_differs_from_question_to_question():
    sets = Counter(frozenset(question.links) for question in QUESTIONS)
    assert [links for links, count in sets.items() if count > 1] == []
    cells = Counter(link for question in QUESTIONS for link in {*question.links})
    assert [cell for cell, count in cells.items() if count > 4] == []


@pytest.mark.parametrize("language", LANGUAGES)
def test_translations_have_the_same_links_in_the_same_order(language):
    groups, questions = read(language)
    assert len(groups) == len(read(ORIGINAL)[0])
    for ours, theirs in zip(QUESTIONS, questions, strict=True):
        assert theirs.links == ours.links, theirs.heading


def test_numbers_are_found_as_wholes():
    question = Question("", "In S4, 1,000 steps of `3` and $h_{t-1}$ take 0.5%, −2 and 41 ([7 of 9](a.ipynb#b-6)).")
    assert question.numbers == ["1,000", "0.5", "2", "41", "7", "9"] and question.links == ["a.ipynb#b-6"]
    assert holds("a 3.7, 1,000 and 5%", "3.7") and holds("a 3.7, 1,000 and 5%", "5") and holds("2^60", "60")
    assert not any(holds("a 3.7, 1,000 and 5%", number) for number in ("3", "7", "1", "000", "50"))
