"""Fixtures that several rooms use: the browser, the built site, and the Python of the pages."""

import sys

import pytest

STARTED = []


@pytest.fixture(scope="session")
def browser():
    from book.site.browser import open_browser

    with open_browser() as browser:
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


@pytest.fixture
def worker(tmp_path_factory):
    """One for all tests, since it starts slowly. It ends with the process. `secret`: a folder that it may not see,
    though it lies among Python's packages, which can be seen."""
    from assignments.sandbox import pool

    if not STARTED:
        packages = tmp_path_factory.mktemp("site-packages")
        packages.chmod(0o755)  # nobody's rights would do otherwise, and prove nothing
        sys.path.append(str(packages))
        secret = packages / "others"
        secret.mkdir()
        (secret / "answer.txt").write_text("another student's answer")
        STARTED.append(pool.Worker([str(secret)]))
        STARTED[0].secret = str(secret)
    return STARTED[0]
