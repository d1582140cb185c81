"""Test every page of the built site: on a phone, in dark mode, by keyboard, with axe, and without other sites."""

import functools
import re
from types import SimpleNamespace
from urllib.parse import quote

import pytest
from bs4 import BeautifulSoup

from book import editions
from book.site.extension.metadata import ways_to_run
from tests.project.paths import light_soup
from tests.site.browsing import MARK_KINDS, WIDE, accessible, begin, opened
from tests.site.links import broken_links

ALL = [(edition, name) for edition in editions.editions() for name in sorted(edition.samples - {"genindex"})]
PAGES = [f"{edition.language}/{name}" for edition, name in ALL]
# Pages for `make test`: a chapter and a generated page. `make prove` tests the others.
SAMPLE = {"en/rnn", "en/search"}
# All editions have the same structure, so axe checks every English page and these of the other editions: one with a
# figure, a generated one, and an assignment.
FOR_AXE = {"lstm", "search", "assignment_gru"}
CHECKED_BY_AXE = [
    f"{edition.language}/{name}" for edition, name in ALL if edition.language == editions.ORIGINAL or name in FOR_AXE
]


def parametrize_pages(names, mark):
    """Return a decorator that runs a test on these pages; those that are not in SAMPLE have a mark."""
    return pytest.mark.parametrize("name", [pytest.param(name, marks=() if name in SAMPLE else mark) for name in names])


# Opens all folded elements.
UNFOLD = "() => { for (const details of document.querySelectorAll('article details')) details.open = true }"
# Returns the controls of a figure that extend beyond its column.
CONTROLS_OUTSIDE = """place => [...place.querySelectorAll(".control, button, select, input")]
    .filter(control => !control.closest("details:not([open]), [hidden]")).filter(control => {
        const edge = place.getBoundingClientRect(), { left, right } = control.getBoundingClientRect();
        return left < edge.left - 1 || left >= right || right > edge.right + 1;
    }).map(control => control.outerHTML)"""
# Returns the buttons of the bar that are too small, without an icon, outside the window, or on one another.
LOST_BUTTONS = """() => {
    const buttons = [...document.querySelectorAll(".bar :is(a, button, summary)")].filter(button =>
        !button.closest(".languages ul") && getComputedStyle(button).display !== "none");
    if (!buttons.some(button => button.matches(".languages summary"))) return ["no languages"];
    return buttons.filter((button, number) => {
        const { left, right, width, height } = button.getBoundingClientRect(), icon = button.querySelector("svg");
        return width < 24 || height < 24 || right > innerWidth || (number && left < buttons[number - 1].getBoundingClientRect().right - 1)
            || (icon && icon.getBoundingClientRect().width < 16);
    }).map(button => button.outerHTML);
}"""  # noqa: E501
# Returns the pictures of which a part is not seen, and those that are much smaller than drawn and lack the button that
# enlarges them.
SMALL_PICTURES = """() => [...document.querySelectorAll("article svg.picture")].filter(picture => {
    const { left, right, width } = picture.getBoundingClientRect(), frame = picture.closest(".picture-frame");
    return width && (left < 0 || right > innerWidth || (frame && frame.scrollWidth > frame.clientWidth + 1)
        || (width < 0.6 * parseFloat(picture.style.maxWidth) && !frame?.nextElementSibling?.matches(".enlarge")));
}).map(picture => picture.outerHTML.slice(0, 120))"""  # noqa: E501
# Returns the sections that are not laid out yet and whose text is higher than the page estimates, so that it would
# reach over the next section.
TOO_HIGH = """() => [...document.querySelectorAll("article > section > section:not(.laid)")].filter(section =>
    section.lastElementChild.getBoundingClientRect().bottom - section.getBoundingClientRect().top
        > parseFloat(getComputedStyle(section).containIntrinsicHeight.slice("auto ".length))
).map(section => section.id)"""
# The box with answers under the title of a page.
IN_SHORT = "article .begin ~ blockquote:not(.prose)"
# Whether the page has given a tab stop to each block that scrolls, which it does when it is idle.
MEASURED = (
    "[...document.querySelectorAll('.text pre')].every(pre => pre.scrollWidth <= pre.clientWidth || pre.tabIndex === 0)"
)


def unfold(page):
    """Open all folded elements, and wait until the whole page is laid out and its figures have started."""
    page.evaluate(UNFOLD)
    begin(page)
    for figure in page.locator("[data-figure]").all():
        figure.locator("figure[lang] svg.drawing").first.wait_for()


@parametrize_pages(PAGES, pytest.mark.heavy)
def test_page_fits_every_screen_and_loads_nothing_from_other_sites(browser, address, name):
    """Unfold the page, scroll through it, and check its requests, its font, its width and its bar on six screens."""
    requests = []
    with browser.new_context(viewport={"width": 360, "height": 800}, color_scheme="light") as context:
        context.route(
            lambda url: not url.startswith(address), lambda route: (requests.append(route.request.url), route.abort())
        )
        with opened(context, f"{address}/{name}.html") as page:
            assert page.evaluate(TOO_HIGH) == []
            unfold(page)
            page.mouse.wheel(0, 100_000)
            for figure in page.locator("[data-figure]").all():
                assert figure.evaluate(CONTROLS_OUTSIDE) == []
            font = page.evaluate(
                "document.fonts.load('16px \"Unrolled Math\"').then(fonts => fonts.map(font => font.status))"
            )
            assert font == ["loaded"]
            assert page.evaluate(SMALL_PICTURES) == []
            for width in (280, 320, 360, 768, 1280):
                page.set_viewport_size({"width": width, "height": 800})
                assert page.evaluate(LOST_BUTTONS) == []
                if width >= 320:  # on narrower screens a long formula within a line may scroll the page
                    assert page.evaluate("document.documentElement.scrollWidth") == width
                    assert page.evaluate(WIDE) == []
            assert [url for url in requests if not url.startswith(("data:", "blob:"))] == []


@parametrize_pages(CHECKED_BY_AXE, pytest.mark.deep)
def test_axe_finds_nothing(browser, address, name):
    """Check the unfolded page; colours, which all editions share, only in English, in light and dark mode."""
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
def test_axe_finds_nothing_among_all_texts_of_a_page(browser, address, scheme):
    with opened(browser, f"{address}/en/lstm.html", color_scheme=scheme) as page:
        unfold(page)
        assert "color-contrast" in accessible(page)[0]


@pytest.mark.parametrize("edition", editions.finished(), ids=lambda edition: edition.language)
@pytest.mark.heavy
def test_answers_in_short_are_on_the_first_screen(browser, site, address, edition):
    names = [
        name
        for name in sorted(edition.pages - {"genindex"})
        if light_soup(site / edition.language / f"{name}.html").select(IN_SHORT)
    ]
    assert len(names) >= 10 or edition.language != editions.ORIGINAL  # others may not be translated yet
    for width, height in ((1280, 800), (360, 740)) if names else ():
        with opened(
            browser, f"{address}/{edition.language}/{names[0]}.html", viewport={"width": width, "height": height}
        ) as page:
            for name in names:
                page.goto(f"{address}/{edition.language}/{name}.html")
                assert page.locator(IN_SHORT).evaluate("box => box.getBoundingClientRect().bottom") <= height, name


def test_page_can_be_used_by_keyboard(browser, address):
    """Check the link to the text, and the menus of chapters and sections on a phone."""
    with opened(browser, f"{address}/en/rnn.html", viewport={"width": 360, "height": 800}) as page:
        page.keyboard.press("Tab")
        skip = page.locator(":focus")
        assert skip.inner_text() == "Skip to the text" and skip.bounding_box()["y"] >= 0
        page.keyboard.press("Enter")
        assert page.evaluate("location.hash") == "#_text"
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
        assert page.locator(f"section{last} > h2").evaluate("heading => heading.getBoundingClientRect().top") < 800
    with opened(browser, f"{address}/en/rnn.html", viewport={"width": 1500, "height": 900}) as page:
        assert page.locator("#chapters").is_visible() and page.locator("#sections").is_visible()


def test_a_wide_drawing_fits_on_a_phone_and_is_enlarged_on_demand(browser, address):
    with opened(browser, f"{address}/ja/lstm.html", viewport={"width": 360, "height": 800}, has_touch=True) as page:
        frame, button = page.locator(".picture-frame").first, page.get_by_role("checkbox", name="図を拡大する").first
        scrolls = lambda: frame.evaluate("frame => frame.scrollWidth - frame.clientWidth")  # noqa: E731
        assert scrolls() == 0
        frame.tap()
        assert scrolls() > 250 and button.is_checked()
        page.wait_for_function("document.querySelector('.picture-frame').tabIndex === 0")
        button.press("Space")
        assert scrolls() == 0
        page.set_viewport_size({"width": 1280, "height": 800})
        frame.tap()
        assert not page.locator(".enlarge").first.is_visible() and not page.locator(".enlarge").first.is_checked()


def test_the_letters_of_the_lstm_are_legible_on_a_phone(browser, address):
    with opened(browser, f"{address}/en/lstm.html", viewport={"width": 360, "height": 800}) as page:
        heights = page.locator(
            "svg.picture"
        ).first.evaluate("""picture => [...picture.querySelectorAll("text, tspan")].map(
            text => parseFloat(getComputedStyle(text).fontSize) * picture.getBoundingClientRect().width / picture.viewBox.baseVal.width)""")  # noqa: E501
        assert len(heights) > 15 and min(heights) > 9


STEPS = "'steps' in document.documentElement.dataset"


@pytest.mark.heavy
@pytest.mark.parametrize("name", ["en/lstm", "ja/training"])
def test_a_long_page_is_laid_out_in_steps(browser, address, name):
    """Check that only the visible part is laid out at first, and that links still lead to the right place."""
    late = "[...document.querySelectorAll('article > section > section')].at(-4)"
    top = f"{late}.getBoundingClientRect().top"
    with opened(browser, f"{address}/{name}.html", viewport={"width": 360, "height": 800}) as page:
        skipped = f"getComputedStyle({late}).contentVisibility === 'auto'"
        assert page.evaluate(STEPS) and page.evaluate(skipped)
        page.mouse.wheel(0, 10)
        page.wait_for_function(f"!({STEPS})")
        assert not page.evaluate(skipped)
        place = page.evaluate(f"{late}.id")
    arrived = f"!({STEPS}) && Math.abs({top}) < 200"
    for way in ("address", "link", "changed address", "again"):
        with opened(browser, f"{address}/{name}.html" + (f"#{place}" if way == "address" else "")) as page:
            if way == "link":
                page.evaluate("place => document.querySelector(`#sections a[href='#${place}']`).click()", place)
            elif way != "address":
                page.evaluate("place => { location.hash = place }", place)
            page.wait_for_function(arrived)
            if way == "again":  # a browser restores the scroll position
                page.reload()
                page.wait_for_function(arrived)
            page.wait_for_timeout(300)
            assert 40 < page.evaluate(top) < 120, way


def test_chosen_colours_are_stored(browser, address):
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


def test_copied_code_is_unchanged(browser, address):
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
    """Return a cached function from (language, name) to the parsed page."""
    return functools.cache(lambda language, name: light_soup(site / language / f"{name}.html"))


@pytest.mark.parametrize(("edition", "name"), ALL, ids=PAGES)
def test_page_has_metadata_headings_and_neighbours(parsed, edition, name):
    page = parsed(edition.language, name)
    head = {meta.get("name") or meta.get("property"): meta["content"] for meta in page.select("head meta[content]")}
    title = page.title.get_text()
    assert title.endswith("Unrolled") and (head["og:title"] in title or name == "search")
    assert 10 < len(head["description"]) <= 300 and head["og:description"] == head["description"]
    if edition.language == editions.ORIGINAL and name != "search":  # others may not be translated yet
        assert "PyTorch" in title + head["description"]
        assert 20 < len(title) <= 72 and 70 <= len(head["description"]) <= 160  # what search engines show
    assert head["og:locale"] == edition.html == page.html["lang"]
    assert len(page.select("h1")) == 1 and len(page.select("main")) == 1
    ids = [element["id"] for element in page.select("[id]")]
    assert len(ids) == len(set(ids))
    levels = [int(heading.name[1]) for heading in page.select("h1, h2, h3, h4, h5, h6")]
    assert all(lower <= higher + 1 for higher, lower in zip(levels, levels[1:]))
    neighbours = page.select(".neighbours a")
    for link in neighbours:
        target = parsed(edition.language, link["href"].partition(".html")[0])
        words = re.sub(r"\s+", "", link.get_text())
        heading = re.sub(r"^[\d.]+|¶|\s+", "", target.h1.get_text())
        assert heading in words
    looked_up = name in {*editions.page_names(edition.table)} - {"index", *edition.road}
    assert neighbours or looked_up or name == "search"


def test_a_korean_particle_stays_with_its_word(site):
    """Check for word joiners, since browsers would break lines between a bracket and a particle."""
    text = (site / "ko/lstm.html").read_text(encoding="utf-8")
    assert "\N{WORD JOINER}" in text and "\N{WORD JOINER}" not in (site / "ja/lstm.html").read_text(encoding="utf-8")
    outside = re.sub(r"<(pre|script|style)\b.*?</\1>|<head>.*?</head>", "", text, flags=re.DOTALL)
    assert not re.search(r"<p>[^<]*[)\]”’][가-힣]", outside)


def test_descriptions_are_all_different(parsed):
    pages = [parsed(edition.language, name) for edition, name in ALL if name != "search" and not edition.is_draft(name)]
    descriptions = [page.select_one("meta[name=description]")["content"] for page in pages]
    assert len(descriptions) == len(set(descriptions))


def test_no_link_is_broken(site):
    assert broken_links(site) == []


@pytest.mark.parametrize("edition", editions.finished(), ids=lambda edition: edition.language)
def test_links_to_colab_kaggle_and_binder_need_a_repository(edition):
    services = {f"{name}_url": f"https://{name}.test/" for name in ("colab", "kaggle", "binderhub")}
    config = SimpleNamespace(html_theme_options={"launch_buttons": services})
    app, path = SimpleNamespace(srcdir=str(edition.folder), config=config), edition.folder / "lstm.ipynb"
    links = lambda html: [link["href"] for link in BeautifulSoup(html, "html.parser").select("a")]  # noqa: E731
    assert links(ways_to_run(app, path)) == ["_sources/lstm.ipynb"]
    config.html_theme_options |= {"repository_url": "https://github.com/someone/unrolled/", "repository_branch": "book"}
    html = ways_to_run(app, path)
    inside = f"book/{edition.language}/lstm.ipynb"
    assert links(html)[1:] == [
        f"https://colab.test/github/someone/unrolled/blob/book/{inside}",
        f"https://kaggle.test/kernels/welcome?src=https://github.com/someone/unrolled/blob/book/{inside}",
        f"https://binderhub.test/v2/gh/someone/unrolled/book?urlpath={quote(f'lab/tree/{inside}', safe='')}",
    ]
    assert (editions.BOOK.parent / inside).is_file()


def test_words_in_plots_have_the_font_of_the_page_and_drawings_keep_theirs(browser, address):
    family = "element => getComputedStyle(element).fontFamily"
    with opened(browser, f"{address}/en/first_network.html") as page:
        assert page.locator("svg.picture text[font-family=monospace]").first.evaluate(family) == "monospace"
        plot = page.locator("svg.picture text[style]").first
        assert plot.evaluate(family) == page.locator("article").evaluate(family)
