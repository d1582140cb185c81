"""What stands above the editions: the page for wrong addresses, what search engines read, and the book without a
network."""

import json
import os
import re
import time
import xml.etree.ElementTree as ET
from pathlib import Path

import pytest

from book import editions
from book.site import root_files
from tests.project.paths import frame
from tests.site.browsing import begin, opened
from tests.site.whole_site import Quiet, serving

ALL = [edition.language for edition in editions.editions()]
BASE = "https://example.org/books/unrolled/"


@pytest.fixture(scope="module")
def with_address(tmp_path_factory, site):
    """The site's top as it is if the owner has set an address; its editions are links to the built ones."""
    folder = tmp_path_factory.mktemp("top")
    for language in ALL:
        (folder / language).symlink_to(site / language)
    root_files.write(folder, BASE)
    return folder


def test_sitemap_names_every_page_in_every_language(site, with_address):
    assert not (site / "sitemap.xml").exists()  # no address, no sitemap
    namespaces = {"s": "http://www.sitemaps.org/schemas/sitemap/0.9", "x": "http://www.w3.org/1999/xhtml"}
    urls = ET.parse(with_address / "sitemap.xml").getroot().findall("s:url", namespaces)
    pages = {
        edition.html: {
            f"{BASE}{edition.language}/{name}.html": name
            for name in [
                *edition.assignments,
                *(path.stem for path in edition.folder.iterdir() if path.suffix in (".md", ".ipynb")),
            ]
            if not edition.is_draft(name)
        }
        for edition in editions.finished()
    }
    assert {url.findtext("s:loc", namespaces=namespaces) for url in urls} == {
        address for found in pages.values() for address in found
    }
    for url in urls:
        links = {link.get("hreflang"): link.get("href") for link in url.findall("x:link", namespaces)}
        page = url.findtext("s:loc", namespaces=namespaces).rpartition("/")[2].removesuffix(".html")
        assert links == {
            tag: address for tag, found in pages.items() for address, name in found.items() if name == page
        }
    assert (with_address / "robots.txt").read_text().endswith(f"Sitemap: {BASE}sitemap.xml\n")


class AsHostsDo(Quiet):
    """Answers what there is not with 404.html, as hosts of such sites do."""

    protocol_version = "HTTP/1.0"  # when the server is gone, no connection stays

    def send_error(self, code, message=None, explain=None):
        page = (Path(self.directory) / "404.html").read_bytes()
        self.send_response(code)
        self.send_header("Content-Type", "text/html")
        self.send_header("Content-Length", str(len(page)))
        self.end_headers()
        self.wfile.write(page)


each = pytest.mark.parametrize(
    "language", [pytest.param(one, marks=() if one == editions.ORIGINAL else pytest.mark.heavy) for one in ALL]
)


@each
def test_a_wrong_address_is_answered_in_the_language_asked_for(browser, site, language):
    edition = editions.read(editions.BOOK / language)
    with serving(site, AsHostsDo) as (address, _), browser.new_page() as page:
        answer = page.goto(f"{address}/{language}/there/is/none.html")
        assert answer.status == 404
        assert page.locator("html").get_attribute("lang") == edition.html
        assert page.locator("h1").all_text_contents() == [
            edition.words.get("There is no such page.", "There is no such page.")
        ]
        page.locator("main a").click()
        page.wait_for_url(f"**/{language}/index.html")
        page.goto(f"{address}/none.html")
        assert page.locator("h1").count() == len(ALL)


class FromAnywhere(Quiet):
    """What pages of other sites may read."""

    def end_headers(self):
        self.send_header("Access-Control-Allow-Origin", "*")
        super().end_headers()


def until(done, seconds):
    """Waits for what a page does in the background."""
    deadline = time.monotonic() + seconds
    while not done():
        assert time.monotonic() < deadline
        time.sleep(0.05)


KEPT = """async () => {
    const cache = await caches.open("unrolled");
    return (await cache.keys()).map(request => new URL(request.url).pathname.slice(1));
}"""


def kept_files(site, language):
    """Return the files of an edition that the service worker keeps."""
    text = (site / "worker.js").read_text(encoding="utf-8")
    return json.loads(re.search(r"EDITIONS = (\{.*?\}),\s+CACHE", text)[1])[language]


def page_names(site, language):
    return sorted(path.name for path in (site / language).glob("*.html") if path.name != "genindex.html")


@pytest.mark.parametrize("language", ALL)
def test_every_page_of_an_edition_is_kept(site, language):
    assert {f"{language}/{page}" for page in page_names(site, language)} <= set(kept_files(site, language))


# The worker is the same in all editions; the test above asks which files it keeps.
@pytest.mark.parametrize(
    "language", [pytest.param(editions.ORIGINAL, marks=pytest.mark.heavy), pytest.param("ko", marks=pytest.mark.deep)]
)
def test_an_edition_that_was_begun_can_be_read_without_a_network(browser, site, language):
    """All its pages, with formulas and figures, and the search; and nothing is fetched before a reader has begun."""
    files = kept_files(site, language)
    pages = page_names(site, language)
    with (
        serving(site, AsHostsDo) as (address, server),
        serving(site / language / "_static", FromAnywhere) as (elsewhere, _),
    ):
        context = browser.new_context(viewport={"width": 360, "height": 800})
        with opened(context, f"{address}/{language}/lstm.html") as page:
            assert page.evaluate("navigator.serviceWorker.getRegistration().then(Boolean)") is False
            page.mouse.wheel(0, 400)
            page.wait_for_function("navigator.serviceWorker.controller !== null")
            until(lambda: set(files) <= set(page.evaluate(KEPT)), 60)
            assert page.evaluate("url => fetch(url).then(answer => answer.ok)", f"{elsewhere}/page.js")
            assert "page.js" not in page.evaluate(KEPT)
            server.shutdown()
            server.server_close()
            # all files are kept, as was seen: elsewhere some pages, a figure and formulas among them
            for name in pages if language == editions.ORIGINAL else [name for name in pages if name < "gz"]:
                page.goto(f"{address}/{language}/{name}")
                title = frame(site / language / name).h1.get_text()
                assert page.locator("h1").first.inner_text().strip() == title.rstrip("¶").strip()
                begin(page)
                for figure in page.locator("[data-figure]").all():
                    figure.locator("figure[lang] svg.drawing").first.wait_for()
                assert page.evaluate("document.fonts.load('16px \"Unrolled Math\"').then(fonts => fonts.length)") == 1
            page.goto(f"{address}/{language}/search.html?q=LSTM")
            page.locator("#search-results a").first.wait_for()
        context.close()


TITLES = """async () => (await Promise.all(["a", "b", "c"].map(async name =>
    (await (await caches.match(`${name}.html`))?.text())?.match(/<title>(.*)</)[1] ?? ""))).join()"""


@pytest.mark.heavy
def test_a_new_book_takes_the_place_of_the_one_kept(browser, tmp_path):
    """Also of pages that nobody opens again; and what is gone is forgotten."""
    pages = {name: tmp_path / "en" / f"{name}.html" for name in ("a", "b", "c")}
    later = time.time() + 60  # servers tell versions of a file apart by the second
    (tmp_path / "en").mkdir()
    for name, path in pages.items():
        path.write_text(f"<!DOCTYPE html><title>old {name}</title>", encoding="utf-8")
    root_files.write_worker(tmp_path)
    with serving(tmp_path) as (address, _), browser.new_context() as context, context.new_page() as page:
        page.goto(f"{address}/en/a.html")
        page.evaluate("navigator.serviceWorker.register('../worker.js').then(() => navigator.serviceWorker.ready)")
        page.wait_for_function("navigator.serviceWorker.controller !== null")
        page.evaluate("navigator.serviceWorker.controller.postMessage('en')")
        until(lambda: page.evaluate(TITLES) == "old a,old b,old c", 20)
        pages["b"].write_text("<!DOCTYPE html><title>new b</title>", encoding="utf-8")
        pages["c"].unlink()
        root_files.write_worker(tmp_path)
        for path in (pages["b"], tmp_path / "worker.js"):
            os.utime(path, (later, later))
        page.evaluate("navigator.serviceWorker.ready.then(registration => registration.update())")
        until(lambda: page.evaluate(TITLES) == "old a,new b,", 20)
