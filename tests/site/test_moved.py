"""Test that old addresses lead to the places that book/moved.yml names: in the real table, and on a small site."""

import json
import re

import pytest
from nbformat.v4 import new_markdown_cell

from book import editions, moved
from book.site.downloads import write_archive
from book.tools import translations
from tests.project.paths import soup
from tests.site.small_book import build, copy_edition, copy_shared, write_chapter, write_table

TABLE = """
index#first: old_page#first
index#_text: chapter#second
old_page: chapter
old_page#first: chapter#second
older_page: old_page
"""


LINK = {"en": "[There](chapter.ipynb#second)", "ja": "There"}


LABEL = re.compile(r"^\(([a-z-]+)\)=$", re.MULTILINE)  # of a section of a page in Markdown


def places_of(edition):
    """Return the pages of an edition, their cells as page#cell, and the labels of their sections as page#label."""
    places = set()
    for page, path in translations.pages(edition.language, folders=[""]).items():
        cells = translations.read(path)
        labels = LABEL.findall(cells[0].source) if path.suffix == ".md" else []
        places |= {page, *(f"{page}#{name}" for name in [*(cell.id for cell in cells), *labels])}
    return places


def wrong_lines(table, places):
    """Return the old places of a table that exist still, or whose new places do not exist. places: of an edition."""
    return [old for old in table if old in places or moved.resolve(old, table) not in places]


@pytest.mark.parametrize("edition", editions.finished(), ids=lambda edition: edition.language)
def test_moved_places_exist_in_every_edition(edition):
    places = places_of(edition)
    assert wrong_lines(moved.read(), places) == []
    table = {"gone_a": "lstm", "gone_b#loop": "gone_a#title", "lstm#title": "gru#title", "gone_c": "lstm#no-such-cell"}
    assert wrong_lines(table, places) == ["lstm#title", "gone_c"]


def test_moves_are_followed_to_their_end():
    table = {"a#x": "b#x", "b": "c", "c#x": "d#y", "e#z": "f#z", "f#z": "e#z"}
    assert [moved.resolve(place, table) for place in ("a#x", "b", "b#z", "c#z")] == ["d#y", "c", "c#z", "c#z"]
    with pytest.raises(ValueError, match="circle: e#z → f#z → e#z"):
        moved.resolve("e#z", table)


@pytest.fixture(scope="module")
def small_site(tmp_path_factory):
    """Build an English edition, and a Japanese one without the chapter."""
    tree = tmp_path_factory.mktemp("moved") / "tree"
    copy_shared(tree)
    write_table(tree)
    (tree / "book/drawn.svg").write_text('<svg xmlns="http://www.w3.org/2000/svg" width="90" height="9"/>')
    (tree / "book/moved.yml").write_text(TABLE)
    for language in ("en", "ja"):
        copy_edition(tree, language)
        (tree / f"book/{language}/index.md").write_text(f"# Small\n\n{LINK[language]}.\n\n## Here\n", encoding="utf-8")
    write_chapter(tree, new_markdown_cell("## Second\n\n[Here](#second).", id="second"))
    assert build(tree) == (0, "")
    return tree / "_build/html"


def test_a_page_that_is_gone_leads_on(small_site):
    for language, target in (("en", "chapter.html"), ("ja", "../en/chapter.html")):
        page = soup(small_site / language / "older_page.html")
        assert page.select_one("body a")["href"] == target
        assert page.select_one("noscript meta")["content"] == f"0; url={target}"
        assert page.select_one("meta[name=robots]")["content"] == "noindex"
        assert page.title.text == page.select_one("body a").text == "1. Chapter – Unrolled"
    assert "このページ" in page.body.text
    index = (small_site / "en/searchindex.js").read_text(encoding="utf-8")
    docnames = json.loads(index.removeprefix("Search.setIndex(").removesuffix(")"))["docnames"]
    assert docnames == ["chapter", "index"]
    write_archive(small_site)
    assert b"en/older_page.html" in (small_site / "unrolled.zip").read_bytes()
    assert soup(small_site / "en/index.html").select_one("article a[href$='chapter.html#second']")
    scripts = [small_site / f"en/{name}.html" for name in ("index", "chapter")]
    assert [path.read_text(encoding="utf-8").count("const moved") for path in scripts] == [1, 0]


@pytest.mark.heavy
def test_old_addresses_lead_to_their_places(browser, small_site):
    """Follow them as files, by a changed anchor, and without JavaScript; an anchor that the page has stays there."""
    folder = (small_site / "en").as_uri()
    with browser.new_page() as page:
        for old, new in (
            ("index.html#first", "chapter.html#second"),
            ("old_page.html#first", "chapter.html#second"),
            ("old_page.html#second", "chapter.html#second"),
            ("older_page.html", "chapter.html"),
            ("../ja/index.html#first", "chapter.html#second"),
        ):
            page.goto("about:blank")
            page.goto(f"{folder}/{old}", wait_until="commit")
            page.wait_for_url(f"{folder}/{new}")
        page.goto(f"{folder}/index.html#section-2")
        page.evaluate("location.hash = 'first'")
        page.wait_for_url(f"{folder}/chapter.html#second")
        page.goto(f"{folder}/index.html")
        page.evaluate("location.hash = '_text'")  # as the link that skips to the text
        page.wait_for_timeout(500)
        assert page.url == f"{folder}/index.html#_text"
    with browser.new_page(java_script_enabled=False) as page:
        page.goto(f"{folder}/older_page.html", wait_until="commit")
        page.wait_for_url(f"{folder}/chapter.html")
