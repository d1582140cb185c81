"""Archives and folders made to harm who opens them, and names made to be taken for others: all of it is read, nothing
is followed or written, and it costs seconds."""

import json
import os
import re
import stat
import struct
import sys
import time
import unicodedata
import zipfile
from pathlib import Path

import pytest

from assignments.batch import Batch
from assignments.read import folders
from assignments.read.names import known, page_name
from assignments.report import pages, results
from tests.assignments.grading import notebook, put, result, rows, sent, zipped
from tests.check.lstm_answers import GATES, SOURCES

LATER = (2030, 1, 1, 0, 0, 0)
posix = pytest.mark.skipif(sys.platform != "linux", reason="other systems have no files of all these names")


def listed_often(name, content, times):
    """A zip of one file that its list has many times: they overlap, and so it is small whatever comes out of it."""
    raw = zipped([(name, content)], zipfile.ZIP_STORED)
    size, start = struct.unpack_from("<LL", raw, raw.rfind(b"PK\5\6") + 12)
    one = raw[start : start + size]
    return raw[:start] + one * times + struct.pack("<4s4H2LH", b"PK\5\6", 0, 0, times, times, size * times, start, 0)


def spent(folder, student):
    begin = time.process_time()
    return sent(folder, student), time.process_time() - begin


def test_a_zip_that_lists_zips_that_list_zips(tmp_path):
    """A thousand times a thousand times a thousand files of no bytes, in 150 kilobytes."""
    bomb = listed_often("a.zip", listed_often("a.zip", listed_often("a.txt", b"", 1000), 1000), 1000)
    put(tmp_path, "ada", "lstm.zip", bomb)
    put(tmp_path, "ada", "lstm.ipynb", notebook())
    found, seconds = spent(tmp_path, "ada")
    assert len(bomb) < 200_000 and seconds < 8 and len(found.remarks) <= 1 + folders.FILES
    assert ("too_many_files", "") in found.remarks and set(found.answers) == set(SOURCES)


def test_many_bombs_cost_what_one_does(tmp_path, monkeypatch):
    monkeypatch.setattr(folders, "LARGEST", 2**20)
    came = []
    monkeypatch.setattr(
        zipfile.ZipExtFile, "read", lambda *given, read=zipfile.ZipExtFile.read: came.append(read(*given)) or came[-1]
    )
    for number in range(20):
        put(tmp_path, "ada", f"{number}.zip", zipped([(f"{n}.txt", b"0" * (900 * 1024)) for n in range(2)]))
    put(tmp_path, "ada", "lstm.ipynb", notebook())
    assert set(sent(tmp_path, "ada").answers) == set(SOURCES)
    assert sum(map(len, came)) <= 2**20 + 1


def test_a_zip_in_itself(tmp_path):
    """As a quine is, down to a depth that none is handed in with."""
    raw = zipped([("lstm.ipynb", json.dumps(notebook()))])
    for _ in range(50):
        raw = zipped([("again.zip", raw)], zipfile.ZIP_STORED)
    put(tmp_path, "ada", "lstm.zip", raw)
    found, seconds = spent(tmp_path, "ada")
    assert found.answers == {} and seconds < 2 and [key for key, _ in found.remarks] == ["not_a_notebook"]


def test_a_zip_of_more_than_a_thousand_files_is_read_as_far(tmp_path):
    """An environment that was packed along is no attack."""
    packed = [("lstm.ipynb", json.dumps(notebook()))] + [(f"venv/lib/{number}.h", "") for number in range(1500)]
    put(tmp_path, "ada", "lstm.zip", zipped(packed))
    found = sent(tmp_path, "ada")
    assert set(found.answers) == set(SOURCES) and ("too_many_files", "") in found.remarks


def test_what_a_zip_says_of_other_places(tmp_path):
    """Links, ways out of the folder and strange names in it are text."""
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
    found = sent(tmp_path, "ada")
    assert set(found.answers["gates"].modules) == {"away.py", "con.py"}
    assert all(name.isprintable() for _, name in found.remarks)
    assert not list(tmp_path.rglob("away*")) and "secret" not in str(found.answers)
    assert found.answers["gates"].file == "main.ipynb"


@posix
def test_links_and_loops_in_a_folder(tmp_path):
    """What a hard link leads to is a file like any other, as nobody can tell which name was first."""
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
    assert folders.passed_over(folder) == [".eve", "cy"], "it is said of what may be someone's"
    assert sent(folder, "bo").remarks == [("nothing_sent", "")]
    assert set(sent(folder, "dan").answers) == {"gates"}
    for path in folders.students(folder).values():
        assert folders.files(path)[0] == ([] if path.name == "bo" else [path / "lstm.ipynb"])


@posix
def test_a_folder_of_many_folders(tmp_path):
    for number in range(40):
        (tmp_path / "ada" / ("d" * 200) / str(number) / "x").mkdir(parents=True)
    deep = tmp_path / "ada" / "/".join(["y"] * 300)
    deep.mkdir(parents=True)
    (deep / "lstm.ipynb").write_text(json.dumps(notebook()))
    found, seconds = spent(tmp_path, "ada")
    assert set(found.answers) == set(SOURCES) and seconds < 4


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
def test_names_of_students_are_told_apart_and_harm_nothing(tmp_path, no_gradebook):
    """Each has files of its own, also where case makes no difference, where letters are composed, and on Windows."""
    folder, output = tmp_path / "sent", tmp_path / "grades"
    # who knows how names are marked takes the marked name
    for name in dict.fromkeys([*ALIKE, unicodedata.normalize("NFD", "josé"), page_name("Ada"), *DEVICES, *STRANGE]):
        put(folder, name, "lstm.ipynb", "")
    os.makedirs(os.fsencode(folder) + b"/\xff\xfe\xfd")
    batch = Batch(folder, output, say=lambda text: None)
    assert len(batch.found) == len(list(folder.iterdir()))
    files = [unicodedata.normalize("NFKC", page_name(name)).casefold() for name in batch.found]
    assert len(set(files)) == len(files) and all(len(one) < 100 and one.isascii() for one in files)
    for one in files:
        assert (
            not one.startswith((".", "-")) and not one.endswith((".", " ")) and not set(one) & set("/\\:*?\"<>|#%&'` ")
        )
        assert Path(one).stem.split(".")[0] not in {"con", "nul", "aux", "prn", "com1", "lpt9"}
    for points, student in enumerate(batch.found):
        batch.keep(student, result(student, points))
    results.write(output, batch.all_graded(), print)
    assert {student: points for (student, _), (points, _) in read(output).items()} == {
        one: n for n, one in enumerate(batch.found)
    }
    assert len(list((output / "feedback").iterdir())) == len(list((output / "review").iterdir())) == len(files)
    assert {path.name for path in output.iterdir()} == {
        "done",
        "feedback",
        "review",
        "appeals",
        "batches.json",
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
    # and whoever is asked for is found by the very name
    assert all(known([name], batch.found, "submission of") == [name] for name in batch.found)
    # once more: all of it is found again
    assert Batch(folder, output, say=print).todo == []


def test_no_name_is_a_formula_wherever_a_spreadsheet_splits_the_line():
    """It may know quotes or not."""
    names = "=cmd|' /C calc'!A0", "＝1＋1", "tab\t=here", "bob;=1+1", "bob; @x", 'a";=1+1;"', "1|+1"
    table = pages.grades_csv([result(name) for name in names])
    assert table.startswith("\ufeffstudent,")  # the mark by which Excel reads UTF-8
    assert not [
        one
        for line in table.splitlines()
        for one in re.split(r"[;,|\t\"]", line)
        if one.lstrip()[:1] in [*"=+-@＝＋－＠"]
    ]


def read(output):
    """As rows(), with the names as they were before a table's own marks were put in front of formulas."""
    return {(student[1:] if student[:1] == "'" and student[1:2] in {*"=+-@"} else student, question): said
            for (student, question), said in rows(output).items()}  # fmt: skip
