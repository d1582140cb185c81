"""Test the decks in a browser: each slide fits its stage, nothing is fetched, and keys, figures and notes work."""

import io
from contextlib import contextmanager

import pypdf
import pytest

from book.editions import BOOK, ORIGINAL, finished, read
from book.questions import bank
from book.slides import __main__ as command
from book.slides import marks
from tests.site.browsing import opened

SAMPLE = {("en", "lstm"), ("ja", "gru"), ("ko", "rnn"), ("zh", "units")}  # for `make test`
DECKS = [
    pytest.param(
        *(edition.language, page),
        marks=() if (edition.language, page) in SAMPLE else pytest.mark.deep(f"slides {edition.language} {page}"),
    )
    for edition in finished()
    for page in read(BOOK / ORIGINAL).road
]
READY = "document.querySelector('.reveal.ready') && Reveal.isReady()"
# Shows each slide with all of its steps, and returns for each: its id, what is cut, the size of the smallest letters of
# its text, and its title. The first lines of long texts by a model are meant to be cut.
MEASURE = """() => [...document.querySelectorAll(".slides > section")].map((section, number) => {
    Reveal.slide(number, 0, 99);
    const stage = section.querySelector(".stage").getBoundingClientRect(), scale = Reveal.getScale();
    const inside = box => box.left >= stage.left - 1 && box.right <= stage.right + 1
        && box.top >= stage.top - 1 && box.bottom <= stage.bottom + 1;
    const seen = [...section.querySelectorAll(".stage *")].filter(element => element.checkVisibility());
    const cut = seen.filter(element => {
        if (element.closest(".prose, .unseen, select") || element.closest("svg")?.matches(":not(:scope)") && element.tagName !== "svg") return false;
        const box = element.getBoundingClientRect();
        if (!box.width || !box.height) return false;
        const hides = axis => /auto|scroll|hidden|clip/.test(getComputedStyle(element)[`overflow${axis}`]);
        return !inside(box) || (hides("X") && element.scrollWidth > element.clientWidth + 1 && element.clientWidth > 1)
            || (hides("Y") && element.scrollHeight > element.clientHeight + 1 && element.clientHeight > 1);
    }).map(element => element.outerHTML.slice(0, 80));
    const sizes = [...section.querySelectorAll(".words :is(p, li, pre, td)")].map(element =>
        parseFloat(getComputedStyle(element).fontSize) * element.currentCSSZoom);
    return [section.id, cut, Math.min(99, ...sizes), section.querySelector("h1, h2").innerText.trim()];
})"""  # noqa: E501


@contextmanager
def shown(browser, path, address="", **options):
    """Show a deck; fail if it logs an error or requests anything but files of the decks."""
    options = {"viewport": {"width": 1280, "height": 720}} | options
    requests = []
    with browser.new_context(**options) as context:
        context.set_default_timeout(120_000)
        context.on("request", lambda request: requests.append(request.url))
        with opened(context, path.as_uri() + address) as page:
            page.wait_for_function(READY)
            yield page
    decks = path.parent.as_uri()
    assert [url for url in requests if not url.startswith((decks, "blob:", "data:", "about:"))] == []


def go_to(page, name):
    page.evaluate("name => Reveal.slide(Reveal.getSlides().findIndex(slide => slide.id === name))", name)


def position(page):
    return page.evaluate("Reveal.getIndices().h")


@pytest.mark.parametrize("language, page", DECKS)
def test_each_slide_fits_its_stage(browser, make_deck, language, page):
    with shown(browser, make_deck(language, page)) as deck:
        measured = deck.evaluate(MEASURE)
    assert len(measured) == len(marks.slides(page))
    assert {name: cut for name, cut, _size, _title in measured if cut} == {}
    assert {name: size for name, _cut, size, _title in measured if size < 13} == {}
    assert all(title for *_others, title in measured)


def test_a_figure_moves_by_mouse_and_keys(browser, make_deck):
    """Check this on a larger screen, where reveal.js enlarges the stage."""
    with shown(browser, make_deck("en", "lstm"), viewport={"width": 1920, "height": 1080}) as page:
        go_to(page, "gates-figure")
        here, slider = position(page), page.locator(".present input[type=range]").first
        box = slider.bounding_box()
        page.mouse.move(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)
        page.mouse.down()
        page.mouse.move(box["x"] + 0.9 * box["width"], box["y"] + box["height"] / 2)
        page.mouse.up()
        dragged = float(slider.input_value())
        assert dragged > 5
        page.keyboard.press("ArrowLeft")
        assert float(slider.input_value()) < dragged
        page.locator(".present [data-figure] button:visible").first.focus()
        page.keyboard.press("ArrowRight")
        assert position(page) == here
        page.keyboard.press("Escape")
        page.keyboard.press("ArrowRight")
        assert position(page) == here + 1


def test_colours_follow_the_system_and_the_key(browser, make_deck):
    ground = "getComputedStyle(document.body).backgroundColor"
    path = make_deck("en", "lstm")
    with shown(browser, path) as page:
        light = page.evaluate(ground)
        page.keyboard.press("d")
        dark = page.evaluate(ground)
        assert dark != light
    with shown(browser, path, color_scheme="dark") as page:
        assert page.evaluate(ground) == dark
    with shown(browser, path, "?theme=light", color_scheme="dark") as page:
        assert page.evaluate(ground) == light


def test_the_speaker_sees_notes_and_the_answer(browser, make_deck):
    notes = "document.querySelector('.speaker-controls-notes .value')?.innerText ?? ''"
    question = next(slide.question for slide in marks.slides("lstm") if slide.question)
    because = bank.ask(question, "lstm", "ja").right.said
    with shown(browser, make_deck("ja", "lstm")) as page:
        go_to(page, "question-1")
        assert because[:15] not in page.evaluate("document.querySelector('.present .stage').innerText")
        with page.expect_popup() as popup:
            page.keyboard.press("s")
        popup.value.wait_for_function(f"({notes}).includes({because[:15]!r})")


def test_a_slide_is_a_printed_page(browser, make_deck):
    path = make_deck("ko", "lstm")
    with browser.new_page() as tab:
        pdf = pypdf.PdfReader(io.BytesIO(command.print_deck(tab, path).read_bytes()))
    assert len(pdf.pages) == len(marks.slides("lstm"))
    assert {tuple(map(round, page.mediabox[2:])) for page in pdf.pages} == {(960, 540)}  # points
    assert all(page.extract_text().strip() for page in pdf.pages)


def test_steps_appear_one_after_the_other(browser, make_deck):
    with shown(browser, make_deck("en", "lstm")) as page:
        go_to(page, "forget-gate")
        here, visible = position(page), "document.querySelectorAll('.present .fragment.visible').length"
        assert page.evaluate(visible) == 0
        page.keyboard.press("ArrowRight")
        assert page.evaluate(visible) == 1 and position(page) == here


def test_a_mark_that_shows_nothing_is_named(make_deck, monkeypatch):
    monkeypatch.setattr(marks, "slides", lambda page: [marks.Slide([("install", "", False)])])
    with pytest.raises(marks.MarkError, match="lstm: the cell install has nothing that a slide can show"):
        make_deck("en", "lstm")
