"""Test the counts of the Korean text that two Korean pages quote."""

import re
import unicodedata
from collections import Counter

from book.tools import translations
from companion.learning.text import load_text


def cell(page, name, language="ko"):
    (found,) = [one for one in translations.read(translations.pages(language)[page]) if one.id == name]
    return found


def test_units_of_the_korean_text():
    text = load_text("ko")
    syllables = [character for character in text if "가" <= character <= "힣"]
    letters = unicodedata.normalize("NFD", text)
    words = Counter(text.split())
    once = sum(count == 1 for count in words.values())
    per_syllable = len(unicodedata.normalize("NFD", "".join(syllables))) / len(syllables)
    counts = [len(text), len(syllables), len(set(syllables)), len(set(letters)), words.total(), len(words), once]
    (item,) = [line for line in cell("about", "page").source.splitlines() if "자모로 풀면" in line]
    for said in (cell("language_model", "the-path").source.split("**토큰화**")[1], item):
        numbers = [int(number.replace(",", "")) for number in re.findall(r"(?<![\d.])\d[\d,]*(?![\d.])", said)]
        assert numbers == counts
        assert f"평균 {per_syllable:.1f}개" in said


def test_perplexities_of_two_editions():
    """Check the values that the page quotes and asks not to compare."""
    said = cell("language_model", "counts-said").source
    for language, perplexity, characters in (("en", "3.2", "54"), ("ko", "8.1", "602")):
        (table,) = cell("language_model", "counts-table", language).outputs
        (loaded,) = cell("language_model", "text-loaded", language).outputs
        assert re.search(rf"KneserNey +\d+ +{perplexity} ", table.text)
        assert re.search(rf"(?<!\d){characters}(?!\d)", loaded.text.splitlines()[0])
        assert perplexity in said and f"{characters}개" in said
