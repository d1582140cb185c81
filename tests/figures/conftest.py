"""Fixtures of the figures' tests."""

import pytest
import torch

from tests.figures.figure_page import asking


@pytest.fixture(scope="module")
def ask(browser):
    with asking(browser, "steps", "reading") as ask:
        yield ask


@pytest.fixture
def repeatable():
    """Draw the same cases on every run."""
    torch.manual_seed(0)
