"""Test cells on pages with the real Python for browsers: their outputs are the stored ones.

The tests need the parts that `make live` fetches; without them they are skipped by tests/project/selection.py.
"""

import json
import shutil
from urllib.parse import urlsplit

import nbformat
import pytest

from book import editions
from book.live import fetch, page_scripts
from book.site import root_files
from tests.live.firefox import find_firefox, firefox
from tests.live.reader import DONE, Reader
from tests.site.browsing import begin
from tests.site.whole_site import serve

# Pages with pictures and a figure; with coloured text and a trained network from a file. test_on_small_torch.py runs
# all chapters on small_torch, and Firefox runs another page below.
WHOLE = [("en", "lstm"), ("en", "embedding")]
ASSIGNMENT = "ko", "assignment_rnn"
NOTEBOOKS = {page: editions.BOOK / f"{'/'.join(page)}.ipynb" for page in (*WHOLE, ("en", "rnn"))}
NOTEBOOKS[ASSIGNMENT] = editions.ASSIGNMENTS / "ko/rnn.ipynb"
# Returns for each cell that has run its state, and the text and numbers of pictures and figures in the stored output
# and in the new one.
OUTPUTS = """() => {
    const summary = (output) => {
        if (!output) return ["", 0, 0];
        const own = output.cloneNode(true);
        const count = ["svg.picture:not(.printed *)", "figure:not(.printed)"].map(kind => own.querySelectorAll(kind).length);
        own.querySelectorAll("svg, figure, style, script, noscript").forEach(node => node.remove());
        return [own.textContent.replace(/\\s+/g, ""), ...count];
    };
    return [...document.querySelectorAll(".cell[data-run]")].map(cell => [
        cell.dataset.run, summary(cell.querySelector(".cell_output:not(.run-output)")), summary(cell.querySelector(".run-output"))]);
}"""  # noqa: E501


@pytest.fixture(scope="module")
def live_site(live_parts, site, tmp_path_factory):
    """Return the folder of a site of these pages with the live parts."""
    folder = tmp_path_factory.mktemp("live")
    for language in {language for language, _ in NOTEBOOKS}:
        for name in ("_static", "assignments"):
            shutil.copytree(site / language / name, folder / language / name)
    for language, name in NOTEBOOKS:
        shutil.copy(site / language / f"{name}.html", folder / language)
    fetch.pack(folder)
    page_scripts.add_scripts(folder, editions.editions())
    root_files.write_worker(folder)
    return folder


@pytest.fixture(scope="module")
def live_address(live_site):
    """Serve the site; return its address."""
    with serve(live_site) as (address, _):
        yield address


@pytest.fixture
def site_with_wheel(live_site, live_parts, tmp_path, monkeypatch):
    """Return the folder of a site that has small_torch's own wheel in place of small_torch."""
    path = fetch.build_wheel(fetch.ROOT / fetch.SMALL_TORCH, tmp_path)
    setting = {"wheel": str(path), "sha256": fetch.digest(path.read_bytes())}
    monkeypatch.setitem(fetch.SETTINGS, "torch", setting)
    monkeypatch.setattr(fetch, "CACHE", tmp_path / "cache")
    monkeypatch.setattr(fetch, "FETCHED", shutil.copytree(live_parts, tmp_path / "parts"))
    fetch.add_torch(fetch.FETCHED, json.loads((live_parts / "pyodide-lock.json").read_text(encoding="utf-8"))["info"])
    shutil.copytree(live_site / "en", tmp_path / "site/en")
    fetch.pack(tmp_path / "site")
    page_scripts.add_scripts(tmp_path / "site", [e for e in editions.editions() if e.language == "en"])
    return tmp_path / "site"


def open_reader(page, address, language, name):
    """Open a page and begin to read it; return its Reader."""
    page.goto(f"{address}/{language}/{name}.html")
    begin(page)
    return Reader(page, NOTEBOOKS[language, name], language)


@pytest.mark.parametrize(
    ("language", "name"),
    [pytest.param(*WHOLE[0], marks=pytest.mark.heavy), pytest.param(*WHOLE[1], marks=pytest.mark.deep)],
)
def test_every_cell_has_its_stored_output(browser, live_address, language, name):
    """Check also that nothing is requested from other sites, and that the page is not cross-origin isolated."""
    with browser.new_page() as page:
        requests = []
        page.on("request", lambda request: requests.append(request.url))
        reader = open_reader(page, live_address, language, name)
        reader.load()
        reader.bar("run_all").click()
        reader.done()
        outputs = page.evaluate(OUTPUTS)
        assert len(outputs) == len(reader.cells)
        for number, (state, stored, fresh) in enumerate(outputs):
            assert (number, state, fresh) == (number, "done", stored)
        assert {urlsplit(url).netloc for url in requests if not url.startswith(("data:", "blob:"))} == {
            urlsplit(live_address).netloc
        }
        assert page.evaluate("crossOriginIsolated") is False


@pytest.mark.heavy
def test_a_wheel_of_torch_runs_cells(browser, site_with_wheel):
    """Check also that the page says which torch computes, and what it loads."""
    with serve(site_with_wheel) as (address, _), browser.new_page() as page:
        requests = []
        page.on("request", lambda request: requests.append(request.url.rpartition("/")[2]))
        reader = open_reader(page, address, "en", "rnn")
        reader.load()
        assert "small torch 0.1.0" in page.locator(".run-honest").inner_text()
        reader.write(0, "import torch\ntorch.nn.LSTM(3, 2)(torch.zeros(4, 1, 3))[0].shape")
        reader.alone(0)
        assert reader.outputs(0).inner_text().strip() == "torch.Size([4, 1, 2])"
        assert "small_torch-0.1.0-py3-none-any.whl" in requests


@pytest.mark.heavy
def test_a_cell_can_be_changed_can_fail_and_can_be_stopped(browser, live_address):
    """Check that Python goes on after an error and restarts after a stop, and that figures and Python share values."""
    errors = []
    with browser.new_page() as page:
        page.on("pageerror", lambda error: errors.append(error))
        reader = open_reader(page, live_address, "en", "lstm")
        reader.load()
        reader.write(0, "import torch\nfor k in range(2):\n    print(torch.arange(6).view(2, 3) * k)")
        reader.alone(0)
        assert (
            reader.outputs(0).inner_text().split()
            == "tensor([[0, 0, 0], [0, 0, 0]]) tensor([[0, 1, 2], [3, 4, 5]])".split()
        )
        reader.write(0, "def broken(n):\n    return torch.ones(n) @ torch.ones(n + 1)\n\nbroken(3)")
        reader.run(0)
        reader.outputs(0).get_by_text("RuntimeError: inconsistent tensor size").wait_for()
        text = reader.outputs(0).inner_text()
        assert "----> 2     return torch.ones(n) @ torch.ones(n + 1)" in text and "torch/" not in text
        for code, last_line in (
            ("import pandas", "A page has numpy"),
            ("import sqlite3", "Python in a browser does not have"),
            ("class Again:\n    def __call__(self):\n        return self()\nAgain()()", "A page allows 400 calls"),
        ):
            reader.write(0, code)
            reader.alone(0)
            assert reader.outputs(0).inner_text().strip().split("\n")[-1].startswith(last_line)
        reader.write(0, "torch.no_such_thing")
        reader.run(0)
        reader.outputs(0).get_by_text("torch.no_such_thing is not in small_torch").wait_for()
        reader.write(0, 'print("begun", flush=True)\nwhile True:\n    pass')
        reader.run(0)
        reader.outputs(0).get_by_text("begun").wait_for()
        page.locator("h1").first.click()  # the page answers meanwhile
        reader.button(0, "stop").click()
        page.locator(".run-said", has_text="Python begins anew").wait_for()
        reader.write(0, "from companion.figures import Gates\ngates = Gates(language='en')\ngates")
        reader.run(0)
        slider = reader.outputs(0).locator("input[type=range]").first
        slider.wait_for()
        slider.press("ArrowLeft")
        reader.write(1, "gates.bias[1]")
        reader.alone(1)
        assert reader.outputs(1).inner_text().strip() == "-0.25"
        reader.write(1, "gates.bias = [0, 2, 0, 0]")
        reader.alone(1)
        page.wait_for_function("slider => slider.value === '2'", arg=slider.element_handle())
        reader.write(1, "gates.observe(lambda change: 1 / 0, names='bias')")
        reader.alone(1)
        slider.press("ArrowLeft")  # an error of the reader's code, with its traceback
        reader.outputs(1).get_by_text("ZeroDivisionError: division by zero").wait_for()
        reader.write(1, "while True:\n    pass")
        reader.run(1)
        reader.outputs(0).locator("figure").wait_for()
        reader.button(1, "stop").click()
        reader.outputs(0).get_by_text(reader.words["disconnected"]).wait_for()
        slider.press("ArrowLeft")
        assert errors == []


DRAWING = """import matplotlib.pyplot as plt
figure, ax = plt.subplots()
ax.set_title("日本 汉字 かな （漢字）")
ax.set(xlabel="$x^2$", ylabel="기울기")
ax.bar(["东", "西"], [1, 2], label="凡例")
ax.annotate("注釈", (0, 1))
ax.legend()
"""


@pytest.mark.heavy
def test_letters_that_matplotlib_lacks_are_text(browser, live_site):
    """Check that a plot has them without a warning, and its formula as outlines."""
    with serve(live_site) as (address, _), browser.new_context(service_workers="block") as context:
        reader = open_reader(context.new_page(), address, "en", "lstm")
        reader.load()
        reader.write(0, DRAWING)
        reader.alone(0)
        assert not reader.outputs(0).locator(".stream").count()
        texts = reader.outputs(0).locator("svg.picture text").all_text_contents()
        assert {"日本 汉字 かな （漢字）", "기울기", "东", "西", "注釈", "凡例"} <= {*texts}
        assert reader.outputs(0).locator("svg.picture use").count() >= 2  # of $x^2$


@pytest.mark.heavy
def test_python_is_cached_for_reading_offline(browser, live_site):
    with serve(live_site) as (address, server), browser.new_context() as context, context.new_page() as page:
        reader = open_reader(page, address, "en", "rnn")
        page.evaluate("navigator.serviceWorker.register('../worker.js').then(() => navigator.serviceWorker.ready)")
        page.wait_for_function("navigator.serviceWorker.controller !== null")
        page.reload()
        reader.load()
        reader.write(0, DRAWING)
        reader.alone(0)
        manifest = json.loads((live_site / "live" / "manifest.json").read_text(encoding="utf-8"))
        cached = page.evaluate(
            "caches.open('unrolled').then(cache => cache.keys()).then(keys => keys.map(key =>"
            " key.url.split('/').pop()))"
        )
        assert {*manifest["files"]} <= {*cached}
        server.shutdown()
        server.server_close()
        page.reload()
        page.locator(".run-row button").first.click()
        page.wait_for_selector("[data-run=done]")
        reader.code(0).wait_for()
        reader.outputs(0).locator("svg.picture").wait_for()


@pytest.mark.heavy
def test_the_checker_works_on_the_page(browser, live_address):
    """Check a solution and an answer with two mistakes; test_checker.py tests all languages."""
    cells = {cell.id: cell for cell in nbformat.read(NOTEBOOKS[ASSIGNMENT], as_version=4).cells}
    right = cells["rnn_step"].source
    praise = cells["rnn-step-check"].outputs[0].data["text/plain"].replace("`", "")
    with browser.new_page() as page:
        reader = open_reader(page, live_address, *ASSIGNMENT)
        reader.load("imports")

        def result(answer):
            reader.write("rnn_step", answer)
            reader.run("rnn-step-check")
            reader.done()
            return reader.outputs("rnn-step-check").inner_text()

        first = result(right.replace("tanh(", "sigmoid(").replace(" + bias_hh", ""))
        assert "bias_hh_missing" in first and "sigmoid_for_tanh" in first
        assert result(right).strip() == praise


@pytest.mark.heavy
@pytest.mark.skipif(find_firefox() is None, reason="Firefox is not installed")
def test_outputs_in_firefox_are_the_stored_ones(live_address):
    words = page_scripts.words("en")
    with firefox() as page:
        page.goto(f"{live_address}/en/rnn.html")
        page.press(words["run"])
        page.press(words["load"])
        page.wait_for("document.querySelector('[data-run=done]') !== null")
        page.press(words["run_all"])
        page.wait_for(DONE)
        outputs = page.evaluate(f"({OUTPUTS})()")
        assert len(outputs) == len(page_scripts.read_cells(NOTEBOOKS["en", "rnn"]))
        for number, (state, stored, fresh) in enumerate(outputs):
            assert (number, state, fresh) == (number, "done", stored)
