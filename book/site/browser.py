"""Find and start the Chromium that is installed."""

import shutil
from contextlib import ExitStack, contextmanager

# Chromium makes no requests of its own.
FLAGS = """--headless --no-sandbox --disable-gpu --disable-quic --no-first-run --disable-background-networking
    --disable-component-update --disable-sync""".split()


def find_chromium():
    """Return the path of Chromium or Chrome, or None if neither is on the search path."""
    return next(
        filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable"))), None
    )


def launch(playwright, arguments=()):
    """Start Debian's chromium-headless-shell if it is installed, else Chromium or Chrome.

    Raises playwright's Error if none of them is installed.
    """
    path = shutil.which("chromium-headless-shell") or find_chromium()  # the shell takes a quarter less time
    location = {"executable_path": path} if path else {"channel": "chrome"}  # Chrome where macOS and Windows have it
    return playwright.chromium.launch(args=[*FLAGS, *arguments], **location)


@contextmanager
def open_browser():
    """Start a browser and close it at the end of the block; raise RuntimeError if none is installed."""
    # Imported late: it takes half a second, and most commands need no browser.
    from playwright.sync_api import Error, sync_playwright

    with ExitStack() as stack:
        try:
            playwright = stack.enter_context(sync_playwright())
        except Exception as error:  # playwright has no class of its own for this
            raise RuntimeError(
                "playwright, which drives browsers, does not start (on a bare Debian it lacks libatomic1)"
            ) from error
        try:
            browser = launch(playwright)
        except Error as error:
            raise RuntimeError("Chromium or Chrome is not installed (Debian's package: chromium)") from error
        try:
            yield browser
        finally:
            browser.close()


def can_draw(page, text):
    """Return whether the system's fonts have all characters of a text: each must look unlike one that no font has."""
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
    """Raise RuntimeError if the system's fonts lack characters of an edition's language."""
    if not can_draw(page, edition.name):
        raise RuntimeError(f"no installed font has the characters of {edition.name} (Debian's package: fonts-noto-cjk)")
