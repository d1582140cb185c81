"""Backward through time in an RNN and an LSTM beside each other: what the figure draws and says is what autograd finds
in the companion's layers. Its arithmetic is held to torch in test_figures_networks.py."""

import re

import torch

from companion.figures import Shares
from tests.figures.figure_page import figure_page, in_states

# Of each network, how long the bars are, and which are pale; and what the figure says.
LOOK = """() => {
    const bars = ["#2f7fc1", "#8e63c7"].map(colour => [...document.querySelectorAll(`rect[fill="${colour}"]`)]
        .map(one => [Number(one.getAttribute("height")), one.getAttribute("fill-opacity")]));
    return { bars, said: document.querySelector(".report").textContent };
}"""
STATES = [
    {},
    {"gap": 3, "window": 5, "seed": 7},
    {"scale": 3.0, "bias": 0.0, "window": 6, "seed": 4},
    {"scale": 0.2, "bias": 5.0, "window": 1, "gap": 23},
]


def test_it_draws_and_says_what_autograd_finds(browser):
    with figure_page(browser, "shares") as page:
        found = in_states(
            page, [{name: getattr(Shares(**state), name) for name in Shares.moved} for state in STATES], LOOK
        )
    for state, one in zip(STATES, found, strict=True):
        figure = Shares(**state)
        for kind, bars in zip(("RNN", "LSTM"), one["bars"], strict=True):
            shares = figure.shares(kind)
            assert abs(shares.sum() - 1) < 1e-12 and len(bars) == 24
            span = shares.max() - shares.clamp(max=0).min()
            heights = torch.tensor([height for height, _ in bars], dtype=torch.float64)
            torch.testing.assert_close(heights, (62 * shares.abs() / span).clamp(min=0.5), rtol=0, atol=0.11)
        assert [pale is not None for _, pale in one["bars"][0]] == [t < 24 - figure.window for t in range(24)]
        lost = [re.sub(r"\s", "", text) for text in re.findall(r"(?:< )?\d+\s%", one["said"])[2:]]
        percent = lambda share: "<1%" if 0 < share < 0.005 else f"{share:.0%}"  # noqa: E731
        assert lost == ([percent(figure.lost(kind)) for kind in ("RNN", "LSTM")] if figure.window < 24 else [])


def test_a_reader_moves_it_by_keys(browser):
    with figure_page(browser, "shares") as page:
        page.get_by_role("slider", name="window").press("Home")
        page.get_by_role("button", name="Other weights and symbols").press("Enter")
        page.wait_for_function("document.querySelector('.report').textContent.includes('A window of 1 loses')")
        assert page.evaluate("[model.get('window'), model.get('seed')]") == [1, 1]
