"""List a folder's submissions and the files of each, also inside zip files, within bounds and without following links.

No function here raises an error because of a file's content.
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

MAX_BYTES = 128 * 2**20  # read of a submission's files; parsed cells take many times as much memory
MAX_FILES = 1000  # of a submission
NOTEBOOK_SUFFIXES = {".ipynb", ".py", ".json", ".txt", ""}  # of files that may contain answers
SKIPPED = {".ipynb_checkpoints", "__MACOSX", "__pycache__", ".git", ".virtual_documents"}
MAX_DIRECTORY_BYTES = 2**20  # of a zip file's central directory


def students(folder):
    """Return {student: path} of the submissions in a folder: a folder or a file each, no links."""
    paths = {}
    for entry in sorted(os.scandir(folder), key=lambda entry: entry.name):
        if entry.name.startswith(".") or entry.name in SKIPPED or entry.is_symlink():
            continue
        name = entry.name if entry.is_dir(follow_symlinks=False) else Path(entry.name).stem
        name = printable(name if name not in paths else entry.name)
        while name in paths:
            name += "'"
        paths[name] = Path(entry.path)
    return paths


def skipped_entries(folder):
    """Return the names of entries that `students` skips and that might be submissions: links, hidden ones."""
    entries = [entry for entry in os.scandir(folder) if entry.name not in SKIPPED]
    hidden = [
        entry for entry in entries
        if entry.name.startswith(".") and (entry.is_dir() or entry.name.endswith(".ipynb"))
    ]  # fmt: skip
    return sorted({printable(entry.name) for entry in [*hidden, *(entry for entry in entries if entry.is_symlink())]})


def printable(name):
    """Return a name with its unprintable characters escaped, for lines, tables and JSON."""
    return "".join(letter if letter.isprintable() else ascii(letter)[1:-1] for letter in name)


def files(path):
    """Return a submission's regular files, the oldest first, and the folders that cannot be read."""
    paths, closed = [], []
    try:
        if not stat.S_ISDIR(path.lstat().st_mode):
            paths = [path]
    except OSError:
        return [], [path]
    walk = os.walk(path, onerror=lambda error: closed.append(Path(error.filename)))
    for folder, subfolders, names in itertools.islice(walk, MAX_FILES):
        subfolders[:] = sorted(name for name in subfolders if name not in SKIPPED)
        paths += [Path(folder, name) for name in names if not name.startswith(".")]
        if len(paths) > MAX_FILES:
            break
    regular = []
    for file in paths[: MAX_FILES + 1]:
        try:
            state = file.lstat()
        except OSError:  # the file was removed meanwhile
            continue
        if stat.S_ISREG(state.st_mode):  # reading a device or a pipe may never end
            regular.append((state.st_mtime, file.name, file))
    return [file for *_, file in sorted(regular)], [folder for folder in closed if folder.is_dir()]


def readable_files(files):
    """Return the files whose content may count, and those of them that fit into MAX_BYTES, the latest first."""
    relevant = [file for file in files if file.suffix.lower() in NOTEBOOK_SUFFIXES | {".zip"} or len(files) == 1]
    fitting, left = set(), MAX_BYTES
    for file in reversed(relevant):
        try:
            size = file.stat().st_size
        except OSError:
            size = 0
        if size <= left:
            left -= size
            fitting.add(file)
    return set(relevant), fitting


def unzip(path, raw, left, depth=0):
    """Return the files of a zip file, and of zip files in it, as (path, bytes, time); None if it cannot be read.

    Nothing is written to disk. left: [bytes, files] that may still be taken out, since a zip file can list the same
    file many times, at every depth.
    """
    end = raw.rfind(b"PK\5\6")
    listed = struct.unpack_from("<L", raw, end + 12)[0] if 0 <= end <= len(raw) - 22 else MAX_DIRECTORY_BYTES + 1
    if listed > MAX_DIRECTORY_BYTES or raw[max(0, end - 20) :][:4] == b"PK\6\7":  # ZIP64: a directory of any length
        return None
    unzipped = []
    try:
        with zipfile.ZipFile(io.BytesIO(raw)) as archive:
            for entry in archive.infolist():
                left[1] -= 1
                if left[1] < 0:  # the files up to here count
                    break
                inner = path / printable(entry.filename).lstrip("/")
                parts = inner.relative_to(path).parts
                plain = entry.compress_type in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED) and not entry.flag_bits & 1
                if entry.is_dir() or not plain or not parts or parts[-1].startswith(".") or SKIPPED & {*parts}:
                    continue
                with archive.open(entry) as file:
                    content = file.read(left[0] + 1)
                left[0] -= len(content)
                if left[0] < 0:
                    return None
                nested = unzip(inner, content, left, depth + 1) if depth < 3 and content[:2] == b"PK" else None
                if nested is None:
                    nested = [(inner, content, time.mktime((*entry.date_time, 0, 0, -1)))]
                unzipped += nested
    except (zipfile.BadZipFile, zlib.error, struct.error, OSError, ValueError, OverflowError, EOFError,
            NotImplementedError, RuntimeError, MemoryError):  # fmt: skip
        return None
    return unzipped
