"""The writer that goes on from a beginning: the page reads, draws and colours what Python does."""

import json
import re

import pytest

from companion.figures import Attention, Past, Writing
from companion.figures.figure import words
from companion.figures.writing import BEGINNINGS, UNITS
from companion.learning.text import load_text, shipped_texts
from companion.learning.windows import split
from companion.learning.writer import load_writer
from companion.page.show import coloured
from tests.figures.figure_page import compose, figure_page, get, load, move, weights
from tests.project.paths import ROOT
from tests.project.sampling import sample

each = pytest.mark.parametrize("language", shipped_texts())
# the other languages have the same script: their weights and letters are read in `make prove`
each_on_the_page = pytest.mark.parametrize(
    "language", sample(sorted(shipped_texts(), key="en".__ne__), len(shipped_texts()))
)
ROW = "svg.drawing > g:has(rect[width='360'])"  # of one character
DRAWN = "svg.drawing > text:nth-of-type(2)"  # what will be written next


def button(page, name):
    """A button by its English name, in the language of the page."""
    key = next(key for key, word in words("en", "writing").items() if word == name)
    return page.get_by_role("button", name=page.evaluate("key => model.get('words')[key]", key), exact=True)


def shown(page):
    """The characters of the rows, and how long their bars are, from 0 to 1."""
    names = page.locator(f"{ROW} > text:nth-of-type(1)").all_text_contents()
    bars = page.locator(f"{ROW} > rect:nth-of-type(3)")
    return names, [
        float(width) / 272 for width in bars.evaluate_all("all => all.map((bar) => bar.getAttribute('width'))")
    ]


def visible(character):
    return {" ": "␣", "\n": "⏎"}.get(character, character)


def held_to(page, figure):
    """Assert that the bars have Python's characters and probabilities, and one length in all."""
    names, lengths = shown(page)
    expected = figure.next_characters()
    assert names == [*(visible(character) for character, _ in expected), "…"]
    assert lengths[:8] == pytest.approx([p for _, p in expected], abs=1e-6)
    assert sum(lengths) == pytest.approx(1, abs=1e-5)


@each
def test_begins_as_the_chapter_does(language):
    """Its beginning is the chapter's but for the last letter, and its unit the one that the chapter finds."""
    chapter = json.loads((ROOT / f"book/{language}/language_model.ipynb").read_text(encoding="utf-8"))
    cells = {cell["id"]: cell for cell in chapter["cells"]}
    said = dict(re.findall(r'^(BEGINNING|LANGUAGE) = "(.*)"$', "".join(cells["text-loaded"]["source"]), re.MULTILINE))
    assert said == {"LANGUAGE": language, "BEGINNING": said["BEGINNING"]}
    assert BEGINNINGS[language] == said["BEGINNING"][:-1] == Writing(language).text
    json.dumps(Writing(language).get_state(), allow_nan=False)  # a page can read it
    printed = "".join(cells["units-found"]["outputs"][0]["text"])
    assert UNITS[language] == Writing(language).unit == int(re.search(r"(\d+)$", printed.splitlines()[1])[1])


@each_on_the_page
def test_the_page_is_as_sure_as_python(language, browser):
    """After sixty characters that the writer never saw, and more of its own, at several temperatures."""
    model, vocabulary = load_writer(language)
    _, held_out = split(vocabulary.encode(load_text(language)))
    figure = Writing(language, beginning=vocabulary.decode(held_out[:60]))
    with figure_page(browser, "writing", language) as page:
        load(page)
        for temperature in (1.0, 0.3, 2.0, 0.0):
            figure.temperature = temperature
            move(page, beginning=figure.beginning, temperature=temperature)
            held_to(page, figure)


@each_on_the_page
def test_the_page_writes_what_python_writes(language, browser):
    """200 characters with the same dice, in one go for a reader who wants no motion; then colours as in the chapter."""
    figure = Writing(language, temperature=0.7, seed=7)
    figure.write(200)
    with figure_page(browser, "writing", language, motion="reduce", temperature=0.7, seed=7) as page:
        load(page)
        button(page, "Write").press("Enter")
        assert get(page, "written") == figure.written
        move(page, unit=figure.unit)
        colours = page.locator(".written > * > span").evaluate_all("all => all.map((one) => one.style.background)")
        chapter = re.findall(r"rgba\((\d+),\d+,\d+,([\d.]+)\)", coloured([*figure.text], figure.values())._repr_html_())
        assert len(colours) == len(figure.text)
        for colour, (red, strength), value in zip(colours, chapter, figure.values(), strict=True):
            found = re.match(r"rgba\((\d+), \d+, \d+, ([\d.]+)\)", colour)
            assert float(found[2]) == pytest.approx(float(strength), abs=0.01)
            assert float(strength) == 0 or found[1] == red, value
        assert page.locator(".written").text_content() == figure.text


@each_on_the_page
def test_before_it_is_loaded_it_shows_the_same(language, browser):
    """At every temperature and throw of the dice: the picture does not move when the weights come."""
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
            assert shown(page)[1] == pytest.approx(lengths, abs=0.001)


def test_what_u_meets_is_written_next(browser):
    """The line stands on the marked bar; the sentence names it; the button writes it; the state goes along."""
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
            assert f"u = {u} draws {named}, with " in page.locator(".report").first.text_content()
            button(page, "One character").press("Enter")
            assert get(page, "written") == before + {"␣": " ", "⏎": "\n"}.get(drawn, drawn)
            move(page)


def test_a_reader_may_steer(browser):
    """By a button or a bar, back, and from the start. Temperature and dice leave what is written as it is."""
    with figure_page(browser, "writing") as page:
        page.locator(ROW).nth(1).click()
        assert get(page, "written") == ""  # nothing can be read yet
        load(page)
        group = page.get_by_role("group", name="Write instead")
        assert group.get_by_role("button").all_text_contents() == [*"APMGKStC"]
        group.get_by_role("button").nth(1).click()
        move(page)
        assert (get(page, "written"), shown(page)[0][0]) == ("P", "e")
        page.locator(ROW).nth(0).click(position={"x": 300, "y": 10})  # the row will do, the bar may be a hair
        move(page, temperature=0.4, seed=31)
        assert get(page, "written") == "Pe"
        held_to(page, Writing(written="Pe", temperature=0.4))
        button(page, "Back").press("Enter")
        assert get(page, "written") == "P"
        button(page, "Restart").press("Enter")
        assert (get(page, "written"), page.locator("textarea").input_value()) == ("", "“What’s that?” said ")
        page.locator(ROW).last.click()  # all others are no character
        assert get(page, "written") == ""


def test_writes_until_it_is_stopped(browser):
    """And stops too when somebody else changes the text, or it is taken from the page."""
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
            now = get(page, "written")
            page.wait_for_timeout(350)
            assert get(page, "written") == now


def test_a_beginning_that_cannot_be_read(browser):
    """Is named, kept in its box and not given to the model; half a syllable is not complained about."""
    with figure_page(browser, "writing") as page:
        load(page)
        box = page.get_by_label("Beginning")
        said = page.locator(".report[id]")
        button(page, "One character").press("Enter")
        for text, complaint in (
            ("The ξ and the é", "never read these characters: ξ é."),
            ("e\N{COMBINING CIRCUMFLEX ACCENT}x", "never read these characters: ê."),  # one character, as in Python
            ("", "There must be a character"),
        ):
            box.fill(text)
            assert complaint in said.text_content() and box.get_attribute("aria-invalid") == "true"
            assert get(page, "beginning") == "“What’s that?” said "
            move(page, temperature=len(text) / 10)  # is no reason to take away what was typed
            assert box.input_value() == text and complaint in said.text_content() and get(page, "written") == "M"
        box.fill("The sea\nwas")
        assert said.text_content() == "" and box.get_attribute("aria-invalid") is None
        assert (get(page, "beginning"), get(page, "written")) == ("The sea\nwas", "")
        move(page, temperature=1)
        held_to(page, Writing(beginning="The sea\nwas"))
        compose(page, "ㅎ")
        assert said.text_content() == "" and get(page, "beginning") == "The sea\nwas"
        page.locator("textarea").dispatch_event("compositionend")
        assert "ㅎ" in said.text_content()
        move(page, beginning="Peg")  # Python's word counts: the box follows
        assert (box.input_value(), said.text_content()) == ("Peg", "")


def test_the_writer_does_not_come(browser):
    """Each way in which it may not says so, and can be tried again."""
    with figure_page(browser, "writing") as page:
        asked = "(answer) => { model.answers = model.answers || model.send; model.send = eval(answer); }"
        notice = page.locator(".strip .report")
        page.clock.install()
        page.evaluate(asked, "() => {}")
        page.get_by_role("button", name="Load the writer (259 kB)").click()
        assert notice.text_content() == "Loading …"
        page.clock.run_for(60_000)
        assert notice.text_content().startswith("Nobody has answered")
        page.evaluate(asked, "() => { throw new Error('no kernel') }")
        page.get_by_role("button", name="Try again").click()
        assert notice.text_content().startswith("Nobody has answered")
        page.evaluate("() => { model.send = () => model.answers({ want: 'x' }) }")
        page.get_by_role("button", name="Try again").click()  # an answer to another question is none
        assert notice.text_content() == "Loading …"


@pytest.mark.parametrize("file", [b"", b"<html>not found</html>", weights("writers/en.safetensors")[:5000]])
def test_the_writer_comes_in_pieces(browser, file):
    files = [file]
    with figure_page(browser, "writing", want=lambda name: files[0]) as page:
        page.get_by_role("button", name="Load the writer").click()
        page.wait_for_function(
            "document.querySelector('.strip .report').textContent.startsWith('The writer did not come')"
        )
        files[0] = weights("writers/en.safetensors")
        page.get_by_role("button", name="Try again (259 kB)").click()
        button(page, "Write").wait_for()


def test_the_writer_comes_as_part_of_a_message(browser):
    """In a notebook the weights stand somewhere in a longer buffer."""
    with figure_page(browser, "writing") as page:
        page.evaluate("""() => (window.DataView = class extends DataView {
            constructor(bytes) {
                const longer = new Uint8Array(bytes.byteLength + 24);
                longer.set(new Uint8Array(bytes), 16);
                super(longer.buffer, 16, bytes.byteLength);
            }
        })""")
        load(page)
        held_to(page, Writing())


def test_a_change_in_the_middle_is_read_anew(browser):
    with figure_page(browser, "writing", beginning="Peg came in. Then she said “") as page:
        load(page)
        for beginning in ("Peg came in, then she said “", "Peg came in, then she said ", "Meg", "Meg came in."):
            move(page, beginning=beginning, written="Wa")
            held_to(page, Writing(beginning=beginning, written="Wa"))


def test_says_where_the_unit_is_highest(browser):
    with figure_page(browser, "writing", written="Peg. “Wait", unit=148) as page:
        load(page)
        page.get_by_label("unit", exact=True).press("ArrowRight")
        move(page)
        values = Writing(written="Peg. “Wait").values()
        said = page.locator(".report").last.text_content()
        now, low, high = (f"{value:.2f}".replace("-", "−") for value in (values[-1], values.min(), values.max()))
        assert f"now at {now}." in said and f"lowest in this text is {low}," in said and f"highest {high}," in said


@pytest.mark.parametrize(("kind", "folder"), [(Attention, "readers"), (Past, "writers_small"), (Writing, "writers")])
def test_weights_are_handed_out_and_nothing_else(kind, folder):
    """In a notebook Python answers the page."""
    figure, sent, name = kind("ja"), [], f"{folder}/ja.safetensors"
    figure.send = lambda content, buffers=(): sent.append((content, list(buffers)))
    ask = figure._handle_custom_msg
    ask({"want": name}, [])
    assert sent.pop() == ({"have": name}, [weights(name)])
    for name in (f"{folder}/xx.safetensors", f"{folder}/../writer.py", "../pyproject.toml", "/etc/hosts", "", "ja"):
        ask({"want": name}, [])
        content, buffers = sent.pop()
        assert content["lacks"] == name and content["why"] and buffers == []
    for content in ({}, {"want": None}, {"want": [f"{folder}/ja.safetensors"]}, f"{folder}/ja.safetensors", None):
        ask(content, [])
    assert sent == []


def test_lengths_for_which_there_is_no_room_are_refused():
    figure = Writing("en")
    for length in (-1, 2001):
        with pytest.raises(ValueError, match=f"length must be from 0 to 2000, the room that is left, not {length}"):
            figure.write(length)
    assert Writing("xx").text == Writing("en").text


def test_python_writes_on_from_what_is_there():
    one, two = Writing(seed=3), Writing(seed=3)
    one.write(40)
    two.write(15)
    assert two.write(25) == one.text == one.beginning + one.written
    assert Writing(seed=4).write(40) != one.text
    likeliest = Writing(temperature=0)
    assert likeliest.write(1) == likeliest.beginning + "A"
    one.written = "a\r\nb"
    assert one.written == "a\nb"
