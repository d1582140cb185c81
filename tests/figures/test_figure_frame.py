"""Test what all figures have: a question, values under the pointer, one screen, links, saved files, and print."""

import pytest
import torch
from torch import nn

from book.tools.draw import KINDS, pictured
from companion.figures import Attention, Gates, Past, Shares
from companion.figures.figure import words
from companion.learning.sequence_model import SequenceModel
from tests.figures.figure_page import OPENED, TWO_FRAMES, figure_page, get, move
from tests.figures.test_figures import OPEN, TABLES, WRITTEN
from tests.figures.test_figures_site import ORIGINAL, PLACES, figure_on_its_page
from tests.project.sampling import chosen

opened = pytest.mark.parametrize("name", chosen(KINDS, *OPENED))
ASKING = [name for name in KINDS if "question" in words("en", name)]

# Move a mouse, or tap a finger, on a grid of 24 × 24 points of each drawing. Return the texts that appear, by drawing.
VALUES = f"""async (kind) => {{
    const found = [];
    for (const drawn of document.querySelectorAll(".drawn")) {{
        const [drawing, texts] = [drawn.querySelector("svg.drawing"), new Set()];
        if (!drawing.checkVisibility()) continue;
        drawing.scrollIntoView({{ block: "center" }});
        await ({TWO_FRAMES})();
        const {{ left, top, width, height }} = drawing.getBoundingClientRect();
        for (let k = 0; k < 576; k++) {{
            const [column, row] = [(k % 24) + 0.5, Math.floor(k / 24) + 0.5];
            const at = {{ clientX: left + (width * column) / 24, clientY: top + (height * row) / 24 }};
            const target = document.elementFromPoint(at.clientX, at.clientY);
            if (!drawing.contains(target)) continue;
            const type = kind === "mouse" ? "pointermove" : "pointerdown";
            target.dispatchEvent(new PointerEvent(type, {{ bubbles: true, pointerType: kind, ...at }}));
            const value = drawn.querySelector(".pointed");
            if (!value.hidden) texts.add(value.textContent);
            const box = value.getBoundingClientRect();
            if (!value.hidden && (box.left < 0 || box.right > innerWidth)) texts.add("outside the page");
        }}
        found.push([...texts]);
    }}
    return found;
}}"""


@pytest.mark.parametrize("name", ASKING)
def test_questions(name):
    """Check that each language has the same number of answers, and the same right one.

    Past has a text for each language: its own test computes the answers.
    """
    right = words("en", name)["right"]
    for language in (language for language, figure in WRITTEN if figure == name):
        table = TABLES[language][name]
        assert {"question", "answers", "right", "because"} <= table.keys(), language
        assert 2 <= len(table["answers"]) == len({*table["answers"]}) == len(words("en", name)["answers"]), language
        assert table["right"] in range(len(table["answers"])), language
        assert isinstance(table["because"], str) or len(table["because"]) == len(table["answers"]), language
        assert table["right"] == right or name == "past", language


def test_nearly_every_figure_asks_a_question():
    assert {*KINDS} - {*ASKING} <= {"guess"}  # that figure is a game of guessing


@pytest.mark.parametrize("name", chosen(ASKING, "scan"))
def test_an_answer_is_judged(browser, name):
    table = words("en", name)
    with figure_page(browser, name) as page:
        question = page.locator(".question")
        because = table["because"] if isinstance(table["because"], list) else [table["because"]] * len(table["answers"])
        for k, answer in enumerate(table["answers"]):
            button = question.get_by_role("button", name=answer, exact=True)
            button.press("Enter")
            verdict = table["guessed" if k == table["right"] else "not_guessed"]
            assert question.get_by_role("status").text_content() == verdict + table["between"] + because[k]
            assert [b.get_attribute("aria-pressed") for b in question.get_by_role("button").all()] == [
                f"{k == n}".lower() for n in range(len(table["answers"]))
            ]


@opened
def test_drawings_answer_mouse_and_finger(browser, name):
    """Check that each drawing shows at least five values, inside the page, and hides them when the reader leaves."""
    with figure_page(browser, name, **pictured(name, "en")) as page:
        page.evaluate(OPEN)
        for kind in ("mouse", "touch"):
            found = page.evaluate(VALUES, kind)
            assert found and all(len(texts) >= 5 and "outside the page" not in texts for texts in found), (kind, found)
        page.mouse.click(1, 1)
        assert page.locator(".pointed:visible").count() == 0


def test_the_value_under_the_pointer_follows_the_figure(browser):
    with figure_page(browser, "gates") as page:
        cell_state = page.locator('[data-said^="c_t = "]').first
        cell_state.hover()
        shown = lambda: page.locator(".pointed:visible").text_content().partition(" = ")[2]  # noqa: E731
        before = shown()
        move(page, t=7)
        assert shown() == cell_state.get_attribute("data-said").partition(" = ")[2] != before


@opened
def test_control_and_effect_fit_one_screen(browser, name):
    """Check the height of drawing and controls on a laptop, and on a phone that of the drawing, which stays in view.

    On both, 748 pixels are free under the bar of the page. A figure is 736 and 328 pixels wide there.
    """
    with figure_page(browser, name, width=768, **pictured(name, "en")) as page:
        height = "selector => document.querySelector(selector).offsetHeight"
        assert page.evaluate(height, ".together") <= 720
        page.set_viewport_size({"width": 360, "height": 748})
        page.evaluate(TWO_FRAMES)
        assert page.evaluate(height, ".seen") <= 400
        if page.evaluate(height, ".together") > 748:
            bottom = "() => document.querySelector('.beside').lastElementChild.scrollIntoView({ block: 'end' })"
            page.evaluate(bottom)
            assert page.evaluate("document.querySelector('.seen').getBoundingClientRect().top") >= 0


def test_a_readers_own_model_has_no_picture_and_no_question_of_the_books():
    torch.manual_seed(0)
    vectors = torch.randn(3, 4, dtype=torch.float64)
    writer = SequenceModel(nn.Embedding(2, 3), nn.GRU(3, 4), 2)
    layer = nn.MultiheadAttention(4, 1)
    for figure in (
        Gates.of(nn.LSTM(4, 3), vectors),
        Shares.of(nn.GRU(4, 3), vectors),
        Past.of(writer, "abba", ["a", "b"]),
        Attention.of(layer, vectors, vectors, [*"abc"], [*"abc"]),
    ):
        kinds = figure._repr_mimebundle_()[0]
        assert "image/svg+xml" not in kinds and "question" not in figure.words, figure
        assert repr(figure).startswith(f"<{type(figure).__name__} of ")
        assert "image/svg+xml" in type(figure)()._repr_mimebundle_()[0]


def test_saved_figure_needs_no_network(browser, tmp_path):
    """Check that a saved figure has its settings, words and weights, and requests nothing."""
    path = tmp_path / "saved.html"
    saved = KINDS["attention"]("ko", attention=False)
    saved.save(path)
    requests = []
    with browser.new_context(offline=True) as context:
        context.on("request", lambda request: requests.append(request.url))
        page = context.new_page()
        page.goto(path.as_uri())
        assert page.locator("figcaption").text_content() == words("ko", "attention")["caption"]
        assert get(page, "attention") is False
        page.get_by_role("button").filter(has_text="kB").click()
        page.locator("textarea").wait_for()
    assert [url for url in requests if not url.startswith(("data:", "blob:", path.as_uri()))] == []


@pytest.fixture
def base(site):
    return site.as_uri()


def test_a_link_leads_to_the_figure_as_it_is(browser, base):
    """Check the address that a figure copies, and that values of the wrong kind in an address change nothing."""
    copied = "document.querySelector('[data-figure=scan] input.copy').value"
    with figure_on_its_page(browser, base, ORIGINAL, "scan") as (page, place, _):
        place.get_by_role("button", name="tree").click()
        place.get_by_label("Show up to round").fill("3")
        place.get_by_role("button", name=words("en", "scan")["link"]).click()
        page.wait_for_function("document.querySelector('[data-figure=scan] [role=status].report:not(:empty)')")
        page.wait_for_function(f"{copied} !== ''")
        address = page.evaluate(copied)
        assert address.startswith(f"{base}/en/{PLACES['scan']}.html?scan=") and "#" in address
        page.goto(address)
        place.get_by_role("button", name="tree", pressed=True).wait_for()
        assert place.get_by_label("Show up to round").input_value() == "3"
        assert page.evaluate("document.querySelector(location.hash).querySelector('[data-figure=scan]') !== null")
        for wrong in ('{"way":3}', '{"nothing":1}', "{", '{"cuts":[[]],"way":"ring"}'):
            page.goto("about:blank")
            page.goto(f"{base}/en/{PLACES['scan']}.html?scan={wrong}")
            place.get_by_role("button", name="chunks", pressed=True).wait_for()


def test_paper_shows_the_picture_until_the_figure_is_changed(browser, base):
    with figure_on_its_page(browser, base, ORIGINAL, "scan") as (page, place, _):
        picture, figure = place.locator("figure.printed"), place.locator("figure[lang]")
        shown = lambda: (picture.is_visible(), figure.is_visible())  # noqa: E731
        assert shown() == (False, True)
        page.emulate_media(media="print")
        assert shown() == (True, False)
        page.emulate_media(media="screen")
        place.get_by_role("button", name="tree").click()
        page.emulate_media(media="print")
        assert shown() == (False, True)
