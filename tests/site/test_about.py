"""Test the page about each edition: the same sections, and the numbers of its texts."""

import math
import re

import pytest

from book import editions
from book.tools import translations
from companion.learning.text import load_text
from tests.site.test_book import stored

FOUR = ["en", "ja", "ko", "zh"]  # the columns of the table of texts
LANGUAGES = [edition.language for edition in editions.finished() if edition.has("about")]
LABELS = "how-to-read", "conventions", "texts", "words", "courses", "report"
NUMBER = r"\d+(?:[,.]\d+)*"


def section(language, label):
    text = translations.read(editions.BOOK / language / "about.md")[0].source
    return re.split(r"^\([a-z-]+\)=$", text.partition(f"({label})=\n")[2], maxsplit=1, flags=re.MULTILINE)[0]


def rows(text):
    """Return the numbers in each row of the tables of a text, without links."""
    lines = [re.sub(r"\([^)]*\)", "", line) for line in text.splitlines() if line.startswith("|")]
    return [re.findall(NUMBER, line) for line in lines[2:]]


def cell(page, language, name):
    (found,) = [one for one in stored(editions.BOOK / language / f"{page}.ipynb").cells if one.id == name]
    return found


@pytest.mark.parametrize("language", LANGUAGES)
def test_sections(language):
    text = translations.read(editions.BOOK / language / "about.md")[0].source
    assert tuple(re.findall(r"^\(([a-z-]+)\)=$", text, re.MULTILINE)) == LABELS
    assert LANGUAGES == FOUR, "an edition lacks the page"


@pytest.mark.parametrize("language", LANGUAGES)
def test_numbers_of_the_four_texts(language):
    """Check the first four rows by counting, and the last two by the stored outputs of the language model."""
    texts = [load_text(each) for each in FOUR]
    pieces = [text.split() for text in texts]
    counted = [[f"{len(part):,}" for part in kind] for kind in (texts, map(set, texts), pieces, map(set, pieces))]
    outputs = [cell("language_model", each, "perplexity-picture").outputs[-1].text for each in FOUR]
    perplexities = [re.findall(r"\d+\.\d", text)[0] for text in outputs]
    bits = [f"{math.log2(float(perplexity)):.1f}" for perplexity in perplexities]
    assert rows(section(language, "texts"))[:6] == [*counted, perplexities, bits]


def test_kinds_of_japanese_characters():
    characters = set(load_text("ja"))
    kana, kanji = (sum(low <= each <= high for each in characters) for low, high in ("ぁー", "一龠"))
    said = section("ja", "texts")
    assert f"日本語の{len(characters)}種類のうち、かなは{kana}種類（「ー」を含む）、漢字は{kanji}種類です" in said
    assert f"表の{len(load_text('ja').split())}個" in said


@pytest.mark.parametrize("language", LANGUAGES)
def test_chapters_that_read_the_text_of_the_edition(language):
    chapters = {
        path.stem
        for path in (editions.BOOK / language).glob("*.ipynb")
        if any("load_text(LANGUAGE)" in cell.source for cell in stored(path).cells if cell.cell_type == "code")
    }
    linked = re.findall(r"\((\w+)\.ipynb\)", section(language, "texts").partition("|")[0])
    assert chapters == set(linked[:3]) and len(linked) == 4
