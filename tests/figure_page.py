"""A figure alone on a page, with the model that the site gives it."""

import base64
from contextlib import contextmanager

from draw import KINDS, page_of


@contextmanager
def figure_page(browser, name, language="en", want=None, **values):
    """The page of the figure `name`, as `browsing.opened` gives a page; `window.model` is the figure's model.

    values: of its traits. want: name → bytes of a file that the figure asks for. width, scheme, motion: of the page.
    """
    options = {"viewport": {"width": values.pop("width", 360), "height": 800}}
    options |= {"color_scheme": values.pop("scheme", "light"), "reduced_motion": values.pop("motion", "no-preference")}
    complaints = []
    with browser.new_page(**options) as page:
        page.set_default_timeout(10_000)
        page.on("pageerror", lambda error: complaints.append(str(error)))
        page.on("console", lambda message: message.type in ("error", "warning") and complaints.append(message.text))
        page.expose_function("want", lambda file: base64.b64encode(want(file)).decode())
        page.set_content(page_of(KINDS[name](language=language, **values)))
        page.wait_for_selector("figcaption")
        yield page
        assert complaints == []
