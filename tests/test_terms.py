"""One word for one thing: each term that a cell uses in English stands in its translations in the words of the list."""

import re

import pytest
import translations
from sphinx_unrolled.terms import load

TERMS = load()
PAGES = translations.pages("en")


def words(source):
    """What is said in a cell, without code, formulas and addresses."""
    return re.sub(r"(?ms)^```.*?^```|`[^`\n]*`|\$[^$]*\$|\]\([^)]*\)", " ", source)


def used(term, source):
    return any(re.search(rf"\b{re.escape(name)}(e?s)?\b", words(source), re.IGNORECASE) for name in term["en"])


def lacking(language, page, originals, cells):
    """The terms that an English cell uses and its translation does not."""
    theirs = {cell.id: cell.source.lower() for cell in cells}
    for cell in originals:
        if cell.cell_type == "markdown":
            for term in TERMS:
                if used(term, cell.source) and f"{page}#{cell.id}" not in term.get("free", ()):
                    if not any(word.lower() in theirs[cell.id] for word in term[language]):
                        yield f"{page}#{cell.id}: {term['en'][0]} → {term[language][0]}"


@pytest.mark.parametrize("language", translations.editions())
def test_terms_are_translated_alike(language):
    found = []
    for page, path in translations.pages(language).items():
        found += lacking(language, page, translations.read(PAGES[page]), translations.read(path))
    assert found == []


def test_a_wrong_word_is_named():
    path = PAGES["lstm"]
    cells = translations.read(translations.pages("ja")["lstm"])
    (gate,) = [cell for cell in cells if cell.id == "forget-gate"]
    gate.source = gate.source.replace("忘却ゲート", "忘れる門")
    assert list(lacking("ja", "lstm", translations.read(path), cells)) == ["lstm#forget-gate: forget gate → 忘却ゲート"]


@pytest.mark.parametrize("term", TERMS, ids=lambda term: term["en"][0])
def test_every_term_is_explained_somewhere(term):
    """Its place exists and speaks of it, in every language of the list."""
    page, _, name = term["where"].partition("#")
    for language in ("en", *translations.editions()):
        (cell,) = [c for c in translations.read(translations.pages(language)[page]) if c.id == name]
        assert any(word.lower() in cell.source.lower() for word in term[language]), language
    for place in term.get("free", ()):
        page, _, name = place.partition("#")
        assert name in {cell.id for cell in translations.read(PAGES[page])}, place


def test_no_term_twice():
    names = [name.lower() for term in TERMS for name in term["en"]]
    assert len(names) == len(set(names))
