"""Test the figure Attention: the page's outputs and attention weights equal Python's."""

import json
import re

import pytest
import torch
from torch import nn
from traitlets import TraitError

import companion
from companion.figures import Attention
from companion.figures.attention import EXAMPLES
from companion.figures.figure import words
from companion.learning.numeral_readers import LANGUAGES
from companion.learning.numerals import TRAINED, in_words, known_words, split
from tests.figures.figure_page import compose, figure_page, get, in_states, load, move

each = pytest.mark.parametrize("language", LANGUAGES)
# other languages have the same script and search; `make prove` tests their weights
each_on_the_page = pytest.mark.parametrize(
    "language", [pytest.param(code, marks=[pytest.mark.heavy] * (code != "en")) for code in LANGUAGES]
)
DIGITS = "() => [...document.querySelectorAll('.both bdi')].map((digits) => digits.textContent)"
# For each row of the grid: sign, probability, and opacities of the squares.
ROWS = """() => [...document.querySelectorAll("svg.drawing > g[cursor]")].map((row) => [
    row.children[0].textContent, row.children[1].textContent,
    [...row.querySelectorAll(":scope > g rect")].map((square) => Number(square.getAttribute("fill-opacity"))),
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
    """Check which examples are right: four with attention, the first only with it; the one of ten digits never."""
    right, figure = {}, Attention(language)
    for number, text in figure.reader["examples"]:
        assert split(text, language) == in_words(number, language)
        right[number] = [figure.written(text, kind).digits == str(number) for kind in (True, False)]
    assert [*right] == EXAMPLES[language] and figure.text == figure.reader["examples"][0][1]
    zeros, middle, short, long, longest = EXAMPLES[language]
    assert right == {zeros: [True, False], **dict.fromkeys((middle, short, long), [True] * 2), longest: [False] * 2}
    table = words(language, "attention")
    assert table["right"] == [True, False].index(right[zeros][1]) and len(table["answers"]) == 2
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
            examples = page.get_by_role("group", name=words(language, "attention")["examples"])
            for button in examples.get_by_role("button").all():
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
    """Check rows, frame, sentence and both outputs at each step, and that the grid keeps its size."""
    figure = Attention()
    output, read = figure.written(), figure.words_read()
    both = [figure.written(attention=kind).digits for kind in (True, False)]
    with figure_page(browser, "attention") as page:
        look = """() => [
            [...document.querySelectorAll("svg.drawing > g[cursor]")].filter((row) => row.firstChild.textContent.trim()).length,
            Number([...document.querySelectorAll("svg.drawing > rect")].at(-1).getAttribute("y")), document.querySelector(".seen .report").textContent,
            document.querySelector("svg.drawing").getAttribute("viewBox"), document.querySelector("input[type=range]").value,
            document.querySelector(".control output").textContent,
            [...document.querySelectorAll('.both bdi')].map((digits) => digits.textContent)]"""  # noqa: E501
        assert get(page, "t") == 1
        results = in_states(page, [{"t": t} for t in range(1, 14)], look)
        T = len(output.p)
        for t, (rows, frame, said, box, value, shown, digits) in enumerate(results, start=1):
            k = min(t, T) - 1
            weight, word = output.weights[k].max().item(), read[int(output.weights[k].argmax())]
            begin = f"Writes {output.digits[k]}" if k < T - 1 else "Ends"
            assert said == f"{begin} (p = {output.p[k]:.2f}) and looks mostly at ‘{word}’ ({weight:.2f})."
            assert (rows, frame, value, shown) == (k + 1, 76 + 18 * k, str(k + 1), f"{k + 1} / {T}")
            assert box == results[0][3] and digits == [text[:t] for text in both]
        move(page, attention=False, t=2)
        assert page.locator(".seen .report").text_content().startswith(f"Writes {both[1][1]} (p = ")
        assert "last state" in page.locator(".seen .report").text_content()


def test_a_row_and_a_column_are_pressed(browser):
    """Check that rows, also later ones, and words can be pressed, and that squares show the companion's weights."""
    figure = Attention()
    weights, read = figure.written().weights, figure.words_read()
    with figure_page(browser, "attention") as page:
        row = page.locator("svg.drawing > g[cursor]").nth(6)
        row.locator("> rect").click()
        assert get(page, "t") == 7
        page.locator("svg.drawing > text[cursor]").nth(4).click()
        move(page)
        assert get(page, "word") == 5
        k = int(weights[:7, 4].argmax())
        said = f"‘{read[4]}’: most in row {k + 1} ({weights[k, 4]:.2f})."
        assert page.locator(".seen .report").text_content().endswith(said)
        column, _ = page.locator("svg.drawing > rect").all()
        assert column.is_visible() and float(column.get_attribute("x")) == 58 + 4 * 300 / 8
        page.get_by_role("slider", name="column").press("ArrowRight")
        page.get_by_role("slider", name="row").press("ArrowLeft")
        assert get(page, "word") == 6 and get(page, "t") == 6
        row = page.locator("svg.drawing > g[cursor]").nth(3)
        for j in range(8):
            row.locator("g g").nth(j).hover()
            assert page.locator(".pointed").text_content() == f"8 ← ‘{read[j]}’: {weights[3, j]:.4f}"
        page.locator("svg.drawing > text[cursor]").nth(5).click()
        move(page)
        assert get(page, "word") == 0 and not column.is_visible()


@pytest.mark.parametrize("language", LANGUAGES)
def test_it_fits_one_screen(browser, language):
    for width, part, most in ((360, ".seen", 400), (768, ".together", 720)):
        with figure_page(browser, "attention", language, width=width, t=13) as page:
            assert page.locator(part).bounding_box()["height"] <= most


def test_play_stops_at_the_end(browser):
    with figure_page(browser, "attention", clock=True) as page:
        page.get_by_role("button", name="Play").press("Enter")
        for t in range(1, 10):
            assert get(page, "t") == t
            page.clock.run_for(700)
        assert page.get_by_role("button", name="Play").count() == 1 and get(page, "t") == 10
        page.get_by_role("button", name="412007").click()
        page.clock.run_for(100)
        assert page.locator(".control output").first.text_content() == "7 / 7"


@pytest.mark.parametrize("language", ["en", "ja"])
def test_the_longest_numbers_fit(language, browser):
    """Check 25 words by 13 rows on a phone: letters have at least 9 pixels, do not overlap, and are on the page."""
    with figure_page(browser, "attention", language) as page:
        load(page)
        for word in ("seventeen" if language == "en" else "七", known_words(language)[1]):
            type_in(page, f"{word} " * 25)
            letters = page.evaluate("""() => [...document.querySelectorAll("svg > text[cursor]")].map((text) => {
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


def test_wrong_digits_are_marked(browser):
    """Check the correct number, wrong digits, and verdicts at the end; and why long numbers are wrong."""
    figure = Attention()
    shown = "() => [...document.querySelectorAll('.both output')].map((output) => output.textContent)"
    with figure_page(browser, "attention", t=4) as page:
        assert page.evaluate(shown) == ["700800009", "7008", "7000"]
        assert page.locator(".both output b").all_text_contents() == ["0"]
        move(page, t=13)
        assert page.evaluate(shown) == ["700800009", "700800009 ✓", "700080009 ✗"]
        assert page.locator(".both output b").all_text_contents() == ["0", "8"]
        assert page.locator(".both .now").all_text_contents() == ["with attention", "700800009 ✓"]
        no_weights = page.get_by_text("no weights")
        assert not no_weights.is_visible()
        move(page, attention=False)
        assert page.locator(".both .now").all_text_contents() == ["without attention", "700080009 ✗"]
        assert no_weights.is_visible()
        for number, text in figure.reader["examples"]:
            move(page, text=text, t=25)
            right = [figure.written(text, kind).digits == str(number) for kind in (True, False)]
            assert [line.endswith("✓") for line in page.evaluate(shown)[1:]] == right
            said = words("en", "attention")["untrained"] in page.locator(".beside .report").all_text_contents()
            assert said == (len(str(number)) > TRAINED) and TRAINED == 9  # as the sentence says
        load(page)
        type_in(page, "twenty")
        assert page.locator(".both output:visible").all_text_contents() == ["20", "20"]  # the number is not known


def test_unknown_words_are_named(browser):
    """Check that invalid text stays in its box and not in the model; an unfinished composition is not reported."""
    with figure_page(browser, "attention", "ja") as page:
        move(page, text="三百")
        assert "読み込" in page.locator(".seen .report").text_content()
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
    assert Attention("xx").text == "seven hundred million eight hundred thousand and nine"
    assert Attention(text=" Twenty-one,").words_read() == split("twenty one", "en")


READ, WRITTEN = ["a_b", "=", "longer than eleven", "d", "e"], ["x = y", "é", "z"]


def inputs(E=8, kdim=8, vdim=8, dtype=torch.float64):
    torch.manual_seed(0)
    return torch.randn(3, E, dtype=dtype), torch.randn(5, kdim, dtype=dtype), torch.randn(5, vdim, dtype=dtype)


LAYERS = {
    "torch": lambda: nn.MultiheadAttention(8, 2, dropout=0.5, batch_first=True, dtype=torch.float64),
    "companion": lambda: companion.MultiheadAttention(8, 4, dtype=torch.float64),
    "no bias, other sizes": lambda: nn.MultiheadAttention(8, 1, bias=False, kdim=6, vdim=7, dtype=torch.float64),
    "float16": lambda: nn.MultiheadAttention(8, 2, dtype=torch.float16),
}


@pytest.mark.parametrize("name", LAYERS)
def test_own_layer(browser, name):
    """Compare each head's weights, and their mean, with the layer's own; the layer is unchanged."""
    layer = LAYERS[name]().train()
    q, k, v = inputs(8, layer.kdim, layer.vdim, layer.out_proj.weight.dtype)
    before = {key: value.clone() for key, value in layer.state_dict().items()}
    figure = Attention.of(layer, q, k, READ, WRITTEN, v)
    assert layer.training and all(torch.equal(before[key], value) for key, value in layer.state_dict().items())
    assert layer.out_proj.weight.grad is None and layer.out_proj.weight.dtype == q.dtype
    layer = layer.eval().double()
    _, heads = layer(q.double(), k.double(), v.double(), average_attn_weights=False)
    expected = torch.cat([heads.mean(0, keepdim=True), heads]).detach()
    shown = torch.tensor(figure.reader["heads"], dtype=torch.float64)
    torch.testing.assert_close(shown, expected, rtol=0, atol=1e-9)
    assert "\n" not in repr(figure)
    with figure_page(browser, "attention", figure=figure) as page:
        for head in range(len(expected)):
            move(page, head=head)
            rows = page.evaluate(ROWS)
            assert [sign for sign, _, _ in rows] == WRITTEN
            torch.testing.assert_close(
                torch.tensor([row for *_, row in rows]), expected[head].float(), rtol=0, atol=6e-4
            )
            page.locator("svg.drawing > g[cursor]").nth(1).locator("g g").nth(2).hover()
            assert page.locator(".pointed").text_content() == f"é ← ‘{READ[2]}’: {expected[head, 1, 2]:.4f}"
        assert page.locator(".question, .both, textarea").count() == 0 and page.get_by_role("group").count() == 0
        assert page.get_by_role("combobox").count() == (len(expected) > 2)


def test_own_layer_in_a_file(browser, tmp_path):
    figure = Attention.of(LAYERS["torch"](), *inputs()[:2], READ, WRITTEN)
    figure.head = 2
    figure.save(tmp_path / "mine.html")
    page = browser.new_page()
    page.goto((tmp_path / "mine.html").as_uri())
    shown = torch.tensor([row for *_, row in page.evaluate(ROWS)])
    torch.testing.assert_close(shown, torch.tensor(figure.reader["heads"][2]), rtol=0, atol=6e-4)
    page.close()


q, k, _ = inputs()
layer = LAYERS["torch"]()
bad = q.clone()
bad[1, 2] = torch.nan
REFUSED = [
    (TypeError, "layer must be", (nn.Linear(8, 8), q, k, READ, WRITTEN)),
    (TypeError, "query must be a tensor", (layer, q.tolist(), k, READ, WRITTEN)),
    (TypeError, "read must be a list of strings", (layer, q, k, "abcde", WRITTEN)),
    (TypeError, "written must be a list of strings", (layer, q, k, READ, [1, 2, 3])),
    (ValueError, "read must have 1 to 25 strings, not 26", (layer, q, k, ["a"] * 26, WRITTEN)),
    (ValueError, "query must have the shape (3, 8), not (3, 1, 8)", (layer, q[:, None], k, READ, WRITTEN)),
    (ValueError, "key must have the shape (5, 8), not (3, 8)", (layer, q, q, READ, WRITTEN)),
    (ValueError, "query must be finite: row 1 is not", (layer, bad, k, READ, WRITTEN)),
    (ValueError, "add_bias_kv", (nn.MultiheadAttention(8, 2, add_bias_kv=True), q, k, READ, WRITTEN)),
    (ValueError, "value is needed", (nn.MultiheadAttention(8, 2, vdim=3), q, k, READ, WRITTEN)),
]


@pytest.mark.parametrize(("error", "message", "arguments"), REFUSED, ids=[message for _, message, _ in REFUSED])
def test_own_layer_is_refused(error, message, arguments):
    with pytest.raises(error, match=re.escape(message)):
        Attention.of(*arguments)


def test_own_head_is_refused():
    with pytest.raises(TraitError, match="head must be from 0 to 2, not 3"):
        Attention.of(layer, q, k, READ, WRITTEN).head = 3
    with pytest.raises(TraitError, match="head must be from 0 to 0, not 1"):
        Attention().head = 1
    with torch.no_grad():
        broken = LAYERS["torch"]()
        broken.in_proj_weight[0, 0] = torch.inf
    with pytest.raises(ValueError, match="weights are not finite"):
        Attention.of(broken, q, k, READ, WRITTEN)
