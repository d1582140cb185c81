"""The pictures that a link to a page is shown with."""

import shutil
import struct

import pytest
from repository import soup

import cards
import editions

BASE = "https://example.org/unrolled/"
ALL = editions.editions()


@pytest.fixture(scope="module")
def drawn(site, browser, tmp_path_factory):
    """The English and the Korean edition with their cards, and the site's front page."""
    folder = tmp_path_factory.mktemp("cards")
    there = [edition for edition in ALL if edition.language in ("en", "ko")]
    for edition in there:
        shutil.copytree(site / edition.language, folder / edition.language)
    shutil.copy(site / "index.html", folder)
    for edition in there:
        cards.draw(browser, folder, edition, BASE)
    cards.name_front(folder, BASE)
    return folder


def test_every_page_names_a_picture_of_its_own(drawn):
    seen = set()
    for language in ("en", "ko"):
        edition = editions.read(editions.BOOK / language)
        for name in edition.pages - {"genindex", "search"}:
            head = {meta.get("property") or meta.get("name"): meta["content"] for meta in soup(drawn / language / f"{name}.html").select("meta[content]")}
            url = f"{BASE}{language}/cards/{name}.png"
            assert head["og:image"] == url and head["twitter:card"] == "summary_large_image"
            data = (drawn / url.removeprefix(BASE)).read_bytes()
            assert struct.unpack(">II", data[16:24]) == (int(head["og:image:width"]), int(head["og:image:height"])) == (1200, 630)
            assert 3_000 < len(data) < 300_000
            seen.add(data)
    assert len(seen) == 2 * len(edition.pages - {"genindex", "search"})
    front = soup(drawn / "index.html")
    assert front.select_one("meta[property='og:image']")["content"] == f"{BASE}en/cards/index.png"
    assert len(front.select_one("meta[name=description]")["content"]) > 20


@pytest.mark.parametrize("edition", ALL, ids=lambda edition: edition.language)
def test_what_stands_on_a_card_has_room(browser, site, edition):
    cover = soup(site / edition.language / "index.html").select_one(cards.PICTURE)
    with browser.new_page(viewport={"width": cards.WIDTH, "height": cards.HEIGHT}) as page:
        for name in sorted(edition.pages - {"genindex", "search"}):
            page.set_content(cards.card(soup(site / edition.language / f"{name}.html"), edition, name, cover))
            picture, book = page.locator(".art svg").bounding_box(), page.locator(".book").bounding_box()
            assert picture["height"] > 200, name
            assert book["y"] + book["height"] <= cards.HEIGHT - 20, name
            assert page.evaluate("document.documentElement.scrollWidth") == cards.WIDTH, name


def test_without_an_address_there_is_none(site):
    assert not list(site.rglob("cards"))
    assert "og:image" not in (site / "en/lstm.html").read_text(encoding="utf-8")
