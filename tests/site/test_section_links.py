"""Test links to sections: the section is in view, however the reader follows the link and whatever is above it."""

from urllib.parse import quote

import pytest

from book import editions
from tests.site.browsing import begin

WIDTHS = 360, 1280
NEAR = 200  # pixels from the top of the window
ENGLISH = next(edition for edition in editions.editions() if edition.language == editions.ORIGINAL)
PAGES = [f"en/{name}" for name in sorted(ENGLISH.pages - {"genindex", "search"} - ENGLISH.reference.keys())]
PAGES += [
    f"{edition.language}/{name}"
    for edition in editions.finished()
    if edition != ENGLISH
    for name in ("lstm", "through_time")
]
SAMPLE = "en/lstm"  # for `make test`: a high figure is above half of its sections

# Turns off scroll anchoring, which Safari lacks, and records the heights of the figures when the page has loaded, since
# browsers then scroll to the section for the last time.
PREPARE = """
const sheet = new CSSStyleSheet();
sheet.replaceSync("* { overflow-anchor: none !important }");
document.adoptedStyleSheets = [sheet];
window.figureHeights = () => [...document.querySelectorAll("[data-figure]")].map(figure => [figure.dataset.figure, figure.offsetHeight]);
addEventListener("load", () => { window.heightsAtFirst = figureHeights() });
"""  # noqa: E501
# Returns the ids of all sections, and that of the first section below all figures (or of the last section).
SECTIONS = """() => {
    const sections = [...document.querySelectorAll("article section section[id]")], figure = [...document.querySelectorAll("[data-figure]")].at(-1);
    const next = sections.find(section => figure && figure.compareDocumentPosition(section) & Node.DOCUMENT_POSITION_FOLLOWING);
    return [sections.map(section => section.id), (next ?? sections.at(-1))?.id];
}"""  # noqa: E501
WHOLE = """() => window.heightsAtFirst && !("steps" in document.documentElement.dataset) && document.fonts.status === "loaded"
    && [...document.querySelectorAll("[data-figure]")].every(figure => figure.querySelector("figure[lang]"))"""  # noqa: E501
# Returns [id, top] of the sections that are not near the top of the window, unless the page ends before they can be.
AWAY = """([ids, near, go]) => ids.map(id => {
    if (go) location.replace(`#${id}`);
    const top = Math.round(document.getElementById(id).getBoundingClientRect().top);
    const rest = document.documentElement.scrollHeight - innerHeight - scrollY;
    return [id, top, top < -near || top > (rest < 5 ? innerHeight : near)];
}).filter(section => section.pop())"""


@pytest.fixture
def visitor(browser):
    """Open a new page for each test: Chromium ignores more than 200 changes of an address within ten seconds."""
    with browser.new_context(viewport={"width": WIDTHS[0], "height": 800}) as context:
        context.add_init_script(PREPARE)
        with context.new_page() as page:
            yield page


def arrive(page, url=None):
    """Open an address, if one is given, and wait until the page no longer moves."""
    if url:
        page.goto(url)
    page.wait_for_function(WHOLE)
    page.wait_for_timeout(100)


@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=() if name == SAMPLE else pytest.mark.heavy) for name in PAGES]
)
def test_a_link_leads_to_its_section(visitor, address, name):
    """Open a section below all figures by its address, then visit the others, since no figure grows after that."""
    url = f"{address}/{name}.html"
    visitor.goto(url)
    ids, late = visitor.evaluate(SECTIONS)
    for width in WIDTHS if ids else ():
        visitor.set_viewport_size({"width": width, "height": 800})
        arrive(visitor, f"{url}?{width}#{late}")
        assert visitor.evaluate(AWAY, [[late], NEAR, False]) == [], width
        assert visitor.evaluate("figureHeights()") == visitor.evaluate("heightsAtFirst"), width
        assert visitor.evaluate(AWAY, [ids, NEAR, True]) == [], width


def test_a_link_leads_to_its_cell(visitor, address):
    """Visit eight cells, four of them in closed solutions: two by their addresses, then all of them on the page."""
    url = f"{address}/en/rnn.html"
    arrive(visitor, f"{url}#title")
    ids = visitor.evaluate("""["article .place[id]", "article details [id^=codecell]"].flatMap(place => {
        const cells = [...document.querySelectorAll(place)];
        return [0, 1, 2, 3].map(n => cells[Math.floor((n / 3) * (cells.length - 1))].id);
    })""")
    for first in (ids[2], ids[-1]):
        arrive(visitor, f"{url}?{first}#{first}")
        assert visitor.evaluate(AWAY, [[first], NEAR, False]) == []
    assert visitor.evaluate(AWAY, [ids, NEAR, True]) == []
    heights = "ids => ids.map(id => document.getElementById(id).getBoundingClientRect().height)"
    assert len(set(ids)) == 8 and min(visitor.evaluate(heights, ids[4:])) > 20  # the solutions are open


def from_the_list(page, url, place):
    page.goto(url)
    page.evaluate("place => document.querySelector(`#sections a[href='#${place}']`).click()", place)


def from_another_page(page, url, place):
    page.goto(url.replace("lstm", "gru"))
    page.evaluate(
        "to => { const link = document.createElement('a'); link.href = to;"
        " document.querySelector('article').append(link); link.click() }",
        f"{url}#{place}",
    )
    page.wait_for_url(f"**/lstm.html#{place}")


def by_a_changed_address(page, url, place):
    page.goto(url)
    page.evaluate("place => { location.hash = place }", place)


def back(page, url, place):
    arrive(page, f"{url}#{place}")
    page.goto(url.replace("lstm", "gru"))
    page.go_back()


def again(page, url, place):
    page.goto(url)
    begin(page)
    page.evaluate("place => document.getElementById(place).scrollIntoView()", place)
    page.wait_for_timeout(100)
    page.reload()


def by_searching(page, url, place):
    heading = page.evaluate(
        "place => document.getElementById(place).querySelector('h2').firstChild.textContent.trim()", place
    )
    page.goto(url.replace("lstm", "search") + f"?q={heading}")
    page.locator(f"#search-results a[href*='lstm.html'][href$='#{place}']").first.click()
    page.wait_for_url(f"**/lstm.html*#{place}")


def by_words(page, url, place):
    """Open the page by a text fragment, as search engines link to a passage."""
    heading = page.evaluate(
        "place => document.getElementById(place).querySelector('h2').firstChild.textContent.trim()", place
    )
    page.goto(f"{url}#:~:text={quote(heading, safe='')}")


WAYS = from_the_list, from_another_page, by_a_changed_address, back, again, by_searching, by_words


@pytest.mark.parametrize(
    "way",
    [pytest.param(way, marks=() if way is back else pytest.mark.heavy) for way in WAYS],
    ids=lambda way: way.__name__,
)
def test_every_way_of_following_a_link_leads_to_the_section(visitor, address, way):
    url = f"{address}/en/lstm.html"
    arrive(visitor, f"{url}#title")
    place = visitor.evaluate(SECTIONS)[0][-4]
    way(visitor, url, place)
    arrive(visitor)
    # browsers show a text fragment in the middle
    assert visitor.evaluate(AWAY, [[place], 500 if way is by_words else NEAR, False]) == []
