"""Test how files are found: archives, links, files that never end, and bounds."""

import json
import os
import time
import zipfile

import pytest

from assignments.grade import cache
from assignments.read import answers, folders, notebooks
from tests.assignments.grading import cell, notebook, put, sent
from tests.check.lstm_answers import GATES, SOURCES


@pytest.mark.skipif(os.name == "nt", reason="Windows has no pipes as files")
def test_files_that_never_end_are_not_read(tmp_path):
    put(tmp_path, "a", "lstm.ipynb", notebook())
    os.mkfifo(tmp_path / "a" / "more.ipynb")
    os.mkfifo(tmp_path / "b.ipynb")
    (tmp_path / "c").mkdir()
    os.symlink("/dev/zero", tmp_path / "c" / "lstm.ipynb")
    os.symlink("/etc/passwd", tmp_path / "c" / "other.ipynb")
    with open(put(tmp_path, "d", "lstm.ipynb", ""), "wb") as file:
        file.truncate(2**43)  # sparse: uses no disk space
    begin = time.monotonic()
    assert set(sent(tmp_path, "a").answers) == set(SOURCES)
    paths = folders.students(tmp_path)
    assert [key for key, _ in answers.read_submission("b", paths["b"]).remarks] == ["nothing_sent"]
    assert [key for key, _ in sent(tmp_path, "c").remarks] == ["nothing_sent"]
    assert [key for key, _ in sent(tmp_path, "d").remarks] == ["file_too_large"]
    for path in paths.values():
        cache.hash_files(path)
    assert time.monotonic() - begin < 5


def test_a_submission_may_change_or_vanish_meanwhile(tmp_path, monkeypatch):
    path = put(tmp_path, "a", "lstm.ipynb", notebook())
    before = cache.hash_files(tmp_path / "a")
    path.write_text("{}")
    assert cache.hash_files(tmp_path / "a") != before
    walk = list(os.walk(tmp_path / "a"))
    path.unlink()
    monkeypatch.setattr(os, "walk", lambda *_, **__: walk)
    assert folders.files(tmp_path / "a") == ([], [])
    assert folders.files(tmp_path / "gone")[0] == []


@pytest.mark.parametrize("name", ["lstm.zip", "lstm.ipynb", "lstm"])
def test_a_zip_file_is_read_and_not_extracted(tmp_path, name):
    inside = put(tmp_path, "inside", "lstm.ipynb", notebook())
    file = put(tmp_path, "a", name, "")
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.write(inside, "homework/lstm.ipynb")
        archive.writestr("../../away.txt", "x")
    submission = sent(tmp_path, "a")
    assert dict(submission.remarks) == {"not_a_notebook": "away.txt"}
    assert submission.answers["gates"].file == "lstm.ipynb"
    assert not list(tmp_path.rglob("away.txt"))
    later = put(tmp_path, "a", "later.ipynb", notebook({"gates": GATES}))
    os.utime(later, (inside.stat().st_mtime + 10,) * 2)
    answers = sent(tmp_path, "a").answers
    assert answers["gates"].file == "later.ipynb" and answers["lstm"].file == "lstm.ipynb"


@pytest.mark.parametrize("name, limit", [("MAX_BYTES", 12_000), ("MAX_DIRECTORY_BYTES", 99)])
def test_a_zip_bomb_is_not_unpacked(tmp_path, monkeypatch, name, limit):
    """Check that the notebook counts, and nothing beyond the limit is unpacked."""
    file = put(tmp_path, "a", "lstm.zip", "")
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("lstm.ipynb", json.dumps(notebook()))
        archive.writestr("a.txt", "0" * 99_999)
    assert sent(tmp_path, "a").answers
    monkeypatch.setattr(folders, name, limit)
    submission = sent(tmp_path, "a")
    assert bool(submission.answers) == (name == "MAX_BYTES") and len(submission.notebooks) == 1
    assert ("too_many_files" if submission.answers else "not_a_notebook") in dict(submission.remarks)


def test_submissions_have_bounds(tmp_path, monkeypatch):
    """Check the bounds on bytes (the latest files count), on files, on cells and on code."""
    whole = put(tmp_path, "a", "lstm.ipynb", notebook())
    size = whole.stat().st_size
    older = put(tmp_path, "a", "older.ipynb", notebook())
    os.utime(older, (1, 1))
    monkeypatch.setattr(folders, "MAX_BYTES", size + 99)
    before = cache.hash_files(tmp_path / "a")
    older.write_text(older.read_text(encoding="utf-8").replace("torch", "trunk"), encoding="utf-8")
    os.utime(older, (1, 1))
    assert cache.hash_files(tmp_path / "a") == before  # files beyond the bound are not part of the digest
    put(tmp_path, "a", "film.mp4", "x" * size * 3)  # not read, as its suffix says
    submission = sent(tmp_path, "a")
    assert ("file_too_large", "older.ipynb") in submission.remarks and ("other_file", "film.mp4") in submission.remarks
    assert [answer.file for answer in submission.answers.values()] == ["lstm.ipynb"] * len(SOURCES)
    assert cache.hash_files(tmp_path / "a") != before
    for name in ("b.ipynb", "c.ipynb"):
        put(tmp_path, "b", name, notebook({"gates": GATES}))
    monkeypatch.setattr(folders, "MAX_FILES", 1)
    assert ("too_many_files", "") in sent(tmp_path, "b").remarks
    large = notebook({"gates": GATES})
    large["cells"] += [cell("x = 1\n" * 100)] * 20
    for name, limit in (("MAX_CELLS", 10), ("MAX_CODE", 2000)):
        put(tmp_path, name, "lstm.ipynb", large)
        with monkeypatch.context() as patched:
            patched.setattr(folders, "MAX_BYTES", 2**20)
            patched.setattr(notebooks, name, limit)
            submission = sent(tmp_path, name)
        assert submission.remarks == [("too_long", "lstm.ipynb")] and submission.answers["gates"].written
        assert sum(len(source) for _, source in submission.answers["gates"].cells) < 6000
