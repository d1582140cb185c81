"""Fixtures that several rooms use: the browser, the built site, the parts of live pages, and a grading worker."""

import sys

import pytest

WORKERS = []


@pytest.fixture(scope="session")
def browser():
    from book.site.browser import open_browser
    from tests.site.browsing import patient

    with open_browser() as browser:
        browser.new_page, browser.new_context = patient(browser.new_page), patient(browser.new_context)
        yield browser


@pytest.fixture(scope="session")
def site():
    """Return the folder of the whole book, built by build.py."""
    from tests.site import whole_site

    return whole_site.build_site()


@pytest.fixture(scope="session")
def address(site):
    """Serve the site while the tests run; return its address."""
    from tests.site import whole_site

    with whole_site.serve(site) as (address, _):
        yield address


@pytest.fixture(scope="session")
def live_parts():
    """Return the folder of the fetched parts that run cells on pages."""
    from book.live import fetch

    assert fetch.fetched(), "run `make live`: it fetches what runs cells on pages"
    return fetch.FETCHED


@pytest.fixture
def worker(tmp_path_factory):
    """Return a worker that all tests share, because it starts slowly; it ends with the process.

    `worker.secret`: a folder that the worker may not see, inside a folder of Python packages, which it may see.
    """
    from assignments.sandbox import pool

    if not WORKERS:
        packages = tmp_path_factory.mktemp("site-packages")
        packages.chmod(0o755)  # otherwise file permissions would hide it, not the sandbox
        sys.path.append(str(packages))
        secret = packages / "others"
        secret.mkdir()
        (secret / "answer.txt").write_text("another student's answer")
        WORKERS.append(pool.Worker([str(secret)]))
        WORKERS[0].secret = str(secret)
    return WORKERS[0]
