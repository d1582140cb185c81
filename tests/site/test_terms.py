"""One word for one thing: each term that a cell uses in English stands in its translations in the words of the list."""

import functools
import re

import pytest

from book.editions import finished
from book.site.extension.glossary import load
from book.tools import translations

FINISHED = [edition.language for edition in finished()]
TERMS = load()
PAGES = {language: translations.pages(language) for language in ("en", *translations.editions())}


def words(source):
    """What is said in a cell, without code, formulas and addresses."""
    return re.sub(r"(?ms)^```.*?^```|`[^`\n]*`|\$[^$]*\$|\]\([^)]*\)", " ", source)


@functools.cache
def cells(language, page):
    return translations.read(PAGES[language][page])


def used(term, said):
    return any(re.search(rf"\b{re.escape(name)}(e?s)?\b", said, re.IGNORECASE) for name in term["en"])


def lacking(language, page, originals, translated):
    """The terms that an English cell uses and its translation does not."""
    theirs = {cell.id: cell.source.lower() for cell in translated if cell.metadata.get(translations.KEY)}
    for cell in originals:
        if cell.cell_type == "markdown" and cell.id in theirs:
            said = words(cell.source)
            for term in TERMS:
                held = language in term and f"{page}#{cell.id}" not in term.get("free", ())
                if held and used(term, said) and not any(word.lower() in theirs[cell.id] for word in term[language]):
                    yield f"{page}#{cell.id}: {term['en'][0]} → {term[language][0]}"


@pytest.mark.parametrize("language", translations.editions())
def test_terms_are_translated_alike(language):
    found = [
        one for page in PAGES[language] for one in lacking(language, page, cells("en", page), cells(language, page))
    ]
    assert found == []


def test_a_wrong_word_is_named():
    changed = translations.read(PAGES["ja"]["lstm"])
    (gate,) = [cell for cell in changed if cell.id == "forget-gate"]
    gate.source = gate.source.replace("忘却ゲート", "忘れる門")
    assert list(lacking("ja", "lstm", cells("en", "lstm"), changed)) == ["lstm#forget-gate: forget gate → 忘却ゲート"]


@pytest.mark.parametrize("term", TERMS, ids=lambda term: term["en"][0])
def test_every_term_is_explained_somewhere(term):
    """Its place exists and speaks of it, in every language of the list."""
    page, _, name = term["where"].partition("#")
    for language in FINISHED:
        assert language in term, f"book/terms.yml does not say what {term['en'][0]} is called in {language}"
        (cell,) = [c for c in cells(language, page) if c.id == name]
        if cell.metadata.get(translations.KEY) == "":
            continue  # a draft has not got to it yet
        assert any(word.lower() in cell.source.lower() for word in term[language]), language
    for place in term.get("free", ()):
        page, _, name = place.partition("#")
        assert name in {cell.id for cell in cells("en", page)}, place


def test_no_term_twice():
    names = [name.lower() for term in TERMS for name in term["en"]]
    assert len(names) == len(set(names))
