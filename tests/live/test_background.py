"""Test how `make book` fetches in the background what pages need to run their cells."""

import sys

import pytest

from book.live import background, fetch

GOOD = """
import pathlib
print("1 of 3", flush=True)
new = pathlib.Path(FOLDER)
new.mkdir()
(new / "packages.zip").write_bytes(b"1")
"""
BAD = "import sys; sys.exit('ignored\\nnpm could not download the packages. Check the network.')"


@pytest.fixture(autouse=True)
def parts(tmp_path, monkeypatch):
    """Let the parts be fetched into an empty folder; let npm be installed."""
    monkeypatch.setattr(fetch, "FETCHED", tmp_path / "live")
    monkeypatch.setattr(fetch, "NEW", tmp_path / "live.new")
    monkeypatch.setattr(background.shutil, "which", lambda name: name)
    return tmp_path / "live"


def run(program, added):
    """Fetch with a program in place of the real one; call `added` when the parts have come."""
    with background.BackgroundFetch([sys.executable, "-c", program]) as fetching:
        fetching.then(added).join(60)


def test_parts_are_added_when_they_have_come(parts, capsys):
    added = []
    run(GOOD.replace("FOLDER", repr(str(fetch.NEW))), lambda: added.append((parts / "packages.zip").read_bytes()))
    assert added == [b"1"] and not fetch.NEW.exists()
    assert capsys.readouterr().out == "1 of 3\nCells now run on the pages. Reload a page that is open.\n"


def test_a_failure_is_one_line(parts, capsys):
    fetch.NEW.mkdir()
    run(BAD, lambda: pytest.fail("nothing has come"))
    assert not fetch.NEW.exists() and not parts.exists()
    line = "What pages need to run cells could not be fetched: npm could not download the packages. Check the network."
    assert capsys.readouterr().out == f"{line} {background.HINT}\n"


def test_nothing_starts_without_npm_or_when_the_parts_are_there(parts, capsys, monkeypatch):
    monkeypatch.setattr(background.shutil, "which", lambda name: None)
    assert background.BackgroundFetch().then(pytest.fail) is None
    assert capsys.readouterr().out == f"To run cells on these pages, install npm (Node.js). {background.HINT}\n"
    parts.mkdir()
    (parts / "made_from.txt").write_text(fetch.sources_digest())
    assert background.BackgroundFetch().then(pytest.fail) is None
    assert capsys.readouterr().out == ""


def test_leaving_stops_the_process():
    with background.BackgroundFetch([sys.executable, "-c", "import time; time.sleep(600)"]) as fetching:
        thread = fetching.then(pytest.fail)
    thread.join(60)
    assert fetching.process.returncode < 0
