"""Helpers for tests that open pages in a real browser."""

from contextlib import contextmanager

from axe_playwright_python.sync_playwright import Axe

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


def begin(page):
    """Press a key, which tells the page that the reader has begun, and wait until all of the page is laid out."""
    page.keyboard.press("Shift")
    page.wait_for_function("!('steps' in document.documentElement.dataset)")


@contextmanager
def opened(browser, url, **options):
    """Open a page, and fail if it logs an error or a warning meanwhile. options: of playwright's new_page."""
    messages = []

    def listen(message):
        if message.type in ("error", "warning") and not message.location["url"].endswith("/favicon.ico"):
            messages.append(message.text)

    with browser.new_page(**options) as page:
        page.set_default_timeout(30_000)  # the machine may be busy
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
