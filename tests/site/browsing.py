"""Helpers for tests that open pages in a real browser."""

import time
from contextlib import contextmanager

from axe_playwright_python.sync_playwright import Axe

TIMEOUT = 120  # seconds that any wait may take; a wait ends as soon as it can, so the machine may be slow
# Returns the elements that extend beyond the page on the right and are not inside an element that scrolls.
WIDE = """() => [...document.querySelectorAll("body *")].filter(element => {
    if (element.getBoundingClientRect().right <= innerWidth + 1 || !element.checkVisibility()) return false;
    for (let up = element; up; up = up.parentElement)
        if (/auto|scroll|hidden|clip/.test(getComputedStyle(up).overflowX) || up.closest(".skip, [popover], svg, math")) return false;
    return true;
}).map(element => element.outerHTML.slice(0, 120))"""  # noqa: E501
# Marks one element for each combination of text colour, font and backgrounds. axe needs seconds for all elements of a
# long page.
MARK_KINDS = """() => {
    const seen = new Set();
    for (const element of document.querySelectorAll("body *")) {
        delete element.dataset.kind;
        if (![...element.childNodes].some(node => node.nodeType === 3 && node.data.trim()) || !element.checkVisibility()) continue;
        const style = getComputedStyle(element), kind = [style.color, style.fontSize, style.fontWeight];
        for (let up = element; up; up = up.parentElement) {
            const { backgroundColor, backgroundImage, opacity } = getComputedStyle(up);
            kind.push(backgroundColor, backgroundImage, opacity);
            if (/^rgb\\(/.test(backgroundColor)) break;
        }
        if (seen.size < seen.add(kind.join()).size) element.dataset.kind = "";
    }
    return seen.size;
}"""  # noqa: E501


def patient(make):
    """Return `make`, which makes pages or contexts, with TIMEOUT for all their waits."""

    def make_patient(**options):
        made = make(**options)
        made.set_default_timeout(1000 * TIMEOUT)
        return made

    return make_patient


def wait_for(condition, said="a condition"):
    """Return the first true value of a condition; fail, naming it as `said`, if there is none in time."""
    deadline = time.monotonic() + TIMEOUT
    while not (value := condition()):
        assert time.monotonic() < deadline, f"waited in vain for {said}"
        time.sleep(0.05)
    return value


def begin(page):
    """Press a key, which tells the page that the reader has begun, and wait until the page no longer moves.

    A click is lost if its button moves while the mouse is pressed.
    """
    page.keyboard.press("Shift")
    page.wait_for_function("!('steps' in document.documentElement.dataset)")
    page.evaluate("document.fonts.ready.then(() => true)")


@contextmanager
def opened(browser, url, **options):
    """Open a page, and fail if it logs an error or a warning meanwhile. options: of playwright's new_page."""
    messages = []

    def listen(message):
        if message.type in ("error", "warning") and not message.location["url"].endswith("/favicon.ico"):
            messages.append(message.text)

    with browser.new_page(**options) as page:
        page.on("pageerror", lambda error: messages.append(str(error)))
        page.on("console", listen)
        page.goto(url)
        yield page
        assert messages == []


def accessible(page, place=None, **options):
    """Fail if axe finds a violation on a page or in an element; return (the rules that hold, the incomplete results).

    options: of axe.run. axe lists one element for each rule that holds, because listing all takes most of its time.
    """
    results = Axe().run(page, place, {"resultTypes": ["violations", "incomplete"], **options})
    assert results.violations_count == 0, results.generate_report()
    return {rule["id"] for rule in results.response["passes"]}, results.response["incomplete"]
