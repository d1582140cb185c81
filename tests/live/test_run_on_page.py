"""Running and changing the cells of a page, as a reader does: what the page asks, shows, says and keeps.

A stand-in for Python (tests/live/fake) answers here at once; what the real one gives is in test_python_on_page.py.
"""

import json
import re

import pytest

from book import editions
from book.live import page_scripts
from companion.figures import Unrolling
from companion.figures.figure import own
from tests.live.notebook import NOTEBOOK, Notebook, notebook
from tests.site.browsing import MARK_KINDS, WIDE, accessible, begin, opened

SPOKEN = [edition.language for edition in editions.editions()]
# Where the stand-in is slower than it could be, so that one can look meanwhile.
SLOWLY = "window.slowly = 150"
# As a page that comes back where it was read: it is scrolled before all of its scripts have run.
SCROLLED = """const listen = addEventListener; window.addEventListener = (kind, ...more) => {
    listen(kind, ...more);
    if (kind === "pointerdown") dispatchEvent(new Event("scroll"));
}"""


@pytest.mark.heavy
def test_nothing_is_loaded_before_a_cell_is_run(browser, offered):
    """Then it is said how much, and asked; where it was agreed once, it is not asked again."""
    with notebook(browser, offered, SLOWLY) as book:
        page, requests = book.page, []
        begin(page)
        page.on("request", lambda request: requests.append(request.url.removeprefix(offered)))
        assert page.locator(".run-row button").count() == len(book.cells) and not [
            one for one in requests if "live" in one
        ]
        book.run(2)
        book.says("loads Python: 18 MB")
        assert book.bar("Load and run").evaluate("one => one === document.activeElement")
        book.bar("Not now").click()
        assert not page.locator(".run-bar").count() and not page.evaluate("window.asked")
        assert book.button(2).evaluate("one => one === document.activeElement")
        assert page.locator(".run-honest").count() == 0
        book.run(2)
        assert not [one for one in requests if "kernel" in one]
        book.bar("Load and run").click()
        for said in ("Loading numpy: 2.0 of 8 MB", "Loading numpy: 6.0 of 8 MB"):  # looked for at every frame
            page.wait_for_function("text => document.querySelector('.run-said').textContent.includes(text)", arg=said)
        assert page.locator("[role=progressbar]").get_attribute("aria-valuenow") in ("75", "100")
        assert book.ran() == [0, 1, 2]
        assert f"held to the real one by {page_scripts.count_tests()} tests" in page.locator(".run-honest").inner_text()
        page.reload()
        book.run(0)
        book.says("Python is ready")
        assert book.ran() == [0]


def test_cells_run_in_their_order_as_far_as_needed(browser, offered):
    with notebook(browser, offered) as book:
        book.load(3)
        assert book.ran() == [0, 1, 2, 3]
        book.run(3)
        assert book.ran() == [3]
        book.write(1, 'print("other")')
        book.run(4)
        assert book.ran() == [1, 2, 3, 4]  # what follows a change runs again
        book.write(0, 'print("first")')
        book.run(0)
        book.outputs(0).wait_for()
        assert "before a change above" in book.cell(3).inner_text()
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


def test_what_the_reader_writes_is_kept(browser, offered):
    """It is there at the next visit, before anything runs, and the book's code is had back."""
    with notebook(browser, offered, SCROLLED) as book:
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
        assert page.evaluate("Object.keys(localStorage)") == ["live"]


@pytest.mark.heavy
def test_two_windows_keep_what_is_written_in_either(browser, offered):
    with notebook(browser, offered) as book:
        book.load()
        with opened(book.page.context, f"{offered}/en/first_network.html") as page:
            other = Notebook(page, NOTEBOOK)
            other.run(1)
            other.says("Python is ready")
            other.write(1, "b = 2")
            page.wait_for_function("localStorage['code:/en/first_network.html']")
        book.write(0, "a = 1")
        book.page.reload()
        begin(book.page)
        book.page.locator(".run-changed").nth(1).wait_for()
        assert [book.cell(k).locator("pre").first.inner_text() for k in (0, 1)] == ["a = 1", "b = 2"]


@pytest.mark.heavy
def test_where_nothing_can_be_kept_all_else_works(browser, offered):
    forbidden = "Object.defineProperty(window, 'localStorage', { get() { throw new DOMException('private') } });"
    with notebook(browser, offered, forbidden) as book:
        book.load(1)
        book.write(1, 'print("mine")')
        book.run(1)
        book.outputs(1).get_by_text("mine").wait_for()


def test_an_error_ends_the_round(browser, offered):
    with notebook(browser, offered) as book:
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


def test_what_never_ends_is_stopped(browser, offered):
    """The page says that everything begins anew, and everything does."""
    with notebook(browser, offered) as book:
        book.load(1)
        book.write(1, "while True:\n    pass")
        book.run(2)
        book.says("Cell 1 of 2 runs")
        assert book.cell(1).get_attribute("aria-busy") == "true"
        book.button(1, "Stop").click()
        book.says("Python begins anew")
        assert book.asked()[-1:] == ["start"] and book.code(1).input_value().startswith("while True")
        book.button(1, "Restore").click()
        book.run(2)
        assert book.ran() == [0, 1, 2]
        book.write(1, 'print("mine")')
        book.run(1)
        book.outputs(1).wait_for()
        book.bar("Start anew").click()
        book.says("the book’s outputs are back")
        assert not book.page.locator(".run-output").count() and book.code(1).input_value() == 'print("mine")'
        assert all(one.is_visible() for one in book.page.locator(".cell_output").all()[:2])


@pytest.mark.heavy
def test_what_cannot_be_loaded_is_named_and_tried_again(browser, offered):
    with notebook(browser, offered, "window.unreachable = true") as book:
        broken = "window.unrolledRunning = () => ({ prepared: Promise.reject(new Error('cells')) })"
        book.page.route("**/running.js*", lambda route: route.fulfill(body=broken, content_type="text/javascript"))
        book.run(0)
        book.button(0, page_scripts.words("en")["unloaded"]).wait_for()
        book.page.unroute("**/running.js*")
        book.button(0, page_scripts.words("en")["unloaded"]).click()
        book.bar("Load and run").click()
        book.says("could not be loaded (numpy.whl)")
        book.page.evaluate("window.unreachable = false")
        book.bar("Try again").click()
        assert book.ran() == [0]


@pytest.mark.heavy
def test_outputs(browser, offered):
    """Each kind as the stored ones look, and none that breaks the page."""
    shown = {
        "text/markdown": r"| a | b |\n|:--|--:|\n| `x` | 1 |",
        "text/html": r"<style>body { display: none }</style><script>document.title = 'no'</script><b>bold</b>",
        "image/svg+xml": (
            r'<svg xmlns="http://www.w3.org/2000/svg" width="90" height="9"><defs><path id="p" d="M0 0h9"/></defs><use'
            r' href="#p" stroke="#1f2328"/></svg>'
        ),
        "text/plain": "tensor([1., 2.])",
        "application/vnd.unrolled.figure+json": json.dumps(
            {"name": "unrolling", "id": 7, "state": own(Unrolling().get_state())}
        ),
    }
    with notebook(browser, offered) as book:
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
        book.asked()
        output.locator("input[type=range]").first.press("ArrowRight")
        (asked,) = book.asked()
        assert asked.startswith("change 7 {")
        back = dict.fromkeys(json.loads(asked.removeprefix("change 7 ")), 0.5)
        streams = [
            {"output_type": "stream", "name": "stdout", "text": text} for text in ("gone\n", "10%\r", "20%\rall\n")
        ]
        first, second = (
            {"data": {"text/plain": text}, "transient": {"display_id": "one"}} for text in ("first", "second")
        )
        said = [
            streams[0], {"output_type": "clear_output", "wait": True}, *streams[1:],
            {"output_type": "display_data"} | first,
            {"output_type": "update_display_data"} | second, {"output_type": "figure", "id": 7, "state": back},
        ]  # fmt: skip
        book.write(3, "\n".join(f"say {json.dumps(one)}" for one in said))
        book.run(3)
        book.outputs(3).get_by_text("second").wait_for()
        page.wait_for_function("document.querySelector('.run-output .stream')?.textContent.trim() === 'all'")
        assert book.outputs(3).inner_text().split() == ["all", "second"]
        assert output.locator("input[type=range]").first.input_value() == "0.5"
        book.write(2, 'print(1500 lines)\nprint(998500 lines)\nprint("end")\nshow image/svg+xml <svg')
        book.run(2)
        book.outputs(2).locator("pre", has_text="a line").wait_for()
        assert book.outputs(2).inner_text().count("a line") == 2000
        assert "998,001 more lines are left out" in book.outputs(2).inner_text()


def test_keys(browser, offered):
    """Shift+Enter runs and goes on, Ctrl+Enter runs and stays, Escape leaves the editor, and from there Tab the
    cell."""
    with notebook(browser, offered) as book:
        page = book.page
        book.load()
        book.button(0, "Edit").focus()
        page.keyboard.press("Enter")
        page.locator("textarea").wait_for()
        book.code(0).press("Control+Enter")
        book.says("Python is ready")
        assert book.code(0).evaluate("one => one === document.activeElement")
        book.code(0).press("Shift+Enter")
        assert book.button(1).evaluate("one => one === document.activeElement")
        page.keyboard.press("Shift+Enter")
        assert book.button(2).evaluate("one => one === document.activeElement")
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
def test_it_is_accessible(browser, offered, width, scheme):
    """While it asks, and with cells that have run, failed, were changed and wait."""
    with notebook(browser, offered, color_scheme=scheme, viewport={"width": width, "height": 800}) as book:
        page = book.page
        begin(page)
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
async ([address, base]) => {
  const { start } = await import(address), loaded = [], heard = { a: [], b: [], c: [] }, stopped = [];
  const run = (name, source) => kernel.run(source, { onOutput: (output) => heard[name].push(output) }).then(({ status }) => status);
  const kernel = start({ base, onProgress: (...far) => loaded.push(far) });
  const ended = [await run("a", "1 2"), await run("b", "3 bad")];
  kernel.change(7, "late");
  for (let k = 0; k < 999 && heard.b.length < 3; k++) await new Promise((done) => setTimeout(done));
  const endless = run("c", "4 on").catch((error) => stopped.push(error.message));
  for (let k = 0; k < 999 && heard.c.length < 9; k++) await new Promise((done) => setTimeout(done));
  kernel.stop();
  await endless;
  const first = heard.c.length;
  ended.push(await run("a", "5"));
  return { loaded, ended, stopped, heard: [heard.a, heard.b, heard.c.slice(0, 4)], silent: heard.c.length === first };
}
"""  # noqa: E501


def test_the_kernel(browser, offered):
    """What runs is told what it is, its outputs come to it and to nobody else, and what is stopped is gone."""
    with opened(browser, f"{offered}/en/first_network.html") as page:
        address = [f"{offered}/live/thread/kernel.js", f"{offered}/live/thread/"]
        found = page.evaluate(KERNEL, address)
        assert found["loaded"] == [[2, 2, "numpy"]] * 2 and found["ended"] == ["ok", "error", "ok"]
        assert found["heard"] == [["1", "2", "5"], ["3", "bad", [7, "late"]], ["4", "on", "on", "on"]]
        assert found["stopped"] == ["stopped"] and found["silent"] and len(page.workers) == 1
        (begin,) = page.evaluate(
            """([address, base]) => import(address).then(({ start }) => {
            return Promise.allSettled([start({ base: base + "lost/", onProgress() {} }).ready]);
        })""",
            address,
        )
        assert begin["status"] == "rejected"


def test_a_file_says_why_nothing_runs(browser, offering_site):
    with opened(browser, (offering_site / "en/first_network.html").as_uri()) as page:
        page.locator(".run-row button").first.click()
        page.locator(".run-said", has_text="This page is a file").wait_for()
        page.get_by_role("button", name="Close").click()


@pytest.mark.parametrize("language", SPOKEN)
def test_words_are_there_in_every_language(language):
    """The same keys, with the same to put in; and none that nothing says."""
    said, original = (
        page_scripts.tomllib.loads(page_scripts.read(f"words/{one}.toml")) for one in (language, editions.ORIGINAL)
    )
    holes = [
        {key: sorted(re.findall(r"\{\w+\}|`\w+`", text)) for key, text in words.items()} for words in (said, original)
    ]
    assert holes[0] == holes[1]
    scripts = page_scripts.read("run.js") + "".join(
        path.read_text(encoding="utf-8") for path in (page_scripts.HERE / "page").glob("*.js")
    )
    named = set(re.findall(r"[\w-]+", scripts)) | set(page_scripts.REASONS) | set(page_scripts.PRACTICE)
    assert set(said) <= named
    assert set(re.findall(r"\bwords\.(\w+)", scripts)) - {"cut"} <= set(said)
