"""Fixtures that several rooms use: the browser, the built site, and the Python of the pages."""

import pytest


@pytest.fixture(scope="session")
def browser():
    from book.site.browser import running

    with running() as browser:
        yield browser


@pytest.fixture(scope="session")
def site():
    """The whole book, built by build.py."""
    from tests.site import whole_site

    return whole_site.built()


@pytest.fixture(scope="session")
def address(site):
    """Where the site is served while the tests run."""
    from tests.site import whole_site

    with whole_site.serving(site) as (address, _):
        yield address


@pytest.fixture(scope="session")
def live_parts():
    """The folder of what runs cells on pages."""
    from book.live import fetch

    assert fetch.fetched(), "run `make live`: it fetches what runs cells on pages"
    return fetch.FETCHED
