"""Pages in a real browser."""

from contextlib import contextmanager
from pathlib import Path
from urllib.parse import unquote, urlsplit
from urllib.request import url2pathname

from axe_playwright_python.sync_playwright import Axe


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

    def read(request):
        """A page that is a file is read by the browser; receipts go by what Python reads."""
        if request.url.startswith("file:"):
            path = Path(url2pathname(unquote(urlsplit(request.url).path)))
            if path.is_file():
                path.open("rb").close()

    with browser.new_page(**options) as page:
        page.on("request", read)
        page.set_default_timeout(10_000)
        page.on("pageerror", lambda error: complaints.append(str(error)))
        page.on("console", listen)
        page.goto(url)
        yield page
        assert complaints == []


def accessible(page, place=None, **options):
    """What axe says of a page or of a place on it: (the rules that hold, what it is not sure of). It must find nothing.

    options: of axe.run. Of what holds axe describes one place a rule: describing all takes most of its time.
    """
    results = Axe().run(page, place, {"resultTypes": ["violations", "incomplete"], **options})
    assert results.violations_count == 0, results.generate_report()
    return {rule["id"] for rule in results.response["passes"]}, results.response["incomplete"]
