"""Helpers for tests of a page with runnable cells, with the fake kernel of tests/live/fake instead of Python."""

from contextlib import contextmanager

from book import editions
from tests.live.reader import Reader
from tests.site.browsing import begin, opened

NOTEBOOK = editions.BOOK / "en/first_network.ipynb"


class Notebook(Reader):
    """The page with the stand-in, which logs its calls."""

    def calls(self):
        """Return the calls of Python since the last time."""
        return self.page.evaluate("asked.splice(0)")

    def ran(self):
        """Wait until no cell runs; return the numbers of the cells that Python has run since the last time."""
        self.done()
        return [self.cells.index(call.removeprefix("run ")) for call in self.calls() if call.startswith("run ")]


@contextmanager
def notebook(browser, address, script="", **options):
    """Open the page. script: run before the page's scripts. options: of playwright's new_context."""
    with browser.new_context(service_workers="block", **options) as context:
        context.add_init_script(f"navigator.serviceWorker.register = async () => {{}};{script}")
        with opened(context, f"{address}/en/first_network.html") as page:
            begin(page)
            yield Notebook(page, NOTEBOOK)
