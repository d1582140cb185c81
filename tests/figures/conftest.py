"""Fixtures for tests of the figures."""

import pytest
import torch

from tests.figures.figure_page import serve_modules


@pytest.fixture(scope="module")
def ask(browser):
    """Return a function that runs the arithmetic modules in a browser."""
    with serve_modules(browser, "arithmetic", "weights_file", "characters") as ask:
        yield ask


@pytest.fixture
def repeatable():
    """Seed torch, so that every run draws the same cases."""
    torch.manual_seed(0)
