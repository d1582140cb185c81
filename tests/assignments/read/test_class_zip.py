"""Zip files of a whole class, as Canvas and Moodle hand them out: names, times, and attacks on unpacking."""

import json
import os
import shutil
import stat
import struct
import sys
import time
import unicodedata
import zipfile
from contextlib import ExitStack
from datetime import UTC, datetime

import pytest

from assignments import cli
from assignments.batch import Batch
from assignments.grade import cache
from assignments.lms import roster, submission_times
from assignments.lms.course import Course
from assignments.read import answers, class_zip, folders
from assignments.read.archives import entries, zip_file
from tests.assignments.grading import notebook, put, rows, zipped
from tests.assignments.read.test_strange_archives import zip_listing_often
from tests.check.lstm_answers import GATES

ADA, GRACE = "lovelaceada_101_678_lstm.ipynb", "hoppergrace_LATE_102_679_lstm.ipynb"
MOODLE = "Ada Lovelace_51_assignsubmission_file_", "김하늘_53_assignsubmission_file_"
NOTEBOOK = json.dumps(notebook({"gates": GATES}))


@pytest.fixture
def listed(tmp_path):
    """Return a function that writes a file or a folder of files, and lists its submissions."""
    with ExitStack() as at_end:

        def made(files, name="submissions.zip"):
            (tmp_path / "sent").mkdir(exist_ok=True)
            if isinstance(files, dict):
                for inner, raw in files.items():
                    (tmp_path / "sent" / inner).write_bytes(raw)
                return class_zip.submissions(tmp_path / "sent", at_end)
            (tmp_path / "sent" / name).write_bytes(files if isinstance(files, bytes) else zipped(files))
            return class_zip.submissions(tmp_path / "sent" / name, at_end)

        yield made


def unpacked(listed):
    """Return what was unpacked: {path in its folder: content}."""
    return {
        path.relative_to(folder).as_posix(): path.read_bytes()
        for folder in listed.unpacked for path in sorted(folder.rglob("*")) if path.is_file()
    }  # fmt: skip


def reasons(listed):
    return {entry: reason for _, entry, reason in listed.odd}


# As it comes


def test_names_are_those_that_canvas_and_moodle_give(listed):
    canvas = listed([(ADA, NOTEBOOK), (GRACE, NOTEBOOK)])
    assert [*canvas.paths] == ["hoppergrace_LATE_102_679_lstm", "lovelaceada_101_678_lstm"] and not canvas.odd
    assert [roster.CANVAS.fullmatch(roster.entry_name(path))["number"] for path in canvas.paths.values()] == [
        "102",
        "101",
    ]
    assert submission_times.canvas_late_mark([*canvas.paths][0])
    moodle = listed([(f"{name}/lstm.ipynb", NOTEBOOK) for name in MOODLE] + [("Bo Ol_54_assignsubmission_file_/", "")])
    assert [*moodle.paths] == [MOODLE[0], "Bo Ol_54_assignsubmission_file_", MOODLE[1]]
    assert answers.read_submission("ada", moodle.paths[MOODLE[0]]).assignments == ["lstm"]
    assert answers.read_submission("bo", moodle.paths["Bo Ol_54_assignsubmission_file_"]).remarks == [
        ("nothing_sent", "")
    ]


def test_several_archives_and_folders_lie_in_one_folder(listed, tmp_path):
    put(tmp_path / "sent", "kei", "lstm.ipynb", NOTEBOOK)
    both = listed({
        "lstm.zip": zipped([(ADA, NOTEBOOK), (GRACE, NOTEBOOK)]),
        "rnn.zip": zipped([(f"{name}/rnn.ipynb", NOTEBOOK) for name in MOODLE]),
        "again.zip": zipped([(ADA, NOTEBOOK), (GRACE, NOTEBOOK)]),
        "yui.zip": zipped([(ADA, NOTEBOOK), ("notes.txt", "")]),
        "cut.zip": zipped([(ADA, NOTEBOOK), (GRACE, NOTEBOOK)])[:-30],
    })  # fmt: skip
    alone = {"kei", "yui", "cut"}
    lms = {ADA[:-6], GRACE[:-6]}
    assert set(both.paths) == alone | lms | {f"{name}'" for name in lms} | {*MOODLE}
    assert both.odd == [("cut.zip", "", class_zip.BROKEN)] and len({*both.paths.values()}) == len(both.paths)
    assert {roster.entry_name(both.paths[name]) for name in (ADA[:-6], ADA[:-6] + "'")} == {ADA[:-6]}


def test_a_class_that_was_packed_again_loses_its_outer_folder(listed):
    again = listed([("sent/", ""), (f"sent/{ADA}", NOTEBOOK), (f"sent/{GRACE}", NOTEBOOK), ("__MACOSX/sent/._x", "")])
    assert [*again.paths] == [GRACE[:-6], ADA[:-6]]
    assert [*listed([(f"{MOODLE[0]}/{ADA}", NOTEBOOK)]).paths] == [MOODLE[0]]  # a class of one


def test_large_archives_of_a_class_are_recognized(listed, monkeypatch):
    """Check a file beyond the bytes that are read of one submission."""
    monkeypatch.setattr(folders, "MAX_BYTES", 99)
    raw = zipped([(ADA, NOTEBOOK), (GRACE, NOTEBOOK)])
    assert len(raw) > 99 and [*listed({"class.zip": raw}).paths] == [GRACE[:-6], ADA[:-6]]


def test_what_macos_adds_is_ignored(listed):
    extra = [f"__MACOSX/._{ADA}", ".DS_Store", f"{MOODLE[0]}/.DS_Store", f"{MOODLE[0]}/._lstm.ipynb"]
    sent = listed([(ADA, NOTEBOOK), (f"{MOODLE[0]}/lstm.ipynb", NOTEBOOK), *((name, "x") for name in extra)])
    assert [*unpacked(sent)] == [f"{MOODLE[0]}/lstm.ipynb", ADA] and not sent.odd and not sent.skipped


def without_utf8_flag(raw):
    """Return a zip file that does not say that its names are in UTF-8, as many programs write it."""
    raw = bytearray(raw)
    for mark, offset in ((b"PK\3\4", 6), (b"PK\1\2", 8)):
        at = raw.find(mark)
        while at >= 0:
            raw[at + offset + 1] &= ~8 & 255
            at = raw.find(mark, at + 4)
    return bytes(raw)


def test_names_in_any_encoding_are_read(listed):
    apart = unicodedata.normalize("NFD", "José Núñez_52_assignsubmission_file_/lstm.ipynb")
    names = [apart, f"{MOODLE[1]}/lstm.ipynb"]
    for raw in (zipped([(name, "") for name in names]), without_utf8_flag(zipped([(name, "") for name in names]))):
        assert [*listed(raw).paths] == ["José Núñez_52_assignsubmission_file_", MOODLE[1]]
    old = zipped([("JosX NX.ipynb", "")]).replace(b"JosX NX", "José NÉ".encode("cp437"))  # cp437, without a flag
    assert [*listed(old).paths] == ["José NÉ"]


def test_times_of_files_are_kept_for_due_dates(listed, tmp_path):
    late, stamp = zipfile.ZipInfo(GRACE, (2026, 10, 6, 1, 30, 0)), datetime(2026, 10, 5, 22, 0, 1, tzinfo=UTC)
    stamped = zipfile.ZipInfo(ADA, (1980, 1, 1, 0, 0, 0))
    stamped.extra = struct.pack("<HHBLHH", 0x5455, 5, 1, int(stamp.timestamp()), 0, 0)
    sent = listed([(late, NOTEBOOK), (stamped, NOTEBOOK)])
    assert submission_times.latest_file_time(sent.paths[ADA[:-6]]) == stamp
    assert time.localtime(sent.paths[GRACE[:-6]].stat().st_mtime)[:5] == (2026, 10, 6, 1, 30)
    (tmp_path / "course.toml").write_text('zone = "UTC"\n[due]\nlstm = 2026-10-05T12:00:00\n')
    course = Course(sent.paths, rules=tmp_path / "course.toml")
    course.record_times(tmp_path, {name: {"assignments": ["lstm"]} for name in sent.paths})
    assert course.sent_times[ADA[:-6], "lstm"][:2] == [stamp.isoformat(), "files"]


# Several files of one student


SEVERAL = {
    "hoppergrace_LATE_102_1000_lstm.ipynb": NOTEBOOK, "hoppergrace_LATE_102_998_helper-1.py": "a = 1",
    "hoppergrace_LATE_102_999_lstm.ipynb": "{}", ADA: NOTEBOOK, "hopper_102_997_rnn.ipynb": NOTEBOOK,
    "lovelaceada_1012_679_lstm.ipynb": NOTEBOOK, "hoppergrace_LATE_102_1001_.hidden.txt": "x",
    "hoppergrace_LATE_102_1002_..": "y", "kim_1_2_lstm.ipynb": NOTEBOOK, "kim_1_3_rnn.ipynb": NOTEBOOK,
}  # fmt: skip
JOINED = "hoppergrace_LATE_102_998"


@pytest.mark.parametrize("form", ["zip", "packed again", "folder"])
def test_several_files_of_a_canvas_student_are_one_submission(listed, form):
    """Check that no other student gets a file, and that the later of two files with one name counts."""
    files = [(name, content.encode()) for name, content in SEVERAL.items() if form != "folder" or ".." not in name]
    if form == "folder":
        sent = listed(dict(files))
    else:
        sent = listed([(f"sent/{name}" if form == "packed again" else name, content) for name, content in files])
    alone = {name.removesuffix(".ipynb") for name in SEVERAL if not name.startswith("hoppergrace")}
    assert set(sent.paths) == alone | {JOINED}
    joined = {path.name: path.read_bytes().decode() for path in sent.paths[JOINED].iterdir()}
    assert joined == {"lstm (2).ipynb": NOTEBOOK, "lstm.ipynb": "{}", "helper.py": "a = 1", "hidden.txt": "x"} | (
        {} if form == "folder" else {"-": "y"}
    )
    match = roster.CANVAS.fullmatch(roster.entry_name(sent.paths[JOINED]))
    assert match["number"] == "102" and match["late"] and folders.canvas_owner(JOINED) == ("hoppergrace", "102")
    assert all(any(path.is_relative_to(folder) for folder in sent.unpacked) for path in [sent.paths[JOINED]])
    read = answers.read_submission("grace", sent.paths[JOINED])
    assert set(read.answers) == {"gates"} and read.answers["gates"].file == "lstm (2).ipynb"


def test_a_joined_student_is_graded_again_only_if_a_file_has_changed(listed, tmp_path):
    """Check that times and contents stay when files are put together, and that no file of the folder is touched."""
    names = ["kim_103_500_lstm.ipynb", "kim_103_501_helper.py"]
    hashes = []
    for helper in (b"a = 1", b"a = 1", b"a = 2"):
        sent = listed({names[0]: NOTEBOOK.encode(), names[1]: helper})
        os.utime(tmp_path / "sent" / names[1], (1_790_000_000, 1_790_000_000))
        sent = listed({})
        assert [*sent.paths] == ["kim_103_500"]
        hashes.append(cache.hash_files(sent.paths["kim_103_500"]))
        assert (sent.paths["kim_103_500"] / "helper.py").stat().st_mtime == 1_790_000_000
    assert hashes[0] == hashes[1] != hashes[2]
    assert sorted(path.name for path in (tmp_path / "sent").iterdir()) == names


# Attacks

OUTSIDE = [
    "../away.ipynb", "../../away.ipynb", "/tmp/away.ipynb", "C:\\away.ipynb", "c:away.ipynb", "..\\away.ipynb",
    "ada/../../away.ipynb", "\\\\host\\share\\away.ipynb", "ada\\..\\..\\away.ipynb", "//away.ipynb", "./../away.ipynb",
]  # fmt: skip


def test_no_path_leads_out_of_the_folder(listed, tmp_path, monkeypatch):
    (tmp_path / "deep" / "er").mkdir(parents=True)
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path / "deep" / "er"))
    sent = listed([(name, "x") for name in OUTSIDE] + [(ADA, NOTEBOOK)])
    assert [*unpacked(sent)] == [ADA] and not list(tmp_path.rglob("away*")) and not os.path.exists("/tmp/away.ipynb")
    assert len(sent.odd) == len(OUTSIDE) and {*reasons(sent).values()} == {class_zip.OUTSIDE}


@pytest.mark.parametrize("kind", [stat.S_IFLNK, stat.S_IFIFO, stat.S_IFCHR])
def test_links_and_devices_are_not_made(listed, tmp_path, kind):
    """Check also a file that would be written through a link."""
    (tmp_path / "outside").mkdir()
    link, file = zipfile.ZipInfo("link"), zipfile.ZipInfo(ADA)
    for entry in (link, file):
        entry.create_system, entry.external_attr = 3, (kind | 0o777) << 16
    sent = listed([(link, str(tmp_path / "outside")), (file, "/etc/passwd"), ("link/lstm.ipynb", NOTEBOOK)])
    assert [*unpacked(sent)] == ["link/lstm.ipynb"] and not list((tmp_path / "outside").iterdir())
    assert reasons(sent) == {"link": class_zip.LINK, ADA: class_zip.LINK}
    assert not any(path.is_symlink() for path in sent.unpacked[0].rglob("*"))


def test_a_zip_bomb_takes_nobody_elses_space(listed, monkeypatch):
    """Check one file that is too large, and many that together are: they stay submissions, and use no disk."""
    monkeypatch.setattr(entries, "FREE_BYTES", 3 * 2**20)
    monkeypatch.setattr(entries, "MAX_RATIO", 1)
    monkeypatch.setattr(entries, "MAX_FILE", 2**21)
    bombs = [(f"bomb_{number}_1_x.ipynb", b"0" * (2**20 + number)) for number in range(200, 205)]
    sent = listed([*bombs, ("huge_300_1_x.ipynb", b"0" * (2**21 + 1)), (ADA, NOTEBOOK)])
    assert len(sent.paths) == 7 and unpacked(sent)[ADA] == NOTEBOOK.encode()
    expected = {name: class_zip.TOO_MUCH for name, _ in bombs[2:]} | {"huge_300_1_x.ipynb": class_zip.TOO_LARGE}
    assert reasons(sent) == expected
    if sys.platform == "linux":
        assert sum(path.stat().st_blocks * 512 for path in sent.paths.values()) < 3 * 2**20
    monkeypatch.setattr(folders, "MAX_BYTES", 2**21)
    assert answers.read_submission("a", sent.paths["bomb_204_1_x"]).remarks[0][0] == "file_too_large"


def test_an_archive_that_lists_one_file_often_is_bounded(listed, monkeypatch):
    raw = zip_listing_often(ADA, b"0" * 1000, 500)
    monkeypatch.setattr(entries, "FREE_BYTES", 20_000)
    monkeypatch.setattr(entries, "MAX_RATIO", 0)
    sent = listed(raw)
    assert sum(reason == class_zip.TOO_MUCH for _, _, reason in sent.odd) == 480
    for name, limit in (("MAX_ENTRIES", 499), ("MAX_DIRECTORY_BYTES", 9999)):
        with monkeypatch.context() as patched:
            patched.setattr(entries, name, limit)
            with pytest.raises(ValueError, match=r"submissions\.zip lists (more than 499|too many) files"):
                listed(raw)
            assert [*listed({"submissions.zip": raw}).paths] == ["submissions"]


def test_no_more_is_unpacked_than_an_entry_states(listed):
    raw = bytearray(zipped([(ADA, b"0" * 10**6)]))
    for mark, offset in ((b"PK\3\4", 22), (b"PK\1\2", 24)):
        struct.pack_into("<L", raw, raw.find(mark) + offset, 1000)
    sent = listed(bytes(raw))
    assert len(unpacked(sent)[ADA]) <= 1000 and reasons(sent) == {ADA: class_zip.DAMAGED}


def test_a_full_disk_is_said_before_anything_is_written(listed, monkeypatch):
    monkeypatch.setattr(shutil, "disk_usage", lambda _: shutil._ntuple_diskusage(1, 1, 0))
    with pytest.raises(ValueError, match=r"submissions\.zip needs .* Set TMPDIR"):
        listed([(ADA, NOTEBOOK)])


def with_flag(raw, name, flag, kind=None):
    """Return a zip file in which an entry has another flag or another kind of compression."""
    raw = bytearray(raw)
    for mark, offset, start in ((b"PK\3\4", 6, 30), (b"PK\1\2", 8, 46)):
        at = raw.find(mark)
        while raw[at + start : at + start + len(name)] != name.encode():
            at = raw.find(mark, at + 4)
        raw[at + offset] |= flag
        raw[at + offset + 2] = raw[at + offset + 2] if kind is None else kind
    return bytes(raw)


def test_encrypted_and_unusual_entries_are_listed(listed):
    raw = zipped([(ADA, NOTEBOOK), (GRACE, NOTEBOOK), ("kim_103_5_x.ipynb", NOTEBOOK)])
    sent = listed(with_flag(with_flag(raw, ADA, 1), GRACE, 0, kind=14))
    assert reasons(sent) == {ADA: zip_file.LOCKED, GRACE: zip_file.PACKED} and len(sent.paths) == 3
    assert ("empty_file", ADA) in answers.read_submission("ada", sent.paths[ADA[:-6]]).remarks
    with pytest.raises(ValueError, match=r"submissions\.zip is encrypted"):
        listed(with_flag(zipped([(ADA, NOTEBOOK)]), ADA, 1))


def test_damaged_entries_are_read_as_far_as_they_go(listed):
    raw = zipped([(ADA, NOTEBOOK), (GRACE, NOTEBOOK)], zipfile.ZIP_STORED)
    at = raw.find(b"The LSTM")
    sent = listed(raw[:at] + b"the LSTM" + raw[at + 8 :])
    assert reasons(sent) == {ADA: class_zip.DAMAGED} and len(unpacked(sent)[ADA]) == len(NOTEBOOK)
    assert set(answers.read_submission("ada", sent.paths[ADA[:-6]]).answers) == {"gates"}
    for broken in (raw[: len(raw) // 2], raw[:-5], b"PK\3\4" + bytes(500), b""):
        with pytest.raises(ValueError, match=r"submissions\.zip is no zip or tar file, or is damaged"):
            listed(broken)


def test_entries_of_one_name_are_all_kept(listed):
    with pytest.warns(UserWarning, match="Duplicate"):
        raw = zipped([(ADA, "first"), (ADA, "second"), (ADA.upper(), "third"), (ADA + "/below.ipynb", "x"),
                      (f"{MOODLE[0]}/x", "x"), (MOODLE[0], "fourth")])  # fmt: skip
    sent = listed(raw)
    assert {*unpacked(sent).values()} == {b"first", b"second", b"third", b"fourth", b"x"} and len(sent.paths) == 5
    assert {reason for _, _, reason in sent.odd} == {
        class_zip.RENAMED.format(name=f"{ADA[:-6]} (2).ipynb"),
        class_zip.RENAMED.format(name=f"{ADA[:-6].upper()} (3).IPYNB"),
        class_zip.RENAMED.format(name=f"{MOODLE[0]} (2)"),
        class_zip.NO_NAME,
    }
    assert roster.CANVAS.fullmatch(f"{ADA[:-6]} (2)")["number"] == "101"


STRANGE = {
    "a" * 300 + ".ipynb": "a" * 194 + ".ipynb", "ada_1_2_" + "課" * 90 + ".ipynb": None, "con.ipynb": "-con.ipynb",
    "a\x1b[31mb.ipynb": "a-[31mb.ipynb", "\u202eyp.ipynb": "-yp.ipynb", 'a?*"<b>|.ipynb': "a----b--.ipynb",
    "xa:b.ipynb": "xa-b.ipynb", "-rf.ipynb": "-rf.ipynb", "x. ": "x", "$(touch x).ipynb": "$(touch x).ipynb",
    "김 하늘.ipynb": "김 하늘.ipynb", "/".join(["d"] * 40): None,
}  # fmt: skip


@pytest.mark.parametrize("name", STRANGE, ids=range(len(STRANGE)))
def test_strange_names_become_harmless(listed, name):
    sent = listed([(name, "x"), (GRACE, NOTEBOOK)])
    names = {*unpacked(sent)} - {GRACE}
    assert names == {STRANGE[name]} if STRANGE[name] else len(names) == ("課" in name)
    assert all(len(path.encode()) <= class_zip.MAX_NAME for path in names)
    assert reasons(sent) == ({} if names else {name: class_zip.NO_NAME})


def test_a_students_archive_stays_packed(listed):
    inner = zipped([("../away.ipynb", NOTEBOOK), ("lstm.ipynb", NOTEBOOK)])
    sent = listed([("lovelaceada_101_5_work.zip", inner), (f"{MOODLE[0]}/work.zip", inner)])
    assert {*unpacked(sent).values()} == {inner}
    for path in sent.paths.values():
        assert "gates" in answers.read_submission("ada", path).answers


# The command


@pytest.mark.usefixtures("no_gradebook", "grading_in_process")
def test_a_zip_is_graded_and_the_next_run_continues(tmp_path, monkeypatch, capsys):
    seen, made = [], []
    batch = Batch.__init__
    monkeypatch.setattr(
        cli.Batch, "__init__", lambda self, *args, **more: (batch(self, *args, **more), seen.append(self))[0]
    )
    (tmp_path / "submissions.zip").write_bytes(zipped([(ADA, NOTEBOOK), (GRACE, NOTEBOOK), ("../away.txt", "x")]))
    (tmp_path / "temporary").mkdir()
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path / "temporary"))
    (tmp_path / "class.csv").write_text(
        'Student,ID,Section,LSTM (7)\n    Points Possible,,,13\n"Lovelace, Ada",101,A,\n"Hopper, Grace",102,A,\n'
    )
    command = ["grade", str(tmp_path / "submissions.zip"), "--output", str(tmp_path / "grades")]
    monkeypatch.setattr(sys, "argv", [*command, "--roster", str(tmp_path / "class.csv")])
    for run in (1, 2):
        cli.main()
        printed = capsys.readouterr().out
        assert "submissions.zip: ../away.txt leads out of the folder" in printed
        assert ("2 of 2 submissions are graded already" in printed) == (run == 2)
        made += [path for path in (tmp_path / "temporary").iterdir() if path.name.startswith("submissions-")]
    assert rows(tmp_path / "grades")[ADA[:-6], "gates"] == (2, "") and not made
    assert '"Hopper, Grace",102,A,2' in (tmp_path / "grades" / "canvas.csv").read_text()
    assert len(cache.read_rosters(tmp_path / "grades")) == 1
    assert all(any("submissions-" in folder for folder in each.hidden) for each in seen)  # from students' code
