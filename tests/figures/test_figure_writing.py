"""Test the figure Writing: probabilities, text and colours on the page equal Python's."""

import json
import re

import pytest

from book.tools.draw import page_of
from companion.figures import Writing
from companion.figures.figure import words
from companion.figures.writing import BEGINNINGS, INSIDE, UNITS
from companion.learning.text import load_text, shipped_texts
from companion.learning.windows import split
from companion.learning.writer import load_writer
from companion.page.show import coloured
from tests.figures.figure_page import compose, figure_page, get, load, move
from tests.project.paths import ROOT
from tests.project.sampling import sample

each = pytest.mark.parametrize("language", shipped_texts())
# other languages have the same script; `make prove` tests their weights
each_on_the_page = pytest.mark.parametrize(
    "language", sample(sorted(shipped_texts(), key="en".__ne__), len(shipped_texts()))
)
ROW = "svg.drawing > g:has(rect[width='360'])"  # the row of a character
PAGES = "language_model", "units"  # that show the figure's beginning and its unit
DRAWN = "svg.drawing > text:nth-of-type(2)"  # the next character


def colour_the_text(page):
    """Open the part on the unit."""
    page.locator("summary").click()
    page.wait_for_selector(".written span[data-said]")


def button(page, name):
    """Return a button by its English name, in the language of the page."""
    key = next(key for key, word in words("en", "writing").items() if word == name)
    return page.get_by_role("button", name=page.evaluate("key => model.get('words')[key]", key), exact=True)


def shown(page):
    """Return the characters of the rows, and the lengths of their bars from 0 to 1."""
    names = page.locator(f"{ROW} > text:nth-of-type(1)").all_text_contents()
    bars = page.locator(f"{ROW} > rect:nth-of-type(3)")
    return names, [
        float(width) / 272 for width in bars.evaluate_all("all => all.map((bar) => bar.getAttribute('width'))")
    ]


def visible(character):
    return {" ": "␣", "\n": "⏎"}.get(character, character)


def assert_equals_python(page, figure):
    """Assert that the bars have Python's characters and probabilities, and total length 1."""
    names, lengths = shown(page)
    expected = figure.next_characters()
    assert names == [*(visible(character) for character, _ in expected), "…"]
    assert lengths[:8] == pytest.approx([p for _, p in expected], abs=1e-6)
    assert sum(lengths) == pytest.approx(1, abs=1e-5)


@each
def test_beginning_and_unit_are_those_of_the_chapter(language):
    pages = (json.loads((ROOT / f"book/{language}/{page}.ipynb").read_text("utf-8")) for page in PAGES)
    cells = {cell["id"]: cell for page in pages for cell in page["cells"]}
    constants = dict(
        re.findall(r'^(BEGINNING|LANGUAGE) = "(.*)"$', "".join(cells["text-loaded"]["source"]), re.MULTILINE)
    )
    assert constants == {"LANGUAGE": language, "BEGINNING": constants["BEGINNING"]}
    assert BEGINNINGS[language] == constants["BEGINNING"][:-1] == Writing(language).text
    json.dumps(Writing(language).get_state(), allow_nan=False)  # a page can read it
    printed = "".join(cells["units-found"]["outputs"][0]["text"])
    assert UNITS[language] == Writing(language).unit == int(re.search(r"(\d+)$", printed.splitlines()[1])[1])


@each_on_the_page
def test_probabilities_equal_pythons(language, browser):
    """Compare after sixty held-out characters, at several temperatures."""
    model, vocabulary = load_writer(language)
    _, held_out = split(vocabulary.encode(load_text(language)))
    figure = Writing(language, beginning=vocabulary.decode(held_out[:60]))
    with figure_page(browser, "writing", language) as page:
        load(page)
        for temperature in (1.0, 0.3, 2.0, 0.0):
            figure.temperature = temperature
            move(page, beginning=figure.beginning, temperature=temperature)
            assert_equals_python(page, figure)


@each_on_the_page
def test_written_text_and_colours_equal_pythons(language, browser):
    """Compare 200 characters of the same seed, and the colours with those of the chapter."""
    figure = Writing(language, temperature=0.7, seed=7)
    figure.write(200)
    with figure_page(browser, "writing", language, motion="reduce", temperature=0.7, seed=7) as page:
        load(page)
        button(page, "Write").press("Enter")
        assert get(page, "written") == figure.written
        colour_the_text(page)
        colours = page.locator(".written > * > span").evaluate_all("all => all.map((one) => one.style.background)")
        chapter = re.findall(r"rgba\((\d+),\d+,\d+,([\d.]+)\)", coloured([*figure.text], figure.values())._repr_html_())
        assert len(colours) == len(figure.text)
        for colour, (red, strength), value in zip(colours, chapter, figure.values(), strict=True):
            match = re.match(r"rgba\((\d+), \d+, \d+, ([\d.]+)\)", colour)
            assert float(match[2]) == pytest.approx(float(strength), abs=0.01)
            assert float(strength) == 0 or match[1] == red, value
        assert page.locator(".written").text_content() == figure.text


@each_on_the_page
def test_drawing_is_the_same_before_and_after_loading(language, browser):
    with figure_page(browser, "writing", language) as page:
        states = [{"temperature": temperature, "seed": seed} for temperature in (0, 0.5, 1, 2) for seed in (0, 3, 6)]
        before = []
        for state in states:
            move(page, **state)
            before.append((shown(page), page.locator(DRAWN).text_content()))
        assert len({drawn for _, drawn in before}) > 2
        load(page)
        for state, ((names, lengths), drawn) in zip(states, before, strict=True):
            move(page, **state)
            assert shown(page)[0] == names and page.locator(DRAWN).text_content() == drawn
            assert shown(page)[1] == pytest.approx(lengths, abs=1e-4)


def test_line_sentence_and_button_agree_on_the_next_character(browser):
    with figure_page(browser, "writing") as page:
        load(page)
        for seed in range(0, 60, 6):
            move(page, seed=seed, temperature=1.5)
            at = float(page.locator("svg.drawing > line").last.get_attribute("x1"))
            bars = page.locator(f"{ROW} > rect:nth-of-type(3)").evaluate_all(
                "all => all.map((bar) => ['x', 'width', 'fill-opacity'].map((name) => Number(bar.getAttribute(name))))"
            )
            marked = [(x, width) for x, width, opacity in bars if opacity == 1]
            assert [(x, width) for x, width, _ in bars if x <= at < x + width] == marked
            drawn, before = page.locator(DRAWN).text_content(), get(page, "written")
            named = {"␣": "a space", "⏎": "a new line"}.get(drawn, f"‘{drawn}’")
            u = f"{(at - 40) / 272:.2f}"
            sentence = page.locator(".report[aria-hidden]").first.text_content()
            assert re.match(rf"u = {u} falls on the bar of {re.escape(named)} \(", sentence)
            assert page.locator("svg text[data-said]").text_content().startswith(f"random number u = {u}")
            button(page, "One character").press("Enter")
            assert get(page, "written") == before + {"␣": " ", "⏎": "\n"}.get(drawn, drawn)
            move(page)


def test_choosing_characters_back_and_restart(browser):
    """Check buttons and bars. Temperature and seed do not change the written text."""
    with figure_page(browser, "writing") as page:
        load(page)
        group = page.get_by_role("group", name="Write instead")
        assert group.get_by_role("button").all_text_contents() == [*"APMGKStC"]
        group.get_by_role("button").nth(1).click()
        move(page)
        assert (get(page, "written"), shown(page)[0][0]) == ("P", "e")
        page.locator(ROW).nth(0).click(position={"x": 300, "y": 10})  # the whole row is clickable
        move(page, temperature=0.4, seed=31)
        assert get(page, "written") == "Pe"
        assert_equals_python(page, Writing(written="Pe", temperature=0.4))
        button(page, "Back").press("Enter")
        assert get(page, "written") == "P"
        button(page, "Restart").press("Enter")
        assert (get(page, "written"), page.locator("textarea").input_value()) == ("", "“What’s that?” said ")
        page.locator(ROW).last.click()  # "…" is not a character
        assert get(page, "written") == ""


@each
def test_the_question_has_the_right_answer(language):
    assert words(language, "writing")["right"] == 1  # only the longest bar
    before, after = (Writing(language, temperature=temperature).next_characters() for temperature in (1.0, 0.0))
    assert after[0] == (before[0][0], 1.0) and all(p == 0 for _, p in after[1:])


@each
def test_legend_is_true(language):
    """Check that the unit's values inside and outside of quotations differ as the legend says."""
    figure = Writing.front_page(language)
    inside, values = False, {True: [], False: []}
    for character, value in zip(figure.text + figure.stored["written"], figure.stored["values"], strict=True):
        inside = (inside or character in "“「") and character not in "”」"
        values[inside].append(value)
    difference = sum(values[True]) / len(values[True]) - sum(values[False]) / len(values[False])
    assert difference * INSIDE[language] > 0.5
    assert figure.writer["unit"] == UNITS[language] and figure.writer["inside"] == INSIDE[language]


def test_legend_names_the_unit(browser):
    with figure_page(browser, "writing") as page:
        legend = page.locator(".legend")
        assert not legend.is_visible() and page.locator(".written span[data-said]").count() == 0
        colour_the_text(page)
        assert legend.text_content() == "Unit 149 seems to follow quotes:insideoutside"
        assert legend.locator("i").first.get_attribute("style").startswith("background: #2f7fc1")  # blue: inside
        move(page, unit=3)
        assert legend.text_content() == "Value of unit 3:−11"


def test_it_writes_before_it_is_loaded(browser):
    """Check that Write does something at once: the text that is stored equals Python's. Then the writer is loaded."""
    figure = Writing(seed=4, temperature=0.5)
    length = len(figure.stored["written"])
    with figure_page(browser, "writing", motion="reduce", seed=4, temperature=0.5) as page:
        sentence = page.locator(".report[aria-hidden]").first
        button(page, "Write").press("Enter")
        assert get(page, "written") == figure.write(length)[len(figure.beginning) :]
        move(page)
        assert sentence.text_content() == "The stored text ends here. Load the writer to go on."
        colour_the_text(page)
        colours = page.locator(".written span[style]").evaluate_all("all => all.map(one => one.dataset.said)")
        assert [float(said.rpartition(": ")[2].replace("−", "-")) for said in colours] == pytest.approx(
            figure.values().tolist(), abs=0.005
        )
        names, lengths = shown(page)
        assert lengths[:8] == pytest.approx([p for _, p in figure.next_characters()], abs=0.0005)
        assert page.get_by_role("button", name="Load the writer").is_visible()
        button(page, "Write").press("Enter")
        page.get_by_role("button", name="Load the writer").wait_for(state="hidden")
        assert get(page, "written") == figure.write(200)[len(figure.beginning) :]


def test_it_is_loaded_when_it_is_needed(browser):
    """Check that it loads itself where the stored text is not enough, and then does what the reader wanted."""
    hidden = {"state": "hidden"}
    with figure_page(browser, "writing", motion="reduce") as page:
        load_button = page.get_by_role("button", name="Load the writer")
        move(page, temperature=2)  # of the first character, all is stored
        assert load_button.is_visible()
        button(page, "Write").press("Enter")
        load_button.wait_for(**hidden)
        figure = Writing(temperature=2)
        assert figure.write(201).startswith(figure.beginning + get(page, "written"))
        assert len(get(page, "written")) > 199
    with figure_page(browser, "writing") as page:
        page.locator(ROW).nth(1).click()  # not the one that is stored
        load_button.wait_for(**hidden)
        move(page)
        assert get(page, "written") == "P"
        assert_equals_python(page, Writing(written="P"))
    with figure_page(browser, "writing") as page:
        colour_the_text(page)
        assert load_button.is_visible()
        move(page, unit=3)
        load_button.wait_for(**hidden)
        page.locator(".written span[style]").nth(2).hover()
        expected = f"unit 3 after ‘h’: {Writing(unit=3).values()[2]:.2f}"
        assert page.locator(".pointed").text_content() == expected.replace("-", "−")


def test_values_answer_the_pointer(browser):
    with figure_page(browser, "writing") as page:
        value = page.locator(".pointed")
        for k, (character, p) in enumerate(Writing().next_characters()):
            page.locator(ROW).nth(k).hover()
            assert value.text_content() == f"‘{character}’: probability {p:.3f}"
        page.locator(ROW).last.hover()
        rest = 1 - sum(p for _, p in Writing().next_characters())
        assert value.text_content() == f"all others: probability {rest:.3f}"
        colour_the_text(page)
        page.locator(".written span[style]").nth(2).hover()
        assert value.text_content() == f"unit 149 after ‘h’: {Writing().values()[2]:.2f}".replace("-", "−")


def test_front_page_writes_by_itself_and_asks_nothing(browser):
    with figure_page(browser, "writing") as page:
        assert page.locator(".question").is_visible()
        for motion, moves in (("reduce", False), ("no-preference", True)):
            page.emulate_media(reduced_motion=motion)
            page.goto("about:blank")
            page.set_content(page_of(Writing.front_page("en")))
            page.wait_for_selector("figcaption")
            page.wait_for_timeout(1000)
            assert page.locator(".question").count() == 0
            assert (get(page, "written") != "") == moves


def test_writing_stops(browser):
    """Check that writing stops by the button, when the text is changed, and when the figure is removed."""
    with figure_page(browser, "writing") as page:
        load(page)
        assert page.evaluate("document.activeElement.textContent") == "Write"
        for stop in (
            lambda: button(page, "Stop").press("Enter"),
            lambda: move(page, beginning="The sea"),
            lambda: page.evaluate("remove()"),
        ):
            button(page, "Write").press("Enter")
            page.wait_for_function("model.get('written').length > 3")
            stop()
            written = get(page, "written")
            page.wait_for_timeout(350)
            assert get(page, "written") == written


def test_unknown_characters_are_named(browser):
    """Check that invalid text stays in its box and not in the model; an unfinished composition is not reported."""
    with figure_page(browser, "writing") as page:
        load(page)
        box = page.get_by_label("Beginning")
        said = page.locator(".report[id]")
        button(page, "One character").press("Enter")
        for text, message in (
            ("The ξ and the é", "never read these characters: ξ é."),
            ("e\N{COMBINING CIRCUMFLEX ACCENT}x", "never read these characters: ê."),  # one character, as in Python
            ("", "There must be a character"),
        ):
            box.fill(text)
            assert message in said.text_content() and box.get_attribute("aria-invalid") == "true"
            assert get(page, "beginning") == "“What’s that?” said "
            move(page, temperature=len(text) / 10)  # does not replace the typed text
            assert box.input_value() == text and message in said.text_content() and get(page, "written") == "M"
        box.fill("The sea\nwas")
        assert said.text_content() == "" and box.get_attribute("aria-invalid") is None
        assert (get(page, "beginning"), get(page, "written")) == ("The sea\nwas", "")
        move(page, temperature=1)
        assert_equals_python(page, Writing(beginning="The sea\nwas"))
        compose(page, "ㅎ")
        assert said.text_content() == "" and get(page, "beginning") == "The sea\nwas"
        page.locator("textarea").dispatch_event("compositionend")
        assert "ㅎ" in said.text_content()
        move(page, beginning="Peg")  # the box follows Python
        assert (box.input_value(), said.text_content()) == ("Peg", "")


def test_changes_within_the_text(browser):
    with figure_page(browser, "writing", beginning="Peg came in. Then she said “") as page:
        load(page)
        for beginning in ("Peg came in, then she said “", "Peg came in, then she said ", "Meg", "Meg came in."):
            move(page, beginning=beginning, written="Wa")
            assert_equals_python(page, Writing(beginning=beginning, written="Wa"))


def test_sentence_about_the_unit(browser):
    with figure_page(browser, "writing", written="Peg. “Wait", unit=148) as page:
        load(page)
        colour_the_text(page)
        page.get_by_label("unit", exact=True).press("ArrowRight")
        move(page)
        values = Writing(written="Peg. “Wait").values()
        said = page.locator(".report").last.text_content()
        now, low, high = (f"{value:.2f}".replace("-", "−") for value in (values[-1], values.min(), values.max()))
        assert f"now at {now}." in said and f"lowest in this text is {low}," in said and f"highest {high}," in said


def test_write_refuses_invalid_lengths():
    figure = Writing("en")
    for length in (-1, 2001):
        with pytest.raises(ValueError, match=f"length must be from 0 to 2000, the room that is left, not {length}"):
            figure.write(length)
    assert Writing("xx").text == Writing("en").text


def test_write_continues_the_text():
    whole, parts = Writing(seed=3), Writing(seed=3)
    whole.write(40)
    parts.write(15)
    assert parts.write(25) == whole.text == whole.beginning + whole.written
    assert Writing(seed=4).write(40) != whole.text
    likeliest = Writing(temperature=0)
    assert likeliest.write(1) == likeliest.beginning + "A"
    whole.written = "a\r\nb"
    assert whole.written == "a\nb"
