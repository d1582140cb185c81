"""Test the downloads: the archive of the site and the printed editions."""

import dataclasses
import re
import shutil
import unicodedata
import zipfile

import nbformat
import pypdf
import pytest

from book import editions
from book.site import downloads, printing
from book.site.browser import can_draw
from tests.project.paths import light_soup, soup
from tests.site.browsing import opened
from tests.site.links import broken_links

ALL = editions.editions()


def with_pages(edition, *names):
    """Return a copy of an edition with only these pages."""
    short = dataclasses.replace(edition)
    short.__dict__["table"] = editions.prune(edition.table, {*names}.__contains__)
    return short


# Printing the English book takes half a minute, so its tests are deep. Two Chinese chapters are always printed, to test
# other characters.
SHORT = with_pages(editions.read(editions.BOOK / "zh"), "rnn", "gru")
ENGLISH = editions.read(editions.BOOK / editions.ORIGINAL)
each_printed = pytest.mark.parametrize(
    "edition",
    [
        pytest.param(ENGLISH, id="en", marks=pytest.mark.deep("the printed book")),
        pytest.param(SHORT, id="zh", marks=pytest.mark.heavy),
    ],
)
# The layout for paper is heavy for English and deep for the others.
each = pytest.mark.parametrize(
    "edition",
    [
        pytest.param(edition, id=edition.language, marks=pytest.mark.heavy if edition == ENGLISH else pytest.mark.deep)
        for edition in ALL
    ],
)


@pytest.fixture(scope="module")
def packed(site, tmp_path_factory):
    """Return a copy of the site with its archive and a made-up PDF."""
    copy = tmp_path_factory.mktemp("packed") / "site"
    shutil.copytree(site, copy)
    downloads.write_archive(copy)
    (copy / "ja" / "unrolled-ja.pdf").write_bytes(b"%PDF" + bytes(3_140_000))
    downloads.link_downloads(copy)
    return copy


@pytest.mark.heavy
def test_archive_is_the_site(site, packed, browser, tmp_path):
    with zipfile.ZipFile(packed / "unrolled.zip") as archive:
        archive.extractall(tmp_path)
    unpacked = tmp_path / "unrolled"
    assert broken_links(unpacked) == []
    for page in site.glob("*/*.html"):
        assert "unrolled.zip" not in (unpacked / page.relative_to(site)).read_text(encoding="utf-8")
    with opened(browser, (unpacked / "index.html").as_uri()) as page:
        page.goto((unpacked / "ko/lstm.html").as_uri())
        page.mouse.wheel(0, 100)
        page.locator("[data-figure=gates] figure[lang=ko] input").first.wait_for(state="attached")
        assert page.evaluate("document.fonts.load('16px \"Unrolled Math\"').then(fonts => fonts.length)") == 1
    again = shutil.copytree(site, tmp_path / "again")
    assert downloads.write_archive(again).read_bytes() == (packed / "unrolled.zip").read_bytes()


@pytest.mark.heavy
def test_pages_link_to_the_downloads_that_exist(packed):
    assert broken_links(packed) == []
    size = (packed / "unrolled.zip").stat().st_size
    for edition in ALL:
        for path in (packed / edition.language).glob("*.html"):
            links = {link["href"]: link.get_text() for link in light_soup(path).select(".downloads a")}
            assert f"{size / 1e6:.1f} MB" in links.pop("../unrolled.zip")
            assert list(links.items()) == ([("unrolled-ja.pdf", "PDF（3.1 MB）")] if edition.language == "ja" else [])
    (packed / "unrolled.zip").rename(packed / "moved")
    downloads.link_downloads(packed)
    assert not light_soup(packed / "en/lstm.html").select(".downloads")
    (packed / "moved").rename(packed / "unrolled.zip")


@pytest.fixture(scope="module")
def printed(site, browser, tmp_path_factory):
    """Return a function from an edition to its PDF, which is printed at the first call."""
    folder, readers = tmp_path_factory.mktemp("printed"), {}

    def get(edition):
        names = edition.language, *printing.printed_pages(edition)
        if names not in readers:
            path = folder / f"{len(readers)}.pdf"
            printing.print_edition(browser, site, edition, path)
            readers[names] = pypdf.PdfReader(path)
        return readers[names]

    return get


def plain(text):
    """Return a text without spaces, which a PDF changes, and with compatibility characters normalised."""
    return re.sub(r"\s+", "", unicodedata.normalize("NFKC", text))


@each_printed
def test_outline_has_the_chapters_and_their_sections(site, printed, edition):
    reader = printed(edition)
    names = printing.printed_pages(edition)
    expected = [[plain(edition.words.get("Contents", "Contents")), []]]
    for name in names:
        article = soup(site / edition.language / f"{name}.html").select_one("article.text")
        expected.append(
            [plain(printing.heading(article.h1)), [plain(printing.heading(h2)) for h2 in article.select("h2")]]
        )
    entries, outline = [], list(reader.outline)
    for entry in outline:
        if isinstance(entry, list):
            entries[-1][1] = [plain(inner.title) for inner in entry if not isinstance(inner, list)]
        else:
            entries.append([plain(entry.title), []])
    assert entries == expected


@each_printed
def test_contents_have_the_right_page_numbers(printed, edition):
    """Compare the number in each line of the contents with the page to which its link leads."""
    reader = printed(edition)
    targets, shown = [], []
    for number, page in enumerate(reader.pages[1:8], start=1):
        links = [link.get_object() for link in page.get("/Annots", [])]
        if not links or re.search(r"^\s*Unrolled\s*$", page.extract_text(), re.MULTILINE):  # the contents have ended
            break
        targets += [reader.get_destination_page_number(reader.named_destinations[link["/Dest"]]) + 1 for link in links]
        own, *numbers = map(int, re.findall(r"(\d+)\s*$", page.extract_text(), re.MULTILINE))
        assert own == number + 1
        shown += numbers
    assert len(targets) > (90 if edition.language == editions.ORIGINAL else 20) and targets == sorted(targets)
    assert shown == targets


@each_printed
def test_links_lead_into_the_document_or_to_websites(printed, edition):
    reader = printed(edition)
    destinations, inside = reader.named_destinations, 0
    for page in reader.pages:
        for link in page.get("/Annots", []):
            link = link.get_object()
            if "/Dest" in link:
                assert link["/Dest"] in destinations
                inside += 1
            else:
                assert link["/A"]["/URI"].startswith("https://"), link["/A"]["/URI"]
    assert inside > (200 if edition.language == editions.ORIGINAL else 30)


def solutions(edition):
    """Yield (chapter, cell, a line of its code) of each solution."""
    for name in printing.printed_pages(edition):
        path = edition.folder / f"{name}.ipynb"
        for cell in nbformat.read(path, as_version=4).cells if path.is_file() else ():
            if cell.cell_type == "code" and cell.id.startswith("solution-"):
                lines = (
                    line
                    for line in cell.source.splitlines()
                    if line.isascii() and not line.startswith(("#", "import", "from"))
                )
                if line := next(lines, None):  # some solutions are only a comment
                    yield name, cell.id, plain(line)


@pytest.mark.heavy
def test_solutions_are_printed(printed):
    """Check that solutions, which are folded on pages, are in the PDF."""
    text = plain("".join(page.extract_text() for page in printed(SHORT).pages))
    wanted = [*solutions(SHORT)]
    assert len(wanted) > 5 and [solution for solution in wanted if solution[2] not in text] == []


@each
def test_solutions_are_unfolded_and_nothing_is_wider_than_the_paper(site, browser, edition, tmp_path):
    articles = printing.prepare_articles(site, edition)
    assert not any(article.select("details") for article in articles.values())
    texts = {name: plain(article.get_text()) for name, article in articles.items()}
    wanted = [*solutions(edition)]
    assert len(wanted) > 10
    assert [solution for solution in wanted if solution[2] not in texts[solution[0]]] == []
    text = tmp_path / "whole.html"
    text.write_text(printing.join_articles(site, edition, articles, {}), encoding="utf-8")
    width = round((210 - 2 * 24) / 25.4 * 96)  # printing.css
    with browser.new_page(viewport={"width": width, "height": 1000}) as page:
        page.emulate_media(media="print")
        page.goto(text.as_uri())
        wide = page.evaluate(
            """width => [...document.querySelectorAll("body *")]
                .filter(element => !element.closest("svg, math") && element.getBoundingClientRect().right > width + 1)
                .map(element => element.outerHTML.slice(0, 200))""",
            width,
        )
        assert wide == []


def test_can_draw_notices_missing_characters(browser):
    with browser.new_page() as page:
        assert can_draw(page, "English")
        assert not can_draw(page, "English \u0378")  # an unassigned character


def test_words_of_the_downloads_are_translated():
    for edition in editions.finished():
        if edition.language != editions.ORIGINAL:
            for words in (
                "Take the book along: %(links)s",
                "PDF (%(size)s)",
                "All editions, to read without a network (%(size)s)",
                "This page has moved: %(link)s",
            ):
                assert words in edition.words, edition.language
