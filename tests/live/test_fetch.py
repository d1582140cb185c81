"""Test how the parts of live pages are fetched and packed: checksums, sizes, and the name of the folder."""

import json
import zipfile
from hashlib import sha256

import pytest

from book.live import fetch, page_scripts

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
    monkeypatch.setattr(fetch, "book_code", lambda small_torch: {"a/one.py": (code / "one.py").read_bytes()})

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
            "torch": "small_torch 0.1.0",
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


def test_a_wheel_of_torch_takes_the_place_of_small_torch(sources, tmp_path, monkeypatch):
    """Check that it is served by the site and named on pages, and the error for each wheel that cannot be used."""
    info = {"python": "3.14.2", "abi_version": "2026_0", "arch": "wasm32"}
    tags = "cp314-cp314-pyemscripten_2026_0_wasm32.whl"
    monkeypatch.setattr(fetch, "FETCHED", tmp_path)
    monkeypatch.setitem(fetch.unreachable, "example.org", "no network")
    (tmp_path / "packages.zip").write_bytes(b"1")

    def setting(name, **changes):
        (tmp_path / "wheels").mkdir(exist_ok=True)
        with zipfile.ZipFile(path := tmp_path / "wheels" / name, "w") as archive:
            archive.writestr(changes.pop("module", "torch/__init__.py"), "")
        return {"wheel": str(path), "sha256": sha256(path.read_bytes()).hexdigest()} | changes

    good = f"torch-2.13.0+r3-{tags}"
    for wrong, error in (
        ("torch==2.13.0", "write .small_torch. or"),
        ({"wheel": "torch.whl"}, "write .small_torch. or"),
        (setting("torch.whl"), "torch.whl is not the name of a wheel"),
        (setting(f"torch-2-{tags}".replace("314", "313")), f"cp313 and .*package.json pins Pyodide {fetch.PYODIDE}"),
        (setting(f"torch-2-{tags}".replace("2026", "2025")), "pyemscripten_2025_0_wasm32, but .*pyemscripten_2026_0"),
        (setting(good, pyodide="1.0"), "Pyodide 1.0.*Pin"),
        (setting(good, sha256=CHECKSUM), "its checksum is another one\\nIf it has moved or changed"),
        (setting(good, wheel=f"https://example.org/{good}"), "example.org/: no network\\nIf it has moved"),
        (setting(good, wheel=f"no/{good}"), "No such file .*\\nIf it has moved"),
        (setting(f"torch-3-{tags}", module="other.py"), f"torch-3-{tags} has no package torch"),
    ):
        monkeypatch.setitem(fetch.SETTINGS, "torch", wrong)
        with pytest.raises(fetch.Missing, match=f"(?s){error}"):
            fetch.add_torch(tmp_path, info)
    monkeypatch.setitem(fetch.SETTINGS, "torch", setting(good, pyodide=fetch.PYODIDE))
    (cached,) = fetch.add_torch(tmp_path, info)
    assert cached == sources[-1].with_name(good)
    fetch.pack(tmp_path / "site")
    manifest = json.loads((tmp_path / "site" / "live" / "manifest.json").read_text())
    assert manifest["torch"] == "torch 2.13.0" and f"torch-2.13.0-{tags}" in manifest["files"]
    with zipfile.ZipFile(tmp_path / "site" / "live" / manifest["folder"] / "book.zip") as archive:
        assert not [name for name in archive.namelist() if name.startswith("torch/")]
    page_scripts.write_scripts(tmp_path / "scripts", "en", manifest["torch"])
    assert "PyTorch 2.13.0" in (tmp_path / "scripts" / "running.js").read_text(encoding="utf-8")
