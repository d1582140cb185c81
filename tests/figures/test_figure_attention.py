"""The reader of numerals: the page reads, looks and writes as Python does."""

import json
import re

import pytest
import torch
from figure_page import figure_page, in_states, move

from companion.figures import Attention
from companion.figures.attention import EXAMPLES, LONGEST
from companion.learning.numeral_readers import KINDS, LANGUAGES, load_reader, path_of
from companion.learning.numerals import TRAINED, in_words, known_words, split
from companion.learning.search import greedy

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


@pytest.fixture(autouse=True)
def one_thread():
    threads = torch.get_num_threads()
    torch.set_num_threads(1)  # small networks run no faster on more than one
    yield
    torch.set_num_threads(threads)


def weights(file):
    return path_of(re.fullmatch(r"readers/(\w+)\.safetensors", file)[1]).read_bytes()


def load(page):
    page.get_by_role("button").filter(has_text="kB").click()
    page.locator("textarea").wait_for()


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
def test_writes_as_greedy_search_does(language):
    figure = Attention(language)
    for _, figure.text in figure.reader["examples"]:
        for kind in KINDS:
            model, task = load_reader(language, kind)
            source = task.encode(figure.words_read())
            (found,) = greedy(model, source[:, None], torch.tensor([len(source)]), LONGEST)
            ours = figure.written(attention=kind == KINDS[0])
            assert ours.digits == task.decode(found.sequence)
            assert ours.p.log().sum().item() == pytest.approx(found.log_p, abs=1e-12)
            assert (ours.weights is None) == (found.weights is None) == (kind != KINDS[0])
            if ours.weights is not None:
                torch.testing.assert_close(ours.weights, found.weights, rtol=0, atol=1e-12)


@each_in_its_turn
def test_the_page_writes_and_looks_as_python(language, browser):
    """The examples before the weights come; then the same, and what is typed; with attention and without."""
    figure = Attention(language)
    with figure_page(browser, "attention", language, want=weights) as page:
        for is_loaded in (False, True):
            if is_loaded:
                load(page)
            for button in page.get_by_role("group").get_by_role("button").all():
                button.click()
                figure.text = page.evaluate("model.get('text')")
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
            document.querySelector("output").textContent]"""
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
        page.get_by_role("button", name="Play").click()
        for t in range(1, 7):
            assert page.evaluate("model.get('t')") == t
            page.clock.run_for(700)
        assert page.get_by_role("button", name="Play").count() == 1 and page.evaluate("model.get('t')") == 7
        page.get_by_role("button", name="987654321").click()
        page.clock.run_for(100)
        assert page.locator("output").first.text_content() == "10 / 10"


@pytest.mark.parametrize("language", ["en", "ja"])
def test_the_longest_numbers_fit(language, browser):
    """25 words by 13 rows on a phone: no letter is smaller than 9 pixels, none stands on another or beside the page."""
    with figure_page(browser, "attention", language, want=weights) as page:
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
    with figure_page(browser, "attention", "ja", want=weights) as page:
        move(page, text="三百")
        assert "読み込めば" in page.locator(".report").first.text_content()
        load(page)
        box, said = page.get_by_label("漢数字で書いた数"), page.locator(".report[id]")
        for text, complaint in (("三百猫犬猫", "猫、犬"), (" ", "少なくとも"), ("一" * 26, "26")):
            box.fill(text)
            assert complaint in said.text_content() and box.get_attribute("aria-invalid") == "true"
            assert page.evaluate("model.get('text')") == "三百" and box.input_value() == text
        box.fill("三百一")
        assert said.text_content() == "" and box.get_attribute("aria-invalid") is None
        page.evaluate("""() => {
            const box = document.querySelector("textarea");
            box.value = "x";
            box.dispatchEvent(new InputEvent("input", { isComposing: true }));
        }""")
        assert said.text_content() == "" and page.evaluate("model.get('text')") == "三百一"
        box.dispatch_event("compositionend")
        assert "x" in said.text_content()
        move(page, text="四")
        assert (box.input_value(), said.text_content(), page.evaluate(DIGITS)) == ("四", "", ["4", "4"])


def test_by_keyboard_alone(browser):
    """The reader is loaded and typed to, without a hand on the mouse."""
    with figure_page(browser, "attention", want=weights, motion="reduce") as page:
        for _ in range(3 + len(EXAMPLES["en"]) + 1):
            page.keyboard.press("Tab")
        page.keyboard.press("Enter")
        page.wait_for_function("document.activeElement.tagName === 'TEXTAREA'")
        page.keyboard.press("ControlOrMeta+a")
        page.keyboard.type("Twenty-one")
        assert page.evaluate("model.get('text')") == "Twenty-one"
        move(page)
        assert page.evaluate(DIGITS) == ["21", "21"]


def test_weights_are_handed_out_and_nothing_else():
    """In a notebook it is Python that answers the page. What it refuses is held in test_figure_writing."""
    figure, sent = Attention("zh"), []
    figure.send = lambda content, buffers=(): sent.append((content, list(buffers)))
    figure._handle_custom_msg({"want": figure.reader["file"]}, [])
    assert sent.pop() == ({"have": "readers/zh.safetensors"}, [path_of("zh").read_bytes()])
    figure._handle_custom_msg({"want": "writers/zh.safetensors"}, [])
    assert "lacks" in sent.pop()[0]


def test_words_are_read_however_they_are_written():
    assert Attention("xx").text == "four hundred and twelve thousand and seven"
    assert Attention(text=" Twenty-one,").words_read() == split("twenty one", "en")
