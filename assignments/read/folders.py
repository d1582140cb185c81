"""A folder of submissions, and the files of each: plain ones and those in zips, within bounds, and no links.

Nothing here raises an error because of what is in a file.
"""

import io
import itertools
import os
import stat
import struct
import time
import zipfile
import zlib
from pathlib import Path

LARGEST = 128 * 2**20  # bytes of the files that are read of a submission: their cells take many times as much memory
FILES = 1000  # files of a submission
READ = {".ipynb", ".py", ".json", ".txt", ""}  # what a name of a file that may have answers ends in
SKIPPED = {".ipynb_checkpoints", "__MACOSX", "__pycache__", ".git", ".virtual_documents"}
LISTED = 2**20  # bytes of a zip's list of its files


def students(folder):
    """What there is to grade: {student: path}, a folder or a file each. Links are not followed."""
    found = {}
    for entry in sorted(os.scandir(folder), key=lambda one: one.name):
        if entry.name.startswith(".") or entry.name in SKIPPED or entry.is_symlink():
            continue
        name = entry.name if entry.is_dir(follow_symlinks=False) else Path(entry.name).stem
        name = printable(name if name not in found else entry.name)
        while name in found:
            name += "'"
        found[name] = Path(entry.path)
    return found


def passed_over(folder):
    """Entries that might be someone's, and are no student: links, and folders and notebooks that are hidden."""
    there = [one for one in os.scandir(folder) if one.name not in SKIPPED]
    hidden = [one for one in there if one.name.startswith(".") and (one.is_dir() or one.name.endswith(".ipynb"))]
    return sorted({printable(one.name) for one in [*hidden, *(one for one in there if one.is_symlink())]})


def printable(name):
    """A name that fits into a line, a table and a database, whatever bytes it is made of."""
    return "".join(one if one.isprintable() else ascii(one)[1:-1] for one in name)


def files(path):
    """The plain files of a submission, the oldest first, and the folders that nobody lets us read."""
    found, closed = [], []
    try:
        if not stat.S_ISDIR(path.lstat().st_mode):
            found = [path]
    except OSError:
        return [], [path]
    walk = os.walk(path, onerror=lambda error: closed.append(Path(error.filename)))
    for folder, inner, names in itertools.islice(walk, FILES):
        inner[:] = sorted(one for one in inner if one not in SKIPPED)
        found += [Path(folder, name) for name in names if not name.startswith(".")]
        if len(found) > FILES:
            break
    plain = []
    for one in found[: FILES + 1]:
        try:
            state = one.lstat()
        except OSError:  # it was taken away meanwhile
            continue
        if stat.S_ISREG(state.st_mode):  # what else there is may never end
            plain.append((state.st_mtime, one.name, one))
    return [one for *_, one in sorted(plain)], [one for one in closed if one.is_dir()]


def looked_at(found):
    """The files of which more is read than the name, and of these the ones for which there is room, the latest
    first."""
    notebooks = [one for one in found if one.suffix.lower() in READ | {".zip"} or len(found) == 1]
    room, left = set(), LARGEST
    for one in reversed(notebooks):
        try:
            size = one.stat().st_size
        except OSError:
            size = 0
        if size <= left:
            left -= size
            room.add(one)
    return set(notebooks), room


def unpacked(path, raw, left, deep=0):
    """The files of a zip, and of zips in it, as (path, bytes, time), or None if it is no zip that can be read.

    Nothing is written. left: a list of the numbers of bytes and of files that may still be taken out: the same file may
    be listed many times, at every depth.
    """
    end = raw.rfind(b"PK\5\6")
    listed = struct.unpack_from("<L", raw, end + 12)[0] if 0 <= end <= len(raw) - 22 else LISTED + 1
    if listed > LISTED or raw[max(0, end - 20) :][:4] == b"PK\6\7":  # a list of any length
        return None
    found = []
    try:
        with zipfile.ZipFile(io.BytesIO(raw)) as archive:
            for one in archive.infolist():
                left[1] -= 1
                if left[1] < 0:  # what was read until here counts
                    break
                inner = path / printable(one.filename).lstrip("/")
                parts = inner.relative_to(path).parts
                plain = one.compress_type in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED) and not one.flag_bits & 1
                if one.is_dir() or not plain or not parts or parts[-1].startswith(".") or SKIPPED & {*parts}:
                    continue
                with archive.open(one) as file:
                    said = file.read(left[0] + 1)
                left[0] -= len(said)
                if left[0] < 0:
                    return None
                more = unpacked(inner, said, left, deep + 1) if deep < 3 and said[:2] == b"PK" else None
                found += [(inner, said, time.mktime((*one.date_time, 0, 0, -1)))] if more is None else more
    except (zipfile.BadZipFile, zlib.error, struct.error, OSError, ValueError, OverflowError, EOFError,
            NotImplementedError, RuntimeError, MemoryError):  # fmt: skip
        return None
    return found
