"""Test the figure Steps: an RNN of two units reads two words, and one step is computed in numbers."""

import re

import pytest
import torch

from companion.figures import Steps
from companion.figures.figure import words
from tests.figures.figure_page import figure_page, get, in_states, move, sentences, serve_modules

SAID = "() => [...document.querySelectorAll('svg [data-said]')].map(part => part.dataset.said)"


def random_figure(seed):
    """Return settings with random words, weights and factor."""
    generator = torch.Generator().manual_seed(seed)
    first, second = ("".join("abn"[letter] for letter in torch.randint(3, (6,), generator=generator)) for _ in range(2))
    W_ih, W_hh = (
        (4 * torch.rand(shape, generator=generator, dtype=torch.float64) - 2).tolist() for shape in ((2, 3), (2, 2))
    )
    factor = 2 * torch.rand(1, generator=generator).item()
    return {"first": first, "second": second, "factor": factor, "W_ih": W_ih, "W_hh": W_hh}


def states_of(figure):
    """Return the states of both words by `companion.RNN`, (6, 2, 2), and the six distances between the words."""
    with torch.no_grad():
        states, _ = figure.rnn()(figure.inputs())
    return states, (states[:, 0] - states[:, 1]).norm(dim=1)


def shown(value):
    """Return a number with four decimals as the figure shows it."""
    text = f"{value:.4f}"
    return text.removeprefix("-") if float(text) == 0 else text.replace("-", "−")


def test_every_step_equals_the_companion(browser):
    figures = [Steps(**random_figure(seed)) for seed in range(50)]
    cases = [
        [word, {"weight_ih": figure.W_ih, "weight_hh": figure.rnn().weight_hh_l0.tolist()}]
        for figure in figures
        for word in (figure.first, figure.second)
    ]
    with serve_modules(browser, "steps_words") as ask:
        read = ask("([word, w]) => s.readWord(word, w)", cases)
        pairs = [[read[k][5]["h"], read[k + 1][5]["h"]] for k in range(0, len(read), 2)]
        gaps = ask("([h, g]) => s.distance(h, g)", pairs)
    for k, figure in enumerate(figures):
        states, distances = states_of(figure)
        network = figure.rnn()
        assert gaps[k] == pytest.approx(distances[5].item(), abs=1e-6)
        for n in (0, 1):
            before = torch.zeros(2, dtype=torch.float64)
            for t, step in enumerate(read[2 * k + n]):
                x, h = figure.inputs()[t, n], states[t, n]
                products = network.weight_ih_l0 @ x, network.weight_hh_l0 @ before
                expected = {"x": x, "before": before, "input": products[0], "recurrent": products[1]}
                expected |= {"a": sum(products), "h": h}
                assert step.keys() == expected.keys()
                for name, values in expected.items():
                    assert step[name] == pytest.approx(values.tolist(), abs=1e-6), name
                before = h


def test_products_and_their_sum_have_their_values(browser):
    figure = Steps(t=4, word=2)
    states, network = states_of(figure)[0], figure.rnn()
    products = network.weight_ih_l0 @ figure.inputs()[3, 1], network.weight_hh_l0 @ states[2, 1]
    with figure_page(browser, "steps", t=4, word=2) as page:
        said = page.evaluate(SAID)
        for name, values in zip(("W_{ih} x_4", "W_{hh} h_3", "sum"), (*products, sum(products)), strict=True):
            assert [f"unit {k + 1}: {name} = {shown(values[k].item())}" for k in range(2)] == [
                text for text in said if f": {name} = " in text
            ]


def test_values_on_the_page_are_the_companions(browser):
    """Check the values that a pointer gets, at each step, and the description of the step in numbers."""
    values = random_figure(3)
    states, distances = states_of(Steps(**values))
    with figure_page(browser, "steps", **values) as page:
        settings = [{"t": t, "word": word} for t in range(1, 7) for word in (1, 2)]
        look = "() => [document.querySelector('svg.drawing').getAttribute('aria-label'), (" + SAID + ")()]"
        for setting, (description, said) in zip(settings, in_states(page, settings, look), strict=True):
            t, n = setting["t"], setting["word"] - 1
            for unit in (1, 2):
                for step in range(1, 7):
                    found = [text for text in said if text.startswith(f"unit {unit}: h_{step} = ")]
                    expected = [f"unit {unit}: h_{step} = {shown(h)}" for h in states[step - 1, :, unit - 1]]
                    assert found == (expected if step <= t else [])
                assert f"unit {unit}: h_t = {shown(states[t - 1, n, unit - 1])}" in said
            assert [text for text in said if text.startswith("distance")] == [
                f"distance = {shown(gap)}" for gap in distances[:t]
            ]
            state = ", ".join(f"{h:.2f}".replace("-", "−") for h in states[t - 1, n])
            assert description.endswith(f"h at {t}: {state}."), description


def test_the_right_answer_is_right(browser):
    """Check with the figure's first settings whether the distance stays, shrinks or vanishes."""
    figure, table = Steps(), words("en", "steps")
    assert figure.first[0] != figure.second[0] and figure.first[1:] == figure.second[1:]
    assert f"both read {', '.join(figure.first[1:])}." in table["question"]
    _, distances = states_of(figure)
    part = (distances[5] / distances[0]).item()
    answer = "they are equal" if part == 0 else "a little" if part < 0.25 else "as far as" if part > 0.9 else None
    assert answer and answer in table["answers"][table["right"]]
    assert all(later < earlier for earlier, later in zip(distances, distances[1:], strict=False))  # "it shrinks"
    with figure_page(browser, "steps") as page:
        assert get(page, "t") == 1  # the answer cannot be seen yet
        assert page.locator("svg [data-said^=distance]").count() == 1


def test_sentences_of_the_memory(browser):
    """Check what the sentence says of two words that differ in one place, with and without a memory."""
    with figure_page(browser, "steps") as page:
        for factor in (0.0, 0.2, 0.5, 1.0, 1.8, 2.0):
            _, distances = states_of(Steps(factor=factor))
            for t in range(1, 7):
                said, gap = sentences(page, factor=factor, t=t), distances[t - 1].item()
                letter = "banana"[t - 1]
                begin = (
                    f"Step {t}: word 1 reads b, word 2 reads n." if t == 1 else f"Step {t}: both words read {letter}"
                )
                assert begin in said
                assert ("and their states are equal" in said) == (gap == 0)
                assert ("less than 0.01" in said) == (0 < gap < 0.005)
                assert (f"The distance of their states is {gap:.2f}." in said) == (gap >= 0.005)
                compared = t > 1 and gap >= 0.005
                assert ("It has grown since step 1." in said) == (compared and gap > distances[0].item())
                assert ("It has shrunk since step 1." in said) == (compared and gap <= distances[0].item())
        assert "the words are equal up to here, and so are their states" in sentences(page, second="banann", t=5)
        assert "word 1 reads a, word 2 reads n" in sentences(page, t=6)


def test_a_letter_changes_when_it_is_pressed(browser):
    with figure_page(browser, "steps") as page:
        button = page.get_by_role("button", name="word 2, letter 1: n")
        button.press("Enter")
        assert get(page, "second") == "aanana"
        page.get_by_role("button", name="word 2, letter 1: a").press("Space")
        assert get(page, "second") == "banana"
        drawing = page.locator("svg.drawing")
        drawing.get_by_text("a", exact=True).first.click()  # letter 2 of word 1
        assert page.evaluate("[model.get('first'), model.get('t')]") == ["bbnana", 1]
        page.get_by_role("button", name="word 1, letter 2: b").wait_for()


def test_a_pressed_state_is_computed_in_the_green_box(browser):
    with figure_page(browser, "steps") as page:
        box = page.locator("svg.drawing").bounding_box()
        unit = box["width"] / 400
        page.mouse.click(box["x"] + 200 * unit, box["y"] + 148 * unit)  # step 3 of word 2, not shown yet
        assert page.evaluate("[model.get('t'), model.get('word')]") == [3, 2]
        page.locator("svg.drawing").get_by_text("word 2, step 3").wait_for()
        assert page.get_by_role("combobox", name="Green box").input_value() == "1"
        page.get_by_role("combobox", name="Green box").select_option("word 1")
        page.locator("svg.drawing").get_by_text("word 1, step 3").wait_for()
        pointed = page.locator(".pointed")
        page.mouse.move(box["x"] + 200 * unit, box["y"] + 60 * unit)
        state = states_of(Steps())[0][2, 0, 0]
        assert re.sub(r"\s", " ", pointed.text_content()) == f"unit 1: h3 = {shown(state)}"
        place, (x, y) = pointed.bounding_box(), (box["x"] + 200 * unit, box["y"] + 60 * unit)
        assert place["x"] <= x <= place["x"] + place["width"] and y - 60 < place["y"] < y


def test_play_and_the_keys_of_the_sliders(browser):
    with figure_page(browser, "steps", motion="reduce") as page:
        page.get_by_role("slider", name="step t").press("ArrowRight")
        assert get(page, "t") == 2
        page.get_by_role("button", name="Play").press("Enter")
        assert get(page, "t") == 6
        page.get_by_role("slider", name="memory").press("Home")
        assert get(page, "factor") == 0
        assert "their states are equal" in sentences(page)
        move(page, factor=1.5)
        assert page.get_by_role("slider", name="memory").get_attribute("aria-valuetext") == "× 1.5"
