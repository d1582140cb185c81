"""Test the figure Gates: an LSTM cell whose gates the reader moves."""

import pytest
import torch

from companion.figures import Gates
from tests.figures.figure_page import figure_page, get, move


def test_a_shut_forget_gate_wipes_the_memory(browser):
    """Check that the lines with and without the first input differ until the gate is shut, and hardly afterwards.

    A small difference remains, through h.
    """
    with figure_page(browser, "gates", bias=[-3, 6, 0, 0]) as page:
        lines = page.locator("svg.drawing").nth(1).locator("polyline")

        def distances():
            first, second = (
                [point.split(",")[1] for point in lines.nth(k).get_attribute("points").split()] for k in (0, 1)
            )
            return [abs(float(a) - float(b)) for a, b in zip(first, second, strict=True)]

        assert min(distances()) > 3
        page.get_by_label("forget gate shut at step").fill("10")
        move(page)
        assert min(distances()[:9]) > 3 and max(distances()[9:]) < 0.2


def test_cell_shows_a_step_until_an_input_is_moved(browser):
    with figure_page(browser, "gates", bias=[0, 6, 0, 0], t=4) as page:
        inputs = Gates().inputs
        layer = torch.nn.LSTM(1, 1, dtype=torch.float64)
        layer.load_state_dict(
            {f"{name}_l0": weight for name, weight in Gates(bias=[0, 6, 0, 0]).cell().state_dict().items()}
        )
        output, (_, c) = layer(torch.tensor(inputs[:3], dtype=torch.float64)[:, None])
        values = [get(page, name) for name in ("x", "h", "c")]
        assert values == pytest.approx([inputs[3], output[-1].item(), c.item()], abs=1e-9)
        page.get_by_role("slider", name="cell state").press("ArrowRight")
        assert get(page, "t") == 0
        assert get(page, "x") == inputs[3]


def test_presets_set_the_biases_by_keyboard(browser):
    presets = {"new": [0, 0, 0, 0], "remember": [-3, 6, 0, 0], "forget": [0, -6, 0, 0], "ignore": [-10, 2, 0, 0]}
    with figure_page(browser, "gates", bias=[1, 1, 1, 1]) as page:
        for name, bias in presets.items():
            page.get_by_role("button", name=name).press("Enter")
            assert get(page, "bias") == bias
            page.locator(f"button[aria-pressed=true]:text-is('{name}')").wait_for()
            assert page.get_by_label("bias bf").input_value() == f"{bias[1]}"


def test_values_appear_in_the_order_of_the_computation(browser):
    """Check that with "show up to" at n, later results are hidden."""
    counts = []
    with figure_page(browser, "gates") as page:
        for shown in range(1, 7):
            page.get_by_label("Show up to").fill(str(shown))
            move(page)
            numbers = page.locator("svg.drawing").first.locator("text").all_text_contents()
            counts.append(sum("." in number for number in numbers))
    assert counts == [3, 7, 11, 13, 14, 16]
