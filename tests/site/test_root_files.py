"""Test the files at the site's root: the 404 page, the sitemap, and the service worker for offline use."""

import json
import os
import re
import time
import xml.etree.ElementTree as ET
from pathlib import Path

import pytest

from book import editions
from book.site import root_files
from tests.project.paths import light_soup
from tests.site.browsing import begin, opened, wait_for
from tests.site.whole_site import QuietHandler, serve

ALL = [edition.language for edition in editions.editions()]
BASE = "https://example.org/books/unrolled/"


@pytest.fixture(scope="module")
def with_address(tmp_path_factory, site):
    """Write the root files as for a site with an address; the editions are links to the built ones."""
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
                *edition.reference,
                editions.REFERENCE,
                *(path.stem for path in edition.folder.iterdir() if path.suffix in (".md", ".ipynb")),
            ]
            if not edition.is_draft(name)
        }
        for edition in editions.finished()
    }
    assert {url.findtext("s:loc", namespaces=namespaces) for url in urls} == {
        address for names in pages.values() for address in names
    }
    for url in urls:
        links = {link.get("hreflang"): link.get("href") for link in url.findall("x:link", namespaces)}
        page = url.findtext("s:loc", namespaces=namespaces).rpartition("/")[2].removesuffix(".html")
        assert links == {
            tag: address for tag, names in pages.items() for address, name in names.items() if name == page
        }
    assert (with_address / "robots.txt").read_text().endswith(f"Sitemap: {BASE}sitemap.xml\n")


class ClosingHandler(QuietHandler):
    """Close each connection, so that none outlives the server."""

    protocol_version = "HTTP/1.0"


class HandlerWith404Page(ClosingHandler):
    """Respond to unknown addresses with 404.html, as hosts of such sites do."""

    def send_error(self, code, message=None, explain=None):
        page = (Path(self.directory) / "404.html").read_bytes()
        self.send_response(code)
        self.send_header("Content-Type", "text/html")
        self.send_header("Content-Length", str(len(page)))
        self.end_headers()
        self.wfile.write(page)


each = pytest.mark.parametrize(
    "language",
    [pytest.param(language, marks=() if language == editions.ORIGINAL else pytest.mark.heavy) for language in ALL],
)


@each
def test_404_page_is_in_the_language_of_the_address(browser, site, language):
    edition = editions.read(editions.BOOK / language)
    with serve(site, HandlerWith404Page) as (address, _), browser.new_page() as page:
        response = page.goto(f"{address}/{language}/there/is/none.html")
        assert response.status == 404
        assert page.locator("html").get_attribute("lang") == edition.html
        assert page.locator("h1").all_text_contents() == [
            edition.words.get("There is no such page.", "There is no such page.")
        ]
        page.locator("main a").click()
        page.wait_for_url(f"**/{language}/index.html")
        page.goto(f"{address}/none.html")
        assert page.locator("h1").count() == len(ALL)


class CrossOriginHandler(QuietHandler):
    """Serve files that pages of other sites may read."""

    def end_headers(self):
        self.send_header("Access-Control-Allow-Origin", "*")
        super().end_headers()


CACHED = """async () => {
    const cache = await caches.open("unrolled");
    return (await cache.keys()).map(request => new URL(request.url).pathname.slice(1));
}"""


def offline_files(site, language):
    """Return the files of an edition that the service worker caches."""
    text = (site / "worker.js").read_text(encoding="utf-8")
    return json.loads(re.search(r"EDITIONS = (\{.*?\}),\s+CACHE", text)[1])[language]


def page_names(site, language):
    return sorted(path.name for path in (site / language).glob("*.html") if path.name != "genindex.html")


@pytest.mark.parametrize("language", ALL)
def test_service_worker_lists_every_page(site, language):
    assert {f"{language}/{page}" for page in page_names(site, language)} <= set(offline_files(site, language))


# The worker is the same in all editions; the test above checks its lists of files.
@pytest.mark.parametrize(
    "language", [pytest.param(editions.ORIGINAL, marks=pytest.mark.heavy), pytest.param("ko", marks=pytest.mark.deep)]
)
def test_an_edition_can_be_read_offline_once_the_reader_has_begun(browser, site, language):
    """Check pages with formulas and figures, and the search; and that nothing is cached before the reader begins."""
    files = offline_files(site, language)
    pages = page_names(site, language)
    with (
        serve(site, HandlerWith404Page) as (address, server),
        serve(site / language / "_static", CrossOriginHandler) as (other_site, _),
    ):
        context = browser.new_context(viewport={"width": 360, "height": 800})
        with opened(context, f"{address}/{language}/lstm.html") as page:
            assert page.evaluate("navigator.serviceWorker.getRegistration().then(Boolean)") is False
            page.mouse.wheel(0, 400)
            page.wait_for_function("navigator.serviceWorker.controller !== null")
            wait_for(lambda: set(files) <= set(page.evaluate(CACHED)))
            assert page.evaluate("url => fetch(url).then(response => response.ok)", f"{other_site}/page.js")
            assert "page.js" not in page.evaluate(CACHED)
            server.shutdown()
            server.server_close()
            # all files are cached, so for translations some pages with a figure and formulas suffice
            for name in pages if language == editions.ORIGINAL else [name for name in pages if name < "gz"]:
                page.goto(f"{address}/{language}/{name}")
                title = light_soup(site / language / name).h1.get_text()
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
def test_a_new_version_replaces_the_cached_pages(browser, tmp_path):
    """Check also that pages which are not opened again are updated, and that deleted pages leave the cache."""
    pages = {name: tmp_path / "en" / f"{name}.html" for name in ("a", "b", "c")}
    later = time.time() + 60  # servers distinguish versions of a file by the second
    (tmp_path / "en").mkdir()
    for name, path in pages.items():
        path.write_text(f"<!DOCTYPE html><title>old {name}</title>", encoding="utf-8")
    root_files.write_worker(tmp_path)
    with serve(tmp_path) as (address, _), browser.new_context() as context, context.new_page() as page:
        page.goto(f"{address}/en/a.html")
        page.evaluate("navigator.serviceWorker.register('../worker.js').then(() => navigator.serviceWorker.ready)")
        page.wait_for_function("navigator.serviceWorker.controller !== null")
        page.evaluate("navigator.serviceWorker.controller.postMessage('en')")
        wait_for(lambda: page.evaluate(TITLES) == "old a,old b,old c")
        pages["b"].write_text("<!DOCTYPE html><title>new b</title>", encoding="utf-8")
        pages["c"].unlink()
        root_files.write_worker(tmp_path)
        for path in (pages["b"], tmp_path / "worker.js"):
            os.utime(path, (later, later))
        page.evaluate("navigator.serviceWorker.ready.then(registration => registration.update())")
        wait_for(lambda: page.evaluate(TITLES) == "old a,new b,")


def test_every_address_is_answered_offline(browser, tmp_path):
    """Check the front page, folders, other editions and unknown pages, for a site that is not at a host's root."""
    site = tmp_path / "book"
    for name in ("en/a", "en/index", "ja/index"):
        path = site / f"{name}.html"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(f"<!DOCTYPE html><title>{name}</title>", encoding="utf-8")
    (site / "en/_static/live").mkdir(parents=True)
    (site / "en/_static/live/cells.json").write_text("[]")  # a script asks for it, no page names it
    root_files.write(site, "")
    root_files.write_worker(site)
    with (
        serve(tmp_path, ClosingHandler) as (address, server),
        browser.new_context(locale="en") as context,
        context.new_page() as page,
    ):
        page.goto(f"{address}/book/en/a.html")
        page.evaluate("navigator.serviceWorker.register('../worker.js').then(() => navigator.serviceWorker.ready)")
        page.wait_for_function("navigator.serviceWorker.controller !== null")
        page.evaluate("navigator.serviceWorker.controller.postMessage('en')")
        wait_for(
            lambda: (
                {"book/index.html", "book/en/index.html", "book/en/_static/live/cells.json"}
                <= set(page.evaluate(CACHED))
            )
        )
        server.shutdown()
        server.server_close()
        for start in ("", "index.html", "?from=bookmark", "en/", "en"):
            page.goto(f"{address}/book/{start}")
            page.wait_for_url("**/book/en/*")
            assert page.title() == "en/index"
        unsaved = {language: words["unsaved"] for language, words in root_files.offline_words().items()}
        assert len({*unsaved.values()}) == len(ALL)
        for missing, sentences in {
            "ja/index.html": [unsaved["ja"], unsaved["en"]],
            "ko": [unsaved["ko"], unsaved["en"]],
            "ko/": [unsaved["ko"], unsaved["en"]],
            "en/lost.html": [unsaved["en"]],
        }.items():
            page.goto(f"{address}/book/{missing}")
            lines = page.locator("main p").all_inner_texts()
            assert lines == [*sentences, "To the book’s first page"], missing
        page.locator("main a").click()
        page.wait_for_url("**/book/en/index.html")
        context.add_init_script("Object.defineProperty(navigator, 'languages', { value: ['ja'] })")
        page.goto(f"{address}/book/")  # leads to an edition that is not saved
        page.get_by_text(unsaved["ja"]).wait_for()
