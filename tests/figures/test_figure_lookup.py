"""Test the figure Lookup: an embedding table that is read by index."""

from contextlib import contextmanager

import pytest
import torch

import companion
from companion.figures import Lookup
from companion.figures.figure import FOLDER, words
from tests.figures.figure_page import figure_page, get, move, sentences, value_at

float64 = {"dtype": torch.float64}
LANGUAGES = sorted(file.name.removesuffix(".toml") for file in (FOLDER / "words").iterdir())


@contextmanager
def lookup_page(browser, **values):
    """Yield the page of the figure with the training step unfolded."""
    with figure_page(browser, "lookup", **values) as page:
        page.locator("summary").press("Enter")
        page.get_by_text("gradient ∂L/∂W").wait_for()
        yield page


def arrows(page):
    """Return the labels of the visible arrows."""
    shown = "all => all.filter(arrow => getComputedStyle(arrow).display !== 'none').map(arrow => arrow.textContent)"
    return page.locator("svg.drawing g:has(> g > polygon):has(> text)").evaluate_all(shown)


@pytest.mark.parametrize("values", [{}, {"text": "x world"}, {"text": "wwwwwwww"}, {"text": "", "padding_idx": None}])
def test_steps_equal_torchs(browser, values):
    """Compare gradient and step on three texts, with and without a learning padding row."""
    figure = Lookup(**values)
    with lookup_page(browser, **values) as page:
        for text, padding_idx in ((figure.text, figure.padding_idx), ("o·eo", None), ("hell", 0)):
            figure.text, figure.padding_idx = text, padding_idx
            layer = figure.layer()
            loss = layer(torch.tensor(figure.indices)).sum()
            loss.backward()
            counts = zip(figure.vocabulary, layer.weight.grad[:, 0].int().tolist(), strict=True)
            text_shown = sentences(page, text=text, padding_idx=padding_idx)
            counted = ", ".join(f"{letter} {count}" for letter, count in counts if count) or "0"
            assert f"how often each row was read: {counted}." in text_shown
            before = layer.weight.detach().clone()
            torch.optim.SGD(layer.parameters(), lr=0.7).step()
            after = layer.weight.detach()
            page.get_by_role("button", name="One step").press("Enter")
            torch.testing.assert_close(torch.tensor(get(page, "weight"), **float64), after)
            moved = torch.tensor(get(page, "last_step"), **float64)
            torch.testing.assert_close(moved[:, None].expand(-1, 3), after - before)
            figure.weight = after.tolist()


def test_padding_row_that_has_learned_is_zero_only_in_a_new_layer(browser):
    with lookup_page(browser, text="hello") as page:
        page.get_by_role("checkbox").uncheck()
        page.get_by_role("button", name="One step").click()
        page.get_by_role("checkbox").check()
        assert get(page, "padding_idx") == 0 and get(page, "weight")[0] == pytest.approx([-2.1] * 3)
        for padding_idx in (0, None):
            page.get_by_role("checkbox").set_checked(padding_idx == 0)
            page.get_by_role("button", name="Make the layer anew").press("Space")
            assert get(page, "weight") == Lookup(padding_idx=padding_idx).weight


def test_a_step_is_shown_until_something_else_is_read(browser):
    with lookup_page(browser, text="hello") as page:
        assert "The last step" not in sentences(page) and arrows(page) == []
        page.get_by_role("button", name="One step").click()
        moved = "The last step moved e −0.7, h −0.7, l −1.4, o −0.7. No other row moved."
        assert moved in sentences(page) and arrows(page) == ["−0.7", "−0.7", "−1.4", "−0.7"]
        assert moved in sentences(page, place=6)
        assert "The last step" not in sentences(page, text="hell") and arrows(page) == []


@pytest.mark.parametrize("padding_idx", [0, None])
def test_no_row_becomes_another_rows_numbers(browser, padding_idx):
    """Check twenty steps: a reader would think that a row was copied."""
    with lookup_page(browser, text="hello", padding_idx=padding_idx) as page:
        start = Lookup(padding_idx=padding_idx).weight
        for _ in range(20):
            page.get_by_role("button", name="One step").click()
            now = get(page, "weight")
            for i, row in enumerate(now):
                near = [j for table in (start, now) for j, other in enumerate(table) if row == pytest.approx(other)]
                assert set(near) <= {i}


def test_table_stays_in_range(browser):
    """Check that no number becomes one that Python refuses, and that the page says why it stops."""
    with lookup_page(browser, text="oooooooo") as page:
        step = page.get_by_role("button", name="One step")
        step.evaluate("button => { for (let k = 0; k < 100; k++) button.click() }")
        Lookup(weight=get(page, "weight"), last_step=get(page, "last_step"))
        assert get(page, "weight")[5] == pytest.approx([5.1 - 18 * 5.6, 5.2 - 18 * 5.6, 5.3 - 18 * 5.6])
        assert "The table has no room for another step." in sentences(page)
        assert page.get_by_role("button", name="One step").is_disabled()
        move(page, text="")
        assert page.get_by_role("button", name="One step").is_enabled()


def test_index_and_text_follow_each_other(browser):
    """Check that the index is that of the character at the place, and that a new index writes its character there."""
    with lookup_page(browser, text="hello", place=2) as page:
        text, (place, index) = page.get_by_role("textbox"), page.get_by_role("slider").all()
        assert index.input_value() == "4" and index.get_attribute("aria-valuetext") == "4 l"
        index.fill("7")
        assert get(page, "text") == text.input_value() == "hewlo"
        place.fill("6")
        assert get(page, "place") == 6 and index.input_value() == "0"
        index.fill("1")
        assert get(page, "text") == text.input_value() == "hewlo·d"
        index.fill("0")
        assert get(page, "text") == text.input_value() == "hewlo"
        text.fill("oX?lX")
        assert "Not in the vocabulary, and skipped: X ?" in sentences(page)
        move(page, place=1)
        assert place.input_value() == "1" and index.input_value() == "4"
        text.fill("")
        assert index.input_value() == "0"
        text.fill("helloworld")
        assert get(page, "text") == "hellowor"


def test_presses_choose_place_and_index(browser):
    with lookup_page(browser, text="hello", place=2) as page:

        def press(x, y):
            value_at(page, x, y)
            page.mouse.down()
            page.mouse.up()

        press(71 + 38, 40)
        assert get(page, "place") == 1
        press(120, 98 + 7.5 * 24)  # the last row
        assert get(page, "text") == "hwllo"
        press(300, 98 + 0.5 * 24)  # a row beside its numbers
        assert get(page, "text") == "h·llo"


def test_pointer_shows_the_values_of_the_layer(browser):
    figure = Lookup(text="hello", place=2)
    layer = figure.layer()
    loss = layer(torch.tensor(figure.indices)).sum()
    loss.backward()
    rows = range(8)
    with lookup_page(browser, text="hello", place=2) as page:
        for k, i in enumerate(figure.indices):
            assert value_at(page, 71 + 38 * k, 30) == f"i{k} = {i}"
        assert [value_at(page, 60, 110 + 24 * i) for i in rows] == [f"o{i} = {i == 4:.4f}" for i in rows]
        for n in range(3):
            for i in rows:
                assert value_at(page, 118 + 36 * n, 104 + 24 * i) == f"W{i},{n} = {layer.weight[i, n]:.4f}"
                gradient = layer.weight.grad[i, n]
                assert value_at(page, 272 + 32 * n, 104 + 24 * i) == f"∂L/∂W{i},{n} = {gradient:.4f}"
        page.locator("summary").press("Enter")
        page.get_by_text("gradient ∂L/∂W").wait_for(state="hidden")
        for n in range(3):
            assert value_at(page, 260 + 36 * n, 98 + 4.5 * 24) == f"e{n} = {layer.weight[4, n]:.4f}"


def test_question():
    """Check by the layer that the two places of the question read the same row, which is none of the other answers."""
    table, figure = words("en", "lookup"), Lookup()
    e = figure.layer()(torch.tensor(figure.indices))
    answers = [e[2], figure.layer().weight[figure.indices[2] + 1], e[2] + e[3]]
    assert figure.text[2:4] == "ll" and "an l at position 2 and another l at position 3" in table["question"]
    assert [torch.equal(e[3], answer) for answer in answers] == [k == table["right"] for k in range(3)]
    assert figure.place == 0 and len(table["because"]) == 3
    said = f"Move the position from 2 to 3: the index stays {figure.indices[3]}"
    assert all(said in text for text in table["because"])


def test_training_step_fits_on_the_screen(browser):
    for width, selector, most in ((768, ".together", 720), (360, ".seen", 400)):
        with lookup_page(browser, width=width, text="x?hello", place=2) as page:
            page.get_by_role("button", name="One step").click()
            assert page.locator(selector).evaluate("part => part.offsetHeight") <= most


@pytest.mark.parametrize("language", LANGUAGES)
def test_vocabulary_and_text_of_each_language(language):
    """Check that the letters are a sorted vocabulary, and that the text has letters with 0, 1 and 2 occurrences."""
    table = words(language, "lookup")
    assert list(table["letters"]) == sorted(set(table["letters"])) and len(table["letters"]) <= 8
    assert Lookup.text.default_value == "" and Lookup(language=language).text == table["text"]
    counts = [table["text"].count(letter) for letter in table["letters"]]
    assert set(table["text"]) <= set(table["letters"]) and {0, 1, 2} <= set(counts)
    assert len(table["text"]) <= 6  # so that padding is read


def test_layer_has_table_and_padding_idx():
    figure = Lookup(text="low?", padding_idx=None)
    assert isinstance(figure.layer(), companion.Embedding) and figure.layer().padding_idx is None
    assert figure.indices == [figure.vocabulary.index(letter) for letter in "low·····"]
    assert figure.layer().weight.tolist() == figure.weight and Lookup().layer().padding_idx == 0
