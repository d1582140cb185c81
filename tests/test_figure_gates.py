"""The cell of an LSTM whose gates are moved by hand."""

import pytest
import torch
from figure_page import figure_page
from traitlets import TraitError

from companion.figures import Gates


def said(page):
    return page.locator(".report").text_content()


def test_the_challenge_knows_when_it_is_met(browser):
    """Each verdict in a state that deserves it; a cell that is constant without having read anything does not pass."""
    with figure_page(browser, "gates") as page:
        for bias, beginning in (
            ([0, 0, 0, 0], "Not yet: after 20 steps"),
            ([-10, 6, 0, 0], "Not yet: the first input hardly gets in"),
            ([0, 6, 0, 0], "Not yet: later inputs get in"),
            ([10, -10, 10, 0], "Not yet: the first input hardly gets in"),
            ([-6, 6, 0, 0], "✓ Done"),
        ):
            page.evaluate("bias => model.set('bias', bias)", bias)
            page.wait_for_function("text => document.querySelector('.report').textContent.startsWith(text)", arg=beginning)
