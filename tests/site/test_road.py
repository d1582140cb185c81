"""Test the parts of the book: each chapter is short enough for one sitting, and every old address leads somewhere."""

import re

import pytest
import yaml

from book import editions, moved
from book.site.extension.reading_time import EQUATION, FENCE, LINK_TARGET, PICTURE, english_notebook, measure
from tests.project.paths import ROOT, light_soup
from tests.site.test_book import stored
from tests.site.test_moved import places_of

ROAD = editions.read(editions.BOOK / editions.ORIGINAL).road
OLD_PLACES = yaml.safe_load((ROOT / "tests/site/old_places.yml").read_text(encoding="utf-8"))
MAX_CELLS, MAX_MINUTES, MAX_WORDS = 50, 30, 200
TABLE = re.compile(r"^\|.*\|$", re.MULTILINE)


def words(text):
    """Return the number of words in a cell, without code, displayed equations, tables and descriptions of pictures."""
    for pattern in (FENCE, EQUATION, TABLE, PICTURE, LINK_TARGET):
        text = pattern.sub("", text)
    return len([word for word in text.split() if re.search(r"\w", word)])


@pytest.mark.parametrize("name", ROAD)
def test_chapter_fits_into_one_sitting(name):
    cells, minutes, _exercises = measure(english_notebook(name))
    assert cells <= MAX_CELLS and minutes <= MAX_MINUTES, f"{cells} cells, {minutes:.1f} minutes: split or cut it"


def test_text_cells_are_short():
    long = {
        f"{path.stem}#{cell.id}": words(cell.source)
        for path in sorted((editions.BOOK / editions.ORIGINAL).glob("*.ipynb"))
        for cell in stored(path).cells
        if cell.cell_type == "markdown" and words(cell.source) > MAX_WORDS
    }
    assert not long, "split or cut them"
    assert words("one [two](three.html)\n\n```\nfour\n```\n\n$$five$$\n\n| six |\n\n- seven") == 3


@pytest.mark.parametrize("edition", editions.finished(), ids=lambda edition: edition.language)
def test_every_old_place_leads_to_a_place(edition):
    table, places = moved.read(), places_of(edition)
    old = [place for page, cells in OLD_PLACES.items() for place in (page, *(f"{page}#{c}" for c in cells.split()))]
    assert len(old) > 1300
    assert [place for place in old if place not in places and moved.resolve(place, table) not in places] == []


@pytest.mark.parametrize("edition", editions.finished(), ids=lambda edition: edition.language)
def test_front_page_and_side_bar_have_the_parts_of_the_table(site, edition):
    parts = [(part["caption"], editions.page_names(part)) for part in edition.table["parts"]]
    page = light_soup(site / edition.language / "index.html")
    captions = [caption.get_text() for caption in page.select("#chapters .caption")]
    assert captions == [caption for caption, _names in parts]
    assert edition.language == editions.ORIGINAL or not {*captions} & {"Begin", "Memory", "Use"}
    listed = {}
    for heading in page.select("article h3"):
        terms = heading.parent.select("dt > a")
        listed[heading.get_text().removesuffix("¶")] = [term["href"].removesuffix(".html") for term in terms]
    for caption, names in parts:
        assert listed[caption] == [name for name in names if name != editions.REFERENCE]


@pytest.mark.parametrize("edition", editions.finished(), ids=lambda edition: edition.language)
def test_chapters_are_numbered_and_lead_to_the_next_one(site, edition):
    """Check that pages to look something up have no number and no neighbours, and what a link to a chapter shows."""
    folder = site / edition.language
    for number, name in enumerate(edition.road, start=1):
        page = light_soup(folder / f"{name}.html")
        assert page.h1.select_one(".section-number").get_text() == f"{number}. "
        before = [link["href"] for link in page.select(".neighbours [rel=prev]")]
        assert before == [f"{previous}.html" for previous in ["index", *edition.road][number - 1 : number]]
        after = [link["href"] for link in page.select(".neighbours [rel=next]")]
        assert after == [f"{following}.html" for following in edition.road[number : number + 1]]
    for name in ("lstm_parameters", "glossary", "teaching"):
        page = light_soup(folder / f"{name}.html")
        assert not page.select(".neighbours, h1 .section-number"), name
    link = light_soup(folder / "lstm.html").select_one("article a[href='rnn.html']")
    number = str(edition.road.index("rnn") + 1)
    assert number in link["title"] and number in link.select_one(".number").get_text()
