"""Test how the parts of live pages are fetched and packed: checksums, sizes, and the name of the folder."""

import json
import zipfile
from hashlib import sha256

import pytest

from book.live import fetch

GOOD, BAD = b"a wheel", b"another wheel"
CHECKSUM = sha256(GOOD).hexdigest()


@pytest.fixture
def sources(tmp_path, monkeypatch):
    """Return the paths of a wheel in two sources and in the cache."""
    folders = [tmp_path / name for name in ("first", "second", "cache")]
    for folder in folders:
        folder.mkdir()
    monkeypatch.setattr(fetch, "CACHE", folders[-1])
    monkeypatch.setitem(fetch.SETTINGS, "source", [{"url": f"{folder.as_uri()}/"} for folder in folders[:2]])
    monkeypatch.setattr(fetch, "unreachable", {})
    return [folder / "one.whl" for folder in folders]


def test_a_wheel_with_another_checksum_is_rejected(sources):
    """Check sources and cache, and the error if no source has the right file."""
    first, second, cached = sources
    first.write_bytes(BAD)
    second.write_bytes(GOOD)
    assert fetch.wheel("one.whl", CHECKSUM) == cached and cached.read_bytes() == GOOD
    cached.write_bytes(BAD)
    second.write_bytes(BAD)
    with pytest.raises(fetch.Missing, match="could not be had:\n.*first/: its checksum is another one\n.*second/: its"):
        fetch.wheel("one.whl", CHECKSUM)
    second.write_bytes(GOOD)
    assert fetch.wheel("one.whl", CHECKSUM).read_bytes() == GOOD
    first.unlink()
    second.unlink()
    assert fetch.wheel("one.whl", CHECKSUM) == cached


def test_the_folder_is_named_by_its_contents(tmp_path, monkeypatch):
    """Check also that the manifest has the sizes of the loaded files."""
    fetched, code, site = (tmp_path / name for name in ("fetched", "code", "site"))
    for folder in (fetched, code):
        folder.mkdir()
    (fetched / "licences.txt").write_text("mine")
    (code / "one.py").write_text("1")
    monkeypatch.setattr(fetch, "FETCHED", fetched)
    monkeypatch.setattr(fetch, "book_code", lambda: {"a/one.py": (code / "one.py").read_bytes()})

    def packed_folder():
        fetch.pack(site)
        manifest = json.loads((site / "live" / "manifest.json").read_text())
        (folder,) = (path for path in (site / "live").iterdir() if path.is_dir())
        loaded = {path.name: path.stat().st_size for path in folder.iterdir() if path.name != "licences.txt"}
        assert manifest == {
            "version": folder.name,
            "folder": f"{folder.name}/",
            "size": sum(loaded.values()),
            "files": loaded,
        }
        entries = [(entry.filename, entry.date_time) for entry in zipfile.ZipFile(folder / "book.zip").infolist()]
        assert entries == [("a/one.py", (1980, 1, 1, 0, 0, 0))]  # so that equal files give equal archives
        return folder.name

    fetch.pack(site)
    assert not (site / "live").exists()  # nothing was fetched
    (fetched / "packages.zip").write_bytes(b"1")
    first = packed_folder()
    assert packed_folder() == first
    (code / "one.py").write_text("2")
    assert packed_folder() != first


def test_files_that_no_cell_uses_are_left_out(tmp_path):
    with zipfile.ZipFile(tmp_path / "one.whl", "w") as archive:
        for name in ("numpy/core.py", "numpy/core.pyi", "numpy/tests/test_core.py"):
            archive.writestr(name, name)
    assert fetch.contents([tmp_path / "one.whl"]) == {"numpy/core.py": b"numpy/core.py"}
