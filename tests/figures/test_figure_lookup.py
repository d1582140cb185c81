"""A table that is read by index."""

import pytest
import torch
from figure_page import figure_page, move

import companion
from companion.figures import Lookup
from companion.figures.figure import HERE, words

float64 = {"dtype": torch.float64}
LANGUAGES = sorted(file.name.removesuffix(".toml") for file in (HERE / "words").iterdir())


def get(page, name):
    return page.evaluate("name => model.get(name)", name)


def said(page):
    """All lines that the figure says now."""
    move(page)
    return [line for line in page.locator(".report").all_text_contents() if line]


def arrows(page):
    """What is written at the arrows that are drawn."""
    shown = "all => all.filter(one => getComputedStyle(one).display !== 'none').map(one => one.textContent)"
    return page.locator("svg.drawing > g:has(> g > polygon):has(> text)").evaluate_all(shown)


def after_a_step(figure):
    """The table after a step of torch's SGD on the figure's own layer."""
    layer = figure.layer()
    optimizer = torch.optim.SGD(layer.parameters(), lr=0.5)
    layer(torch.tensor(figure.indices)).sum().backward()
    optimizer.step()
    return layer.weight.detach()


@pytest.mark.parametrize("values", [{}, {"text": "x world"}, {"text": "wwwwwwww"}, {"text": "", "padding_idx": None}])
def test_the_page_steps_as_torch_does(browser, values):
    """The first step, and a second one on another text, with the padding row learning and not."""
    figure = Lookup(**values)
    with figure_page(browser, "lookup", **values) as page:
        for text, padding_idx in ((figure.text, figure.padding_idx), ("o·eo", None), ("hell", 0)):
            figure.text, figure.padding_idx = text, padding_idx
            move(page, text=text, padding_idx=padding_idx)
            before, after = torch.tensor(figure.weight, **float64), after_a_step(figure)
            page.get_by_role("button", name="One step").click()
            torch.testing.assert_close(torch.tensor(get(page, "weight"), **float64), after)
            moved = torch.tensor(get(page, "last_step"), **float64)
            torch.testing.assert_close(moved[:, None].expand(-1, 3), after - before)
            figure.weight = after.tolist()


def test_only_the_row_of_the_index_comes_out(browser):
    with figure_page(browser, "lookup", text="hello", place=0) as page:
        assert any(line.startswith("Place 0 holds “h”, which is index 3.") for line in said(page))
        assert any(line.endswith("row 3: 3.1, 3.2, 3.3.") for line in said(page))
        full = page.locator("svg.drawing text:not([opacity])").all_text_contents()
        assert [one for one in full if "." in one] == 2 * ["3.1", "3.2", "3.3"]  # in W and as e
        move(page, weight=[[0, -i, 0.25] for i in range(8)], place=7)
        assert any(line.endswith("row 0: 0.0, 0.0, 0.3.") for line in said(page))


def test_what_it_says_of_the_gradient_is_layer_s(browser):
    for values in ({"text": "doo·r"}, {"text": "doo·r", "padding_idx": None}):
        figure = Lookup(**values)
        layer = figure.layer()
        loss = layer(torch.tensor(figure.indices)).sum()
        loss.backward()
        counts = layer.weight.grad[:, 0].int().tolist()
        rows = ", ".join(f"{one}\u00a0{count}" for one, count in zip(figure.vocabulary, counts, strict=True))
        with figure_page(browser, "lookup", **values) as page:
            assert any(line.endswith(f"the gradient counts: {rows}.") for line in said(page))
            assert any(f"now {loss.item():.1f}." in line for line in said(page))


def test_the_padding_row(browser):
    """It is dropped while it is padding_idx; once it has learned, only a new layer has zeros there."""
    kept = "Row 0 was read at 3 of 8 places, but it is padding_idx: what is sent back to it is dropped."
    with figure_page(browser, "lookup", text="hello") as page:
        toggle, step = page.get_by_role("checkbox"), page.get_by_role("button", name="One step")
        assert kept in said(page)
        back = page.locator("svg.drawing > g[color]").last  # the arrow from the gradient of e to that of its row
        assert back.evaluate("one => getComputedStyle(one).display") != "none"
        move(page, place=7)
        assert back.evaluate("one => getComputedStyle(one).display") == "none"
        move(page, text="hellowor")
        assert not any(line.startswith("Row 0") for line in said(page))
        move(page, text="hello")
        step.click()
        assert get(page, "weight")[0] == [0, 0, 0]
        toggle.uncheck()
        assert get(page, "padding_idx") is None
        assert not any(line.startswith("Row 0") for line in said(page))
        step.click()
        assert get(page, "weight")[0] == [-1.5, -1.5, -1.5]
        toggle.check()
        assert get(page, "padding_idx") == 0
        assert any(line.startswith("Row 0 is not zero, and no step will change that") for line in said(page))
        step.click()
        assert get(page, "weight")[0] == [-1.5, -1.5, -1.5]
        page.get_by_role("button", name="Make the layer anew").click()
        assert get(page, "weight") == Lookup().weight
        assert kept in said(page)
        toggle.uncheck()
        page.get_by_role("button", name="Make the layer anew").click()
        assert get(page, "weight") == Lookup(padding_idx=None).weight


def test_a_step_is_shown_until_something_else_is_read(browser):
    with figure_page(browser, "lookup", text="hello") as page:
        assert not any(line.startswith("The last step") for line in said(page)) and arrows(page) == []
        page.get_by_role("button", name="One step").click()
        moved = "The last step moved e\u00a0−0.5, h\u00a0−0.5, l\u00a0−1.0, o\u00a0−0.5. No other row moved."
        assert moved in said(page)
        assert arrows(page) == ["−0.5", "−0.5", "−1.0", "−0.5"]
        move(page, place=6)
        assert moved in said(page)
        move(page, text="hell")
        assert not any(line.startswith("The last step") for line in said(page))
        assert arrows(page) == []


def test_the_table_does_not_leave_its_range(browser):
    """No press brings a number that Python would refuse, and the page says why it stops."""
    with figure_page(browser, "lookup", text="oooooooo") as page:
        page.evaluate("for (let k = 0; k < 100; k++) document.querySelector('button').click()")
        Lookup(weight=get(page, "weight"), last_step=get(page, "last_step"))
        assert get(page, "weight")[5] == pytest.approx([-98.9, -98.8, -98.7])
        assert any(line.startswith("The table has no room for another step.") for line in said(page))
        assert page.get_by_role("button", name="One step").is_disabled()
        move(page, text="")
        assert page.get_by_role("button", name="One step").is_enabled()


def test_index_and_text_are_one(browser):
    """The index is the character of the chosen place, and choosing an index writes its character there."""
    with figure_page(browser, "lookup", text="hello", place=2) as page:
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
        assert "Not in the vocabulary, and skipped: X ?" in said(page)
        move(page, place=1)
        assert place.input_value() == "1" and index.input_value() == "4"
        text.fill("")
        assert index.input_value() == "0"
        text.fill("helloworld")
        assert get(page, "text") == "hellowor"


def test_pointer_does_what_the_sliders_do(browser):
    with figure_page(browser, "lookup", text="hello", place=2) as page:
        box = page.locator("svg.drawing").bounding_box()
        unit = box["width"] / 360
        page.mouse.click(box["x"] + 59 * unit, box["y"] + 50 * unit)  # the first place
        assert get(page, "place") == 0
        page.mouse.click(box["x"] + 290 * unit, box["y"] + 302 * unit)  # the last row, at the gradient
        assert get(page, "text") == "wello"


def test_keyboard_alone(browser):
    with figure_page(browser, "lookup", text="hello", place=0) as page:
        page.keyboard.press("Tab")
        page.keyboard.press("End")
        page.keyboard.type("wo")
        page.keyboard.press("Tab")
        page.keyboard.press("ArrowRight")
        page.keyboard.press("Tab")
        page.keyboard.press("Home")
        page.keyboard.press("ArrowRight")
        assert [get(page, name) for name in ("place", "text")] == [1, "hdllowo"]
        page.keyboard.press("Tab")
        page.keyboard.press("Space")
        assert get(page, "padding_idx") is None
        page.keyboard.press("Tab")
        page.keyboard.press("Enter")
        assert get(page, "last_step") == [-0.5, -0.5, 0, -0.5, -1, -1, 0, -0.5]
        page.keyboard.press("Tab")
        page.keyboard.press("Space")
        assert get(page, "weight") == Lookup(padding_idx=None).weight


@pytest.mark.parametrize("language", LANGUAGES)
def test_vocabulary_and_text_serve_the_figure(language):
    """Its letters are a vocabulary as the chapter makes one, and its text shows each kind of row."""
    own = words(language, "lookup")
    assert list(own["letters"]) == sorted(set(own["letters"])) and len(own["letters"]) <= 8
    assert Lookup.text.default_value == "" and Lookup(language=language).text == own["text"]
    counts = [own["text"].count(letter) for letter in own["letters"]]
    assert set(own["text"]) <= set(own["letters"]) and {0, 1, 2} <= set(counts)
    assert len(own["text"]) <= 6  # and padding is read


def test_layer_is_what_the_figure_shows():
    figure = Lookup(text="low?", padding_idx=None)
    layer = figure.layer()
    assert isinstance(layer, companion.Embedding) and layer.padding_idx is None and layer.weight.dtype == torch.float64
    assert figure.indices == [figure.vocabulary.index(one) for one in "low·····"]
    assert layer(torch.tensor(figure.indices)).tolist() == [figure.weight[i] for i in figure.indices]
    assert Lookup().layer().padding_idx == 0 and Lookup().layer().weight.requires_grad
