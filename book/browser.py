"""The browser that is installed, for what only a browser can do."""

import shutil

# No address is looked up and nothing is reported.
FLAGS = """--headless --no-sandbox --disable-gpu --disable-quic --no-first-run --disable-background-networking
    --disable-component-update --disable-sync""".split()


def program():
    """The path of Chromium, or of Chrome; None if there is none on the path."""
    return next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)


def launch(playwright, arguments=()):
    """Start Chromium, or Chrome. Without one, playwright raises its Error."""
    # without one on the path, Chrome where macOS and Windows have it
    found = {"executable_path": program()} if program() else {"channel": "chrome"}
    return playwright.chromium.launch(args=[*FLAGS, *arguments], **found)
