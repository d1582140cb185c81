"""Test what a reader does around cells: running the page, copying, editing, and moving figures.

Cells run on a stand-in for Python (tests/live/fake). The editor is the real one, if `make live` has fetched it.
"""

import json
import shutil

from book.live import page_scripts
from companion.figures import Unrolling
from companion.figures.figure import own_state
from tests.live.notebook import NOTEBOOK, notebook
from tests.site.browsing import WIDE, accessible, opened
from tests.site.whole_site import serve

FIGURE = "show application/vnd.unrolled.figure+json "


def show_figure(identifier):
    """Return a line for the stand-in that shows a figure."""
    return FIGURE + json.dumps({"name": "unrolling", "id": identifier, "state": own_state(Unrolling().get_state())})


def test_the_button_below_the_title_runs_the_page(browser, fake_live_address):
    """Check that it asks before it loads Python, and the menu of other ways beside it."""
    with notebook(browser, fake_live_address, viewport={"width": 320, "height": 700}) as book:
        page = book.page
        run, ways = (
            page.locator(".begin").get_by_role("button", name=name) for name in ("Run this page", "How to run the")
        )
        ways.click()
        menu = page.locator("#_ways")
        box = menu.bounding_box()
        assert "make lab" in menu.inner_text() and box["x"] >= 0 and box["x"] + box["width"] <= 320
        assert page.evaluate(WIDE) == []
        accessible(page, ".begin")
        page.keyboard.press("Escape")
        assert not menu.is_visible() and ways.evaluate("button => button === document.activeElement")
        ways.click()
        page.mouse.click(5, 650)
        assert not menu.is_visible()
        broken = "window.unrolledRunning = () => ({ prepared: Promise.reject(new Error('cells')) })"
        page.route("**/running.js*", lambda route: route.fulfill(body=broken, content_type="text/javascript"))
        run.click()
        again = page.locator(".begin").get_by_role("button", name=book.words["unloaded"])
        again.wait_for()
        page.unroute("**/running.js*")
        again.click()
        book.says("loads Python: 18 MB")
        assert not page.evaluate("window.asked")
        book.bar("Load and run").click()
        assert book.ran() == [*range(len(book.cells))]
        assert run.evaluate("button => button === document.activeElement")
        run.click()
        assert book.ran() == [*range(len(book.cells))]


def test_without_scripts_no_button_promises_to_run_the_page(browser, fake_live_address):
    with opened(browser, f"{fake_live_address}/en/first_network.html", java_script_enabled=False) as page:
        assert page.locator(".begin button").all_inner_texts() == ["Run this page", "How to run the notebook"]
        assert [button.is_visible() for button in page.locator(".begin button").all()] == [False, True]


def test_copying_leaves_the_code_as_it_is(browser, fake_live_address):
    """Check that the reader's code is copied, that outputs have no button, and that touch screens show the buttons."""
    options = {"permissions": ["clipboard-read", "clipboard-write"], "has_touch": True, "is_mobile": True}
    with notebook(browser, fake_live_address, **options) as book:
        page = book.page
        book.load()
        copied = []
        for text in (None, 'print("mine")'):
            if text:
                book.write(0, text)
                book.button(0, "leave").click()
            book.cell(0).locator(".copybtn").tap()
            page.locator(".copybtn.success").wait_for()
            copied.append(page.evaluate("navigator.clipboard.readText()"))
            assert not page.locator(".cell").get_by_role("textbox").count()
            page.evaluate("document.querySelector('.copybtn.success').classList.remove('success')")
        assert [text.rstrip("\n") for text in copied] == [
            page_scripts.read_cells(NOTEBOOK)[0]["source"],
            'print("mine")',
        ]
        assert page.locator(".cell_input .copybtn").count() and not page.locator(".cell_output .copybtn").count()
        assert set(page.locator(".copybtn").evaluate_all("all => all.map(one => getComputedStyle(one).opacity)")) == {
            "1"
        }
        book.cell(0).locator("pre").first.tap(position={"x": 40, "y": 20})
        page.locator(".cell").get_by_role("textbox").wait_for()


def test_a_figure_whose_python_is_gone_says_so(browser, fake_live_address):
    """Check also two figures in one output, and one figure that is displayed twice."""
    with notebook(browser, fake_live_address) as book:
        page = book.page
        book.load()
        book.write(1, "\n".join(map(show_figure, ("1", "1", "2"))))
        book.run(1)
        book.says("Python is ready")
        sliders = [book.outputs(1).locator("figure").nth(k).locator("input[type=range]").first for k in range(3)]
        page.wait_for_function("document.querySelectorAll('.run-output figure svg.drawing').length >= 3")
        files = page.locator("head [src*='figures/'], head [href*='figures.css']")
        assert files.evaluate_all("all => all.map(one => (one.src ?? one.href).split('/').pop()).sort()") == [
            "common.js", "figures.css", "unrolling.js",
        ]  # fmt: skip
        book.calls()
        sliders[0].press("ArrowRight")
        (call,) = book.calls()
        assert call.startswith("change 1 {")
        first, second, other = (slider.input_value() for slider in sliders)
        assert first == second != other
        book.write(2, "while True:")
        book.run(2)
        book.says("Cell 1 of 1 runs")
        sliders[2].press("ArrowRight")  # Python gets the value when it has ended
        assert [call[:8] for call in book.calls() if call.startswith("change")] == ["change 2"]
        book.button(2, "Stop").click()
        book.says("Python begins anew")
        sentence = book.words["disconnected"]
        assert book.outputs(1).get_by_text(sentence).count() == 3
        before = sliders[0].input_value()
        sliders[0].press("ArrowRight")
        assert sliders[0].input_value() != before and not [c for c in book.calls() if c.startswith("change")]
        book.button(2, "Restore").click()
        book.run(1)
        book.says("Python is ready")
        assert not page.get_by_text(sentence).count()


def test_the_editor_is_loaded_with_python_and_again_after_a_failure(browser, fake_live_address):
    with notebook(browser, fake_live_address) as book, book.page.expect_request("**/live/editor.js"):
        book.load()
    with notebook(browser, fake_live_address) as book:
        lost = lambda route: route.fulfill(body="throw Error('lost')", content_type="text/javascript")  # noqa: E731
        book.page.route("**/live/editor.js*", lost)
        book.load()
        book.button(0, "edit").click()
        book.says(book.words["no_editor"].format(why=""))
        book.page.unroute("**/live/editor.js*")
        book.button(0, "edit").click()
        book.page.locator(".cell").get_by_role("textbox").wait_for()
        book.says("Python is ready")


EDITOR = """async () => {
    const { createEditor } = await import("/editor.js"), nothing = () => {};
    window.left = 0;
    const actions = { onChange: nothing, onRun: nothing, onRunNext: nothing, onLeave: () => { window.left++; } };
    const doc = "if x:\\n\\ty";
    window.editor = createEditor({ parent: document.body, doc, label: "code", dark: false, ...actions });
    editor.focus();
}"""
PASTE = """text => {
    const clipboardData = new DataTransfer();
    clipboardData.setData("text/plain", text);
    const event = new ClipboardEvent("paste", { clipboardData, bubbles: true, cancelable: true });
    document.activeElement.dispatchEvent(event);
}"""


def test_the_editor_indents_by_spaces(browser, live_parts, tmp_path):
    """Check Tab, Shift+Tab, Enter and Escape, pasted and typed tabs, and tabs in stored code."""
    shutil.copy(live_parts / "editor.js", tmp_path)
    (tmp_path / "index.html").write_text("<!doctype html><link rel=icon href=data:,><title>editor</title>")
    with serve(tmp_path) as (address, _), opened(browser, address) as page:
        page.evaluate(EDITOR)

        def text_after(*keys, doc=None):
            if doc is not None:
                page.evaluate("doc => editor.setText(doc)", doc)
                page.keyboard.press("Control+End")
            for key in keys:
                page.keyboard.press(key)
            return page.evaluate("editor.text()")

        assert text_after() == "if x:\n    y"
        assert text_after("Tab", "1", doc="") == "    1"
        assert text_after("Tab", "1", doc="ab") == "ab  1"
        assert text_after("Tab", "1", doc="abcd") == "abcd    1"
        assert text_after("Control+a", "Tab", doc="a\n  b") == "    a\n      b"
        assert text_after("Shift+Tab", "Shift+Tab") == "a\nb"
        assert text_after("Enter", "c", doc="def f():\n    a") == "def f():\n    a\n    c"
        assert text_after("Enter", "a", doc="if x:") == "if x:\n    a"
        text_after(doc="if x:\n    a\n")
        page.evaluate(PASTE, "\tb = 1\n\t  c = '\t'\n")
        assert text_after("d") == "if x:\n    a\n    b = 1\n      c = '\t'\nd"
        text_after(doc="    ")
        page.keyboard.insert_text("\tz")  # as a phone's keyboard inserts it
        assert text_after("1") == "        z1"
        text_after("Escape")
        assert page.evaluate("window.left") == 1
