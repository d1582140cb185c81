"""Unpack the zip files that Canvas and Moodle hand out, and list the submissions in them.

A student has chosen the content of such a file, and parts of its names. No entry is written outside a new folder, no
link is made, and what is unpacked has bounds. An entry that cannot be unpacked is listed as odd; if it has a name, an
empty file stands for it, so that no student is missing from the list.
"""

import errno
import os
import re
import shutil
import stat
import struct
import tempfile
import unicodedata
import zipfile
import zlib
from contextlib import suppress
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

from assignments.read import folders

MAX_ENTRIES = 100_000  # of a zip file
MAX_DIRECTORY_BYTES = 64 * 2**20  # of its central directory
MAX_FILE = folders.MAX_BYTES  # the grader reads no larger file
MAX_TOTAL = 32 * 2**30  # of all files of a zip file
MAX_RATIO = 100  # times the size of a zip file, from FREE_BYTES on
FREE_BYTES = 2**30
MAX_DEPTH = 30  # folders in each other
MAX_NAME = 200  # bytes of a file's name
BLOCK = 2**14  # bytes read at a time: what precedes a damage is kept
IGNORED = {"__MACOSX", ".DS_Store"}
FORBIDDEN = re.compile(r'[<>:"|?*]')  # in names on Windows
DRIVE = re.compile(r"[A-Za-z]:")
DEVICE = re.compile(r"(?:con|prn|aux|nul|com\d|lpt\d)(?:\.|$)", re.IGNORECASE)  # of Windows
TIME_STAMP = 0x5455  # extra field with the time in seconds
UTF8, ENCRYPTED = 0x800, 0x1  # flags of an entry
BAD_NAME = {errno.ENAMETOOLONG, errno.EINVAL, errno.EEXIST, errno.ENOTDIR, errno.EISDIR, errno.EILSEQ, errno.ENOENT}

OUTSIDE = "leads out of the folder, and is not unpacked"
LINK = "is a link or a device, and is not unpacked"
LOCKED = "is encrypted, and cannot be read"
PACKED = "is compressed in an unusual way, and cannot be read"
TOO_LARGE = f"has more than {MAX_FILE // 2**20} MB, and is not read"
TOO_MUCH = "is not read: all files together have far more bytes than the archive"
DAMAGED = "is damaged. What could be read of it counts"
RENAMED = "is there twice. This one is called {name}"
NO_NAME = "has a name that no file can have, and is not unpacked"
BROKEN = "is damaged or cut off, and counts as a submission of this name"


@dataclass
class Submissions:
    """The submissions of a class.

    paths: {student: path}. skipped: links and hidden entries. odd: (archive, entry or "", reason). unpacked: folders
    with the content of archives.
    """

    paths: dict
    skipped: list = field(default_factory=list)
    odd: list = field(default_factory=list)
    unpacked: list = field(default_factory=list)

    def add(self, folder):
        """Add the submissions in a folder; a name that is taken gets an apostrophe."""
        for name, path in folders.students(folder).items():
            while name in self.paths:
                name += "'"
            self.paths[name] = path
        self.skipped += folders.skipped_entries(folder)

    def add_archive(self, path, at_end):
        """Unpack a zip file into a new temporary folder, which is deleted `at_end`, and add its submissions."""
        folder = Path(
            at_end.enter_context(tempfile.TemporaryDirectory(prefix="submissions-", ignore_cleanup_errors=True))
        )
        self.unpacked.append(folder)
        self.odd += [(path.name, entry, reason) for entry, reason in unpack(path, folder)]
        self.add(folder)


def submissions(source, at_end):
    """Return the submissions in a folder or a zip file, also in the zip files of a class that are in the folder.

    at_end: an ExitStack, by which temporary folders are deleted. Raise ValueError if an archive cannot be unpacked.
    """
    source = Path(source)
    if source.is_file():
        listed = Submissions({})
        listed.add_archive(source, at_end)
        return listed
    in_folder = Submissions({})
    in_folder.add(source)
    archives = {name: path for name, path in in_folder.paths.items() if students_in_zip(path)}
    listed = Submissions({name: path for name, path in in_folder.paths.items() if name not in archives})
    listed.skipped = in_folder.skipped
    for path in listed.paths.values():
        if path.suffix.lower() == ".zip" and path.is_file() and not zipfile.is_zipfile(path):
            listed.odd.append((path.name, "", BROKEN))
    for path in archives.values():
        listed.add_archive(path, at_end)
    return listed


def students_in_zip(path):
    """Return the students of a whole class whose files an LMS put into this zip file; none for another file."""
    if path.suffix.lower() != ".zip" or not path.is_file():
        return []
    try:
        with open_zip(path) as archive:
            paths = [parts for _, parts in named_entries(archive, [])]
    except ValueError:
        return []
    names = sorted({match[1] for parts in paths if (match := folders.OF_A_CLASS.match("/".join(parts)))})
    return names if len(names) > 1 else []


def open_zip(path):
    """Open a zip file; raise ValueError with its name if it is damaged or lists too many files."""
    with open(path, "rb") as file:
        size = directory_bytes(file)
    if size > MAX_DIRECTORY_BYTES:
        raise ValueError(f"{path} lists too many files.")
    try:
        archive = zipfile.ZipFile(path)
    except folders.DAMAGED as error:
        raise ValueError(f"{path} is no zip file, or is damaged or cut off. Download it again. ({error})") from None
    if len(archive.infolist()) > MAX_ENTRIES:
        archive.close()
        raise ValueError(f"{path} lists more than {MAX_ENTRIES} files.")
    return archive


def directory_bytes(file):
    """Return the size that a zip file states for its central directory, 0 if it states none."""
    file.seek(0, os.SEEK_END)
    file.seek(max(0, file.tell() - 2**17))
    tail = file.read()
    end, end64 = tail.rfind(b"PK\5\6"), tail.rfind(b"PK\6\6")
    sizes = [struct.unpack_from("<L", tail, end + 12)[0]] if 0 <= end <= len(tail) - 22 else []
    if sizes == [0xFFFFFFFF]:
        sizes = []
    sizes += [struct.unpack_from("<Q", tail, end64 + 40)[0]] if 0 <= end64 <= len(tail) - 56 else []
    return max(sizes, default=0)


def named_entries(archive, odd):
    """Return (entry, parts of its path) of the files and folders to unpack; add what has no good name to `odd`."""
    named = []
    for entry in archive.infolist():
        name = decoded_name(entry).replace("\\", "/")
        parts = [part for part in name.split("/") if part not in ("", ".")]
        if IGNORED & {*parts} or not parts or parts[-1].startswith("._"):
            continue
        if name.startswith("/") or ".." in parts or DRIVE.match(name):
            odd.append((folders.printable(name), OUTSIDE))
        elif stat.S_IFMT(entry.external_attr >> 16) not in (0, stat.S_IFREG, stat.S_IFDIR):
            odd.append((folders.printable(name), LINK))
        elif len(parts) > MAX_DEPTH:
            odd.append((folders.printable(name), NO_NAME))
        else:
            named.append((entry, [*map(safe_name, parts)]))
    outer = {parts[0] for _, parts in named}
    inner = ["/".join(parts[1:]) for _, parts in named]
    if len(outer) == 1 and not folders.OF_A_CLASS.match(*outer) and any(map(folders.OF_A_CLASS.match, inner)):
        named = [(entry, parts[1:]) for entry, parts in named if parts[1:]]  # packed again, with its folder
    return named


def decoded_name(entry):
    """Return the name of an entry in UTF-8, which many programs write without saying so, or in CP437."""
    name = entry.filename
    if not entry.flag_bits & UTF8:
        with suppress(UnicodeError):
            name = name.encode("cp437").decode("utf-8")
    return unicodedata.normalize("NFC", name)


def safe_name(part):
    """Return a name that every system can have: without letters that Windows forbids, and not too long."""
    part = "".join(letter if letter.isprintable() else "-" for letter in FORBIDDEN.sub("-", part)).rstrip(". ")
    part = f"-{part}" if DEVICE.match(part) or not part else part
    stem, suffix = os.path.splitext(part)
    stem, suffix = (part, "") if len(suffix.encode()) > 20 else (stem, suffix)
    return stem.encode()[: MAX_NAME - len(suffix.encode())].decode(errors="ignore") + suffix


def unpack(path, folder):
    """Unpack a zip file into an empty folder, and return what is odd about it: (entry, reason)."""
    odd = []
    with open_zip(path) as archive:
        entries = [entry for entry in archive.infolist() if not entry.is_dir()]
        if entries and all(entry.flag_bits & ENCRYPTED for entry in entries):
            raise ValueError(f"{path} is encrypted. Unpack it with its password, and give the folder.")
        files = make_folders(named_entries(archive, odd), folder, odd)
        files.sort(key=lambda pair: pair[0].file_size)  # so that a zip bomb takes nobody else's space
        left = min(MAX_TOTAL, max(FREE_BYTES, MAX_RATIO * path.stat().st_size))
        check_space(path, folder, min(left, sum(entry.file_size for entry, _ in files if entry.file_size <= MAX_FILE)))
        for entry, target in files:
            reason = obstacle(entry, left)
            left -= 0 if reason else entry.file_size
            name = target.relative_to(folder).as_posix()
            odd += [(name, reason)] if reason else []
            write(target, partial(write_file, archive, entry, reason, name, odd), name, odd)
    return odd


def make_folders(named, folder, odd):
    """Make the folders of entries, and return (entry, path) of the files, no two of which have one path."""
    files, of_files, of_folders = [], set(), set()
    for entry, parts in named:
        target, count = folder.joinpath(*parts), 1
        above = {key(path) for path in [target, *target.parents][not entry.is_dir() :] if path.is_relative_to(folder)}
        if above & of_files:
            odd.append(("/".join(parts), NO_NAME))
            continue
        of_folders |= above
        if entry.is_dir():
            write(target, lambda target: target.mkdir(exist_ok=True), "/".join(parts), odd)
            continue
        while key(target) in of_files | of_folders:
            count += 1
            target = target.with_name(f"{Path(parts[-1]).stem} ({count}){Path(parts[-1]).suffix}")
        of_files.add(key(target))
        odd += [("/".join(parts), RENAMED.format(name=target.name))] if count > 1 else []
        files.append((entry, target))
    return files


def key(path):
    """Return a path as systems compare it that ignore case."""
    return str(path).casefold()


def check_space(path, folder, size):
    """Raise ValueError if so many bytes have no room on the disk of a folder."""
    free = shutil.disk_usage(folder).free
    if size > free:
        raise ValueError(
            f"{path} needs {size / 2**30:.1f} GB in {folder.parent}, where {free / 2**30:.1f} GB are free. Set TMPDIR"
            " to a folder with more room."
        )


def obstacle(entry, left):
    """Return the reason for which a file is not unpacked, or ""."""
    if entry.flag_bits & ENCRYPTED:
        return LOCKED
    if entry.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
        return PACKED
    return TOO_LARGE if entry.file_size > MAX_FILE else TOO_MUCH if entry.file_size > left else ""


def write(target, action, name, odd):
    """Create a file or folder by an action, in its folders; if the system refuses its name, add it to `odd`."""
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        action(target)
    except OSError as error:
        if error.errno not in BAD_NAME:
            raise
        odd.append((name, NO_NAME))


def write_file(archive, entry, reason, name, odd, target):
    """Write a new file with the content and time of an entry, as far as it can be read.

    If there is a reason not to read it, write one that the grader finds empty or, without using space, too large.
    """
    with open(target, "xb") as file:
        if reason in (TOO_LARGE, TOO_MUCH):
            file.truncate(MAX_FILE + 1)
        elif not reason and not copy(archive, entry, file):
            odd.append((name, DAMAGED))
    moment = saved_at(entry)
    os.utime(target, (moment, moment))


def copy(archive, entry, file):
    """Write what can be read of an entry to a file; return whether that is all of it, with the right checksum."""
    expected, checksum = entry.CRC, 0
    del entry.CRC  # or zipfile keeps back the last block of a damaged file
    try:
        source = archive.open(entry)
    except folders.DAMAGED:
        return False
    with source:
        while True:
            try:
                block = source.read(BLOCK)
            except folders.DAMAGED:
                return False
            if not block:
                return checksum == expected
            checksum = zlib.crc32(block, checksum)
            file.write(block)


def saved_at(entry):
    """Return the time at which an entry was saved, in seconds: the one with a time zone if there is one."""
    extra, at = entry.extra, 0
    while at + 4 <= len(extra):
        kind, size = struct.unpack_from("<HH", extra, at)
        if kind == TIME_STAMP and size >= 5 and at + 9 <= len(extra) and extra[at + 4] & 1:
            return float(struct.unpack_from("<L", extra, at + 5)[0])
        at += 4 + size
    try:
        return max(0.0, folders.saved_at(entry))
    except (OverflowError, ValueError):
        return 0.0
