"""Attacks on the grader in one batch beside two honest students: no point gained, nobody harmed, no file seen.

Attacks on one wall alone are in the other files of this folder. What is after points defines the answer; what
is after a file, a process or a right is right if it finds a door open. The others are names and files.
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
from tests.assignments.grading import cell, generations, linux, notebook, put, rows, there, walled
from tests.assignments.sandbox.attack_programs import GAIN, OPEN, opening
from tests.check.lstm_answers import SOURCES
from tests.project.paths import ROOT

pytestmark = [linux, walled, pytest.mark.heavy]


def code(question, source):
    return notebook({question: source})


def names(folder):
    """Students called as others nearly are, as formulas and as markup."""
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
        put(folder, name, "lstm.ipynb", code("gates", "def gates(*_): return None"))


def modules(folder):
    """Of which some may be imported, if the grader is started where they are."""
    for name in ("multiprocessing", "torch", "json", "alembic"):
        for file in ("__init__.py", "spawn.py", "resource_tracker.py"):
            put(folder, name, file, f"open({str(folder.parent / 'ran')!r}, 'w')")


def links(folder):
    """To another's files, and what never ends."""
    (folder / "link").symlink_to(folder / "ada")
    (folder / "links").mkdir()
    (folder / "links/lstm.ipynb").symlink_to(folder / "ada/lstm.ipynb")
    (folder / "links/again").symlink_to(folder / "links")
    os.mkfifo(folder / "links/pipe.ipynb")


def letters(folder):
    """Much to parse, again and again."""
    many = "def gates(*_): raise NotImplementedError\nx = [" + "1, " * 60_000 + "]\n"
    put(folder, "letters", "lstm.ipynb", {"cells": [cell(many, "gates") for _ in range(60)]})


def uses(folder):
    """A second mistake that may follow from the first, in a notebook with much else to look through."""
    cells = [cell("def gates(*_): return 1", "gates"), cell("class LSTMCell:\n    x = gates", "lstm_cell")]
    put(folder, "uses", "lstm.ipynb", {"cells": cells + [cell("y = [" + "1, " * 30_000 + "]") for _ in range(100)]})


def depth(folder):
    """More deeply nested than a program's own memory reaches."""
    put(folder, "deep", "lstm.ipynb", code("gates", "def gates(*_):\n    return " + "1+" * 60_000 + "1"))
    put(folder, "nested", "lstm.ipynb", '{"cells": ' + "[" * 500_000)


FILES = names, modules, links, letters, uses, depth
HONEST = "ada", "bob"
# Refuses some calls, as many systems and containers do, and goes on as another program.
REFUSING = """
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
# Each attack is tried once as the system is. Where a system refuses these calls, other walls stand in for some, and the
# attacks that these walls stop are tried again: Landlock for mounts, the filter of calls and limits for namespaces.
BY_FILES = (
    "right_ones_in_modules", "files_of_others", "torchs_own_source", "writes_where_others_read",
    "truncates_what_it_may_read",
    "marks_on_files", "fills_the_disk",
)  # fmt: skip
BY_NAMESPACES = "memory_that_others_share", "kills", "threads_without_end", "stays_behind"
SETTINGS = {
    "as_it_is": ([], OPEN),
    "namespaces_refused": (["unshare"], BY_FILES + BY_NAMESPACES),
    "mounts_refused": (["mount"], BY_FILES),
}


@pytest.fixture
def place():
    """A folder that everybody may read, as shared machines have it."""
    with tempfile.TemporaryDirectory() as folder:
        os.chmod(folder, 0o755)
        yield Path(folder)


def start(place, refused=(), **options):
    """The grader's command, where the submissions are."""
    numbers = ",".join(str(REFUSED[name][MACHINES[platform.machine()][0]]) for name in refused)
    program = [
        sys.executable,
        "-c",
        REFUSING,
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


def hand_in(place, segment, doors):
    """Write the attacks of a setting. What is after points, and what is read and parsed, is so whatever walls there
    are."""
    folder, library = place / "submissions", place / "site-packages"
    library.mkdir()
    (library / "library.py").write_text("# everybody's")
    for student in HONEST:
        put(folder, student, "lstm.ipynb", notebook())
    for name, (question, source) in GAIN.items() if doors is OPEN else ():
        put(folder, name, "lstm.ipynb", code(question, source))
    known = (
        "SUBMISSIONS, OUTPUT, LIBRARY, PROJECT, HOME ="
        f" {[str(folder), str(place / 'grades'), str(library), str(ROOT), os.path.expanduser('~')]!r}\nSEGMENT, THREADS"
        f" = {segment}, {threads_in_use() + 200}"
    )
    for name in doors:
        put(folder, name, "lstm.ipynb", code("gates", opening(name, known)))
    for make in FILES if doors is OPEN else ():
        make(folder)


def state(place):
    """All that can be said of the files that were there before."""
    found = {}
    for folder in (place / "submissions", place / "site-packages"):
        for path in sorted(folder.rglob("*")):
            said = path.lstat()
            plain = stat.S_ISREG(said.st_mode)
            found[path] = (said.st_mode, said.st_uid, said.st_gid, said.st_size, said.st_mtime_ns if plain else 0,
                           path.read_bytes() if plain else "", os.listxattr(path, follow_symlinks=False))  # fmt: skip
    return found


# Where a system refuses calls, a quarter of the trees are tried.
each_setting = pytest.mark.parametrize(
    "setting", [pytest.param(one, marks=[pytest.mark.deep] * bool(SETTINGS[one][0])) for one in SETTINGS]
)


@each_setting
def test_nothing_is_gained_or_harmed_or_seen(place, setting):
    refused, doors = SETTINGS[setting]
    libc = ctypes.CDLL(None)
    segment = libc.shmget(0, 4096, 0o1600)
    try:
        hand_in(place, segment, doors)
        before = state(place)
        process = start(place, refused)
        said = process.communicate()[0]
        assert libc.shmctl(segment, 2, ctypes.create_string_buffer(256)) == 0, "shared memory is gone"
    finally:
        libc.shmctl(segment, 0, 0)
    assert process.returncode == 0, said
    graded, after = rows(place / "grades"), state(place)
    problems = [path for path, was in before.items() if after.get(path) != was]
    problems += ["ran"] * (place / "ran").exists()
    problems += [
        (*one, *pair) for one, pair in graded.items() if (one[0] in HONEST) != (pair[0] > 0) or "not_graded" in pair
    ]
    problems += [("lost", student) for student in HONEST if sum(one == student for one, _ in graded) != len(SOURCES)]
    stored = [json.loads(path.read_text()) for path in (place / "grades/done").glob("*.json")]
    seconds = {
        one["graded"]["student"]: one["graded"]["seconds"] for file in stored for one in file["batches"].values()
    }
    problems += [(name, seconds[name]) for name in ("letters", "uses", "deep", "nested") if seconds.get(name, 0) > 300]
    for page in (place / "grades").rglob("*.html"):
        problems += [
            (page.name, one)
            for one in re.findall("<img|<script>alert|href=.javascript", page.read_text(encoding="utf-8"))
        ]
    problems += re.findall(r"(?m)^[=+@-].*", (place / "grades/grades.csv").read_text(encoding="utf-8-sig"))
    assert problems == []


@each_setting
def test_nothing_stays_behind_a_grader_that_was_killed(place, setting):
    put(
        place / "submissions",
        "mallory",
        "lstm.ipynb",
        code("gates", opening("stays_behind").replace("range(3, 64)", "()")),
    )
    process = start(place, SETTINGS[setting][0])
    while len(found := generations(process.pid)) < 5:  # mother, worker, watcher, first process, the student's
        assert process.poll() is None
        time.sleep(0.2)
    time.sleep(1)
    started = {one for generation in [*found, *generations(process.pid)] for one in generation}
    process.kill()
    process.wait()
    process.stdout.close()
    time.sleep(2)
    assert [one for one in started if there(one)] == []
