"""Test `make watch`: it builds saved files, reloads the open page, and keeps the last good page after an error."""

import os
import re
import shutil
import signal
import subprocess
import sys
import urllib.request

import psutil
import pytest
from nbformat.v4 import new_markdown_cell

from tests.project.paths import ROOT
from tests.site.browsing import TIMEOUT, wait_for
from tests.site.small_book import copy_edition, copy_shared, write_chapter, write_table


@pytest.fixture
def tree(tmp_path):
    copy_shared(tmp_path)
    write_table(tmp_path)
    copy_edition(tmp_path, "en")
    shutil.copy(ROOT / "book/pictures/one_token.svg", tmp_path / "book/drawn.svg")
    (tmp_path / "book/en/index.md").write_text("# Small\n", encoding="utf-8")
    write_chapter(tmp_path)
    return tmp_path


@pytest.mark.heavy
def test_a_saved_page_is_built_and_reloaded(tree, browser):
    log = tree / "log"
    with log.open("wb") as output:
        process = subprocess.Popen(
            [sys.executable, "-m", "book.site.watch", "--port", "8100"],
            cwd=tree,
            stdout=output,
            stderr=output,
            start_new_session=True,
        )
    try:
        address = wait_for(lambda: re.search(r"http://localhost:\d+/", log.read_text(encoding="utf-8")))[0]
        url = f"{address}en/chapter.html"
        with browser.new_page() as page:
            page.goto(url)
            page.wait_for_function("window.LiveReload?.connector?.protocol")
            write_chapter(tree, new_markdown_cell("Saved at last."))
            page.get_by_text("Saved at last.").wait_for()  # reloaded by the server

        write_chapter(tree, new_markdown_cell(r"Bad: $\nosuch{x}$"))
        wait_for(lambda: "build.py: failed: en" in log.read_text(encoding="utf-8"))
        assert r"Undefined control sequence: \nosuch" in log.read_text(encoding="utf-8")
        with urllib.request.urlopen(url) as response:
            assert b"Saved at last." in response.read() and response.headers["Cache-Control"] == "no-store"

        wait_for(lambda: not psutil.Process(process.pid).children())  # the build has ended
        os.killpg(process.pid, signal.SIGINT)  # as Ctrl+C in a terminal does
        assert process.wait(TIMEOUT) == 0
        assert "Traceback" not in log.read_text(encoding="utf-8")
    finally:
        if process.poll() is None:
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()
    assert not any(b"livereload" in path.read_bytes() for path in (tree / "_build").rglob("*.html"))
