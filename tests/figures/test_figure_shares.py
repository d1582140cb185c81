"""Test the figure Shares: its bars and sentences are those of autograd in the companion's layers.

test_figures_training.py compares its arithmetic with torch.
"""

import re

import torch

from companion.figures import Shares
from tests.figures.figure_page import figure_page, in_states

# The heights and opacities of each network's bars, and the figure's sentences.
LOOK = """() => {
    const bars = ["#2f7fc1", "#8e63c7"].map(colour => [...document.querySelectorAll(`rect[fill="${colour}"]`)]
        .map(bar => [Number(bar.getAttribute("height")), bar.getAttribute("fill-opacity")]));
    return { bars, said: document.querySelector(".report").textContent };
}"""
STATES = [
    {},
    {"gap": 3, "window": 5, "seed": 7},
    {"scale": 3.0, "bias": 0.0, "window": 6, "seed": 4},
    {"scale": 0.2, "bias": 5.0, "window": 1, "gap": 23},
]


def test_bars_and_sentences_equal_autograd(browser):
    with figure_page(browser, "shares") as page:
        results = in_states(
            page, [{name: getattr(Shares(**state), name) for name in Shares.settings} for state in STATES], LOOK
        )
    for state, result in zip(STATES, results, strict=True):
        figure = Shares(**state)
        for kind, bars in zip(("RNN", "LSTM"), result["bars"], strict=True):
            shares = figure.shares(kind)
            assert abs(shares.sum() - 1) < 1e-12 and len(bars) == 24
            span = shares.max() - shares.clamp(max=0).min()
            heights = torch.tensor([height for height, _ in bars], dtype=torch.float64)
            torch.testing.assert_close(heights, (62 * shares.abs() / span).clamp(min=0.5), rtol=0, atol=0.11)
        assert [pale is not None for _, pale in result["bars"][0]] == [t < 24 - figure.window for t in range(24)]
        lost = [re.sub(r"\s", "", text) for text in re.findall(r"(?:< )?\d+\s%", result["said"])[2:]]
        percent = lambda share: "<1%" if 0 < share < 0.005 else f"{share:.0%}"  # noqa: E731
        assert lost == ([percent(figure.lost(kind)) for kind in ("RNN", "LSTM")] if figure.window < 24 else [])


def test_a_reader_moves_it_by_keys(browser):
    with figure_page(browser, "shares") as page:
        page.get_by_role("slider", name="window").press("Home")
        page.get_by_role("button", name="Other weights and symbols").press("Enter")
        page.wait_for_function("document.querySelector('.report').textContent.includes('A window of 1 loses')")
        assert page.evaluate("[model.get('window'), model.get('seed')]") == [1, 1]
