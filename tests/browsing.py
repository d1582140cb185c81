"""Pages in a real browser, and the built site to open in it. conftest.py makes the fixtures known to all tests."""

import functools
import http.server
import shutil
import threading
from contextlib import contextmanager

import pytest
from test_site import ROOT, build

from browser import running

@pytest.fixture(scope="session")
def site(tmp_path_factory):
    """The whole book, built by build.py in a tree of its own."""
    tree = tmp_path_factory.mktemp("book")
    for name in ("_config.yml", "_toc.yml", "requirements.txt"):
        shutil.copy(ROOT / name, tree)
    for name in ("book", "assignments"):
        shutil.copytree(ROOT / name, tree / name, ignore=shutil.ignore_patterns("_build", "__pycache__"))
    assert build(tree) == (0, "")
    return tree / "_build/html"


@pytest.fixture(scope="session")
def address(site):
    """Where the site is served while the tests run."""

    class Quiet(http.server.SimpleHTTPRequestHandler):
        def log_message(self, *arguments):
            pass

    with http.server.ThreadingHTTPServer(
        ("127.0.0.1", 0), functools.partial(Quiet, directory=site)
    ) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()


@pytest.fixture(scope="session")
def browser():
    with running() as browser:
        yield browser


def begin(page):
    """What a reader does first, whatever it is. Until then a page does only what is needed for what is seen."""
    page.keyboard.press("Shift")
    page.wait_for_function("!('steps' in document.documentElement.dataset)")


@contextmanager
def opened(browser, url, **options):
    """A page, which must have nothing to complain of, now or while it is used. options: of playwright's new_page."""
    complaints = []

    def listen(message):
        if message.type in ("error", "warning") and not message.location["url"].endswith("/favicon.ico"):
            complaints.append(message.text)

    with browser.new_page(**options) as page:
        page.set_default_timeout(10_000)
        page.on("pageerror", lambda error: complaints.append(str(error)))
        page.on("console", listen)
        page.goto(url)
        yield page
        assert complaints == []
