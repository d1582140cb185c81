"""The reader of numerals: the page reads, looks and writes as Python does."""

import json

import pytest
import torch

from companion.figures import Attention
from companion.figures.attention import EXAMPLES
from companion.learning.numeral_readers import LANGUAGES
from companion.learning.numerals import TRAINED, in_words, known_words, split
from tests.figures.figure_page import compose, figure_page, get, in_states, load, move

each = pytest.mark.parametrize("language", LANGUAGES)
# the others have the same script and the same search: their weights are read in `make prove`
each_in_its_turn = pytest.mark.parametrize(
    "language", [pytest.param(one, marks=[pytest.mark.heavy] * (one != "en")) for one in LANGUAGES]
)
DIGITS = "() => [...document.querySelectorAll('.both output')].map((one) => one.textContent)"
# Of each row of the grid: its sign, its probability, and the squares' strengths.
ROWS = """() => [...document.querySelectorAll("svg.drawing > g")].map((row) => [
    row.children[0].textContent, row.children[1].textContent,
    [...row.querySelectorAll("rect")].map((one) => Number(one.getAttribute("fill-opacity"))),
])"""


def type_in(page, text):
    page.locator("textarea").fill(text)
    move(page)


def held_to(page, figure):
    """All that the page shows of a text is what Python finds, in the kind that is shown."""
    found = figure.written()
    shown = page.evaluate(ROWS)[: len(found.p)]
    assert [sign for sign, _, _ in shown] == [*found.digits, "⏎"]
    assert [float(p) for _, p, _ in shown] == pytest.approx(found.p.tolist(), abs=0.0051)
    strengths = torch.tensor([strength for _, _, strength in shown])
    looked = torch.zeros(strengths.shape) if found.weights is None else found.weights
    assert strengths.shape == (len(found.p), len(figure.words_read()))
    torch.testing.assert_close(strengths, looked, rtol=0, atol=0.0011, check_dtype=False)
    assert page.evaluate(DIGITS) == [figure.written(attention=kind).digits for kind in (True, False)]


@each
def test_examples_show_what_they_are_for(language):
    """The first three and the long one are right with attention, one of them only with it; no ten digits ever are."""
    right, figure = {}, Attention(language)
    for number, text in figure.reader["examples"]:
        assert split(text, language) == in_words(number, language)
        right[number] = [figure.written(text, kind).digits == str(number) for kind in (True, False)]
    assert [*right] == EXAMPLES[language] and figure.text == figure.reader["examples"][0][1]
    first, short, zeros, long, longest = EXAMPLES[language]
    assert right == {first: [True] * 2, short: [True] * 2, zeros: [True, False], long: [True] * 2, longest: [False] * 2}
    assert len(str(longest)) == TRAINED + 1
    json.dumps(figure.get_state(), allow_nan=False)  # a page can read it


@each_in_its_turn
def test_the_page_writes_and_looks_as_python(language, browser):
    """The examples before the weights come; then the same, and what is typed; with attention and without."""
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
                    held_to(page, figure)
        for number in (0, 20_050, 777_777_777_777):
            figure.text = ("-" if language == "en" else " ").join(in_words(number, language))
            type_in(page, figure.text)
            held_to(page, figure)
        first = known_words(language)[1]
        figure.text = (first + " ") * 25  # no number at all, and no end to be found
        type_in(page, figure.text)
        held_to(page, figure)


def test_one_digit_after_another(browser):
    """A row each, framed, and what the sentence says of it; the grid keeps its size."""
    figure = Attention()
    found, read = figure.written(), figure.words_read()
    with figure_page(browser, "attention") as page:
        look = """() => [document.querySelectorAll("svg.drawing > g > text:first-child:not(:empty)").length,
            [...document.querySelectorAll("svg.drawing > g")].filter((row) => row.firstChild.textContent.trim()).length,
            Number(document.querySelector("svg.drawing > rect").getAttribute("y")), document.querySelector(".report").textContent,
            document.querySelector("svg.drawing").getAttribute("viewBox"), document.querySelector("input").value,
            document.querySelector("output").textContent]"""  # noqa: E501
        seen = in_states(page, [{"t": t} for t in range(1, 14)], look)
        T = len(found.p)
        for t, (_, rows, frame, said, box, value, output) in enumerate(seen, start=1):
            k = min(t, T) - 1
            weight, word = found.weights[k].max().item(), read[int(found.weights[k].argmax())]
            begin = f"Writes {found.digits[k]}" if k < T - 1 else "Ends"
            assert said == f"{begin} with probability {found.p[k]:.2f}, and looks mostly at ‘{word}’ ({weight:.2f})."
            assert (rows, frame, value, output) == (k + 1, 78 + 21 * k, str(k + 1), f"{k + 1} / {T}")
            assert box == seen[0][4]
        move(page, attention=False, t=2)
        assert page.locator(".report").first.text_content().startswith("Writes 1 with probability")
        assert "last state" in page.locator(".report").first.text_content()


def test_plays_to_the_end_and_no_further(browser):
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
    """25 words by 13 rows on a phone: no letter is smaller than 9 pixels, none stands on another or beside the page."""
    with figure_page(browser, "attention", language) as page:
        load(page)
        for word in ("seventeen" if language == "en" else "七", known_words(language)[1]):
            type_in(page, f"{word} " * 25)
            found = page.evaluate("""() => [...document.querySelectorAll("svg.drawing > text")].map((one) => {
                const { left, right, top } = one.getBoundingClientRect();
                const { a, b } = one.getScreenCTM();
                return [left, right, top, parseFloat(getComputedStyle(one).fontSize) * Math.hypot(a, b)];
            })""")
            assert len(found) == 25 and all(size >= 9 for *_, size in found)
            assert found[0][0] >= 0 and found[-1][1] <= 360
            # a line of letters is higher than its letters
            middles = [(left + right) / 2 for left, right, _, _ in found]
            assert all(b - a > 0.95 * found[0][3] for a, b in zip(middles, middles[1:], strict=False))
            above = page.locator("svg.drawing").bounding_box()["y"]
            assert all(top >= above - 2 for _, _, top, _ in found)


def test_where_the_two_part(browser):
    with figure_page(browser, "attention", text="seven hundred million eight hundred thousand and nine") as page:
        parted = page.locator(".both output b").all_text_contents()
        assert page.evaluate(DIGITS) == ["700800009", "700080009"] and parted == ["800009", "080009"]
        assert page.locator(".both .now").all_text_contents() == ["with attention", "700800009"]
        move(page, attention=False)
        assert page.locator(".both .now").all_text_contents() == ["without attention", "700080009"]


def test_what_cannot_be_read_is_named(browser):
    """It is kept in its box and not given to the model; half a syllable is not complained about."""
    with figure_page(browser, "attention", "ja") as page:
        move(page, text="三百")
        assert "読み込めば" in page.locator(".report").first.text_content()
        load(page)
        assert page.evaluate("document.activeElement.tagName") == "TEXTAREA"
        box, said = page.get_by_label("漢数字で書いた数"), page.locator(".report[id]")
        for text, complaint in (("三百猫犬猫", "猫、犬"), (" ", "少なくとも"), ("一" * 26, "26")):
            box.fill(text)
            assert complaint in said.text_content() and box.get_attribute("aria-invalid") == "true"
            assert get(page, "text") == "三百" and box.input_value() == text
        box.fill("三百一")
        assert said.text_content() == "" and box.get_attribute("aria-invalid") is None
        compose(page, "x")
        assert said.text_content() == "" and get(page, "text") == "三百一"
        box.dispatch_event("compositionend")
        assert "x" in said.text_content()
        move(page, text="四")
        assert (box.input_value(), said.text_content(), page.evaluate(DIGITS)) == ("四", "", ["4", "4"])


def test_words_are_read_however_they_are_written():
    assert Attention("xx").text == "four hundred and twelve thousand and seven"
    assert Attention(text=" Twenty-one,").words_read() == split("twenty one", "en")
