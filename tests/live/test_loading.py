"""Test how a page loads Python: failures of the network, new releases, stops, weak browsers, and two tabs.

The scripts are the real ones; tests/live/fake/pyodide.mjs stands in for Python.
"""

import json
import shutil
from contextlib import contextmanager

import pytest

from book.live import page_scripts
from book.site import root_files
from tests.live.notebook import NOTEBOOK, Notebook
from tests.live.reader import Reader
from tests.live.weak_site import WeakSite
from tests.site.browsing import begin

WORDS = page_scripts.words("en")
FIRST, SECOND, THIRD = "1" * 12, "2" * 12, "3" * 12
PAGE = "en/first_network.html"


@pytest.fixture
def weak_site(fake_live_site, tmp_path):
    shutil.copytree(fake_live_site, tmp_path / "site")
    site = WeakSite(tmp_path / "site")
    site.release(FIRST)
    with site.served():
        yield site
        site.go_on.set()


@contextmanager
def reader_of(browser, site, script="", **options):
    """Open the page as a reader whose browser has no service worker."""
    with browser.new_context(**{"service_workers": "block"} | options) as context:
        context.add_init_script(script)
        with context.new_page() as page:
            errors = []
            page.on("pageerror", lambda error: errors.append(str(error)))
            page.goto(f"{site.address}/{PAGE}")
            begin(page)
            reader = Reader(page, NOTEBOOK)
            reader.errors = errors
            yield reader
            assert errors == []


def prints(reader, which):
    """Run a cell, and wait for the output of the stand-in."""
    reader.run(which)
    reader.outputs(which).wait_for()
    reader.done()


FAILURES = [
    ("manifest.json", "refused", "offline"),
    ("manifest.json", "sign-in page", "damaged"),
    ("kernel.js", "refused", "offline"),
    ("kernel.js", "sign-in page", "damaged"),
    ("kernel.js", 503, "absent"),
    ("worker.js", "short", "damaged"),
    ("worker.js", "refused", "offline"),
    ("pyodide.mjs", "refused", "offline"),
    ("pyodide.asm.wasm.gz", 503, "absent"),
    ("pyodide.asm.wasm.gz", "cut", "damaged"),
    ("packages.zip", "refused", "offline"),
    ("packages.zip", 404, "absent"),
    ("packages.zip", "cut", "damaged"),
    ("packages.zip", "short", "damaged"),
    ("book.zip", "sign-in page", "damaged"),
]


def test_each_failure_is_explained_and_can_be_repeated(browser, weak_site):
    """Check that the message names the file and the cause, and that "Try again" works when the network is back."""
    with reader_of(browser, weak_site) as reader:
        reader.page.route("**/*", lambda route: route.continue_())  # no cache of the browser helps
        for number, (name, failure, reason) in enumerate([*FAILURES, ("", "", "")]):
            weak_site.failures = {name: failure}
            reader.bar("again").click() if number else reader.run(1)
            if name == "kernel.js" and FAILURES[number - 1][0] == "manifest.json":
                reader.bar("load").click()
            if name:
                what = f"{name}: {failure}" if reason == "absent" else name
                reader.says(WORDS["unloadable"].format(what=what, why=WORDS[reason]))
                assert not reader.page.workers
        reader.outputs(1).wait_for()
        assert len(reader.page.workers) == 1


@pytest.mark.heavy
@pytest.mark.parametrize(
    ("name", "failure"),
    [
        ("packages.zip", "short"),
        ("packages.zip", "altered"),
        ("pyodide.mjs", "sign-in page"),
        ("worker.js", "altered"),
        ("kernel.js", "short"),
    ],
)
def test_a_damaged_copy_in_the_cache_is_replaced(browser, weak_site, name, failure):
    weak_site.failures = {name: failure}
    with reader_of(browser, weak_site) as reader:
        reader.run(1)
        reader.bar("load").click()
        reader.bar("again").wait_for()
        weak_site.failures = {}
        reader.bar("again").click()
        reader.outputs(1).wait_for()


def test_stop_while_python_loads(browser, weak_site):
    """Check that the worker ends, that nothing is loaded again, and that the next run needs no second question."""
    weak_site.failures = {"packages.zip": "slow"}
    with reader_of(browser, weak_site) as reader:
        page = reader.page
        reader.run(1)
        reader.bar("load").click()
        reader.says("Loading ")
        reader.bar("stop").click()
        assert not page.locator(".run-bar").count()
        count = len(weak_site.requests)
        page.wait_for_timeout(500)
        assert not page.workers and len(weak_site.requests) == count
        assert page.locator("[data-run=waiting]").count() == 0
        weak_site.failures = {}
        prints(reader, 1)
        assert len(page.workers) == 1


def test_a_release_while_the_page_is_open(browser, weak_site):
    """Check a release before Python is loaded, one before it restarts, and a restart without a network."""
    with reader_of(browser, weak_site) as reader:
        reader.run(0)
        reader.bar("load").wait_for()
        weak_site.release(SECOND)
        reader.bar("load").click()
        reader.outputs(0).wait_for()
        reader.done()
        weak_site.release(THIRD)
        for failures in ({}, {"*": "refused"}):
            reader.write(1, "while True: pass")
            reader.begin_alone(1)
            reader.says("Cell 1 of 1 runs")
            weak_site.failures = failures
            reader.page.context.new_cdp_session(reader.page).send("Network.clearBrowserCache")
            reader.button(1, "stop").click()
            reader.says(WORDS["stopped"])
            reader.button(1, "restore").click()
            if failures:
                reader.page.wait_for_timeout(500)  # the restart fails, and nobody waits for it
                reader.run(1)
                reader.says(WORDS["unloadable"].format(what="manifest.json", why=WORDS["offline"]))
                weak_site.failures = {}
                reader.bar("again").click()
                reader.outputs(1).wait_for()
            else:
                prints(reader, 1)
        assert f"/live/{THIRD}/worker.js" in weak_site.requests


def test_a_page_older_than_the_site_asks_to_be_reloaded(browser, weak_site):
    """Check a release that names a cell anew, in its data and on the page."""
    cells = weak_site.folder / "en/_static/live/cells/first_network.json"
    page_file = weak_site.folder / PAGE
    data = json.loads(cells.read_text(encoding="utf-8"))
    with reader_of(browser, weak_site) as reader:
        data[0]["id"] = "another"
        cells.write_text(json.dumps(data), encoding="utf-8")
        name = reader.cells[0]
        page_file.write_text(page_file.read_text(encoding="utf-8").replace(f'id="{name}"', 'id="another"'), "utf-8")
        reader.run(1)
        reader.says(WORDS["outdated"])
        assert not any("manifest.json" in request for request in weak_site.requests)
        reader.bar("reload").click()
        reader.page.locator("#another").wait_for(state="attached")
        reader.run(1)
        reader.bar("load").click()
        reader.outputs(1).wait_for()


@pytest.mark.heavy
def test_page_scripts_that_do_not_arrive_are_asked_for_again(browser, weak_site):
    with reader_of(browser, weak_site) as reader:
        for name in ("running.js", "first_network.json"):
            for failure in ("refused", "sign-in page"):
                weak_site.failures = {name: failure}
                reader.cell(0).locator(".run-row button").first.click()
                reader.button(0, "unloaded").wait_for()
        assert reader.errors == ["Unexpected token '<'"]  # of the sign-in page that came as a script
        reader.errors.clear()
        weak_site.failures = {}
        reader.button(0, "unloaded").click()
        reader.bar("load").click()
        reader.outputs(0).wait_for()


@pytest.mark.heavy
@pytest.mark.parametrize(
    ("script", "lacks"),
    [
        ("delete window.WebAssembly", "WebAssembly"),
        ("window.Worker = class { constructor() {} terminate() {} }", "module workers"),
    ],
)
def test_a_browser_that_cannot_run_python_is_told_so(browser, weak_site, script, lacks):
    with reader_of(browser, weak_site, script) as reader:
        reader.run(0)
        reader.says(WORDS["unsupported"].format(what=lacks))


@pytest.mark.heavy
def test_a_silent_network_is_reported(browser, weak_site):
    weak_site.failures = {"packages.zip": "slow"}
    with reader_of(browser, weak_site) as reader:
        reader.page.clock.install()
        reader.run(0)
        reader.bar("load").click()
        reader.says("Loading ")
        silent = reader.page.locator(".run-said", has_text=WORDS["silent"])
        for _ in range(10):  # a file that is on its way when the clock jumps begins the two minutes again
            reader.page.clock.fast_forward(120_001)
            reader.page.evaluate("new Promise(requestAnimationFrame)")
            if silent.count():
                break
        silent.wait_for()
        assert not reader.page.workers


@pytest.mark.heavy
def test_the_service_worker_keeps_no_foreign_answer(browser, weak_site):
    """Check a sign-in page in place of a file, a release, and that Python then starts without a network."""
    root_files.write_worker(weak_site.folder)
    with reader_of(browser, weak_site, service_workers="allow") as reader:
        page = reader.page
        page.evaluate("navigator.serviceWorker.register('../worker.js').then(() => navigator.serviceWorker.ready)")
        page.wait_for_function("navigator.serviceWorker.controller !== null")
        weak_site.failures = {"packages.zip": "sign-in page", "pyodide.mjs": "sign-in page"}
        reader.run(0)
        reader.says(WORDS["kept"])
        reader.bar("load").click()
        reader.says(WORDS["damaged"])
        weak_site.failures = {}
        page.context.new_cdp_session(page).send("Network.clearBrowserCache")  # what the service worker kept is left
        for version in (FIRST, SECOND):
            weak_site.release(version)
            page.reload()
            reader.run(0)
            reader.bar("load").click()
            reader.outputs(0).wait_for()
        weak_site.failures = {"*": "refused"}
        page.reload()
        prints(reader, 0)


@pytest.mark.heavy
def test_without_storage_the_page_says_what_is_not_kept(browser, weak_site):
    """Check a browser that forbids storage, and one whose storage is full."""
    forbid = "Object.defineProperty(window, 'localStorage', { get() { throw new DOMException('private') } });"
    full = "Storage.prototype.setItem = () => { throw new DOMException('full', 'QuotaExceededError') };"
    for script in (forbid, full):
        with reader_of(browser, weak_site, script) as reader:
            reader.run(1)
            reader.says(WORDS["not_kept"])
            reader.bar("load").click()
            reader.outputs(1).wait_for()
            reader.write(1, "mine")
            reader.cell(1).get_by_text(WORDS["unstored"]).wait_for()
            prints(reader, 1)


@pytest.mark.heavy
def test_two_tabs_show_the_same_code_or_ask(browser, fake_live_address):
    """Check that a tab takes over code that it has not changed, and that no code is lost if both changed a cell."""
    with browser.new_context(service_workers="block") as context:
        tabs = [Notebook(context.new_page(), NOTEBOOK) for _ in range(2)]
        for tab in tabs:
            tab.page.goto(f"{fake_live_address}/{PAGE}")
            tab.run(0)
            if tab is tabs[0]:
                tab.bar("load").click()
            tab.says(WORDS["ready"])
        one, two = tabs
        one.write(1, "a = 1")
        two.cell(1).locator("pre", has_text="a = 1").wait_for()
        two.write(0, "b = 2")
        one.cell(0).locator("pre", has_text="b = 2").wait_for()
        two.write(1, "a = 2")
        one.cell(1).get_by_text(WORDS["two_tabs"]).wait_for()
        assert one.code(1).input_value() == "a = 1"
        one.button(1, "take_other").click()
        assert one.code(1).input_value() == "a = 2" and not one.cell(1).locator(".run-notice").count()
        one.write(0, "b = 3")
        two.button(0, "keep_mine").click()
        one.button(0, "take_other").click()
        assert one.code(0).input_value() == "b = 2"
        one.page.reload()
        one.page.keyboard.press("Shift")
        one.page.locator(".run-changed").nth(1).wait_for()
        assert [one.cell(k).locator("pre").first.inner_text() for k in (0, 1)] == ["b = 2", "a = 2"]
