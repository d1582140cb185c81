"""Tar files of a whole class: the same submissions as from a zip file, and attacks on unpacking."""

import gzip
import io
import json
import os
import struct
import sys
import tarfile
import time

import pytest

from assignments import cli
from assignments.read import answers, class_zip
from assignments.read.archives import entries, tar_file
from tests.assignments.grading import notebook, zipped
from tests.assignments.read.test_class_zip import ADA, GRACE, MOODLE, NOTEBOOK, OUTSIDE, reasons, unpacked
from tests.assignments.read.test_class_zip import listed as listed  # a fixture
from tests.check.lstm_answers import GATES

WHEN = 1_790_000_000


def packed(files, mode="w", **more):
    """Return a tar file. files: (name or TarInfo, content)."""
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode=mode, **more) as archive:
        for name, content in files:
            content = content.encode() if isinstance(content, str) else content
            entry = name if isinstance(name, tarfile.TarInfo) else tarfile.TarInfo(name)
            if not isinstance(name, tarfile.TarInfo):
                entry.size, entry.mtime = len(content), WHEN
            archive.addfile(entry, io.BytesIO(content))
    return buffer.getvalue()


CLASS = [(ADA, NOTEBOOK), (GRACE, NOTEBOOK), (f"{MOODLE[1]}/lstm.ipynb", NOTEBOOK)]


@pytest.mark.parametrize("name, mode", [("c.tar", "w"), ("c.tar.gz", "w:gz"), ("c.tgz", "w:gz"), ("c", "w:gz")])
@pytest.mark.parametrize("form", [tarfile.PAX_FORMAT, tarfile.GNU_FORMAT, tarfile.USTAR_FORMAT])
def test_a_tar_of_a_class_is_read_as_its_zip(listed, name, mode, form):
    files = CLASS if form != tarfile.USTAR_FORMAT else CLASS[:2]
    long = "kim_103_500_" + "x" * 150 + ".ipynb"  # has a header of its own
    files = [*files, (long, "{}")] if form != tarfile.USTAR_FORMAT else files
    sent = listed(packed(files, mode, format=form), name)
    assert unpacked(sent) == unpacked(listed([(name, content) for name, content in files])) and not sent.odd
    assert all(path.stat().st_mtime == WHEN for path in sent.unpacked[0].rglob("*.ipynb"))
    assert set(answers.read_submission("ada", sent.paths[ADA[:-6]]).answers) == {"gates"}


def test_tars_of_classes_lie_beside_zips_and_students(listed):
    own = packed([("lstm.ipynb", NOTEBOOK)], "w:gz")
    sent = listed({
        "rnn.tgz": packed(CLASS[:2], "w:gz"), "lstm.zip": zipped(CLASS[:2]), "kei.tar.gz": own,
        "yui.ipynb.gz": gzip.compress(NOTEBOOK.encode()), "cut.tgz": packed(CLASS, "w:gz")[:-200],
    })  # fmt: skip
    both = {ADA[:-6], GRACE[:-6]}
    assert set(sent.paths) == both | {f"{name}'" for name in both} | {"kei.tar", "yui.ipynb", "cut"}
    for name in ("kei.tar", "yui.ipynb"):
        assert set(answers.read_submission(name, sent.paths[name]).answers) == {"gates"}
    again = listed(packed([("sent/", ""), *((f"sent/{name}", content) for name, content in CLASS[:2])]), "c.tar")
    assert [*again.paths] == [GRACE[:-6], ADA[:-6]]


@pytest.mark.usefixtures("no_gradebook", "grading_in_process")
def test_a_tar_is_graded_by_the_command(tmp_path, monkeypatch, capsys):
    book = json.dumps(notebook({"gates": f"import helper\n{GATES}"}))
    files = [("lovelaceada_101_678_lstm.ipynb", book), ("lovelaceada_101_679_helper.py", "x = 1"), ("../a", "x")]
    (tmp_path / "class.tgz").write_bytes(packed(files, "w:gz"))
    command = ["grade", str(tmp_path / "class.tgz"), "--output", str(tmp_path / "grades"), "--workers", "1"]
    monkeypatch.setattr(sys, "argv", command)
    cli.main()
    printed = capsys.readouterr().out
    assert "class.tgz: ../a leads out of the folder" in printed and "1 submissions in" in printed
    text = (tmp_path / "grades" / "grades.csv").read_text("utf-8")
    assert "lovelaceada_101_678,gates,2,\n" in text


# Attacks


def test_no_path_leads_out_of_the_folder(listed, tmp_path, monkeypatch):
    (tmp_path / "deep" / "er").mkdir(parents=True)
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path / "deep" / "er"))
    sent = listed(packed([(name, "x") for name in OUTSIDE] + [(ADA, NOTEBOOK)]), "c.tar")
    assert [*unpacked(sent)] == [ADA] and not list(tmp_path.rglob("away*")) and not os.path.exists("/tmp/away.ipynb")
    assert len(sent.odd) == len(OUTSIDE) and {*reasons(sent).values()} == {class_zip.OUTSIDE}


KINDS = [tarfile.SYMTYPE, tarfile.LNKTYPE, tarfile.CHRTYPE, tarfile.BLKTYPE, tarfile.FIFOTYPE]


@pytest.mark.parametrize("kind", KINDS)
def test_links_and_devices_are_not_made(listed, tmp_path, kind):
    """Check also a file that would be written through a link."""
    (tmp_path / "outside").mkdir()
    link, file = tarfile.TarInfo("link"), tarfile.TarInfo(ADA)
    for entry, target in ((link, str(tmp_path / "outside")), (file, "/etc/passwd")):
        entry.type, entry.linkname = kind, target
    sent = listed(packed([(link, ""), (file, ""), ("link/lstm.ipynb", NOTEBOOK)]), "c.tar")
    assert [*unpacked(sent)] == ["link/lstm.ipynb"] and not list((tmp_path / "outside").iterdir())
    assert reasons(sent) == {"link": class_zip.LINK, ADA: class_zip.LINK}
    assert not any(path.is_symlink() for path in sent.unpacked[0].rglob("*"))


def test_names_become_harmless_and_all_files_of_one_name_stay(listed):
    strange = "a\x1b[31mb.ipynb", "con.ipynb", "\u202eyp.ipynb", os.fsdecode(b"\xff\xfe.ipynb")
    files = [(name, "x") for name in (*strange, ADA, ADA, f"{ADA}/below", "/".join("d" * 40))]
    sent = listed(packed(files, errors="surrogateescape", format=tarfile.GNU_FORMAT), "c.tar")
    assert {*unpacked(sent)} == {"a-[31mb.ipynb", "-con.ipynb", "-yp.ipynb", "--.ipynb", ADA, f"{ADA[:-6]} (2).ipynb"}
    assert sorted(reasons(sent).values()) == [class_zip.NO_NAME] * 2 + [
        class_zip.RENAMED.format(name=f"{ADA[:-6]} (2).ipynb")
    ]


def test_a_bomb_takes_nobody_elses_space(listed, monkeypatch):
    """Check one file that is too large, and many that together are: they stay submissions, and use no disk."""
    monkeypatch.setattr(entries, "FREE_BYTES", 3 * 2**20)
    monkeypatch.setattr(entries, "MAX_RATIO", 1)
    monkeypatch.setattr(entries, "MAX_FILE", 2**21)
    bombs = [(f"bomb_{number}_1_x.ipynb", b"0" * (2**20 + number)) for number in range(200, 205)]
    raw = packed([*bombs, ("huge_300_1_x.ipynb", b"0" * (2**21 + 1)), (ADA, NOTEBOOK)], "w:gz")
    sent = listed(raw, "c.tgz")
    assert len(sent.paths) == 7 and unpacked(sent)[ADA] == NOTEBOOK.encode()
    expected = {name: class_zip.TOO_MUCH for name, _ in bombs[2:]} | {"huge_300_1_x.ipynb": class_zip.TOO_LARGE}
    assert reasons(sent) == expected
    if sys.platform == "linux":
        assert sum(path.stat().st_blocks * 512 for path in sent.paths.values()) < 3 * 2**20
    monkeypatch.setattr(entries, "MAX_DIRECTORY_BYTES", 2**20)
    with pytest.raises(ValueError, match="it has far more bytes than an archive of its size may have"):
        listed(raw, "c.tgz")


def test_a_sparse_file_is_bounded_by_what_it_states(listed, monkeypatch):
    """Check a file of 100 MB that takes one kilobyte in the archive."""
    header = bytearray(packed([("hole_200_1_x.ipynb", b"x" * 512)], format=tarfile.GNU_FORMAT))
    header[156:157] = tarfile.GNUTYPE_SPARSE
    header[386:410] = b"%011o\0%011o\0" % (0, 512)
    header[483:495] = b"%011o\0" % (100 * 2**20)
    header[148:156] = b"        "
    header[148:156] = b"%06o\0 " % sum(header[:512])
    raw = bytes(header[:1024]) + packed([(ADA, NOTEBOOK)], format=tarfile.GNU_FORMAT)
    monkeypatch.setattr(entries, "FREE_BYTES", 2**20)
    sent = listed(raw, "c.tar")
    assert reasons(sent) == {"hole_200_1_x.ipynb": class_zip.TOO_MUCH} and unpacked(sent)[ADA] == NOTEBOOK.encode()


def test_too_many_entries_and_headers_are_refused(listed, monkeypatch):
    raw = packed([(f"{number}.txt", "") for number in range(500)], "w:gz")
    for name, limit, error in (("MAX_ENTRIES", 499, "lists more than 499 files"),
                               ("MAX_DIRECTORY_BYTES", 100_000, "its headers are too long")):  # fmt: skip
        with monkeypatch.context() as patched:
            patched.setattr(entries, name, limit)
            with pytest.raises(ValueError, match=rf"c\.tgz .*{error}"):
                listed(raw, "c.tgz")
    entry = tarfile.TarInfo(ADA)
    entry.pax_headers = {"comment": "x" * 200_000}
    monkeypatch.setattr(entries, "MAX_DIRECTORY_BYTES", 100_000)
    with pytest.raises(ValueError, match="its headers are too long"):
        listed(packed([(entry, "")]), "c.tar")


def test_headers_of_all_entries_take_no_memory(listed, tmp_path):
    """Check headers that say something of all later entries, which tarfile would copy for each."""
    files = []
    for number in range(300):
        entry = tarfile.TarInfo(f"{number}.txt")
        entry.pax_headers = {"mtime": "1790000000.5"}
        files.append((entry, ""))
    raw = packed(files, format=tarfile.PAX_FORMAT, pax_headers={f"key{number}": "x" for number in range(3000)})
    assert len(listed(raw, "c.tar").paths) == 300
    with tar_file.ClassTar(tmp_path / "sent" / "c.tar") as archive:
        assert not any(entry.raw.pax_headers for entry in archive.entries) and len(archive.entries) == 300


BROKEN = {
    "cut in a file": lambda raw: raw[: raw.find(b"The LSTM")],
    "cut in a header": lambda raw: raw[: raw.find(GRACE.encode()) + 200],
    "cut before the end": lambda raw: raw[: len(raw) // 512 * 512 - 10240],
    "damaged header": lambda raw: raw.replace(GRACE.encode(), GRACE.upper().encode()),
    "no end": lambda raw: raw.rstrip(b"\0"),
}  # fmt: skip


@pytest.mark.parametrize("how", BROKEN)
@pytest.mark.parametrize("compress", [False, True])
def test_a_damaged_tar_is_refused(listed, how, compress):
    raw = BROKEN[how](packed(CLASS))
    assert raw != packed(CLASS)
    with pytest.raises(ValueError, match=r"c\.tar is no zip or tar file, or is damaged or cut off"):
        listed(gzip.compress(raw) if compress else raw, "c.tar")


def test_a_damaged_checksum_is_noticed(listed):
    raw = bytearray(packed(CLASS, "w:gz"))
    raw[-6] ^= 1
    for broken in (bytes(raw), bytes(raw[:-9])):
        with pytest.raises(ValueError, match=r"c\.tgz is no zip or tar file, or is damaged or cut off"):
            listed(broken, "c.tgz")


@pytest.mark.parametrize("size", [-512, -1024, -(10**9), 2**62])
def test_impossible_sizes_keep_nobody_busy(listed, size):
    """Check sizes that lead back to an earlier header, or beyond the end."""
    raw = bytearray(packed([(ADA, NOTEBOOK), (GRACE, NOTEBOOK)]))
    at = raw.find(GRACE.encode())
    raw[at + 124 : at + 136] = (
        (b"\xff" if size < 0 else b"\x80") + b"\xff\xff\xff"[: 3 * (size < 0)].ljust(3, b"\0") + struct.pack(">q", size)
    )
    raw[at + 148 : at + 156] = b"        "
    raw[at + 148 : at + 156] = b"%06o\0 " % sum(raw[at : at + 512])
    begin = time.process_time()
    with pytest.raises(ValueError, match=r"c\.tar is no zip or tar file, or is damaged or cut off"):
        listed(bytes(raw), "c.tar")
    assert time.process_time() - begin < 5


@pytest.mark.parametrize("mtime", [float("nan"), -5.0, 1e300, 2.0**40])
def test_impossible_times_are_none(listed, mtime):
    entry = tarfile.TarInfo(ADA)
    entry.pax_headers = {"mtime": str(mtime)}
    sent = listed(packed([(entry, "")], format=tarfile.PAX_FORMAT), "c.tar")
    assert sent.paths[ADA[:-6]].stat().st_mtime == 0


def test_a_full_disk_is_no_damage(listed, monkeypatch):
    monkeypatch.setattr(os, "utime", lambda *_: (_ for _ in ()).throw(OSError(28, "No space left on device")))
    with pytest.raises(OSError, match="No space left"):
        listed(packed(CLASS), "c.tar")
