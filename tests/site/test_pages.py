"""Every page of the built site, as readers have it: on a phone, in the dark, with keys, with ears, behind a
firewall."""

import functools
import re
from types import SimpleNamespace
from urllib.parse import quote

import pytest
from bs4 import BeautifulSoup

from book import editions
from book.site.extension.metadata import ways_to_run
from tests.project.paths import frame
from tests.site.browsing import MARK_KINDS, WIDE, accessible, begin, opened
from tests.site.links import broken_links

ALL = [(edition, name) for edition in editions.editions() for name in sorted(edition.pages - {"genindex"})]
PAGES = [f"{edition.language}/{name}" for edition, name in ALL]
# In `make test`: a chapter, and one that is not written by hand. The others, and other languages, are in `make prove`.
SAMPLE = {"en/rnn", "en/search"}
# All editions have one structure, so axe reads every English page and of each other edition these: one with a figure,
# one that is not written by hand, and one with a form of its own.
FOR_AXE = {"lstm", "search", "assignment_gru"}
READ_BY_AXE = [
    f"{edition.language}/{name}" for edition, name in ALL if edition.language == editions.ORIGINAL or name in FOR_AXE
]


def some(names, mark):
    """Return the decorator of a test of these pages: the sample runs in `make test`, and the others have a mark."""
    return pytest.mark.parametrize("name", [pytest.param(name, marks=() if name in SAMPLE else mark) for name in names])


# All that is folded is open.
UNFOLD = "() => { for (const one of document.querySelectorAll('article details')) one.open = true }"
# The controls of a figure that stand out of its column.
CONTROLS_OUTSIDE = """place => [...place.querySelectorAll(".control, button, select, input")]
    .filter(one => !one.closest("details:not([open]), [hidden]")).filter(one => {
        const edge = place.getBoundingClientRect(), { left, right } = one.getBoundingClientRect();
        return left < edge.left - 1 || left >= right || right > edge.right + 1;
    }).map(one => one.outerHTML)"""
# When the page has nothing else to do, it measures what scrolls.
MEASURED = (
    "[...document.querySelectorAll('.text pre')].every(one => one.scrollWidth <= one.clientWidth || one.tabIndex === 0)"
)


def unfold(page):
    """Open all that is folded, and wait until all of the page is laid out and its figures are alive."""
    page.evaluate(UNFOLD)
    begin(page)
    for figure in page.locator("[data-figure]").all():
        figure.locator("figure[lang] svg.drawing").first.wait_for()


@some(PAGES, pytest.mark.heavy)
def test_a_page_as_readers_have_it(browser, address, name):
    """Open a page and unfold all of it: it asks no other origin, has its fonts, and is no wider than any screen."""
    asked = []
    with browser.new_context(viewport={"width": 360, "height": 800}, color_scheme="light") as context:
        context.route(
            lambda url: not url.startswith(address), lambda route: (asked.append(route.request.url), route.abort())
        )
        with opened(context, f"{address}/{name}.html") as page:
            unfold(page)
            page.mouse.wheel(0, 100_000)
            for figure in page.locator("[data-figure]").all():
                assert figure.evaluate(CONTROLS_OUTSIDE) == []
            font = page.evaluate(
                "document.fonts.load('16px \"Unrolled Math\"').then(fonts => fonts.map(one => one.status))"
            )
            assert font == ["loaded"]
            for width in (360, 768, 1280):
                page.set_viewport_size({"width": width, "height": 800})
                assert page.evaluate("document.documentElement.scrollWidth") == width
                assert page.evaluate(WIDE) == []
            assert [url for url in asked if not url.startswith(("data:", "blob:"))] == []


@some(READ_BY_AXE, pytest.mark.deep)
def test_axe_finds_nothing(browser, address, name):
    """With all of a page unfolded. Colours, in light and dark, only in English: they are the theme's, the same in every
    language."""
    with opened(browser, f"{address}/{name}.html", viewport={"width": 1280, "height": 800}) as page:
        unfold(page)
        page.wait_for_function(MEASURED)
        assert {"html-has-lang", "link-name"} <= accessible(page, rules={"color-contrast": {"enabled": False}})[0]
        for scheme in ("light", "dark") if name.startswith(f"{editions.ORIGINAL}/") else ():
            page.emulate_media(color_scheme=scheme)
            page.wait_for_function("scheme => document.documentElement.dataset.theme === scheme", arg=scheme)
            assert page.evaluate(MARK_KINDS) > 4
            assert accessible(page, "[data-kind]", runOnly=["color-contrast"])[0] == {"color-contrast"}


@pytest.mark.deep
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_one_text_of_each_kind_stands_for_all(browser, address, scheme):
    with opened(browser, f"{address}/en/lstm.html", color_scheme=scheme) as page:
        unfold(page)
        assert "color-contrast" in accessible(page)[0]


def test_frame_by_keys(browser, address):
    """The first stop of the keys leads to the text. On a phone the chapters open and close by keys, and by a choice."""
    with opened(browser, f"{address}/en/rnn.html", viewport={"width": 360, "height": 800}) as page:
        page.keyboard.press("Tab")
        skip = page.locator(":focus")
        assert skip.inner_text() == "Skip to the text" and skip.bounding_box()["y"] >= 0
        page.keyboard.press("Enter")
        assert page.evaluate("location.hash") == "#text"
        chapters = page.locator("#chapters")
        assert not chapters.is_visible()
        page.locator("[popovertarget=chapters]").focus()
        page.keyboard.press("Enter")
        assert chapters.is_visible()
        page.keyboard.press("Escape")
        assert not chapters.is_visible()
        page.locator("[popovertarget=sections]").click()
        page.locator("#sections a").last.click()
        assert not page.locator("#sections").is_visible()
        last = page.locator("#sections a").last.get_attribute("href")
        assert page.locator(f"section{last} > h2").evaluate("one => one.getBoundingClientRect().top") < 800
    with opened(browser, f"{address}/en/rnn.html", viewport={"width": 1500, "height": 900}) as page:
        assert page.locator("#chapters").is_visible() and page.locator("#sections").is_visible()


STEPS = "'steps' in document.documentElement.dataset"


@pytest.mark.heavy
@pytest.mark.parametrize("name", ["en/lstm", "ja/training"])
def test_a_long_page_is_laid_out_in_steps(browser, address, name):
    """First what is seen, all when the reader begins; and a place asked for is where it seems to be."""
    late = "[...document.querySelectorAll('article > section > section')].at(-4)"
    top = f"{late}.getBoundingClientRect().top"
    with opened(browser, f"{address}/{name}.html", viewport={"width": 360, "height": 800}) as page:
        skipped = f"getComputedStyle({late}).contentVisibility === 'auto'"
        assert page.evaluate(STEPS) and page.evaluate(skipped)
        page.mouse.wheel(0, 10)
        page.wait_for_function(f"!({STEPS})")
        assert not page.evaluate(skipped)
        place = page.evaluate(f"{late}.id")
    there = f"!({STEPS}) && Math.abs({top}) < 200"
    for way in ("address", "link", "changed address", "again"):
        with opened(browser, f"{address}/{name}.html" + (f"#{place}" if way == "address" else "")) as page:
            if way == "link":
                page.evaluate("place => document.querySelector(`#sections a[href='#${place}']`).click()", place)
            elif way != "address":
                page.evaluate("place => { location.hash = place }", place)
            page.wait_for_function(there)
            if way == "again":  # a browser returns to where the page was seen, so it must have been seen there
                page.reload()
                page.wait_for_function(there)
            page.wait_for_timeout(300)
            assert 40 < page.evaluate(top) < 120, way


def test_colours_can_be_chosen_and_are_remembered(browser, address):
    context = browser.new_context(color_scheme="light")
    with opened(context, f"{address}/en/gru.html") as page:
        seen = []
        for _ in range(4):
            seen.append(
                page.evaluate("[document.documentElement.dataset.mode, document.documentElement.dataset.theme]")
            )
            page.locator("#mode").click()
        assert seen == [["auto", "light"], ["light", "light"], ["dark", "dark"], ["auto", "light"]]
        page.locator("#mode").click()
        page.goto(f"{address}/en/memory.html")
        assert page.locator("html").get_attribute("data-theme") == "dark"
        paper = page.evaluate("getComputedStyle(document.documentElement).backgroundColor")
        assert paper == "rgb(20, 24, 30)"
    context.close()


def test_code_is_copied_as_it_stands(browser, address):
    context = browser.new_context(permissions=["clipboard-read", "clipboard-write"])
    with opened(context, f"{address}/en/gru.html") as page:
        code = page.locator(".cell_input pre").first
        code.hover()
        page.locator(".cell_input button.copybtn").first.click()
        page.locator(".cell_input button.copybtn.success").wait_for()
        assert page.evaluate("navigator.clipboard.readText()").strip() == code.inner_text().strip()
    context.close()


@pytest.fixture(scope="module")
def parsed(site):
    """(language, name) → the page, each read once."""
    return functools.cache(lambda language, name: frame(site / language / f"{name}.html"))


@pytest.mark.parametrize(("edition", "name"), ALL, ids=PAGES)
def test_what_a_page_says_of_itself(parsed, edition, name):
    page = parsed(edition.language, name)
    head = {meta.get("name") or meta.get("property"): meta["content"] for meta in page.select("head meta[content]")}
    title = page.title.get_text()
    assert title.endswith("Unrolled") and (head["og:title"] in title or name == "search")
    assert len(head["description"]) > 10 and head["og:description"] == head["description"]
    assert head["og:locale"] == edition.html == page.html["lang"]
    assert len(page.select("h1")) == 1 and len(page.select("main")) == 1
    levels = [int(heading.name[1]) for heading in page.select("h1, h2, h3, h4, h5, h6")]
    assert all(lower <= higher + 1 for higher, lower in zip(levels, levels[1:]))
    neighbours = page.select(".neighbours a")
    for link in neighbours:
        target = parsed(edition.language, link["href"].partition(".html")[0])
        words = re.sub(r"\s+", "", link.get_text())
        heading = re.sub(r"^[\d.]+|¶|\s+", "", target.h1.get_text())
        assert heading in words
    assert neighbours or name == "search"


def test_a_korean_particle_stays_with_its_word(site):
    """Browsers would break a line between a bracket and what belongs to it."""
    text = (site / "ko/lstm.html").read_text(encoding="utf-8")
    assert "\N{WORD JOINER}" in text and "\N{WORD JOINER}" not in (site / "ja/lstm.html").read_text(encoding="utf-8")
    outside = re.sub(r"<(pre|script|style)\b.*?</\1>|<head>.*?</head>", "", text, flags=re.DOTALL)
    assert not re.search(r"<p>[^<]*[)\]”’][가-힣]", outside)


def test_descriptions_are_all_different(parsed):
    pages = [parsed(edition.language, name) for edition, name in ALL if name != "search" and not edition.is_draft(name)]
    found = [page.select_one("meta[name=description]")["content"] for page in pages]
    assert len(found) == len(set(found))


def test_every_link_leads_somewhere(site):
    assert broken_links(site) == []


@pytest.mark.parametrize("edition", editions.finished(), ids=lambda edition: edition.language)
def test_a_notebook_is_opened_elsewhere_in_its_language(edition):
    """If _config.yml says where the repository is, and only then."""
    config = SimpleNamespace(
        html_theme_options={
            "launch_buttons": {"colab_url": "https://colab.test", "binderhub_url": "https://binder.test/"}
        }
    )
    app, path = SimpleNamespace(srcdir=str(edition.folder), config=config), edition.folder / "lstm.ipynb"
    links = lambda html: [link["href"] for link in BeautifulSoup(html, "html.parser").select("a")]  # noqa: E731
    assert links(ways_to_run(app, path)) == ["_sources/lstm.ipynb"]
    config.html_theme_options |= {"repository_url": "https://github.com/someone/unrolled/", "repository_branch": "book"}
    html = ways_to_run(app, path)
    inside = f"book/{edition.language}/lstm.ipynb"
    assert links(html)[1:] == [
        f"https://colab.test/github/someone/unrolled/blob/book/{inside}",
        f"https://binder.test/v2/gh/someone/unrolled/book?urlpath={quote(f'lab/tree/{inside}', safe='')}",
    ]
    assert "<code>%pip install git+https://github.com/someone/unrolled@book</code>" in html
    assert (editions.BOOK.parent / inside).is_file()
