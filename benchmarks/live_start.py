"""Waiting time of readers who run cells on a page: from the click to the first output, then cell by cell.

    make live                                      once: the site, with cells that run
    python -m benchmarks.live_start                the chapters RNN and LSTM in English
    python -m benchmarks.live_start ja/gru         another one
    python -m benchmarks.live_start --repeat 5     more visits: a steadier median

Each visit opens the site in _build/html, served locally, in a new browser context without a cache. The first output
comes when Python is loaded and has run the first cell. Each later cell is run alone; its time runs from the click to
the output, and is compared with that of the same small torch outside the browser, measured separately.
"""

import argparse
import functools
import http.server
import statistics
import sys
import tempfile
import threading
from contextlib import contextmanager
from pathlib import Path

from book import editions
from book.live import page_scripts
from book.site.browser import open_browser
from tests.live import on_small_torch

ROOT = Path(__file__).resolve().parent.parent
SITE = ROOT / "_build" / "html"

# Click the button of a cell, and return the milliseconds until it is done.
PRESSED = """number => new Promise(done => {
    const cell = document.querySelectorAll(".cell:has(.run-row)")[number], began = performance.now();
    const look = () => /done|failed/.test(cell.dataset.run) && done(performance.now() - began);
    new MutationObserver(look).observe(cell, { attributes: true, attributeFilter: ["data-run"] });
    cell.querySelector(".run-row button").click();
})"""


@contextmanager
def served(folder):
    class Quiet(http.server.SimpleHTTPRequestHandler):
        def log_message(self, *arguments):
            pass

    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), functools.partial(Quiet, directory=folder)) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()


def visit(browser, address, name, numbers):
    """Return the seconds to the first output, and of each of these cells."""
    words = page_scripts.words(name.split("/")[0])
    with browser.new_context(service_workers="block") as context, context.new_page() as page:
        page.set_default_timeout(120_000)
        page.goto(f"{address}/{name}.html")
        page.keyboard.press("Shift")
        page.locator(".run-row button").first.click()
        load = page.locator(".run-bar").get_by_role("button", name=words["load"])
        load.wait_for()
        first = page.evaluate(
            f"([number, load]) => {{ const duration = ({PRESSED})(number); load.click(); return duration; }}",
            [0, load.element_handle()],
        )
        return first / 1000, [page.evaluate(PRESSED, number) / 1000 for number in numbers]


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("pages", nargs="*", default=["en/rnn", "en/lstm"])
    parser.add_argument("--repeat", type=int, default=3)
    options = parser.parse_args()
    if not (SITE / "live" / "manifest.json").is_file():
        sys.exit("live_start.py: the site in _build/html runs no cells. Run `make live` first.")
    for name in options.pages:
        notebook = editions.BOOK / f"{name}.ipynb"
        quick = {cell["id"]: k for k, cell in enumerate(page_scripts.read_cells(notebook)) if not cell["why"]}
        with tempfile.TemporaryDirectory() as folder, served(SITE) as address, open_browser() as browser:
            on_small_torch.copy_code(Path(folder))
            visits = [visit(browser, address, name, [*quick.values()][1:]) for _ in range(options.repeat)]
            runs = on_small_torch.run(notebook, Path(folder), lambda cell, quick=quick: cell.id in quick)
            outside = [seconds for _, _, seconds in runs][1:]
        cells = [statistics.median(times) for times in zip(*(later for _, later in visits), strict=True)]
        print(
            f"{name}: first output after {statistics.median(first for first, _ in visits):.1f} s;",
            f"then {len(cells)} cells, median {statistics.median(cells) * 1000:.0f} ms, longest"
            f" {max(cells) * 1000:.0f} ms;",
            f"together {sum(cells) / sum(outside):.1f} times as long as outside the browser",
            flush=True,
        )


if __name__ == "__main__":
    main()
