"""Test how a figure loads its weights, and what it says when they do not come."""

import pytest

from companion.figures import Attention, Past, Writing
from tests.figures.figure_page import figure_page, load, weights
from tests.figures.test_figure_writing import assert_equals_python, button


def test_failed_requests_are_reported(browser):
    """Check that timeouts and errors are reported, and that the reader can try again."""
    with figure_page(browser, "writing") as page:
        replace_send = "(answer) => { model.answers = model.answers || model.send; model.send = eval(answer); }"
        notice = page.locator(".strip .report")
        page.clock.install()
        page.evaluate(replace_send, "() => {}")
        page.get_by_role("button", name="Load the writer (259 kB)").click()
        assert notice.text_content() == "Loading …"
        page.clock.run_for(60_000)
        assert notice.text_content().startswith("Nobody has answered")
        page.evaluate(replace_send, "() => { throw new Error('no kernel') }")
        page.get_by_role("button", name="Try again").click()
        assert notice.text_content().startswith("Nobody has answered")
        page.evaluate("() => { model.send = () => model.answers({ want: 'x' }) }")
        page.get_by_role("button", name="Try again").click()  # an answer to another request is ignored
        assert notice.text_content() == "Loading …"


@pytest.mark.parametrize("file", [b"", b"<html>not found</html>", weights("writers/en.safetensors")[:5000]])
def test_broken_files_are_reported(browser, file):
    files = [file]
    with figure_page(browser, "writing", want=lambda name: files[0]) as page:
        page.get_by_role("button", name="Load the writer").click()
        page.wait_for_function(
            "document.querySelector('.strip .report').textContent.startsWith('The writer did not come')"
        )
        files[0] = weights("writers/en.safetensors")
        page.get_by_role("button", name="Try again (259 kB)").click()
        button(page, "Write").wait_for()


def test_weights_within_a_longer_buffer(browser):
    """Load weights from the middle of a buffer, as in a notebook."""
    with figure_page(browser, "writing") as page:
        page.evaluate("""() => (window.DataView = class extends DataView {
            constructor(bytes) {
                const longer = new Uint8Array(bytes.byteLength + 24);
                longer.set(new Uint8Array(bytes), 16);
                super(longer.buffer, 16, bytes.byteLength);
            }
        })""")
        load(page)
        assert_equals_python(page, Writing())


@pytest.mark.parametrize(("kind", "folder"), [(Attention, "readers"), (Past, "writers_small"), (Writing, "writers")])
def test_python_sends_weights_and_no_other_file(kind, folder):
    figure, sent, name = kind("ja"), [], f"{folder}/ja.safetensors"
    figure.send = lambda content, buffers=(): sent.append((content, list(buffers)))
    ask = figure._handle_custom_msg
    ask({"want": name}, [])
    assert sent.pop() == ({"have": name}, [weights(name)])
    for name in (f"{folder}/xx.safetensors", f"{folder}/../writer.py", "../pyproject.toml", "/etc/hosts", "", "ja"):
        ask({"want": name}, [])
        content, buffers = sent.pop()
        assert content["lacks"] == name and content["why"] and buffers == []
    for content in ({}, {"want": None}, {"want": [f"{folder}/ja.safetensors"]}, f"{folder}/ja.safetensors", None):
        ask(content, [])
    assert sent == []
