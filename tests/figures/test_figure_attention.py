"""Test the figure Attention: the page's outputs and attention weights equal Python's."""

import json

import pytest
import torch

from companion.figures import Attention
from companion.figures.attention import EXAMPLES
from companion.learning.numeral_readers import LANGUAGES
from companion.learning.numerals import TRAINED, in_words, known_words, split
from tests.figures.figure_page import compose, figure_page, get, in_states, load, move

each = pytest.mark.parametrize("language", LANGUAGES)
# other languages have the same script and search; `make prove` tests their weights
each_on_the_page = pytest.mark.parametrize(
    "language", [pytest.param(code, marks=[pytest.mark.heavy] * (code != "en")) for code in LANGUAGES]
)
DIGITS = "() => [...document.querySelectorAll('.both output')].map((output) => output.textContent)"
# For each row of the grid: sign, probability, and opacities of the squares.
ROWS = """() => [...document.querySelectorAll("svg.drawing > g")].map((row) => [
    row.children[0].textContent, row.children[1].textContent,
    [...row.querySelectorAll("rect")].map((square) => Number(square.getAttribute("fill-opacity"))),
])"""


def type_in(page, text):
    page.locator("textarea").fill(text)
    move(page)


def assert_equals_python(page, figure):
    """Assert that the page shows Python's output for the text."""
    output = figure.written()
    shown = page.evaluate(ROWS)[: len(output.p)]
    assert [sign for sign, _, _ in shown] == [*output.digits, "⏎"]
    assert [float(p) for _, p, _ in shown] == pytest.approx(output.p.tolist(), abs=0.0051)
    strengths = torch.tensor([strength for _, _, strength in shown])
    weights = torch.zeros(strengths.shape) if output.weights is None else output.weights
    assert strengths.shape == (len(output.p), len(figure.words_read()))
    torch.testing.assert_close(strengths, weights, rtol=0, atol=0.0011, check_dtype=False)
    assert page.evaluate(DIGITS) == [figure.written(attention=kind).digits for kind in (True, False)]


@each
def test_examples_have_the_intended_outcomes(language):
    """Check which examples are right: four with attention, one of them only with it; the one of ten digits never."""
    right, figure = {}, Attention(language)
    for number, text in figure.reader["examples"]:
        assert split(text, language) == in_words(number, language)
        right[number] = [figure.written(text, kind).digits == str(number) for kind in (True, False)]
    assert [*right] == EXAMPLES[language] and figure.text == figure.reader["examples"][0][1]
    first, short, zeros, long, longest = EXAMPLES[language]
    assert right == {first: [True] * 2, short: [True] * 2, zeros: [True, False], long: [True] * 2, longest: [False] * 2}
    assert len(str(longest)) == TRAINED + 1
    json.dumps(figure.get_state(), allow_nan=False)  # a page can read it


@each_on_the_page
def test_page_equals_python(language, browser):
    """Compare the examples before and after the weights are loaded, and typed numbers, with attention and without."""
    figure = Attention(language)
    with figure_page(browser, "attention", language) as page:
        for is_loaded in (False, True):
            if is_loaded:
                load(page)
            for button in page.get_by_role("group").get_by_role("button").all():
                button.click()
                figure.text = get(page, "text")
                assert str(dict(map(reversed, figure.reader["examples"]))[figure.text]) == button.text_content()
                for figure.attention in (False, True):
                    move(page, attention=figure.attention)
                    assert_equals_python(page, figure)
        for number in (0, 20_050, 777_777_777_777):
            figure.text = ("-" if language == "en" else " ").join(in_words(number, language))
            type_in(page, figure.text)
            assert_equals_python(page, figure)
        first = known_words(language)[1]
        figure.text = (first + " ") * 25  # not a number, and the network finds no end
        type_in(page, figure.text)
        assert_equals_python(page, figure)


def test_one_digit_after_another(browser):
    """Check rows, frame and sentence at each step, and that the grid keeps its size."""
    figure = Attention()
    output, read = figure.written(), figure.words_read()
    with figure_page(browser, "attention") as page:
        look = """() => [document.querySelectorAll("svg.drawing > g > text:first-child:not(:empty)").length,
            [...document.querySelectorAll("svg.drawing > g")].filter((row) => row.firstChild.textContent.trim()).length,
            Number(document.querySelector("svg.drawing > rect").getAttribute("y")), document.querySelector(".report").textContent,
            document.querySelector("svg.drawing").getAttribute("viewBox"), document.querySelector("input").value,
            document.querySelector("output").textContent]"""  # noqa: E501
        results = in_states(page, [{"t": t} for t in range(1, 14)], look)
        T = len(output.p)
        for t, (_, rows, frame, said, box, value, shown) in enumerate(results, start=1):
            k = min(t, T) - 1
            weight, word = output.weights[k].max().item(), read[int(output.weights[k].argmax())]
            begin = f"Writes {output.digits[k]}" if k < T - 1 else "Ends"
            assert said == f"{begin} with probability {output.p[k]:.2f}, and looks mostly at ‘{word}’ ({weight:.2f})."
            assert (rows, frame, value, shown) == (k + 1, 78 + 21 * k, str(k + 1), f"{k + 1} / {T}")
            assert box == results[0][4]
        move(page, attention=False, t=2)
        assert page.locator(".report").first.text_content().startswith("Writes 1 with probability")
        assert "last state" in page.locator(".report").first.text_content()


def test_play_stops_at_the_end(browser):
    with figure_page(browser, "attention", clock=True) as page:
        page.get_by_role("button", name="Play").press("Enter")
        for t in range(1, 7):
            assert get(page, "t") == t
            page.clock.run_for(700)
        assert page.get_by_role("button", name="Play").count() == 1 and get(page, "t") == 7
        page.get_by_role("button", name="987654321").click()
        page.clock.run_for(100)
        assert page.locator("output").first.text_content() == "10 / 10"


@pytest.mark.parametrize("language", ["en", "ja"])
def test_the_longest_numbers_fit(language, browser):
    """Check 25 words by 13 rows on a phone: letters have at least 9 pixels, do not overlap, and are on the page."""
    with figure_page(browser, "attention", language) as page:
        load(page)
        for word in ("seventeen" if language == "en" else "七", known_words(language)[1]):
            type_in(page, f"{word} " * 25)
            letters = page.evaluate("""() => [...document.querySelectorAll("svg.drawing > text")].map((text) => {
                const { left, right, top } = text.getBoundingClientRect();
                const { a, b } = text.getScreenCTM();
                return [left, right, top, parseFloat(getComputedStyle(text).fontSize) * Math.hypot(a, b)];
            })""")
            assert len(letters) == 25 and all(size >= 9 for *_, size in letters)
            assert letters[0][0] >= 0 and letters[-1][1] <= 360
            # a line of letters is higher than its letters
            middles = [(left + right) / 2 for left, right, _, _ in letters]
            assert all(b - a > 0.95 * letters[0][3] for a, b in zip(middles, middles[1:], strict=False))
            above = page.locator("svg.drawing").bounding_box()["y"]
            assert all(top >= above - 2 for _, _, top, _ in letters)


def test_first_difference_of_the_two_outputs(browser):
    with figure_page(browser, "attention", text="seven hundred million eight hundred thousand and nine") as page:
        bold = page.locator(".both output b").all_text_contents()
        assert page.evaluate(DIGITS) == ["700800009", "700080009"] and bold == ["800009", "080009"]
        assert page.locator(".both .now").all_text_contents() == ["with attention", "700800009"]
        move(page, attention=False)
        assert page.locator(".both .now").all_text_contents() == ["without attention", "700080009"]


def test_unknown_words_are_named(browser):
    """Check that invalid text stays in its box and not in the model; an unfinished composition is not reported."""
    with figure_page(browser, "attention", "ja") as page:
        move(page, text="三百")
        assert "読み込めば" in page.locator(".report").first.text_content()
        load(page)
        assert page.evaluate("document.activeElement.tagName") == "TEXTAREA"
        box, said = page.get_by_label("漢数字で書いた数"), page.locator(".report[id]")
        for text, message in (("三百猫犬猫", "猫、犬"), (" ", "少なくとも"), ("一" * 26, "26")):
            box.fill(text)
            assert message in said.text_content() and box.get_attribute("aria-invalid") == "true"
            assert get(page, "text") == "三百" and box.input_value() == text
        box.fill("三百一")
        assert said.text_content() == "" and box.get_attribute("aria-invalid") is None
        compose(page, "x")
        assert said.text_content() == "" and get(page, "text") == "三百一"
        box.dispatch_event("compositionend")
        assert "x" in said.text_content()
        move(page, text="四")
        assert (box.input_value(), said.text_content(), page.evaluate(DIGITS)) == ("四", "", ["4", "4"])


def test_capitals_hyphens_and_commas():
    assert Attention("xx").text == "four hundred and twelve thousand and seven"
    assert Attention(text=" Twenty-one,").words_read() == split("twenty one", "en")
