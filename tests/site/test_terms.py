"""Test that each term is named in its cell in all languages, and that translations use the words of the glossary."""

import functools
import itertools
import re

import pytest

from book.editions import finished
from book.site.extension import glossary
from book.tools import translations

FINISHED = [edition.language for edition in finished()]
TERMS = glossary.load()
PAGES = {language: translations.pages(language) for language in ("en", *translations.editions())}


def prose(source):
    """Return a cell's text without code, formulas and addresses."""
    return re.sub(r"(?ms)^```.*?^```|`[^`\n]*`|\$[^$]*\$|\]\([^)]*\)", " ", source)


@functools.cache
def cells(language, page):
    return translations.read(PAGES[language][page])


def words_and_forms(term, language):
    return term[language] + term["forms"].get(language, [])


def uses(term, text):
    names = words_and_forms(term, "en")
    return any(re.search(rf"\b{re.escape(name)}(e?s)?\b", text, re.IGNORECASE) for name in names)


def missing_terms(language, page, originals, translated):
    """Yield the terms that an English cell uses and its translation does not."""
    translations_by_id = {cell.id: cell.source.lower() for cell in translated if cell.metadata.get(translations.KEY)}
    for cell in originals:
        if cell.cell_type == "markdown" and cell.id in translations_by_id:
            text, own = prose(cell.source), translations_by_id[cell.id]
            for term in TERMS:
                required = language in term and f"{page}#{cell.id}" not in term.get("free", ()) and uses(term, text)
                if required and not any(word.lower() in own for word in words_and_forms(term, language)):
                    yield f"{page}#{cell.id}: {term['en'][0]} → {term[language][0]}"


@pytest.mark.parametrize("language", translations.editions())
def test_translations_use_the_terms(language):
    missing = [
        term
        for page in PAGES[language]
        for term in missing_terms(language, page, cells("en", page), cells(language, page))
    ]
    assert missing == []


def test_a_wrong_word_is_reported():
    changed = translations.read(PAGES["ja"]["lstm"])
    (gate,) = [cell for cell in changed if cell.id == "forget-gate"]
    gate.source = gate.source.replace("忘却ゲート", "忘れる門")
    missing = missing_terms("ja", "lstm", cells("en", "lstm"), changed)
    assert [term for term in missing if "#forget-gate:" in term] == ["lstm#forget-gate: forget gate → 忘却ゲート"]


@pytest.mark.parametrize("term", TERMS, ids=lambda term: term["en"][0])
def test_every_term_is_explained_somewhere(term):
    """Check that the cell of each term exists and contains the term in every finished edition."""
    page, _, name = term["where"].partition("#")
    assert set(FINISHED) <= term.keys(), "book/terms.yml does not say what it is called in every language"
    lacking = {}
    for language in FINISHED:
        (cell,) = [cell for cell in cells(language, page) if cell.id == name]
        words = words_and_forms(term, language)
        untranslated = cell.metadata.get(translations.KEY) == ""
        if not untranslated and not any(word.lower() in cell.source.lower() for word in words):
            lacking[f"book/{language}, {page}#{name}"] = words
    assert lacking == {}
    for place in term.get("free", ()):
        page, _, name = place.partition("#")
        assert name in {cell.id for cell in cells("en", page)}, place


@pytest.mark.parametrize(("language", "particle"), [("ja", "を"), ("ko", "[을를] ")])
def test_the_glossary_shows_nouns(language, particle):
    """Check that no shown word has an object: a phrase with a verb belongs under `forms`."""
    words = [word for term in TERMS for word in term.get(language, ())]
    assert [word for word in words if re.search(particle, word)] == []


def in_order(language):
    """Return the words of the glossary of an edition by letter: [(letter, words)]."""
    words = sorted((term[language][0] for term in TERMS), key=lambda word: glossary.sort_key(language, word))
    by_letter = itertools.groupby(words, lambda word: glossary.first_letter(language, word))
    return [(letter, [*group]) for letter, group in by_letter]


def test_japanese_terms_have_readings():
    """Check that each word with kanji or Latin letters has its kana, so that it stands in its place, and no other."""
    words = {term["ja"][0] for term in TERMS}
    assert {word for word in words if not re.fullmatch("[ぁ-ヶー]+", word)} == set(glossary.readings())
    assert all(re.fullmatch("[ぁ-んー]+", glossary.kana(word)) for word in words)


def test_chinese_terms_are_common_characters():
    """Check that GB 18030 has the first character of each word in the order of pronunciation: in its first level."""
    words = [glossary.pinyin_key(term["zh"][0])[:2] for term in TERMS if not term["zh"][0][0].isascii()]
    assert len(words) > 100 and [word for word in words if not "啊".encode("gb18030") <= word < b"\xd8\xa1"] == []


@pytest.mark.parametrize(
    ("language", "letters", "letter", "some"),
    [
        ("en", "ABCDEFGHIKLMNOPQRSTUVW", "B", ["backpropagation through time", "baseline", "batch"]),
        ("ja", glossary.KANA, "な", ["ナイーブベイズ", "入力", "入力ゲート", "ニュートン法", "ノイズ"]),
        ("ko", ["A–Z", *"ㄱㄴㄷㄹㅁㅂㅅㅇㅈㅊㅋㅌㅍㅎ"], "ㅋ", ["커리큘럼 학습", "쿼리"]),
        ("zh", "BCDFGHJKLMNOPQSTWXYZ", "O", ["耦合门"]),
    ],
)
def test_glossary_has_the_order_of_the_language(language, letters, letter, some):
    """Check that each letter occurs once, in order, and one of them word for word."""
    found = in_order(language)
    assert [found_letter for found_letter, _words in found] == [*letters]
    assert dict(found)[letter][: len(some)] == some


def test_no_term_twice():
    names = [name.lower() for term in TERMS for name in words_and_forms(term, "en")]
    assert len(names) == len(set(names))
