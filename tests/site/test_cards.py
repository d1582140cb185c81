"""Test the cards: pictures in previews of links to pages."""

import shutil
import struct

import pytest

from book import editions
from book.site import cards
from tests.project.paths import light_soup, soup

BASE = "https://example.org/unrolled/"
# The pages whose cards are drawn; the layout is checked for all pages.
SOME = {"index", "lstm", "glossary"}
ALL = [
    pytest.param(edition, id=edition.language, marks=[pytest.mark.deep] * (edition.language != "en"))
    for edition in editions.editions()
]
CASES = [pytest.param((case.values[0], SOME), id=case.id, marks=case.marks) for case in ALL]


@pytest.fixture(scope="module", params=CASES)
def drawn(request, site, browser, tmp_path_factory):
    """Return (folder, edition, names of pages) of a site of these pages with their cards."""
    folder, (edition, names) = tmp_path_factory.mktemp("cards"), request.param
    (folder / edition.language).mkdir()
    for name in names:
        shutil.copy(site / edition.language / f"{name}.html", folder / edition.language)
    shutil.copy(site / "index.html", folder)
    cards.draw(browser, folder, edition, BASE)
    cards.name_front(folder, BASE)
    return folder, edition, names


def test_every_page_names_its_own_card(drawn):
    folder, edition, names = drawn
    seen = set()
    for name in names:
        head = {
            meta.get("property") or meta.get("name"): meta["content"]
            for meta in light_soup(folder / edition.language / f"{name}.html").select("meta[content]")
        }
        url = f"{BASE}{edition.language}/cards/{name}.png"
        assert head["og:image"] == url and head["twitter:card"] == "summary_large_image"
        data = (folder / url.removeprefix(BASE)).read_bytes()
        assert (
            struct.unpack(">II", data[16:24])
            == (int(head["og:image:width"]), int(head["og:image:height"]))
            == (1200, 630)
        )
        assert 3_000 < len(data) < 300_000
        seen.add(data)
    assert len(seen) == len(names)
    front = light_soup(folder / "index.html")
    assert front.select_one("meta[property='og:image']")["content"] == f"{BASE}en/cards/index.png"
    assert len(front.select_one("meta[name=description]")["content"]) > 20


@pytest.mark.heavy
@pytest.mark.parametrize("edition", ALL)
def test_contents_fit_on_the_card(browser, site, edition):
    folder, names = site, edition.pages - {"genindex", "search"} - edition.reference.keys()
    cover = soup(folder / edition.language / "index.html").select_one(cards.PICTURE)
    with browser.new_page(viewport={"width": cards.WIDTH, "height": cards.HEIGHT}) as page:
        for name in sorted(names):
            page.set_content(cards.card(soup(folder / edition.language / f"{name}.html"), edition, name, cover))
            picture, book = page.locator(".art svg").bounding_box(), page.locator(".book").bounding_box()
            assert picture["height"] > 200, name
            title = page.locator("h1").bounding_box()  # in large letters, above the picture
            assert title["height"] > 60 and title["y"] + title["height"] <= picture["y"], name
            assert book["y"] + book["height"] <= cards.HEIGHT - 20, name
            assert page.evaluate("document.documentElement.scrollWidth") == cards.WIDTH, name


def test_a_site_without_an_address_has_no_cards(site):
    assert not list(site.rglob("cards"))
    assert "og:image" not in (site / "en/lstm.html").read_text(encoding="utf-8")
