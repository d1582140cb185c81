"""Every page of the built site, as readers have it: on a phone, in the dark, with keys, with ears, behind a firewall."""

import re
from urllib.parse import unquote, urldefrag, urljoin, urlsplit

import pytest
from axe_playwright_python.sync_playwright import Axe
from browsing import opened
from test_site import soup

import editions

ALL = [(edition, name) for edition in editions.editions() for name in sorted(edition.pages - {"genindex"})]
PAGES = [f"{edition.language}/{name}" for edition, name in ALL]
# In `make test`; the others take minutes, and are in `make heavy`.
SAMPLE = {"en/lstm", "ja/language_model", "ko/lstm_parameters", "zh/embedding", "en/search", "zh/index"}
some = pytest.mark.parametrize("name", [pytest.param(name, marks=() if name in SAMPLE else pytest.mark.heavy) for name in PAGES])
light_and_dark = pytest.mark.parametrize("scheme", ["light", "dark"])
# All that is folded is open.
UNFOLD = "() => { for (const one of document.querySelectorAll('article details')) one.open = true }"
# What stands out of the page to the right, and neither scrolls nor lies in what does.
WIDE = """() => [...document.querySelectorAll("body *")].filter(one => {
    if (one.getBoundingClientRect().right <= innerWidth + 1 || !one.checkVisibility()) return false;
    for (let up = one; up; up = up.parentElement)
        if (/auto|scroll|hidden|clip/.test(getComputedStyle(up).overflowX) || up.closest(".skip, [popover], svg, math")) return false;
    return true;
}).map(one => one.outerHTML.slice(0, 120))"""


@some
@light_and_dark
def test_axe_finds_nothing(browser, address, name, scheme):
    with opened(browser, f"{address}/{name}.html", color_scheme=scheme) as page:
        assert page.locator("html").get_attribute("data-theme") == scheme
        page.evaluate(UNFOLD)
        # when the page has nothing else to do, it measures what scrolls
        page.wait_for_function("[...document.querySelectorAll('.text pre')].every(one => one.scrollWidth <= one.clientWidth || one.tabIndex === 0)")
        results = Axe().run(page)
        assert results.violations_count == 0, results.generate_report()
        assert {"color-contrast", "html-has-lang", "link-name"} <= {rule["id"] for rule in results.response["passes"]}


@some
@pytest.mark.parametrize("width", [360, 768, 1280])
def test_no_page_is_wider_than_the_screen(browser, address, name, width):
    with opened(browser, f"{address}/{name}.html", viewport={"width": width, "height": 800}) as page:
        page.evaluate(UNFOLD)
        assert page.evaluate("document.documentElement.scrollWidth") == width
        assert page.evaluate(WIDE) == []


@some
def test_behind_a_firewall_a_page_is_whole(browser, address, name):
    """No other origin is asked for anything, also when all of it has been scrolled through and opened."""
    asked = []
    context = browser.new_context(viewport={"width": 360, "height": 800})
    context.route(lambda url: not url.startswith(address), lambda route: (asked.append(route.request.url), route.abort()))
    with opened(context, f"{address}/{name}.html") as page:
        page.evaluate(UNFOLD)
        for _ in range(5):
            page.mouse.wheel(0, 20_000)
            page.wait_for_timeout(50)
        assert [url for url in asked if not url.startswith(("data:", "blob:"))] == []
        font = page.evaluate("document.fonts.load('16px \"Unrolled Math\"').then(fonts => fonts.map(one => one.status))")
        assert font == ["loaded"]
        for figure in page.locator("[data-figure]").all():
            figure.locator("svg.drawing").first.wait_for()
    context.close()


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


def test_colours_can_be_chosen_and_are_remembered(browser, address):
    context = browser.new_context(color_scheme="light")
    with opened(context, f"{address}/en/gru.html") as page:
        seen = []
        for _ in range(4):
            seen.append(page.evaluate("[document.documentElement.dataset.mode, document.documentElement.dataset.theme]"))
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


@pytest.mark.parametrize(("edition", "name"), ALL, ids=PAGES)
def test_what_a_page_says_of_itself(site, edition, name):
    page = soup(site / edition.language / f"{name}.html")
    head = {meta.get("name") or meta.get("property"): meta["content"] for meta in page.select("head meta[content]")}
    title = page.title.get_text()
    assert title.endswith("Unrolled") and (head["og:title"] in title or name == "search")
    assert 10 < len(head["description"]) and head["og:description"] == head["description"]
    assert head["og:locale"] == edition.html == page.html["lang"]
    assert len(page.select("h1")) == 1 and len(page.select("main")) == 1
    levels = [int(heading.name[1]) for heading in page.select("h1, h2, h3, h4, h5, h6")]
    assert all(lower <= higher + 1 for higher, lower in zip(levels, levels[1:]))
    neighbours = page.select(".neighbours a")
    for link in neighbours:
        target = soup(site / edition.language / link["href"].partition("#")[0])
        words = re.sub(r"\s+", "", link.get_text())
        heading = re.sub(r"^[\d.]+|¶|\s+", "", target.h1.get_text())
        assert heading in words
    assert neighbours or name == "search"


def test_descriptions_are_all_different(site):
    found = [soup(site / f"{name}.html").select_one("meta[name=description]")["content"] for name in PAGES if "search" not in name]
    assert len(found) == len(set(found))


def test_every_link_leads_somewhere(site):
    """To pages, places in them, notebooks and files, from all pages of all editions."""
    pages, places = {}, {}
    for path in site.glob("*/*.html"):
        pages[path] = soup(path)
        places[path] = {one.get("id") for one in pages[path].select("[id]")} | {one.get("name") for one in pages[path].select("a[name]")}
    broken = []
    for path, page in pages.items():
        for element in page.select("a[href], link[href], script[src], img[src], form[action]"):
            url = element.get("href") or element.get("src") or element.get("action") or ""
            if urlsplit(url).scheme or url.startswith("//"):
                continue
            target, place = urldefrag(urljoin(path.as_uri(), url))
            file = path.__class__(unquote(urlsplit(target).path))
            if not file.is_file():
                broken.append((path.name, url))
            elif place and file in places and unquote(place) not in places[file]:
                broken.append((path.name, url))
    assert broken == []
    assert len(pages) > 40
