"""Test the front page: a figure that writes by itself, facts about chapters, ways, and where the reader stopped."""

import re

import pytest

from book import editions
from book.site.extension.front_page import NEEDS
from book.site.extension.reading_time import english_notebook, reading_time
from companion.figures import Writing
from tests.project.paths import light_soup
from tests.site.browsing import opened, wait_for
from tests.site.test_book import CHAPTERS

PHONE = {"width": 360, "height": 740}
FIGURE = Writing.front_page("en")
END = FIGURE.text + FIGURE.stored["written"]
TEXT = "document.querySelector('.written').textContent"
BACK = ".resume:not([hidden]) a"
PLACE = ".resume:not([hidden]) .facts"


def opened_front(browser, address, **options):
    return opened(browser, f"{address}/en/index.html", viewport=PHONE, **options)


def seen(page):
    """Return the probabilities beside the bars, and the opacities of the colours behind the text."""
    numbers = page.locator("svg.drawing > g:has(rect[width='360']) > text:nth-of-type(2)").all_text_contents()
    colours = page.locator(".written span").evaluate_all(
        "all => all.map((one) => Number(getComputedStyle(one).backgroundColor.match(/[\\d.]+(?=\\))/)[0]))"
    )
    return [float(number) for number in numbers if number.strip()], colours


def test_figure_writes_by_itself_on_the_first_screen_until_it_is_stopped(browser, address):
    """Check that it waits while it is out of sight, and shows the same when the writer is loaded."""
    with opened_front(browser, address) as page:
        page.wait_for_function(f"{TEXT}.length > 30")
        assert page.get_by_role("link", name="Start reading").bounding_box()["y"] < 450
        stop = page.locator("[data-figure]").get_by_role("button", name="Stop")
        assert stop.bounding_box()["y"] < PHONE["height"] - 24
        page.evaluate("scrollTo(0, 3000)")
        page.wait_for_timeout(500)
        waits = page.evaluate(TEXT)
        page.wait_for_timeout(700)
        assert page.evaluate(TEXT) == waits
        page.evaluate("scrollTo(0, 0)")
        page.wait_for_function(f"{TEXT}.length > {len(waits)}")
        stop.click()
        stopped, before = page.evaluate(TEXT), seen(page)
        page.wait_for_timeout(500)
        assert page.evaluate(TEXT) == stopped and END.startswith(stopped)
        page.get_by_role("button", name="Load the writer").click()
        box = page.locator("textarea")
        box.focus()  # scrolls to it; the text stays in view
        assert wait_for(page.locator(".written").bounding_box)["y"] >= 0
        place = wait_for(box.bounding_box)  # none while the figure is laid out again
        assert place["y"] + place["height"] <= PHONE["height"]
        for now, then in zip(seen(page), before, strict=True):
            assert now == pytest.approx(then, abs=0.011)
        assert page.evaluate(TEXT) == stopped


def test_figure_rests_for_readers_who_want_no_motion(browser, address):
    """Check that the button then shows the whole text at once, that bars still stand at its end, and what it says."""
    with opened_front(browser, address, reduced_motion="reduce") as page:
        page.wait_for_timeout(700)
        assert page.evaluate(TEXT) == FIGURE.beginning
        page.get_by_role("button", name="Write", exact=True).click()
        assert page.evaluate(TEXT) == END
        page.get_by_text("Load the writer to go on.").first.wait_for()
        numbers, _ = seen(page)
        assert numbers[0] == pytest.approx(FIGURE.stored["steps"][-1][1][0] / 1000, abs=0.01)
        page.get_by_role("button", name="Restart").click()
        page.wait_for_function(f"beginning => ({TEXT}) === beginning", arg=FIGURE.beginning)


def test_reader_who_returns_is_led_to_where_they_stopped(browser, address):
    with opened_front(browser, address) as page:
        assert not page.locator(".resume").is_visible()
        page.goto(f"{address}/en/lstm.html#six-equations")
        page.wait_for_function("document.querySelector('#six-equations').getBoundingClientRect().top < 100")
        heading = page.locator("#six-equations > h2").text_content().removesuffix("¶")
        page.goto(f"{address}/en/index.html")
        assert not page.locator(BACK).is_visible()  # opened, but not read
        page.go_back()
        page.mouse.move(180, 400)
        page.mouse.wheel(0, 40)
        page.wait_for_timeout(300)
        page.goto(f"{address}/en/search.html")  # no chapter
        page.goto(f"{address}/en/gru.html")  # only opened
        page.goto(f"{address}/en/index.html")
        assert re.fullmatch(rf"\d+\. LSTM.* › {heading}", page.locator(PLACE).text_content())
        page.locator(BACK).click()
        page.wait_for_url("**/lstm.html#*")
        assert abs(page.locator("#six-equations").evaluate("section => section.getBoundingClientRect().top")) < 740
        page.go_back()
        page.evaluate("localStorage.setItem('stopped', localStorage.getItem('stopped').replace('en', 'ja'))")
        page.reload()  # after a visit to another edition, whose headings are in its language
        assert page.locator(PLACE).text_content() == page.locator("#chapters a[href='lstm.html']").text_content()
        page.get_by_role("button", name="Forget this").click()
        assert page.evaluate("document.activeElement.textContent") == "Start reading"
        page.reload()
        assert not page.locator(".resume").is_visible() and page.evaluate("localStorage.getItem('stopped')") is None


@pytest.mark.parametrize("edition", editions.finished(), ids=lambda edition: edition.language)
def test_numbers_and_minutes_of_chapters_and_ways_are_those_of_the_pages(site, edition):
    numbered = {name: str(number) for number, name in enumerate(edition.road, start=1)}
    page, listed = light_soup(site / edition.language / "index.html"), set()
    for term in page.select("dt:has(.facts)"):
        name = term.a["href"].removesuffix(".html")
        listed.add(name)
        expected = [numbered[name]] if name in numbered else []
        assert [number.get_text() for number in term.select(".number")] == expected, name
        numbers = [int(number) for number in re.findall(r"\d+", term.select_one(".facts").get_text())]
        assert numbers[:2] == [value for value in reading_time(english_notebook(name)) if value], name
    assert listed >= {*CHAPTERS}
    for way in page.select(".way"):
        facts = [fact.get_text() for fact in way.select(".facts")]
        links, minutes = way.select("li a"), [int(re.search(r"\d+", fact)[0]) for fact in facts]
        hours, number = re.findall(r"[\d.]+", way.summary.get_text())
        assert int(number) == len(links) == len(minutes)
        assert abs(sum(minutes) / 60 - float(hours)) <= 0.25
        assert [item["value"] for item in way.select("li")] == [numbered[link["href"][:-5]] for link in links]


@pytest.mark.parametrize("name", CHAPTERS)
def test_chapters_are_read_after_what_they_need(name):
    assert all(CHAPTERS.index(needed) < CHAPTERS.index(name) for needed in NEEDS[name])
