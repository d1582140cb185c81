"""The cells of the pages, run by the Python that readers get, in real browsers: what stands there afterwards is what
was stored.

It needs what `make live` fetches; where that cannot be had, these tests are left out, and
tests/project/selection.py says so.
"""

import json
import shutil
from urllib.parse import urlsplit

import nbformat
import pytest

from book import editions
from book.live import fetch, page_scripts
from book.site import root_files
from tests.live.firefox import firefox, program
from tests.live.reader import DONE, Reader
from tests.site.browsing import begin
from tests.site.whole_site import serving

# What differs on these pages: pictures and a figure; coloured text, and a trained network that is read from a file.
# test_on_small_torch.py runs all chapters with the same small torch, Firefox another page below.
WHOLE = [("en", "lstm"), ("en", "embedding")]
ASSIGNMENT = "ko", "assignment_rnn"
NOTEBOOKS = {page: editions.BOOK / f"{'/'.join(page)}.ipynb" for page in (*WHOLE, ("en", "rnn"))}
NOTEBOOKS[ASSIGNMENT] = editions.ASSIGNMENTS / "ko/rnn.ipynb"
# What each cell's stored output and the reader's say, and how many pictures and figures they have.
SAID = """() => {
    const said = (output) => {
        if (!output) return ["", 0, 0];
        const own = output.cloneNode(true);
        const count = ["svg.picture", "figure"].map(kind => own.querySelectorAll(kind).length);
        own.querySelectorAll("svg, figure, style, script, noscript").forEach(one => one.remove());
        return [own.textContent.replace(/\\s+/g, ""), ...count];
    };
    return [...document.querySelectorAll(".cell[data-run]")].map(cell => [
        cell.dataset.run, said(cell.querySelector(".cell_output:not(.run-output)")), said(cell.querySelector(".run-output"))]);
}"""  # noqa: E501


@pytest.fixture(scope="module")
def live_site(live_parts, site, tmp_path_factory):
    """A site of these pages, whose cells run."""
    folder = tmp_path_factory.mktemp("alive")
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
def alive(live_site):
    """Where it is served."""
    with serving(live_site) as (address, _):
        yield address


def reader_of(page, address, language, name):
    """Open a page as a reader does."""
    page.set_default_timeout(30_000)
    page.goto(f"{address}/{language}/{name}.html")
    begin(page)
    return Reader(page, NOTEBOOKS[language, name], language)


@pytest.mark.parametrize(
    ("language", "name"),
    [pytest.param(*WHOLE[0], marks=pytest.mark.heavy), pytest.param(*WHOLE[1], marks=pytest.mark.deep)],
)
def test_every_cell_gives_what_is_stored(browser, alive, language, name):
    """And nothing is asked of any other site, which needs no leave to share memory either."""
    with browser.new_page() as page:
        asked = []
        page.on("request", lambda request: asked.append(request.url))
        reader = reader_of(page, alive, language, name)
        reader.load()
        reader.bar("run_all").click()
        reader.done(timeout=120_000)  # of a chapter, beside whatever else the machine does
        found = page.evaluate(SAID)
        assert len(found) == len(reader.cells)
        for number, (state, stored, fresh) in enumerate(found):
            assert (number, state, fresh) == (number, "done", stored)
        assert {urlsplit(url).netloc for url in asked if not url.startswith(("data:", "blob:"))} == {
            urlsplit(alive).netloc
        }
        assert page.evaluate("crossOriginIsolated") is False


@pytest.mark.heavy
def test_a_cell_is_changed_broken_and_stopped(browser, alive):
    """Python goes on after an error, and begins anew after what never ends; figures and Python hear of each other."""
    with browser.new_page() as page:
        reader = reader_of(page, alive, "en", "lstm")
        reader.load()
        reader.write(0, "import torch\nfor k in range(2):\n    print(torch.arange(6).view(2, 3) * k)")
        reader.alone(0)
        assert (
            reader.outputs(0).inner_text().split()
            == "tensor([[0, 0, 0], [0, 0, 0]]) tensor([[0, 1, 2], [3, 4, 5]])".split()
        )
        reader.write(0, "def broken(n):\n    return torch.ones(n) @ torch.ones(n + 1)\n\nbroken(3)")
        reader.run(0)
        said = reader.outputs(0).get_by_text("RuntimeError: inconsistent tensor size")
        said.wait_for()
        assert "----> 2     return torch.ones(n) @ torch.ones(n + 1)" in reader.outputs(0).inner_text()
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
        reader.write(1, "gates.shown")
        reader.alone(1)
        assert reader.outputs(1).inner_text().strip() == "5"
        reader.write(1, "gates.shown = 2")
        reader.alone(1)
        page.wait_for_function("one => one.value === '2'", arg=slider.element_handle())


@pytest.mark.heavy
def test_python_is_kept_for_reading_without_a_network(browser, live_site):
    with serving(live_site) as (address, server), browser.new_context() as context, context.new_page() as page:
        reader = reader_of(page, address, "en", "rnn")
        page.evaluate("navigator.serviceWorker.register('../worker.js').then(() => navigator.serviceWorker.ready)")
        page.wait_for_function("navigator.serviceWorker.controller !== null")
        page.reload()
        reader.load()
        manifest = json.loads((live_site / "live" / "manifest.json").read_text(encoding="utf-8"))
        kept = page.evaluate(
            "caches.open('unrolled').then(cache => cache.keys()).then(keys => keys.map(key =>"
            " key.url.split('/').pop()))"
        )
        assert {*manifest["files"]} - {"editor.js"} <= {*kept}
        server.shutdown()
        server.server_close()
        page.reload()
        page.locator(".run-row button").first.click()
        page.wait_for_selector("[data-run=done]")


@pytest.mark.heavy
def test_the_checker_speaks_to_students_on_the_page(browser, alive):
    """A solution is right, and two mistakes at once are named. test_checker.py has all languages."""
    cells = {cell.id: cell for cell in nbformat.read(NOTEBOOKS[ASSIGNMENT], as_version=4).cells}
    right = cells["rnn_step"].source
    praise = cells["rnn-step-check"].outputs[0].data["text/plain"].replace("`", "")
    with browser.new_page() as page:
        reader = reader_of(page, alive, *ASSIGNMENT)
        reader.load("imports")

        def told(answer):
            reader.write("rnn_step", answer)
            reader.run("rnn-step-check")
            reader.done(timeout=60_000)
            return reader.outputs("rnn-step-check").inner_text()

        first = told(right.replace("tanh(", "sigmoid(").replace(" + bias_hh", ""))
        assert "bias_hh_missing" in first and "sigmoid_for_tanh" in first
        assert told(right).strip() == praise


@pytest.mark.heavy
@pytest.mark.skipif(program() is None, reason="Firefox is not installed")
def test_firefox_does_the_same(alive):
    said = page_scripts.words("en")
    with firefox() as page:
        page.goto(f"{alive}/en/rnn.html")
        page.press(said["run"])
        page.press(said["load"])
        page.wait_for("document.querySelector('[data-run=done]') !== null")
        page.press(said["run_all"])
        page.wait_for(DONE)
        found = page.evaluate(f"({SAID})()")
        assert len(found) == len(page_scripts.read_cells(NOTEBOOKS["en", "rnn"]))
        for number, (state, stored, fresh) in enumerate(found):
            assert (number, state, fresh) == (number, "done", stored)
