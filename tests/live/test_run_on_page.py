"""Test how a page runs cells: its questions, buttons, outputs, keys and the storage of the reader's code.

Cells run on a stand-in for Python (tests/live/fake); test_python_on_page.py tests the real one.
"""

import json
import re

import pytest

from book import editions
from book.live import page_scripts
from companion.figures import Unrolling
from companion.figures.figure import own_state
from tests.live.notebook import notebook
from tests.site.browsing import MARK_KINDS, WIDE, accessible, opened

LANGUAGES = [edition.language for edition in editions.editions()]
# Slows the stand-in down, so that tests can look at the page while it loads.
SLOWLY = "window.slowly = 150"
# Scrolls the page before all of its scripts have run, as browsers do when they restore the scroll position.
SCROLLED = """const listen = addEventListener; window.addEventListener = (kind, ...more) => {
    listen(kind, ...more);
    if (kind === "pointerdown") dispatchEvent(new Event("scroll"));
}"""


@pytest.mark.heavy
def test_nothing_is_loaded_before_the_reader_agrees(browser, fake_live_address):
    """Check the question with the size, the progress, and that the reader is not asked again after a reload."""
    with notebook(browser, fake_live_address, SLOWLY) as book:
        page, requests = book.page, []
        page.on("request", lambda request: requests.append(request.url.removeprefix(fake_live_address)))
        assert page.locator(".run-row button").count() == len(book.cells) and not [
            url for url in requests if "live" in url
        ]
        book.run(2)
        book.says("loads Python: 18 MB")
        assert book.bar("Load and run").evaluate("button => button === document.activeElement")
        book.bar("Not now").click()
        assert not page.locator(".run-bar").count() and not page.evaluate("window.asked")
        assert book.button(2).evaluate("button => button === document.activeElement")
        assert page.locator(".run-honest").count() == 0
        book.run(2)
        assert not [url for url in requests if "kernel" in url]
        book.bar("Load and run").click()
        for text in ("Loading numpy: 2.0 of 8 MB", "Loading numpy: 6.0 of 8 MB"):  # looked for at every frame
            page.wait_for_function("text => document.querySelector('.run-said').textContent.includes(text)", arg=text)
        assert page.locator("[role=progressbar]").get_attribute("aria-valuenow") in ("75", "100")
        assert book.ran() == [0, 1, 2]
        assert f"held to the real one by {page_scripts.count_tests()} tests" in page.locator(".run-honest").inner_text()
        page.reload()
        book.run(0)
        book.says("Python is ready")
        assert book.ran() == [0]


def test_cells_above_run_first_if_they_are_stale(browser, fake_live_address):
    with notebook(browser, fake_live_address) as book:
        book.load(3)
        assert book.ran() == [0, 1, 2, 3]
        book.run(3)
        assert book.ran() == [3]
        book.write(1, 'print("other")')
        book.run(4)
        assert book.ran() == [1, 2, 3, 4]  # cells after a change run again
        book.write(0, 'print("first")')
        book.run(0)
        book.outputs(0).wait_for()
        book.cell(3).get_by_text("before a change above").wait_for()
        book.run(2)
        assert book.ran() == [0, 1, 2]
        book.alone(2)
        assert book.ran() == [2]
        for choice, expected in (
            ("Run all above", [0, 1]),
            ("Run this cell and all below", [*range(2, len(book.cells))]),
        ):
            book.button(2, "More").click()
            book.page.get_by_role("menuitem", name=choice).click()
            assert book.ran() == expected
        book.bar("Run all").click()
        assert book.ran() == [*range(len(book.cells))]


def test_code_of_the_reader_is_stored(browser, fake_live_address):
    """Check that it is restored at the next visit before anything runs, and that the book's code can be restored."""
    with notebook(browser, fake_live_address, SCROLLED) as book:
        page = book.page
        book.load()
        stored = book.cell(2).locator(".cell_input pre").inner_text()
        book.write(2, 'print("mine")\n# 我的')
        book.run(2)
        book.outputs(2).get_by_text("mine").wait_for()
        assert "your output" in book.cell(2).inner_text()
        book.button(2, "show the book’s").click()
        assert book.cell(2).locator(".cell_output:not(.run-output)").is_visible() and not book.outputs(2).is_visible()
        book.button(2, "show yours").click()
        assert book.outputs(2).is_visible()
        page.reload()
        code = book.cell(2).locator(".cell_input pre")
        code.locator("text=mine").wait_for()
        assert code.inner_text() == 'print("mine")\n# 我的' and code.locator(".nb, .s2, .c1").count() == 3
        book.button(2, "Restore").click()
        assert code.inner_text() == stored and not book.button(2, "Restore").is_visible()
        page.reload()
        assert page.evaluate("Object.keys(localStorage).sort()") == ["live", "stopped"]  # and where the reader was


def test_an_error_stops_the_cells_that_wait(browser, fake_live_address):
    with notebook(browser, fake_live_address) as book:
        book.load()
        book.write(1, 'raise ValueError("no")')
        book.run(3)
        book.says("ended with an error")
        assert book.ran() == [0, 1] and "----> 1 raise" in book.outputs(1).inner_text()
        assert book.outputs(1).locator(".ansi-red").inner_text() == "ValueError"
        assert book.button(1, "Run (ended with an error)").is_visible()
        assert [book.cell(k).get_attribute("data-run") for k in range(4)] == ["done", "failed", "new", "new"]
        book.button(1, "Restore").click()
        book.run(2)
        assert book.ran() == [1, 2]


def test_an_endless_cell_can_be_stopped(browser, fake_live_address):
    """Check that Python restarts without variables, and that the reader can get back the book's outputs."""
    with notebook(browser, fake_live_address) as book:
        book.load(1)
        book.write(1, "while True:\n    pass")
        book.run(2)
        book.says("Cell 1 of 2 runs")
        assert book.cell(1).get_attribute("aria-busy") == "true"
        book.button(1, "Stop").click()
        book.says("Python begins anew")
        book.page.wait_for_function("asked.at(-1) === 'start'")
        assert book.calls()[-2:] == ["stop", "start"] and book.code(1).input_value().startswith("while True")
        book.button(1, "Restore").click()
        book.run(2)
        assert book.ran() == [0, 1, 2]
        book.write(1, 'print("mine")')
        book.run(1)
        book.outputs(1).wait_for()
        book.bar("Start anew").click()
        book.says("the book’s outputs are back")
        assert not book.page.locator(".run-output").count() and book.code(1).input_value() == 'print("mine")'
        assert all(output.is_visible() for output in book.page.locator(".cell_output").all()[:2])


@pytest.mark.heavy
def test_python_that_ends_starts_again_with_the_next_run(browser, fake_live_address):
    with notebook(browser, fake_live_address) as book:
        book.load(1)
        book.write(1, "crash")
        book.run(2)
        book.says("Python ended unexpectedly (out of memory)")
        book.button(1, "Restore").click()
        book.run(2)
        book.says("Python is ready")
        assert book.ran()[-3:] == [0, 1, 2]


@pytest.mark.heavy
def test_a_failed_load_is_reported_and_can_be_repeated(browser, fake_live_address):
    with notebook(browser, fake_live_address, "window.unreachable = true") as book:
        broken = "window.unrolledRunning = () => ({ prepared: Promise.reject(new Error('cells')) })"
        book.page.route("**/running.js*", lambda route: route.fulfill(body=broken, content_type="text/javascript"))
        book.run(0)
        book.button(0, page_scripts.words("en")["unloaded"]).wait_for()
        book.page.unroute("**/running.js*")
        book.button(0, page_scripts.words("en")["unloaded"]).click()
        book.bar("Load and run").click()
        book.says("could not be loaded (numpy.whl).")
        book.page.evaluate("window.unreachable = false")
        book.bar("Try again").click()
        book.says("Python is ready")
        assert book.ran() == [0]


@pytest.mark.heavy
def test_outputs_of_all_kinds(browser, fake_live_address):
    """Check that each kind looks like the stored outputs, and that none changes the rest of the page."""
    shown = {
        "text/markdown": r"| a | b |\n|:--|--:|\n| `x` | 1 |",
        "text/html": r"<style>body { display: none }</style><script>document.title = 'no'</script><b>bold</b>",
        "image/svg+xml": (
            r'<svg xmlns="http://www.w3.org/2000/svg" width="90" height="9"><defs><path id="p" d="M0 0h9"/></defs><use'
            r' href="#p" stroke="#1f2328"/></svg>'
        ),
        "text/plain": "tensor([1., 2.])",
        "application/vnd.unrolled.figure+json": json.dumps(
            {"name": "unrolling", "id": 7, "state": own_state(Unrolling().get_state())}
        ),
    }
    with notebook(browser, fake_live_address) as book:
        page = book.page
        book.load()
        title = page.title()
        book.write(1, "\n".join(f"show {kind} {text}" for kind, text in shown.items()))
        book.run(1)
        book.says("Python is ready")
        output = book.outputs(1)
        assert (
            output.locator(".text_markdown td").all_inner_texts() == ["x", "1"]
            and output.locator("td.text-right").count() == 1
        )
        assert output.locator("b").inner_text() == "bold" and page.title() == title and page.locator("h1").is_visible()
        drawing = output.locator("svg.picture use")
        assert drawing.get_attribute("href") == "#run-svg1-p" and drawing.get_attribute("stroke") == "currentColor"
        assert output.get_by_role("img", name="A picture drawn by your code").count() == 1
        assert output.locator(".text_plain.no-columns").inner_text().strip() == "tensor([1., 2.])"
        output.locator("figure svg.drawing").first.wait_for()
        book.calls()
        output.get_by_label("spectral radius").press("ArrowRight")
        (call,) = book.calls()
        assert call.startswith("change 7 {")
        state = dict.fromkeys(json.loads(call.removeprefix("change 7 ")), 0.5)
        streams = [
            {"output_type": "stream", "name": "stdout", "text": text} for text in ("gone\n", "10%\r", "20%\rall\n")
        ]
        first, second = (
            {"data": {"text/plain": text}, "transient": {"display_id": "one"}} for text in ("first", "second")
        )
        messages = [
            streams[0], {"output_type": "clear_output", "wait": True}, *streams[1:],
            {"output_type": "display_data"} | first,
            {"output_type": "update_display_data"} | second, {"output_type": "figure", "id": 7, "state": state},
        ]  # fmt: skip
        book.write(3, "\n".join(f"say {json.dumps(message)}" for message in messages))
        book.run(3)
        book.outputs(3).get_by_text("second").wait_for()
        page.wait_for_function("document.querySelector('.run-output .stream')?.textContent.trim() === 'all'")
        assert book.outputs(3).inner_text().split() == ["all", "second"]
        assert output.get_by_label("spectral radius").input_value() == "0.5"
        book.write(2, 'print(1500 lines)\nprint(998500 lines)\nprint("end")\nshow image/svg+xml <svg')
        book.run(2)
        book.outputs(2).locator("pre", has_text="a line").wait_for()
        assert book.outputs(2).inner_text().count("a line") == 2000
        assert "998,001 more lines are left out" in book.outputs(2).inner_text()


def test_keys(browser, fake_live_address):
    """Check Shift+Enter, Ctrl+Enter and Escape in cells and editors, and the keys of the menu."""
    with notebook(browser, fake_live_address) as book:
        page = book.page
        book.load()
        book.button(0, "Edit").focus()
        page.keyboard.press("Enter")
        page.locator(".cell textarea").wait_for()
        book.code(0).press("Control+Enter")
        book.says("Python is ready")
        assert book.code(0).evaluate("button => button === document.activeElement")
        book.code(0).press("Shift+Enter")
        assert book.button(1).evaluate("button => button === document.activeElement")
        page.keyboard.press("Shift+Enter")
        assert book.button(2).evaluate("button => button === document.activeElement")
        assert book.ran() == [0, 0, 0, 1]
        book.code(1).press("Escape")
        focused = page.evaluate(
            "[document.activeElement.tagName, document.activeElement.closest('.cell').previousElementSibling.id]"
        )
        assert focused == ["BUTTON", book.cells[1]]
        book.button(1, "More").click()
        page.keyboard.press("ArrowDown")
        assert page.evaluate("document.activeElement.textContent") == "Run this cell and all below"
        page.keyboard.press("Escape")
        assert not page.locator(".run-menu").is_visible()


@pytest.mark.heavy
@pytest.mark.parametrize(("width", "scheme"), [(360, "light"), (1280, "dark")])
def test_page_is_accessible(browser, fake_live_address, width, scheme):
    """Check it with the question, and with cells that have run, failed, been changed or wait."""
    with notebook(browser, fake_live_address, color_scheme=scheme, viewport={"width": width, "height": 800}) as book:
        page = book.page
        height = page.evaluate("document.documentElement.scrollHeight")
        book.run(1)
        book.says("loads Python")
        accessible(page, ".run-bar")
        book.bar("Load and run").click()
        book.write(2, 'print("mine")')
        book.run(2)
        book.write(3, 'raise ValueError("no")')
        book.run(3)
        book.says("ended with an error")
        book.write(4, "while True:")
        book.button(4, "More").click()
        book.page.get_by_role("menuitem", name="Run this cell alone").click()
        book.says("Cell 1 of 1 runs")
        book.run(5)
        assert page.evaluate(MARK_KINDS) > 4
        accessible(page, rules={"color-contrast": {"enabled": False}})
        accessible(page, "[data-kind]", runOnly=["color-contrast"])
        assert page.evaluate("document.documentElement.scrollWidth") == width and page.evaluate(WIDE) == []
        assert height > 1000


KERNEL = """
async (address) => {
  const { start } = await import(address), loaded = [], outputs = { a: [], b: [], c: [] }, stopped = [];
  const run = (name, source) => kernel.run(source, { onOutput: (output) => outputs[name].push(output) }).then(({ status }) => status);
  const begin = (files) => start({ files, size: 2, reload: [], onProgress: (...progress) => loaded.push(progress) });
  let kernel = begin({});
  const ended = [await run("a", "1 2"), await run("b", "3 bad")];
  kernel.change(7, "late");
  for (let k = 0; k < 999 && outputs.b.length < 3; k++) await new Promise((done) => setTimeout(done));
  const endless = run("c", "4 on").catch((error) => stopped.push(error.message));
  for (let k = 0; k < 999 && outputs.c.length < 9; k++) await new Promise((done) => setTimeout(done));
  kernel.stop();
  await endless;
  const first = outputs.c.length;
  kernel = begin({});
  ended.push(await run("a", "5"));
  const lost = await begin({ lost: 1 }).ready.catch(({ message }) => message);
  return { lost, loaded, ended, stopped, outputs: [outputs.a, outputs.b, outputs.c.slice(0, 4)], silent: outputs.c.length === first };
}
"""  # noqa: E501


def test_the_kernel(browser, fake_live_address):
    """Check that each run gets its own outputs, that a stopped run gets no more, and that a failed start rejects."""
    with opened(browser, f"{fake_live_address}/en/first_network.html") as page:
        result = page.evaluate(KERNEL, f"{fake_live_address}/live/thread/kernel.js")
        assert result["lost"] == "numpy: 404" and result["loaded"] == [[2, 2, "numpy"]] * 3
        assert result["ended"] == ["ok", "error", "ok"]
        assert result["outputs"] == [["1", "2", "5"], ["3", "bad", [7, "late"]], ["4", "on", "on", "on"]]
        assert result["stopped"] == ["stopped"] and result["silent"] and len(page.workers) == 2


def test_page_opened_as_a_file_says_why_nothing_runs(browser, fake_live_site):
    with opened(browser, (fake_live_site / "en/first_network.html").as_uri()) as page:
        page.locator(".run-row button").first.click()
        page.locator(".run-said", has_text="This page is a file").wait_for()
        page.get_by_role("button", name="Close").click()


@pytest.mark.parametrize("language", LANGUAGES)
def test_words_are_translated(language):
    """Check that all languages have the same keys and placeholders, and that the scripts use every key."""
    translated, original = (
        page_scripts.tomllib.loads(page_scripts.read(f"words/{source}.toml"))
        for source in (language, editions.ORIGINAL)
    )
    placeholders = [
        {key: sorted(re.findall(r"\{\w+\}|`\w+`", text)) for key, text in words.items()}
        for words in (translated, original)
    ]
    assert placeholders[0] == placeholders[1]
    scripts = page_scripts.read("run.js") + "".join(
        path.read_text(encoding="utf-8") for path in (page_scripts.HERE / "page").glob("*.js")
    )
    named = set(re.findall(r"[\w-]+", scripts)) | {*page_scripts.REASONS, *page_scripts.ON_PAGES, *page_scripts.NOTICES}
    assert set(translated) <= named
    assert set(re.findall(r"\bwords\.(\w+)", scripts)) - {"cut"} <= set(translated)
