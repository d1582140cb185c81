"""Fixtures of the checker's tests."""

import pytest

from tests.project.sampling import UNKNOWN


@pytest.fixture
def short_search(monkeypatch):
    """Where `check` is asked of a mistake that it does not know, it need not look for pairs as long as it may."""
    monkeypatch.setattr("companion.check.SECONDS", 0.5)


@pytest.fixture
def hasty(monkeypatch):
    """Nothing is to be found, so the checker need not search as long as a student would wait."""
    monkeypatch.setattr("companion.check.SECONDS", UNKNOWN)
