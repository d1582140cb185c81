"""The browser that is installed, for what only a browser can do."""

import shutil
from contextlib import ExitStack, contextmanager

# No address is looked up and nothing is reported.
FLAGS = """--headless --no-sandbox --disable-gpu --disable-quic --no-first-run --disable-background-networking
    --disable-component-update --disable-sync""".split()


def program():
    """The path of Chromium, or of Chrome; None if there is none on the path."""
    return next(
        filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable"))), None
    )


def launch(playwright, arguments=()):
    """Start Chromium without its windows, if Debian's package for that is there, else Chromium or Chrome.

    Without one, playwright raises its Error.
    """
    path = shutil.which("chromium-headless-shell") or program()  # the shell takes a quarter less time
    found = {"executable_path": path} if path else {"channel": "chrome"}  # Chrome where macOS and Windows have it
    return playwright.chromium.launch(args=[*FLAGS, *arguments], **found)


@contextmanager
def running():
    """A browser for as long as it is needed. Raises RuntimeError where there is none."""
    # Imported late: it takes half a second, which who needs no browser should not wait.
    from playwright.sync_api import Error, sync_playwright

    with ExitStack() as stack:
        try:
            playwright = stack.enter_context(sync_playwright())
        except Exception as error:  # it has no class for this
            raise RuntimeError(
                "playwright, which drives browsers, does not start (on a bare Debian it lacks libatomic1)"
            ) from error
        try:
            browser = launch(playwright)
        except Error as error:
            raise RuntimeError("there is no Chromium or Chrome here (Debian's package is chromium)") from error
        try:
            yield browser
        finally:
            browser.close()


def can_draw(page, text):
    """Whether the system's fonts have all signs of a text: one that they lack looks like one that nobody has."""
    return page.evaluate(
        """text => {
            const canvas = document.createElement("canvas"), context = canvas.getContext("2d");
            const drawn = sign => {
                context.clearRect(0, 0, 300, 150);
                context.font = "48px sans-serif";
                context.fillText(sign, 10, 60);
                return canvas.toDataURL();
            };
            const none = drawn("\\u{10FFFF}");
            return [...text].every(sign => sign === " " || drawn(sign) !== none);
        }""",
        text,
    )


def require_fonts(page, edition):
    """Raise RuntimeError if the system's fonts lack the signs in which an edition is written."""
    if not can_draw(page, edition.name):
        raise RuntimeError(f"no font here has the signs of {edition.name} (Debian's package fonts-noto-cjk has them)")
