"""A page that runs its cells on a stand-in for Python, as a reader uses it."""

from contextlib import contextmanager

from book import editions
from tests.live.reader import Reader
from tests.site.browsing import opened

NOTEBOOK = editions.BOOK / "en/first_network.ipynb"


class Notebook(Reader):
    """The page with the stand-in, which keeps what it was asked."""

    def asked(self):
        """What Python was asked since the last time."""
        return self.page.evaluate("asked.splice(0)")

    def ran(self):
        """Which cells Python was asked to run since the last time, when all have run."""
        self.done()
        return [self.cells.index(one.removeprefix("run ")) for one in self.asked() if one.startswith("run ")]


@contextmanager
def notebook(browser, address, script="", **options):
    """The page, opened. script: what runs before it does. options: of playwright's new_context."""
    with browser.new_context(service_workers="block", **options) as context:
        context.add_init_script(f"navigator.serviceWorker.register = async () => {{}};{script}")
        with opened(context, f"{address}/en/first_network.html") as page:
            yield Notebook(page, NOTEBOOK)
