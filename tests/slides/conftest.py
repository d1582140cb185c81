"""Fixtures of the slides: reveal.js, and decks made from the built site."""

import os

import pytest

from book import npm
from book.editions import BOOK, read
from book.slides import deck


@pytest.fixture(scope="session")
def reveal():
    """Return the folder of reveal.js. Without npm or a network these tests are skipped, but in CI they fail."""
    try:
        return deck.install_reveal()
    except npm.NpmError as error:
        if "CI" in os.environ:
            raise
        pytest.skip(f"slides need reveal.js: {error}")


@pytest.fixture(scope="session")
def make_deck(site, reveal, tmp_path_factory):
    """Return a function that writes the deck of a page and language, and returns its path."""
    folder = tmp_path_factory.mktemp("slides")

    def make(language, page):
        target = folder / language
        if not target.exists():
            target.mkdir()
            deck.write_shared(site / language, target, reveal)
        path = target / f"{page}.html"
        path.write_text(deck.document(site / language, read(BOOK / language), page), encoding="utf-8")
        return path

    return make
