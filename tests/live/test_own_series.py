"""Test the reader's own series on the page: a file is dropped, compared and shown, and nothing leaves the browser.

Most tests run on a stand-in for Python (tests/live/fake); the last ones run what it stands for.
"""

import json
import os
import shutil
import subprocess
import sys
from contextlib import contextmanager

import pytest

from book import editions
from book.live import fetch, page_scripts
from companion.learning.own_series import compare, read_csv, to_notebook
from companion.learning.series import SHIPPED
from tests.live.conftest import FAKE
from tests.live.reader import DONE, Reader
from tests.site.browsing import WIDE, accessible, begin, opened
from tests.site.whole_site import serve

PAGE = "series"
NOTEBOOK = editions.BOOK / f"en/{PAGE}.ipynb"
WORDS = page_scripts.words("en")
FILE = "time,temp,load\n2024-01-01,1,2\n"
PICTURE = '<svg xmlns="http://www.w3.org/2000/svg" width="640" height="9"><path d="M0 0h9" stroke="#1f2328"/></svg>'
FOUND = {
    "columns": ["time", "temp", "load"], "value": "temp", "time": "time", "machine": None, "said": "- 100 values"
}  # fmt: skip
ANSWER = {
    "table": "**The LSTM wins**.\n\n| Forecast | Mean error | Settings |\n|:--|--:|:--|\n| **LSTM** | **2.18** | |",
    "picture": PICTURE, "notebook": '{"cells": []}\n', "name": "mine.ipynb",
}  # fmt: skip
# Drops a file on an element of the page, as a reader does with the mouse.
DROP = """(element, [name, text]) => {
    const dataTransfer = new DataTransfer();
    dataTransfer.items.add(new File([text], name));
    const options = { dataTransfer, bubbles: true, cancelable: true };
    return ["dragover", "drop"].map(kind => element.dispatchEvent(new DragEvent(kind, options)));
}"""

# Records all that the place says.
RECORD = """status => {
    window.said = [];
    const record = () => said.push(status.textContent);
    new MutationObserver(record).observe(status, { childList: true });
}"""


def copy_page(site, folder):
    """Copy the page into a folder, without the parts that run cells."""
    shutil.copytree(site / "en/_static", folder / "en/_static")
    shutil.copy(site / f"en/{PAGE}.html", folder / "en")
    return folder


@pytest.fixture(scope="module")
def fake_address(site, tmp_path_factory):
    """Serve the page with the stand-in; return the address."""
    folder = copy_page(site, tmp_path_factory.mktemp("own"))
    shutil.copytree(FAKE, folder / "live")
    page_scripts.add_scripts(folder, [edition for edition in editions.editions() if edition.language == "en"])
    with serve(folder) as (address, _):
        yield address


class Panel(Reader):
    """The page, and the place on it where a reader chooses a file."""

    def __init__(self, page):
        super().__init__(page, NOTEBOOK)
        self.panel = page.locator(".own-series")

    def drop(self, name="mine.csv", text=FILE, on="h1"):
        """Drop a file; return whether the browser would do something itself with it."""
        return any(self.page.locator(on).first.evaluate(DROP, [name, text]))

    def ends(self):
        """Wait until the comparison has ended."""
        self.panel.and_(self.page.locator("[data-run=done], [data-run=failed]")).wait_for()

    def says(self, text):
        """Wait until the place says a text."""
        self.panel.locator("[role=status]", has_text=text).wait_for()


@contextmanager
def panel(browser, address, messages=(FOUND, {"progress": "Network 1 of 4"}, ANSWER), script="", **options):
    """Open the page. messages: what Python sends of a file."""
    with browser.new_context(service_workers="block", **options) as context:
        context.add_init_script(f"navigator.serviceWorker.register = async () => {{}};{script}")
        context.add_init_script(f"window.messages = {json.dumps(messages)}")
        with opened(context, f"{address}/en/{PAGE}.html") as page:
            begin(page)
            yield Panel(page)


def test_a_dropped_file_is_compared(browser, fake_address):
    """Check the question, the result, other columns, and that no request but for the site's own files is made."""
    with panel(browser, fake_address) as book:
        page, requests = book.page, []
        page.on("request", lambda request: requests.append((request.method, request.url, request.post_data)))
        assert book.panel.get_by_label(WORDS["series_file"]).is_visible() and WORDS["series_private"] in (
            book.panel.inner_text()
        )
        assert not book.drop()
        book.says(WORDS["series_asks"])
        book.bar("load").click()
        book.ends()
        assert page.evaluate("asked.splice(0)") == [
            "start", f"write mine.csv {len(FILE)}", "run own-series", 'show("mine.csv")'
        ]  # fmt: skip
        book.says(WORDS["series_done"])
        assert book.panel.locator("td").all_inner_texts() == ["LSTM", "2.18", ""]
        assert book.panel.get_by_role("img", name=WORDS["series_picture"]).is_visible()
        assert "100 values" in book.panel.inner_text()
        book.panel.get_by_label(WORDS["series_value"]).select_option("load")
        page.wait_for_function("asked.length === 3")
        assert page.evaluate("asked.splice(0)")[2] == 'show("mine.csv", value="load")'
        book.ends()
        book.panel.get_by_label(WORDS["series_machine"]).select_option(WORDS["series_none"])
        page.wait_for_function("asked.at(-1).includes('machine=')")
        assert page.evaluate("asked.at(-1)") == 'show("mine.csv", value="load", machine="")'
        book.ends()
        page.evaluate("window.messages = [{ problem: 'Too few.', columns: ['time', 'temp', 'load'], value: null }]")
        book.panel.get_by_label(WORDS["series_value"]).select_option("temp")
        book.says("Too few.")
        chosen = book.panel.locator("select").evaluate_all("selects => selects.map(select => select.value)")
        assert chosen == ["temp", "time", ""]
        page.evaluate(f"window.messages = {json.dumps([FOUND, ANSWER])}")
        book.panel.get_by_label(WORDS["series_value"]).select_option("load")
        book.ends()
        book.panel.get_by_label(WORDS["series_time"]).select_option("load")
        page.wait_for_function("asked.at(-1).includes('time=')")
        assert page.evaluate("asked.at(-1)") == 'show("mine.csv", machine="", time="load")'
        page.wait_for_function(DONE)
        with page.expect_download() as download:
            book.panel.get_by_role("button", name=WORDS["series_notebook"]).click()
        assert download.value.suggested_filename == "mine.ipynb"
        assert download.value.path().read_text(encoding="utf-8") == ANSWER["notebook"]
        assert all(method == "GET" and body is None for method, _, body in requests)
        assert all(url.startswith((fake_address, "blob:", "data:")) for _, url, _ in requests)


def test_a_file_that_cannot_be_used_is_explained(browser, fake_address):
    """Check also a file that is too large, and that a file may be chosen with the keyboard after another one."""
    problem = {"problem": "No column has numbers.", "columns": ["a", "b"], "value": None, "time": None, "machine": None}
    with panel(browser, fake_address, [problem]) as book:
        book.panel.locator("input").evaluate(
            "input => Object.defineProperty(File.prototype, 'size', { get: () => 3e7, configurable: true })"
        )
        book.drop()
        book.says(WORDS["series_large"])
        assert not book.page.locator(".run-bar").count()
        book.page.evaluate("delete File.prototype.size")
        with book.page.expect_file_chooser() as chooser:
            book.panel.get_by_label(WORDS["series_file"]).press("Enter")
        chooser.value.set_files({"name": "b.csv", "mimeType": "text/csv", "buffer": FILE.encode()})
        book.bar("load").click()
        book.says(problem["problem"])
        book.ends()
        assert book.panel.locator(".own-problem").inner_text() == problem["problem"]
        assert book.panel.locator("select").first.locator("option").all_inner_texts() == ["a", "b"]
        assert not book.panel.locator("table").count()


def test_a_comparison_can_be_stopped(browser, fake_address):
    with panel(browser, fake_address, script="window.endless = true;") as book:
        book.drop()
        book.bar("load").click()
        book.says(WORDS["series_runs"])
        book.panel.get_by_role("button", name=WORDS["stop"]).click()
        book.page.locator(".run-said", has_text="Python begins anew").wait_for()
        book.says(WORDS["series_stopped"])
        assert book.panel.get_attribute("data-run") == "new"
        book.drop("endless.csv")
        book.says(WORDS["series_runs"])
        book.page.evaluate("window.endless = false")
        book.drop("again.csv", on=".own-series")
        book.ends()
        assert book.page.evaluate("asked.slice(-5)") == [
            "stop", "start", f"write again.csv {len(FILE)}", "run own-series", 'show("again.csv")'
        ]  # fmt: skip
        assert book.panel.locator("table").is_visible()


def test_a_file_that_is_not_compared_is_mentioned(browser, fake_address):
    with panel(browser, fake_address) as book:
        book.drop()
        book.bar("not_now").click()
        book.says(WORDS["series_stopped"])


@pytest.mark.heavy
@pytest.mark.parametrize(("width", "scheme"), [(360, "light"), (1280, "dark")])
def test_the_place_is_accessible(browser, fake_address, width, scheme):
    with panel(browser, fake_address, color_scheme=scheme, viewport={"width": width, "height": 800}) as book:
        accessible(book.page, ".own-series")
        book.drop()
        book.bar("load").click()
        book.ends()
        accessible(book.page, ".own-series")
        assert book.page.evaluate("document.documentElement.scrollWidth") == width and book.page.evaluate(WIDE) == []


# ---- With the real Python, and on the small torch ----

ROWS = (SHIPPED / "seattle.csv").read_text(encoding="utf-8").splitlines()[:301]


@pytest.mark.heavy
def test_a_file_is_compared_by_the_python_of_the_page(browser, site, live_parts, tmp_path):
    """Check a file with days and one without numbers, and that the saved notebook is that of the package."""
    fetch.pack(copy_page(site, tmp_path))
    page_scripts.add_scripts(tmp_path, [edition for edition in editions.editions() if edition.language == "en"])
    days = tmp_path / "my days.csv"
    days.write_text("\n".join(ROWS), encoding="utf-8")
    with serve(tmp_path) as (address, _), browser.new_page() as page:
        page.goto(f"{address}/en/{PAGE}.html")
        begin(page)
        book = Panel(page)
        book.panel.locator("input").set_input_files(days)
        book.bar("load").click()
        book.panel.locator("[role=status]").evaluate(RECORD)
        book.ends()
        said = page.evaluate("window.said.join()")
        assert all(f"Network {k} of 4 learns" in said for k in range(1, 5))
        assert book.panel.locator("tbody tr").count() >= 3 and "300 values of temp_max" in book.panel.inner_text()
        assert book.panel.locator("svg.picture path").count() >= 4
        with page.expect_download() as download:
            book.panel.get_by_role("button", name=WORDS["series_notebook"]).click()
        assert download.value.suggested_filename == "my days.ipynb"
        saved = json.loads(download.value.path().read_text(encoding="utf-8"))
        assert saved == to_notebook(read_csv(days), "en")
        book.drop("words.csv", "a,b\n" + "x,y\n" * 200)
        book.says("No column has numbers to forecast")


PROGRAM = """
import json, sys
from companion.learning.own_series import compare, read_csv
result = compare(read_csv(sys.argv[1]), epochs=3, seeds=(0, 1))
print(json.dumps([result.errors, result.best, [note.key for note in result.verdict]]))
"""


def test_the_small_torch_computes_the_same(code, tmp_path):
    path = tmp_path / "days.csv"
    path.write_text("\n".join(ROWS), encoding="utf-8")
    environment = os.environ | {"PYTHONPATH": str(code), "OMP_NUM_THREADS": "1"}
    command = [sys.executable, "-c", PROGRAM, str(path)]
    printed = subprocess.run(command, env=environment, cwd=tmp_path, capture_output=True, text=True, check=True).stdout
    errors, best, verdict = json.loads(printed)
    result = compare(read_csv(path), epochs=3, seeds=(0, 1))
    assert errors == pytest.approx(result.errors, rel=1e-6)
    assert (best, verdict) == (result.best, [note.key for note in result.verdict])
