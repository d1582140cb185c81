"""Test links from pages to sheets: each sheet has one, and it leads to the edition's sheet, or to the English one."""

import re
from types import SimpleNamespace

import pytest
from docutils import nodes
from docutils.utils import new_document
from sphinx import addnodes

from book.editions import BOOK, finished, read
from book.sheets import on_site
from book.sheets.document import SHEETS
from book.site.extension import languages
from tests.site.test_book import stored

LINK = re.compile(r"\]\(sheets/(\w+)\.html\)")


def linked(monkeypatch, target, edition, made, on_its_own=False):
    """Return what becomes of a link to `target` on a page. made: the languages that have sheets."""
    reference = addnodes.pending_xref("", nodes.inline("", "words"), reftype="myst", reftarget=target)
    document = new_document("page")
    document += nodes.paragraph("", "", reference)
    monkeypatch.setattr(languages, "edition_of", lambda app: read(BOOK / edition))
    monkeypatch.setattr(languages, "is_on_site", lambda app: not on_its_own)
    monkeypatch.setattr(on_site, "can_be_made", lambda edition: edition.language in made)
    languages.LinkSheets.run(SimpleNamespace(app=None, document=document))
    return document[0][0]


def test_a_link_leads_to_the_sheet_of_the_edition(monkeypatch):
    assert linked(monkeypatch, "sheets/lstm.html", "ko", ["en", "ko"])["refuri"] == "sheets/lstm.html"
    assert linked(monkeypatch, "sheets/lstm.html", "ko", ["en"])["refuri"] == "../en/sheets/lstm.html"
    assert linked(monkeypatch, "sheets/lstm.html", "en", ["en"])["refuri"] == "sheets/lstm.html"


def test_without_a_sheet_the_words_stay(monkeypatch):
    for options in ({"made": []}, {"made": ["en"], "on_its_own": True}):
        words = linked(monkeypatch, "sheets/lstm.html", "en", **options)
        assert isinstance(words, nodes.inline) and words.astext() == "words"


@pytest.mark.parametrize("target", ["sheets/gru.html", "sheets/sheet.html", "gru.ipynb"])
def test_other_links_are_left_to_myst(monkeypatch, target):
    assert isinstance(linked(monkeypatch, target, "en", ["en"]), addnodes.pending_xref)


@pytest.mark.parametrize("edition", finished(), ids=lambda edition: edition.language)
def test_each_sheet_is_linked_from_a_page(edition):
    cells = [cell.source for path in sorted(edition.folder.glob("*.ipynb")) for cell in stored(path).cells]
    assert {name for text in cells for name in LINK.findall(text)} == {*SHEETS}
    assert all(map(on_site.is_sheet, SHEETS)) and on_site.can_be_made(edition)
