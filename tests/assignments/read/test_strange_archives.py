"""Test that harmful archives, links and student names are read within seconds, and that nothing is extracted."""

import gzip
import io
import json
import os
import re
import shutil
import stat
import struct
import sys
import tarfile
import time
import unicodedata
import zipfile
from pathlib import Path

import pytest

from assignments import cli
from assignments.batch import Batch
from assignments.read import answers, folders
from assignments.read.archives import entries
from assignments.read.names import match_names, page_name
from assignments.report import all_reports, grade_tables
from tests.assignments.grading import notebook, put, result, rows, sent, zipped
from tests.check.lstm_answers import GATES, SOURCES

LATER = (2030, 1, 1, 0, 0, 0)
posix = pytest.mark.skipif(sys.platform != "linux", reason="other systems do not allow all these names")


def zip_listing_often(name, content, times):
    """Return a small zip file whose directory lists the same file many times."""
    raw = zipped([(name, content)], zipfile.ZIP_STORED)
    size, start = struct.unpack_from("<LL", raw, raw.rfind(b"PK\5\6") + 12)
    entry = raw[start : start + size]
    return raw[:start] + entry * times + struct.pack("<4s4H2LH", b"PK\5\6", 0, 0, times, times, size * times, start, 0)


def read_timed(folder, student):
    """Return the submission and the processor seconds that reading took."""
    begin = time.process_time()
    return sent(folder, student), time.process_time() - begin


def test_nested_zip_bombs_are_bounded(tmp_path):
    """Check with 150 kilobytes that list 1000 × 1000 × 1000 empty files."""
    bomb = zip_listing_often("a.zip", zip_listing_often("a.zip", zip_listing_often("a.txt", b"", 1000), 1000), 1000)
    put(tmp_path, "ada", "lstm.zip", bomb)
    put(tmp_path, "ada", "lstm.ipynb", notebook())
    submission, seconds = read_timed(tmp_path, "ada")
    assert len(bomb) < 200_000 and seconds < 8 and len(submission.remarks) <= 1 + folders.MAX_FILES
    assert ("too_many_files", "") in submission.remarks and set(submission.answers) == set(SOURCES)


def test_many_zip_bombs_share_one_bound(tmp_path, monkeypatch):
    monkeypatch.setattr(folders, "MAX_BYTES", 2**20)
    chunks = []
    monkeypatch.setattr(
        zipfile.ZipExtFile, "read", lambda *args, read=zipfile.ZipExtFile.read: chunks.append(read(*args)) or chunks[-1]
    )
    for number in range(20):
        put(tmp_path, "ada", f"{number}.zip", zipped([(f"{n}.txt", b"0" * (900 * 1024)) for n in range(2)]))
    put(tmp_path, "ada", "lstm.ipynb", notebook())
    assert set(sent(tmp_path, "ada").answers) == set(SOURCES)
    assert sum(map(len, chunks)) <= 2**20 + 1


def test_deeply_nested_zip_files_are_not_read(tmp_path):
    """Check with 50 levels, as a zip file that contains itself would have."""
    raw = zipped([("lstm.ipynb", json.dumps(notebook()))])
    for _ in range(50):
        raw = zipped([("again.zip", raw)], zipfile.ZIP_STORED)
    put(tmp_path, "ada", "lstm.zip", raw)
    submission, seconds = read_timed(tmp_path, "ada")
    assert submission.answers == {} and seconds < 2 and [key for key, _ in submission.remarks] == ["not_a_notebook"]


FLOODS = {  # name of a file by its number -> the remark about too many files
    ".venv/lib/{}.py": False, "env/pyvenv.cfg|env/lib/{}.py": False, "web/node_modules/{}/index.json": False,
    "a/site-packages/{}.py": False, "__MACOSX/{}.txt": False, "a/pictures/{}.png": True, "a/data/{}.txt": True,
}  # fmt: skip


@pytest.mark.parametrize("form", ["folder", "zip", "tar"])
@pytest.mark.parametrize("names, noted", FLOODS.items())
def test_many_files_do_not_hide_the_notebook(tmp_path, form, names, noted):
    """Check environments, packages, pictures and texts, all before the notebook in the alphabet and the archive."""
    once, _, numbered = names.rpartition("|")
    packed = [(name, "x") for name in [once, *map(numbered.format, range(1500))] if name]
    packed.append(("z/lstm.ipynb", json.dumps(notebook())))
    if form == "folder":
        for name, content in packed:
            put(tmp_path, "ada", name, content)
    else:
        put(
            tmp_path,
            "ada",
            "lstm.zip" if form == "zip" else "lstm.tar.gz",
            (zipped if form == "zip" else tarred)(packed),
        )
    submission = sent(tmp_path, "ada")
    assert set(submission.answers) == set(SOURCES)
    # archives are not opened further than to files that may have answers
    assert (("too_many_files", "") in submission.remarks) == (noted and (form == "folder" or "txt" in numbered))


def tarred(files):
    """Return a compressed tar file with these files."""
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w:gz") as archive:
        for name, content in files:
            entry = tarfile.TarInfo(name)
            entry.size = len(content.encode())
            archive.addfile(entry, io.BytesIO(content.encode()))
    return buffer.getvalue()


def test_links_bombs_and_damage_in_a_tar_lead_nowhere(tmp_path, monkeypatch):
    (tmp_path / "secret.ipynb").write_text(json.dumps(notebook()))
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w:gz") as archive:
        for kind in (tarfile.SYMTYPE, tarfile.LNKTYPE, tarfile.CHRTYPE):
            entry = tarfile.TarInfo("lstm.ipynb")
            entry.type, entry.linkname = kind, "../secret.ipynb"
            archive.addfile(entry)
    put(tmp_path, "links", "lstm.tar.gz", buffer.getvalue())
    monkeypatch.setattr(folders, "MAX_BYTES", 10**6)
    put(tmp_path, "bomb", "lstm.tgz", gzip.compress(b"0" * 2 * 10**6))
    put(tmp_path, "cut", "lstm.tar.gz", tarred([("lstm.ipynb", json.dumps(notebook()))])[:-500])
    for student in ("links", "bomb", "cut"):
        assert not sent(tmp_path, student).answers


@posix
def test_a_path_that_is_too_long_costs_one_submission(tmp_path):
    folder = tmp_path / "sent"
    put(folder, "ada", "lstm.ipynb", notebook({"gates": GATES}))
    (folder / "bo").mkdir()
    before = os.getcwd()
    try:
        os.chdir(folder / "bo")
        for _ in range(20):
            os.mkdir("d" * 250)
            os.chdir("d" * 250)
    finally:
        os.chdir(before)
    batch = Batch(folder, tmp_path / "grades", say=lambda text: None)
    assert batch.todo == ["ada", "bo"]
    assert set(sent(folder, "ada").answers) == {"gates"} and not sent(folder, "bo").answers
    shutil.rmtree(os.fsencode(folder / "bo"))


CLASSES = {
    "canvas": ["lovelaceada_12345_67890_rnn.ipynb", "bool_LATE_12346_67891_rnn.ipynb"],
    "moodle": ["Ada Lovelace_123_assignsubmission_file_/rnn.ipynb", "Bo Ol_124_assignsubmission_file_/rnn.ipynb"],
    "blackboard": ["rnn_ada_attempt_2026-10-01-10-00-00_rnn.ipynb", "rnn_bo_attempt_2026-10-01-11-00-00_rnn.ipynb"],
}


@pytest.mark.parametrize("names", CLASSES.values(), ids=CLASSES)
def test_an_archive_of_a_class_is_no_submission(tmp_path, names, monkeypatch, capsys):
    raw = zipped([(name, json.dumps(notebook())) for name in names])
    (tmp_path / "class.zip").write_bytes(raw)
    submission = answers.read_submission("class", tmp_path / "class.zip")
    assert submission.remarks == [("zip_of_a_class", "")] and not submission.answers
    one = zipped([(name, json.dumps(notebook())) for name in names[:1]])
    put(tmp_path / "more", "ada", "own.zip", one)
    assert sent(tmp_path / "more", "ada").answers
    (tmp_path / "tarred").mkdir()
    (tmp_path / "tarred" / "class.tgz").write_bytes(tarred([(name, "{}") for name in names]))
    monkeypatch.setattr(entries, "MAX_ENTRIES", 1)  # it cannot be unpacked
    monkeypatch.setattr(sys, "argv", ["grade", str(tmp_path / "tarred"), "--output", str(tmp_path / "grades")])
    with pytest.raises(SystemExit):
        cli.main()
    assert "Unzip the archive, and give the folder" in " ".join(capsys.readouterr().err.split())


@pytest.mark.parametrize("entry, message", [(None, "holds no submissions: nothing"), (".ada", "only links and hidden")])
def test_a_folder_without_submissions_is_called_empty(tmp_path, entry, message, monkeypatch, capsys):
    (tmp_path / "sent" / (entry or "")).mkdir(parents=True)
    monkeypatch.setattr(sys, "argv", ["grade", str(tmp_path / "sent"), "--output", str(tmp_path / "grades")])
    with pytest.raises(SystemExit):
        cli.main()
    assert message in " ".join(capsys.readouterr().err.split()) and not (tmp_path / "grades").exists()


def test_links_and_paths_in_a_zip_lead_nowhere(tmp_path):
    (tmp_path / "secret.ipynb").write_text(json.dumps(notebook()))
    link = zipfile.ZipInfo("lstm.ipynb", LATER)
    link.create_system, link.external_attr = 3, (stat.S_IFLNK | 0o777) << 16
    names = [
        "../../away.py",
        "/away.py",
        "C:\\away.py",
        "..\\away.py",
        "con.py",
        "a\nb.py",
        "<b>.py",
        "\u202eyp.exe.py",
        "x" * 255 + ".py",
    ]
    main = json.dumps(notebook({"gates": f"import away, con\n{GATES}"}))
    raw = zipped([(link, "../secret.ipynb"), ("main.ipynb", main), *((name, "helper = 1") for name in names)])
    put(tmp_path, "ada", "lstm.zip", raw)
    submission = sent(tmp_path, "ada")
    assert set(submission.answers["gates"].modules) == {"away.py", "con.py"}
    assert all(name.isprintable() for _, name in submission.remarks)
    assert not list(tmp_path.rglob("away*")) and "secret" not in str(submission.answers)
    assert submission.answers["gates"].file == "main.ipynb"


@posix
def test_links_in_a_folder_are_not_followed(tmp_path):
    """Check also that a hard link counts as a file, since no name of a file is the first one."""
    folder = tmp_path / "sent"
    put(folder, "ada", "lstm.ipynb", notebook({"gates": GATES}))
    put(tmp_path, "away", "lstm.ipynb", notebook())
    (folder / "bo/deep").mkdir(parents=True)
    for name, target in (
        ("up", "../.."),
        ("self", "."),
        ("root", "/"),
        ("ada", "../ada"),
        ("lstm.ipynb", "../../away/lstm.ipynb"),
    ):
        (folder / "bo" / name).symlink_to(target)
    (folder / "bo/deep/loop").symlink_to("loop")
    (folder / "cy").symlink_to(tmp_path / "away")
    (folder / "dan").mkdir()
    os.link(folder / "ada/lstm.ipynb", folder / "dan/lstm.ipynb")
    (folder / ".eve").mkdir()
    (folder / ".git").mkdir()
    (folder / ".DS_Store").touch()
    assert sorted(folders.students(folder)) == ["ada", "bo", "dan"]
    assert folders.skipped_entries(folder) == [".eve", "cy"]
    assert sent(folder, "bo").remarks == [("nothing_sent", "")]
    assert set(sent(folder, "dan").answers) == {"gates"}
    for path in folders.students(folder).values():
        assert folders.files(path)[0] == ([] if path.name == "bo" else [path / "lstm.ipynb"])


@posix
def test_many_and_deep_folders_are_read_in_time(tmp_path):
    for number in range(40):
        (tmp_path / "ada" / ("d" * 200) / str(number) / "x").mkdir(parents=True)
    deep = tmp_path / "ada" / "/".join(["y"] * 300)
    deep.mkdir(parents=True)
    (deep / "lstm.ipynb").write_text(json.dumps(notebook()))
    submission, seconds = read_timed(tmp_path, "ada")
    assert set(submission.answers) == set(SOURCES) and seconds < 4


# Names of students

ALIKE = [
    "josé",
    "josé",
    "JOSÉ",
    "ada",
    "Ada",
    "ADA",
    "ada ",
    " ada",
    "ada.",
    "аda",
    "ada\u200b",
    "ﬁn",
    "fin",
    "ß",
    "ss",
]
DEVICES = ["con", "CON", "con.txt", "nul", "NUL.ipynb", "aux", "prn", "com1", "LPT9", "com1.x", "console", "null"]
STRANGE = [
    "a" * 255, "김" * 85, "-rf", "--output", "~", "$(touch x)", "`x`", "%2e%2e%2f", "x..%5c..", "a\\..\\..\\b", "a:b",
    "a|b", "a?*",
    "x\x1b[31m", "x\x07\x08", "x\rname", "\u2028", "\u202egnp", "<script>alert(1)</script>", "'\" onclick=alert(1) x='",
    "&amp;",
    "{0}", "{student}", "%s", "a,b", "=1+1", "@x", "x.json.0123abcd.part", "done", "batches.json", "summary.html",
    "   ", "'", "#top",
]  # fmt: skip


@posix
def test_strange_student_names_are_distinct_and_harmless(tmp_path, no_gradebook):
    """Check that file names differ, also without case, with composed letters, and on Windows."""
    folder, output = tmp_path / "sent", tmp_path / "grades"
    # page_name("Ada"): a student who knows the hash could take that name
    for name in dict.fromkeys([*ALIKE, unicodedata.normalize("NFD", "josé"), page_name("Ada"), *DEVICES, *STRANGE]):
        put(folder, name, "lstm.ipynb", "")
    os.makedirs(os.fsencode(folder) + b"/\xff\xfe\xfd")
    batch = Batch(folder, output, say=lambda text: None)
    assert len(batch.submissions) == len(list(folder.iterdir()))
    files = [unicodedata.normalize("NFKC", page_name(name)).casefold() for name in batch.submissions]
    assert len(set(files)) == len(files) and all(len(file) < 100 and file.isascii() for file in files)
    for file in files:
        assert not file.startswith((".", "-")) and not file.endswith((".", " "))
        assert not set(file) & set("/\\:*?\"<>|#%&'` ")
        assert Path(file).stem.split(".")[0] not in {"con", "nul", "aux", "prn", "com1", "lpt9"}
    for points, student in enumerate(batch.submissions):
        batch.keep(student, result(student, points))
    all_reports.write_reports(output, batch.all_graded(), print)
    assert {student: points for (student, _), (points, _) in read(output).items()} == {
        student: points for points, student in enumerate(batch.submissions)
    }
    assert len(list((output / "feedback").iterdir())) == len(list((output / "review").iterdir())) == len(files)
    assert {path.name for path in output.iterdir()} == {
        "done",
        "feedback",
        "review",
        "appeals",
        "batches.json",
        "comments.json",
        "grades.csv",
        "summary.html",
    }
    text = "".join(path.read_text(encoding="utf-8") for path in output.rglob("*.html"))
    assert (
        "<script>alert" not in text
        and "<b>" not in text
        and "\x1b" not in text
        and "onclick=alert(1) x='\"" not in text
    )
    # the command line finds each student by the exact name
    assert all(match_names([name], batch.submissions, "submission of") == [name] for name in batch.submissions)
    # a second batch finds all stored results
    assert Batch(folder, output, say=print).todo == []


def test_no_name_is_a_formula_in_a_spreadsheet():
    """Check every separator, since a spreadsheet may ignore quotes."""
    names = "=cmd|' /C calc'!A0", "＝1＋1", "tab\t=here", "bob;=1+1", "bob; @x", 'a";=1+1;"', "1|+1"
    table = grade_tables.grades_csv([result(name) for name in names])
    assert table.startswith("\ufeffstudent,")  # byte order mark: Excel needs it to read UTF-8
    assert not [
        field
        for line in table.splitlines()
        for field in re.split(r"[;,|\t\"]", line)
        if field.lstrip()[:1] in [*"=+-@＝＋－＠"]
    ]


def read(output):
    """Return rows(output) with the original names, without the apostrophe before formulas."""
    return {(student[1:] if student[:1] == "'" and student[1:2] in {*"=+-@"} else student, question): row
            for (student, question), row in rows(output).items()}  # fmt: skip
