"""Files as students send them: archives, links, files that never end, and bounds on all of them."""

import json
import os
import time
import zipfile

import pytest

from assignments.grade import store
from assignments.read import answers, folders, notebooks
from tests.assignments.grading import cell, notebook, put, sent
from tests.check.lstm_answers import GATES, SOURCES


@pytest.mark.skipif(os.name == "nt", reason="Windows has no such files")
def test_files_that_never_end(tmp_path):
    put(tmp_path, "a", "lstm.ipynb", notebook())
    os.mkfifo(tmp_path / "a" / "more.ipynb")
    os.mkfifo(tmp_path / "b.ipynb")
    (tmp_path / "c").mkdir()
    os.symlink("/dev/zero", tmp_path / "c" / "lstm.ipynb")
    os.symlink("/etc/passwd", tmp_path / "c" / "other.ipynb")
    with open(put(tmp_path, "d", "lstm.ipynb", ""), "wb") as file:
        file.truncate(2**43)  # takes no room on the disk
    begin = time.monotonic()
    assert set(sent(tmp_path, "a").answers) == set(SOURCES)
    found = dict(folders.students(tmp_path).items())
    assert [key for key, _ in answers.submission("b", found["b"]).remarks] == ["nothing_sent"]
    assert [key for key, _ in sent(tmp_path, "c").remarks] == ["nothing_sent"]
    assert [key for key, _ in sent(tmp_path, "d").remarks] == ["file_too_large"]
    for path in found.values():
        store.files_digest(path)
    assert time.monotonic() - begin < 5


def test_a_submission_that_is_taken_away_or_changed_meanwhile(tmp_path, monkeypatch):
    path = put(tmp_path, "a", "lstm.ipynb", notebook())
    before = store.files_digest(tmp_path / "a")
    path.write_text("{}")
    assert store.files_digest(tmp_path / "a") != before
    walk = list(os.walk(tmp_path / "a"))
    path.unlink()
    monkeypatch.setattr(os, "walk", lambda *_, **__: walk)
    assert folders.files(tmp_path / "a") == ([], [])
    assert folders.files(tmp_path / "gone")[0] == []


@pytest.mark.parametrize("name", ["lstm.zip", "lstm.ipynb", "lstm"])
def test_a_zip_is_read_and_nothing_of_it_is_written(tmp_path, name):
    inside = put(tmp_path, "inside", "lstm.ipynb", notebook())
    file = put(tmp_path, "a", name, "")
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as made:
        made.write(inside, "homework/lstm.ipynb")
        made.writestr("../../away.txt", "x")
    found = sent(tmp_path, "a")
    assert dict(found.remarks) == {"not_a_notebook": "away.txt"} and found.answers["gates"].file == "lstm.ipynb"
    assert not list(tmp_path.rglob("away.txt"))
    later = put(tmp_path, "a", "later.ipynb", notebook({"gates": GATES}))
    os.utime(later, (inside.stat().st_mtime + 10,) * 2)
    answers = sent(tmp_path, "a").answers
    assert answers["gates"].file == "later.ipynb" and answers["lstm"].file == "lstm.ipynb"


@pytest.mark.parametrize("limit, most", [("LARGEST", 9999), ("LISTED", 99)])
def test_a_zip_that_is_a_bomb_is_not_unpacked(tmp_path, monkeypatch, limit, most):
    file = put(tmp_path, "a", "lstm.zip", "")
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as made:
        made.writestr("lstm.ipynb", json.dumps(notebook()))
        made.writestr("zeros.txt", "0" * 9999)
    assert sent(tmp_path, "a").answers
    monkeypatch.setattr(folders, limit, most)
    found = sent(tmp_path, "a")
    assert "not_a_notebook" in dict(found.remarks) and not found.answers


def test_what_is_sent_has_bounds(tmp_path, monkeypatch):
    """Of all files together, the latest first; of files, of cells, and of their code."""
    whole = put(tmp_path, "a", "lstm.ipynb", notebook())
    size = whole.stat().st_size
    older = put(tmp_path, "a", "older.ipynb", notebook())
    os.utime(older, (1, 1))
    monkeypatch.setattr(folders, "LARGEST", size + 99)
    before = store.files_digest(tmp_path / "a")
    older.write_text(older.read_text(encoding="utf-8").replace("torch", "trunk"), encoding="utf-8")
    os.utime(older, (1, 1))
    assert store.files_digest(tmp_path / "a") == before  # what is not read is not looked through
    put(tmp_path, "a", "film.mp4", "x" * size * 3)  # nobody looks into it
    found = sent(tmp_path, "a")
    assert ("file_too_large", "older.ipynb") in found.remarks and ("other_file", "film.mp4") in found.remarks
    assert {one.file for one in found.answers.values()} == {"lstm.ipynb"} and len(found.answers) == len(SOURCES)
    assert store.files_digest(tmp_path / "a") != before
    for name in ("b.ipynb", "c.ipynb"):
        put(tmp_path, "b", name, notebook({"gates": GATES}))
    monkeypatch.setattr(folders, "FILES", 1)
    assert ("too_many_files", "") in sent(tmp_path, "b").remarks
    said = notebook({"gates": GATES})
    said["cells"] += [cell("x = 1\n" * 100)] * 20
    for name, most in (("CELLS", 10), ("CODE", 2000)):
        put(tmp_path, name, "lstm.ipynb", said)
        with monkeypatch.context() as patched:
            patched.setattr(folders, "LARGEST", 2**20)
            patched.setattr(notebooks, name, most)
            found = sent(tmp_path, name)
        assert found.remarks == [("too_long", "lstm.ipynb")] and found.answers["gates"].written
        assert sum(len(source) for _, source in found.answers["gates"].cells) < 6000
