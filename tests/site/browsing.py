"""Pages in a real browser."""

from contextlib import contextmanager

from axe_playwright_python.sync_playwright import Axe

# What stands out of the page to the right, and neither scrolls nor lies in what does.
WIDE = """() => [...document.querySelectorAll("body *")].filter(one => {
    if (one.getBoundingClientRect().right <= innerWidth + 1 || !one.checkVisibility()) return false;
    for (let up = one; up; up = up.parentElement)
        if (/auto|scroll|hidden|clip/.test(getComputedStyle(up).overflowX) || up.closest(".skip, [popover], svg, math")) return false;
    return true;
}).map(one => one.outerHTML.slice(0, 120))"""  # noqa: E501
# Marks one text of each kind: its colour, its letters, and what lies behind it. axe needs seconds for all of a long
# page.
MARK_KINDS = """() => {
    const seen = new Set();
    for (const one of document.querySelectorAll("body *")) {
        delete one.dataset.kind;
        if (![...one.childNodes].some(node => node.nodeType === 3 && node.data.trim()) || !one.checkVisibility()) continue;
        const style = getComputedStyle(one), kind = [style.color, style.fontSize, style.fontWeight];
        for (let up = one; up; up = up.parentElement) {
            const { backgroundColor, backgroundImage, opacity } = getComputedStyle(up);
            kind.push(backgroundColor, backgroundImage, opacity);
            if (/^rgb\\(/.test(backgroundColor)) break;
        }
        if (seen.size < seen.add(kind.join()).size) one.dataset.kind = "";
    }
    return seen.size;
}"""  # noqa: E501


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
        page.set_default_timeout(30_000)  # beside whatever else the machine does
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
