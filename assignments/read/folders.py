"""List a folder's submissions and the files of each, also inside archives, within bounds and without following links.

No function here raises an error because of a file's content.
"""

import gzip
import io
import os
import re
import stat
import struct
import tarfile
import time
import zipfile
import zlib
from pathlib import Path

from assignments.read.exports import HTML, MARKDOWN

MAX_BYTES = 128 * 2**20  # read of a submission's files; parsed cells take many times as much memory
MAX_FILES = 1000  # of a submission
MAX_LISTED = 50_000  # entries of a submission's folders and archives that are looked at to find these files
DATA_SUFFIXES = {".csv", ".tsv", ".json", ".txt"}  # of files that a notebook may read
NOTEBOOK_SUFFIXES = {
    ".ipynb",
    ".py",
    ".json",
    ".txt",
    "",
    *HTML,
    *MARKDOWN,
    *DATA_SUFFIXES,
}  # of files that may contain answers
ARCHIVE_SUFFIXES = {".zip", ".gz", ".tgz", ".tar"}
GZIP = b"\x1f\x8b"
ARCHIVE_BEGINS = (b"PK", GZIP)
SKIPPED = {".git", "__MACOSX", "__pycache__", "node_modules", "site-packages", "dist-packages"}
ENVIRONMENT = "pyvenv.cfg"  # file in a virtual environment, whatever the folder's name
MAX_DIRECTORY_BYTES = 8 * 2**20  # of a zip file's central directory
DAMAGED = (zipfile.BadZipFile, tarfile.TarError, zlib.error, struct.error, OSError, ValueError, OverflowError, EOFError,
           NotImplementedError, RuntimeError, MemoryError)  # fmt: skip
# Names in the archives of a whole class: Canvas's `adalovelace_LATE_123_456_rnn.ipynb`, Moodle's
# `Ada Lovelace_123_assignsubmission_file_/rnn.ipynb`, Blackboard's `rnn_ada_attempt_2026-10-01-…`.
OF_A_CLASS = re.compile(r"([^/]+?)_(?:(?:LATE_)?\d{3,}_\d{3,}_|\d+_assignsubmission_\w+?_|attempt_\d{4}-\d\d-\d\d)")

# A file in Canvas's archive: the student's name and number, the file's number and its own name.
CANVAS_FILE = re.compile(
    r"(?P<name>[^/]+?)_(?P<late>LATE_)?(?P<number>\d{3,})_(?P<file>\d{3,18})_(?P<inner>.*)", re.DOTALL
)


def canvas_owner(name):
    """Return the name and the number of the student whom Canvas names in a submission's name, or None."""
    match = CANVAS_FILE.fullmatch(f"{name}_x")  # folders have no file's name
    return match and (match["name"], match["number"])


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


def rank(name):
    """Return a sort key for names of files: notebooks first, then what may contain answers, then other files."""
    suffix = os.path.splitext(name)[1].lower()
    return 0 if suffix == ".ipynb" else 1 if suffix in NOTEBOOK_SUFFIXES | ARCHIVE_SUFFIXES else 2


def is_skipped(folder):
    """Return whether a folder of this name cannot contain a student's own files."""
    return folder.startswith(".") or folder in SKIPPED


def files(path):
    """Return a submission's regular files, the oldest first, and the folders that cannot be read.

    Of more than `MAX_FILES`, those that may contain answers are returned, and one file more than the limit.
    """
    paths, closed, listed = [], [], 0
    try:
        if not stat.S_ISDIR(path.lstat().st_mode):
            paths = [path]
    except OSError:
        return [], [path]
    for folder, subfolders, names in os.walk(path, onerror=lambda error: closed.append(Path(error.filename))):
        listed += len(subfolders) + len(names)
        if ENVIRONMENT in names:
            subfolders[:] = []
            continue
        subfolders[:] = sorted(name for name in subfolders if not is_skipped(name))
        paths += [Path(folder, name) for name in names if not name.startswith(".")]
        if listed > MAX_LISTED:
            break
    if len(paths) > MAX_FILES:
        paths.sort(key=lambda file: (rank(file.name), file.name))
    regular = []
    for file in paths[: MAX_FILES + 1]:
        try:
            state = file.lstat()
        except OSError:  # the file was removed meanwhile, or its path is too long
            continue
        if stat.S_ISREG(state.st_mode):  # reading a device or a pipe may never end
            regular.append((state.st_mtime, file.name, file))
    return [file for *_, file in sorted(regular)], [folder for folder in closed if os.path.isdir(folder)]


def readable_files(files):
    """Return the files whose content may count, and those of them that fit into MAX_BYTES, the latest first."""
    relevant = [
        file for file in files if file.suffix.lower() in NOTEBOOK_SUFFIXES | ARCHIVE_SUFFIXES or len(files) == 1
    ]
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


def unpack(path, raw, left, depth=0):
    """Return the files of a zip or tar file, and of archives in it, as (path, bytes, time); None if it cannot be read.

    Nothing is written to disk. left: [bytes, files, entries] that may still be taken out and looked at, since an
    archive can list the same file many times, at every depth. Notebooks are taken out first, and files that cannot
    contain answers only if there are no others. The files up to a limit count.
    """
    unpacked = []
    try:
        content = decompress(raw, left[0])
        if raw[:2] == GZIP and content[257:262] != b"ustar":  # one file, such as `rnn.ipynb.gz`
            left[0] -= len(content)
            return [(path.with_suffix(""), content, float(struct.unpack_from("<L", raw, 4)[0]))]
        with open_archive(content) as archive:
            entries = members(archive)
            left[2] -= len(entries)
            environments = {name.removesuffix(ENVIRONMENT) for name, _ in entries if Path(name).name == ENVIRONMENT}
            entries = [(name, entry) for name, entry in entries if is_wanted(name, environments)]
            entries.sort(key=lambda pair: rank(pair[0]))
            readable = [pair for pair in entries if rank(pair[0]) < 2]
            for name, entry in readable or entries[:1]:
                left[1] -= 1
                if min(left) < 0:
                    break
                with open_member(archive, entry) as file:
                    content = file.read(left[0] + 1)
                left[0] -= len(content)
                if left[0] < 0:
                    break
                inner, nested = path / name, None
                if depth < 3 and content[:2] in ARCHIVE_BEGINS:
                    nested = unpack(inner, content, left, depth + 1)
                unpacked += [(inner, content, saved_at(entry))] if nested is None else nested
    except DAMAGED:
        return None
    return unpacked


def decompress(raw, limit):
    """Return bytes as they are, or decompressed if gzip compressed them; raise ValueError beyond `limit` bytes."""
    if raw[:2] != GZIP:
        return raw
    with gzip.open(io.BytesIO(raw)) as file:
        content = file.read(limit + 1)
    if len(content) > limit:
        raise ValueError("the file is too large")
    return content


def first_bytes_of_gzip(path, count):
    """Return the first bytes of what gzip compressed; raise an error of `DAMAGED`."""
    with gzip.open(path) as file:
        return file.read(count)


def open_archive(raw):
    """Open the bytes of a zip file or of a tar file; raise an error of `DAMAGED`."""
    if raw[:2] == b"PK":
        end = raw.rfind(b"PK\5\6")
        listed = struct.unpack_from("<L", raw, end + 12)[0] if 0 <= end <= len(raw) - 22 else MAX_DIRECTORY_BYTES + 1
        if listed > MAX_DIRECTORY_BYTES or raw[max(0, end - 20) :][:4] == b"PK\6\7":  # ZIP64: a directory of any length
            raise ValueError("the directory is too long")
        return zipfile.ZipFile(io.BytesIO(raw))
    return tarfile.open(fileobj=io.BytesIO(raw), mode="r:")


def members(archive):
    """Return (name, entry) of an archive's regular files that are neither encrypted nor packed in an unusual way."""
    if isinstance(archive, tarfile.TarFile):
        return [(inner_name(entry.name), entry) for entry in archive.getmembers() if entry.isreg()]
    kinds = zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED
    return [
        (inner_name(entry.filename), entry) for entry in archive.infolist()
        if not entry.is_dir() and entry.compress_type in kinds and not entry.flag_bits & 1
    ]  # fmt: skip


def inner_name(name):
    """Return the name of an archive's entry, with no root and without unprintable characters."""
    return printable(name).lstrip("/")


def is_wanted(name, environments):
    """Return whether an archive's entry is a file of the student's own. environments: beginnings of other names."""
    *inner_folders, last = Path(name).parts or ("",)
    hidden = not last or last.startswith(".") or any(map(is_skipped, set(inner_folders) - {".", ".."}))
    return not hidden and not name.startswith(tuple(environments))


def open_member(archive, entry):
    """Open an archive's entry for reading."""
    return archive.extractfile(entry) if isinstance(archive, tarfile.TarFile) else archive.open(entry)


def saved_at(entry):
    """Return the time at which an archive's entry was saved, in seconds."""
    return entry.mtime if isinstance(entry, tarfile.TarInfo) else time.mktime((*entry.date_time, 0, 0, -1))


def students_in_archive(path):
    """Return the students of a whole class whose files an LMS put into this archive; none for another file."""
    if not os.path.isfile(path) or path.suffix.lower() not in ARCHIVE_SUFFIXES:
        return []
    try:
        with open(path, "rb") as file:
            raw = file.read(MAX_BYTES) if file.read(2) in ARCHIVE_BEGINS and not file.seek(0) else b""
        with open_archive(decompress(raw, MAX_BYTES)) as archive:
            found = [OF_A_CLASS.match(name) for name, _ in members(archive)]
    except DAMAGED:
        return []
    names = sorted({printable(match[1]) for match in found if match})
    return names if len(names) > 1 else []
