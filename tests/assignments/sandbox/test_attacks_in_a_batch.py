"""Test that attacks in one batch with two honest students earn no points, harm nobody and see no file.

Attacks on a single protection are in the other files of this folder. The attacks here are the programs of
attack_programs.py, and names and files made to harm the grader.
"""

import ctypes
import json
import os
import platform
import re
import stat
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import pytest

from assignments.sandbox.limits import threads_in_use
from assignments.sandbox.system_calls import MACHINES, REFUSED
from tests.assignments.grading import cell, generations, is_running, linux, needs_sandbox, notebook, put, rows
from tests.assignments.sandbox.attack_programs import GAIN, OPEN, opening
from tests.check.lstm_answers import SOURCES
from tests.project.paths import ROOT

pytestmark = [linux, needs_sandbox, pytest.mark.heavy]


def notebook_with(question, source):
    return notebook({question: source})


def names(folder):
    """Hand in as students whose names resemble others, or are formulas or markup."""
    for name in (
        "ADA",
        "ada ",
        "аda",
        "ada.html",
        "=1+1",
        "bob;=1+1",
        "<img src=x onerror=alert(1)>",
        "`[a](javascript:b)`",
    ):
        put(folder, name, "lstm.ipynb", notebook_with("gates", "def gates(*_): return None"))


def modules(folder):
    """Hand in folders that are importable if the grader starts in the folder of submissions."""
    for name in ("multiprocessing", "torch", "json", "alembic"):
        for file in ("__init__.py", "spawn.py", "resource_tracker.py"):
            put(folder, name, file, f"open({str(folder.parent / 'ran')!r}, 'w')")


def links(folder):
    """Hand in links to another student's files, and files that never end."""
    (folder / "link").symlink_to(folder / "ada")
    (folder / "links").mkdir()
    (folder / "links/lstm.ipynb").symlink_to(folder / "ada/lstm.ipynb")
    (folder / "links/again").symlink_to(folder / "links")
    os.mkfifo(folder / "links/pipe.ipynb")


def letters(folder):
    """Hand in many cells that take long to parse."""
    many = "def gates(*_): raise NotImplementedError\nx = [" + "1, " * 60_000 + "]\n"
    put(folder, "letters", "lstm.ipynb", {"cells": [cell(many, "gates") for _ in range(60)]})


def uses(folder):
    """Hand in a mistake that may follow from an earlier one, in a notebook with much other code to search."""
    cells = [cell("def gates(*_): return 1", "gates"), cell("class LSTMCell:\n    x = gates", "lstm_cell")]
    put(folder, "uses", "lstm.ipynb", {"cells": cells + [cell("y = [" + "1, " * 30_000 + "]") for _ in range(100)]})


def depth(folder):
    """Hand in code and JSON nested so deeply that parsers run out of memory."""
    put(folder, "deep", "lstm.ipynb", notebook_with("gates", "def gates(*_):\n    return " + "1+" * 60_000 + "1"))
    put(folder, "nested", "lstm.ipynb", '{"cells": ' + "[" * 500_000)


HARMFUL_FILES = names, modules, links, letters, uses, depth
HONEST = "ada", "bob"
# Refuse some system calls, as many systems and containers do, and run another program.
REFUSE_AND_RUN = """
import ctypes, os, struct, sys
steps = [(0x20, 0, 0, 0)]
for number in sys.argv[1].split(",") if sys.argv[1] else ():
    steps += [(0x15, 0, 1, int(number)), (6, 0, 0, 0x50001)]
steps += [(6, 0, 0, 0x7FFF0000)]
program = ctypes.create_string_buffer(b"".join(struct.pack("HBBI", *step) for step in steps))
libc = ctypes.CDLL(None)
libc.prctl(38, 1, 0, 0, 0)
assert libc.prctl(22, 2, ctypes.c_char_p(struct.pack("HxxxxxxP", len(steps), ctypes.addressof(program))), 0, 0) == 0
os.execv(sys.executable, [sys.executable, *sys.argv[2:]])
"""
# Each attack runs once with all protections. Where a system refuses these calls, Landlock replaces mounts, and the
# system call filter and limits replace namespaces: the attacks that these stop run again.
ON_FILES = (
    "right_ones_in_modules", "files_of_others", "torchs_own_source", "writes_where_others_read",
    "truncates_what_it_may_read",
    "marks_on_files", "fills_the_disk",
)  # fmt: skip
ON_PROCESSES = "memory_that_others_share", "kills", "threads_without_end", "stays_behind"
SETTINGS = {
    "as_it_is": ([], OPEN),
    "namespaces_refused": (["unshare"], ON_FILES + ON_PROCESSES),
    "mounts_refused": (["mount"], ON_FILES),
}


@pytest.fixture
def place():
    """Yield a folder that everybody may read, as on shared machines."""
    with tempfile.TemporaryDirectory() as folder:
        os.chmod(folder, 0o755)
        yield Path(folder)


def start(place, refused=(), **options):
    """Start the grader in the folder of submissions, with some system calls refused."""
    numbers = ",".join(str(REFUSED[name][MACHINES[platform.machine()][0]]) for name in refused)
    program = [
        sys.executable,
        "-c",
        REFUSE_AND_RUN,
        numbers,
        str(ROOT / "assignments"),
        ".",
        "--output",
        str(place / "grades"),
    ]
    program += ["--workers", "2", "--seconds", "5"]
    environment = os.environ | {"PYTHONPATH": str(place / "site-packages")}
    return subprocess.Popen(
        program, cwd=place / "submissions", env=environment, text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT
    )


def hand_in(place, segment, attacks):
    """Write the attacks of a setting; attacks for points and odd files belong to the setting `as_it_is` only."""
    folder, library = place / "submissions", place / "site-packages"
    library.mkdir()
    (library / "library.py").write_text("# everybody's")
    for student in HONEST:
        put(folder, student, "lstm.ipynb", notebook())
    for name, (question, source) in GAIN.items() if attacks is OPEN else ():
        put(folder, name, "lstm.ipynb", notebook_with(question, source))
    constants = (
        "SUBMISSIONS, OUTPUT, LIBRARY, PROJECT, HOME ="
        f" {[str(folder), str(place / 'grades'), str(library), str(ROOT), os.path.expanduser('~')]!r}\nSEGMENT, THREADS"
        f" = {segment}, {threads_in_use() + 200}"
    )
    for name in attacks:
        put(folder, name, "lstm.ipynb", notebook_with("gates", opening(name, constants)))
    for write in HARMFUL_FILES if attacks is OPEN else ():
        write(folder)


def state(place):
    """Return the metadata and content of the files that the attacks may harm."""
    files = {}
    for folder in (place / "submissions", place / "site-packages"):
        for path in sorted(folder.rglob("*")):
            meta = path.lstat()
            plain = stat.S_ISREG(meta.st_mode)
            files[path] = (meta.st_mode, meta.st_uid, meta.st_gid, meta.st_size, meta.st_mtime_ns if plain else 0,
                           path.read_bytes() if plain else "", os.listxattr(path, follow_symlinks=False))  # fmt: skip
    return files


# The settings in which calls are refused run in a quarter of the trees, see selection.py.
each_setting = pytest.mark.parametrize(
    "setting", [pytest.param(name, marks=[pytest.mark.deep] * bool(SETTINGS[name][0])) for name in SETTINGS]
)


@each_setting
def test_attacks_in_a_batch_gain_and_harm_nothing(place, setting):
    refused, attacks = SETTINGS[setting]
    libc = ctypes.CDLL(None)
    segment = libc.shmget(0, 4096, 0o1600)
    try:
        hand_in(place, segment, attacks)
        before = state(place)
        process = start(place, refused)
        output = process.communicate()[0]
        assert libc.shmctl(segment, 2, ctypes.create_string_buffer(256)) == 0, "the shared memory was deleted"
    finally:
        libc.shmctl(segment, 0, 0)
    assert process.returncode == 0, output
    graded, after = rows(place / "grades"), state(place)
    problems = [path for path, was in before.items() if after.get(path) != was]
    problems += ["ran"] * (place / "ran").exists()
    problems += [
        (*key, *pair) for key, pair in graded.items() if (key[0] in HONEST) != (pair[0] > 0) or "not_graded" in pair
    ]
    problems += [("lost", student) for student in HONEST if sum(name == student for name, _ in graded) != len(SOURCES)]
    stored = [json.loads(path.read_text()) for path in (place / "grades/done").glob("*.json")]
    seconds = {
        entry["graded"]["student"]: entry["graded"]["seconds"] for file in stored for entry in file["batches"].values()
    }
    problems += [(name, seconds[name]) for name in ("letters", "uses", "deep", "nested") if seconds.get(name, 0) > 300]
    for page in (place / "grades").rglob("*.html"):
        problems += [
            (page.name, markup)
            for markup in re.findall("<img|<script>alert|href=.javascript", page.read_text(encoding="utf-8"))
        ]
    problems += re.findall(r"(?m)^[=+@-].*", (place / "grades/grades.csv").read_text(encoding="utf-8-sig"))
    assert problems == []


@each_setting
def test_no_process_survives_a_killed_grader(place, setting):
    put(
        place / "submissions",
        "mallory",
        "lstm.ipynb",
        notebook_with("gates", opening("stays_behind").replace("range(3, 64)", "()")),
    )
    process = start(place, SETTINGS[setting][0])
    # fork server, worker, watcher, PID 1 of the namespace, the student's process
    while len(ancestry := generations(process.pid)) < 5:
        assert process.poll() is None
        time.sleep(0.2)
    time.sleep(1)
    started = {pid for generation in [*ancestry, *generations(process.pid)] for pid in generation}
    process.kill()
    process.wait()
    process.stdout.close()
    time.sleep(2)
    assert [pid for pid in started if is_running(pid)] == []
