"""Who reads which file of the project: asked of Python itself, by an audit hook.

A read belongs to the innermost file of the project on the stack: whoever uses that file rests on what it reads, also
when a cache answers the second time. Without such a file it belongs to the owner: a test, a fixture, a notebook.
Programs that a test starts are watched as well: they find `child/sitecustomize.py`, and write down what they read.
"""

import linecache
import os
import sys
from functools import cache
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
OWN = "tests/receipts/"
# What nobody keeps: environments, caches, what tools make.
MADE = {".git", ".venv", ".hypothesis", ".pytest_cache", "_build", "build", "dist", "grades"}
BUILT = "_build/proof/tree/_build/html/"  # the site that tests open, which is made once for all of them
OWNER, LOG = "UNROLLED_READER", "UNROLLED_READS"

# On the stack of whatever a notebook's kernel does: it is the notebook that reads.
KERNELS = "tests/kernels.py"

PREFIX = str(ROOT) + os.sep


@cache
def of(path):
    """A file's name in the project, with slashes; None if it is not one that a proof rests on."""
    path = os.path.abspath(path)
    if not path.startswith(PREFIX):
        return None
    name = path[len(PREFIX) :].replace(os.sep, "/")
    folder, _, file = name.rpartition("/")
    if folder.endswith("__pycache__"):  # module.cpython-311-pytest-9.2.0.pyc
        name = f"{folder[:-len('__pycache__')]}{file.partition('.')[0]}.py"
    if name.startswith(BUILT):
        return name
    return None if name.partition("/")[0] in MADE or name.startswith(OWN) else name


def read_by(event, arguments):
    """(file that reads or None, file that is read) of an audit event; None if it is no reading of the project's."""
    if event != "open":
        return None
    path, mode, flags = arguments
    if not isinstance(path, str | bytes | os.PathLike):
        return None
    if isinstance(mode, str) and not set(mode).isdisjoint("wax+") or flags and flags & (os.O_WRONLY | os.O_RDWR):
        return None
    name = of(os.path.abspath(os.fsdecode(path)))
    if name is None:
        return None
    frame = sys._getframe()  # those of this file are passed over
    while frame:
        file = frame.f_code.co_filename
        if file == linecache.__file__:  # lines for a traceback, of modules that have been imported
            return None
        if not file.startswith("<") and (reader := of(file)) and reader != KERNELS:
            return reader, name
        frame = frame.f_back
    return None, name


def watch(say):
    """Calls say(reader, file) for each reading of the project's, from now on and until the process ends."""

    def look(event, arguments):
        if event == "open" and (found := read_by(event, arguments)):
            say(*found)

    sys.addaudithook(look)


def watch_as_child():
    """Of a program that a test has started: a line for each reading, in a file of its own."""
    log = os.environ.get(LOG)
    if not log:
        return
    seen, file = set(), None

    def say(reader, name):
        nonlocal file
        if "receipts" in sys.modules:  # a process that runs tests, and watches itself
            return
        line = f"{reader or os.environ.get(OWNER, '')}\t{name}\n"
        if line not in seen:
            seen.add(line)
            if file is None:
                file = os.open(os.path.join(log, f"{os.getpid()}.tsv"), os.O_WRONLY | os.O_CREAT | os.O_APPEND)
            os.write(file, line.encode())

    watch(say)
