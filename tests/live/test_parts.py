"""What runs cells on pages: only files with the right checksums are taken, and the site says how much there is."""

import json
import zipfile
from hashlib import sha256

import pytest

from book.live import fetch

GOOD, BAD = b"a wheel", b"another wheel"
CHECKSUM = sha256(GOOD).hexdigest()


@pytest.fixture
def sources(tmp_path, monkeypatch):
    """Two places from which a wheel may be had, and a third in which it is kept."""
    places = [tmp_path / name for name in ("first", "second", "kept")]
    for place in places:
        place.mkdir()
    monkeypatch.setattr(fetch, "CACHE", places[-1])
    monkeypatch.setitem(fetch.SETTINGS, "source", [{"url": f"{place.as_uri()}/"} for place in places[:2]])
    monkeypatch.setattr(fetch, "unreachable", {})
    return [place / "one.whl" for place in places]


def test_a_wheel_with_another_checksum_is_not_taken(sources):
    """Neither from where it is fetched nor from where it is kept, and what there was is said."""
    first, second, kept = sources
    first.write_bytes(BAD)
    second.write_bytes(GOOD)
    assert fetch.wheel("one.whl", CHECKSUM) == kept and kept.read_bytes() == GOOD
    kept.write_bytes(BAD)
    second.write_bytes(BAD)
    with pytest.raises(fetch.Missing, match="could not be had:\n.*first/: its checksum is another one\n.*second/: its"):
        fetch.wheel("one.whl", CHECKSUM)
    second.write_bytes(GOOD)
    assert fetch.wheel("one.whl", CHECKSUM).read_bytes() == GOOD
    first.unlink()
    second.unlink()
    assert fetch.wheel("one.whl", CHECKSUM) == kept


def test_the_folder_is_named_after_what_is_in_it(tmp_path, monkeypatch):
    """So no reader has half of an earlier one; and the size that is said is that of what is loaded."""
    fetched, code, site = (tmp_path / name for name in ("fetched", "code", "site"))
    for one in (fetched, code):
        one.mkdir()
    (fetched / "licences.txt").write_text("mine")
    (code / "one.py").write_text("1")
    monkeypatch.setattr(fetch, "FETCHED", fetched)
    monkeypatch.setattr(fetch, "book_code", lambda: {"a/one.py": (code / "one.py").read_bytes()})

    def packed():
        fetch.pack(site)
        manifest = json.loads((site / "live" / "manifest.json").read_text())
        (home,) = (path for path in (site / "live").iterdir() if path.is_dir())
        loaded = {path.name: path.stat().st_size for path in home.iterdir() if path.name != "licences.txt"}
        assert manifest == {
            "version": home.name,
            "folder": f"{home.name}/",
            "size": sum(loaded.values()),
            "files": loaded,
        }
        inside = [(one.filename, one.date_time) for one in zipfile.ZipFile(home / "book.zip").infolist()]
        assert inside == [("a/one.py", (1980, 1, 1, 0, 0, 0))]  # the same files are the same archive
        return home.name

    fetch.pack(site)
    assert not (site / "live").exists()  # nothing was fetched
    (fetched / "packages.zip").write_bytes(b"1")
    first = packed()
    assert packed() == first
    (code / "one.py").write_text("2")
    assert packed() != first


def test_what_no_cell_uses_is_left_out(tmp_path):
    with zipfile.ZipFile(tmp_path / "one.whl", "w") as archive:
        for name in ("numpy/core.py", "numpy/core.pyi", "numpy/tests/test_core.py"):
            archive.writestr(name, name)
    assert fetch.contents([tmp_path / "one.whl"]) == {"numpy/core.py": b"numpy/core.py"}
