"""Fixtures of the checker's tests."""

import pytest

from tests.project.sampling import UNKNOWN


@pytest.fixture
def short_search(monkeypatch):
    """Shorten the search of `check` for several mistakes."""
    monkeypatch.setattr("companion.check.SECONDS", 0.5)


@pytest.fixture
def short_vain_search(monkeypatch):
    """Shorten the search of `check` even more, where no known mistake can be found."""
    monkeypatch.setattr("companion.check.SECONDS", UNKNOWN)
