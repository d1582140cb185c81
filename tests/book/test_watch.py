"""`make watch`: what is saved arrives at an open page, a fault does not, and nothing is left behind."""

import http.client
import json
import os
import re
import shutil
import signal
import socket
import subprocess
import sys
import threading
import time
from urllib.parse import urlsplit

import pytest
from nbformat.v4 import new_markdown_cell
from repository import ROOT
from small_book import copy_edition, copy_shared, write_chapter, write_table

PATIENCE = 60  # seconds, on a machine that has much else to do
SHOWN = re.compile(r"^en: .*chapter\.html.*s\)$", re.MULTILINE)
REFUSED = re.compile(r"^en: not built", re.MULTILINE)

pytestmark = pytest.mark.heavy


class Watched:
    """book/watch.py, as it runs on a small edition, and all that it has said."""

    def __init__(self, tree, port):
        self.tree, self.said = tree, ""
        command = [sys.executable, "-W", "ignore", "book/watch.py", "--port", str(port)]
        self.process = subprocess.Popen(
            command, cwd=tree, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, encoding="utf-8", start_new_session=True
        )
        self.listener = threading.Thread(target=self.listen)
        self.listener.start()

    def listen(self):
        with self.process.stdout as output:  # ends when the last process has ended that could write to it
            for line in output:
                self.said += re.sub(r"\x1b\[[\d;]*m", "", line)

    def wait(self, pattern, start=0):
        """What was said from a place to where a pattern stands."""
        deadline = time.monotonic() + PATIENCE
        while not (found := re.compile(pattern).search(self.said, start)):
            assert time.monotonic() < deadline and self.listener.is_alive(), self.said
            time.sleep(0.02)
        return self.said[start : found.end()]

    def write(self, words, pattern):
        """Save the chapter with these words; return what is said of it."""
        start = len(self.said)
        write_chapter(self.tree, new_markdown_cell(words))
        return self.wait(pattern, start)

    def connect(self, path):
        connection = http.client.HTTPConnection(urlsplit(self.address).netloc, timeout=PATIENCE)
        connection.request("GET", path)
        return connection, connection.getresponse()

    def page(self, path="/en/chapter.html"):
        connection, answer = self.connect(path)
        text = answer.read().decode()
        connection.close()
        assert answer.status == 200 and answer.headers["Cache-Control"] == "no-store"
        return text


@pytest.fixture(scope="module")
def watched(tmp_path_factory):
    tree = tmp_path_factory.mktemp("watch") / "tree"
    copy_shared(tree)
    write_table(tree)
    for name in ("watch.py", "reload.py", "reload.js"):
        shutil.copy(ROOT / "book" / name, tree / "book")
    copy_edition(tree, "en")
    (tree / "book/en/index.md").write_text("# Small\n", encoding="utf-8")
    shutil.copy(ROOT / "book/pictures/one_token.svg", tree / "book/drawn.svg")
    write_chapter(tree)
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        watched = Watched(tree, port)
        try:
            watched.address = watched.wait(r"http://localhost:\d+").strip()
            watched.wait(SHOWN)
            assert int(watched.address.rpartition(":")[2]) > port  # the next free one
            yield watched
        finally:
            if watched.process.poll() is None:
                os.killpg(watched.process.pid, signal.SIGKILL)
            watched.process.wait()
            watched.listener.join()


def test_what_is_saved_arrives_at_a_page_that_listens(watched):
    since = re.search(r'<script data-since="(\d+)">', watched.page())[1]
    connection, stream = watched.connect(f"/reload?since={since}")
    watched.write("Saved at last.", SHOWN)
    deadline = time.monotonic() + PATIENCE
    line = next(line for line in stream if line.startswith(b"data:") or time.monotonic() > deadline)
    assert "en/chapter.html" in json.loads(line.removeprefix(b"data:"))
    connection.close()
    assert "Saved at last." in watched.page()


def test_an_open_page_shows_what_is_saved(watched, browser):
    """By itself, where it was, with what was unfolded."""
    with browser.new_page(viewport={"width": 800, "height": 300}) as page:
        page.goto(f"{watched.address}/en/chapter.html")
        page.locator("details summary").last.click()
        page.mouse.wheel(0, 200)
        page.wait_for_function("scrollY > 100")
        place = page.evaluate("scrollY")
        watched.write("Shown at once.", SHOWN)
        page.get_by_text("Shown at once.").wait_for()
        page.wait_for_function("place => Math.abs(scrollY - place) < 2", arg=place)  # what is further up may not be laid out yet
        page.wait_for_function("[...document.querySelectorAll('details')].at(-1).open")
        assert page.evaluate("navigator.serviceWorker.getRegistrations().then(all => all.length)") == 0


# A server that has something to say when it is told to, and to the page that comes then, before that is there.
AT_ONCE = """
window.EventSource = class {
    close() {}
    set onmessage(told) {
        window.told = told;
        if (sessionStorage.said === "once") { sessionStorage.said = "twice"; told({ data: '["*"]' }) }
    }
};
"""


def test_what_was_unfolded_stays_so_if_two_changes_come_at_once(watched, browser):
    with browser.new_page() as page:
        page.add_init_script(AT_ONCE)
        page.goto(f"{watched.address}/en/chapter.html")
        page.locator("details summary").last.click()
        page.evaluate("""() => { window.old = true; sessionStorage.said = "once"; told({ data: '["*"]' }) }""")
        page.wait_for_function("!window.old && sessionStorage.said === 'twice' && document.readyState === 'complete'")
        page.wait_for_function("[...document.querySelectorAll('details')].at(-1).open", timeout=5000)


def test_a_fault_is_named_and_leaves_the_last_good_page(watched):
    watched.write("Good.", SHOWN)
    assert r"Undefined control sequence: \nosuch" in watched.write(r"Bad: $\nosuch{x}$", REFUSED)
    start = len(watched.said)
    (watched.tree / "book/en/index.md").write_text("# Small\n\nAnd sound.\n", encoding="utf-8")
    assert r"\nosuch" in watched.wait(REFUSED, start)  # Sphinx itself would have forgotten it
    assert "Good." in watched.page() and "Bad" not in watched.page()
    start = len(watched.said)
    chapter = watched.tree / "book/en/chapter.ipynb"
    chapter.write_text(chapter.read_text(encoding="utf-8")[:500], encoding="utf-8")
    assert "does not appear to be JSON" in watched.wait(REFUSED, start)
    assert "Good." in watched.page()
    watched.write("Mended.", SHOWN)
    assert "Mended." in watched.page() and "And sound." in watched.page("/en/")


def test_a_new_chapter_is_picked_up(watched):
    start = len(watched.said)
    (watched.tree / "book/en/other.md").write_text("# Another\n", encoding="utf-8")
    with (watched.tree / "_toc.yml").open("a", encoding="utf-8") as table:
        table.write("  - file: book/en/other\n")
    watched.wait(r"en: \d pages", start)
    assert "Another" in watched.page("/en/other.html") and "other.html" in watched.page()


def test_files_hold_nothing_of_the_server(watched):
    built = watched.tree / "_build"
    pages = list(built.rglob("*.html"))
    assert pages and not any("data-since" in page.read_text(encoding="utf-8") for page in pages)
    assert not (built / "html").exists()  # that is the place of `make site`


def test_ctrl_c_ends_every_process(watched):
    os.killpg(watched.process.pid, signal.SIGINT)  # as a terminal does
    assert watched.process.wait(PATIENCE) == 0
    watched.listener.join(PATIENCE)
    assert not watched.listener.is_alive()  # nobody is left who could say something
    assert "Traceback" not in watched.said
