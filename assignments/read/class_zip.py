"""Unpack the zip and tar files of a class, as Canvas and Moodle hand them out, and list the submissions in them.

A student has chosen the content of such a file, and parts of its names. No entry is written outside a new folder, no
link is made, and what is unpacked has bounds. An entry that cannot be unpacked is listed as odd; if it has a name, an
empty file stands for it, so that no student is missing from the list. Several files of one student of Canvas, which
gives each a name of its own, become one submission.
"""

import errno
import os
import re
import shutil
import tempfile
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

from assignments.read import archives, folders
from assignments.read.archives import entries
from assignments.read.archives.entries import FOLDER, OTHER

MAX_DEPTH = 30  # folders in each other
MAX_NAME = 200  # bytes of a file's name
IGNORED = {"__MACOSX", ".DS_Store"}
FORBIDDEN = re.compile(r'[<>:"|?*]')  # in names on Windows
COPY_OF_MODULE = re.compile(r"-\d+\.py$")  # the ending that Canvas gives a file that was sent before
DRIVE = re.compile(r"[A-Za-z]:")
DEVICE = re.compile(r"(?:con|prn|aux|nul|com\d|lpt\d)(?:\.|$)", re.IGNORECASE)  # of Windows
BAD_NAME = {errno.ENAMETOOLONG, errno.EINVAL, errno.EEXIST, errno.ENOTDIR, errno.EISDIR, errno.EILSEQ, errno.ENOENT}

OUTSIDE = "leads out of the folder, and is not unpacked"
LINK = "is a link or a device, and is not unpacked"
TOO_LARGE = f"has more than {entries.MAX_FILE // 2**20} MB, and is not read"
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

    def new_folder(self, at_end):
        """Return a new temporary folder, which is deleted `at_end`."""
        made = tempfile.TemporaryDirectory(prefix="submissions-", ignore_cleanup_errors=True)
        self.unpacked.append(Path(at_end.enter_context(made)))
        return self.unpacked[-1]

    def join_files(self, at_end):
        """Replace several files of one student of Canvas, in an unpacked folder, by a folder with all of them."""
        files = {path.name: (name, path) for name, path in self.paths.items() if path.is_file()}
        moved = canvas_folders(files)
        folder = self.new_folder(at_end) if moved else None
        for file, (joined, inner) in moved.items():
            name, path = files[file]
            del self.paths[name]
            target = folder / joined / inner
            target.parent.mkdir(exist_ok=True)
            target = free_path(target, lambda path: path.exists())
            try:
                os.link(path, target)
            except OSError:  # the temporary folder is on another disk
                shutil.copy2(path, target)
        for path in sorted(folder.iterdir()) if folder else ():
            name = path.name
            while name in self.paths:
                name += "'"
            self.paths[name] = path

    def add_archive(self, path, at_end):
        """Unpack an archive into a new temporary folder, which is deleted `at_end`, and add its submissions."""
        folder = self.new_folder(at_end)
        self.odd += [(path.name, entry, reason) for entry, reason in unpack(path, folder)]
        self.add(folder)


def submissions(source, at_end):
    """Return the submissions in a folder or an archive, also in the archives of a class that are in the folder.

    at_end: an ExitStack, by which temporary folders are deleted. Raise ValueError if an archive cannot be unpacked.
    """
    source = Path(source)
    if source.is_file():
        listed = Submissions({})
        listed.add_archive(source, at_end)
        return listed
    in_folder = Submissions({})
    in_folder.add(source)
    of_classes = {name: path for name, path in in_folder.paths.items() if students_in_class(path)}
    listed = Submissions({name: path for name, path in in_folder.paths.items() if name not in of_classes})
    listed.skipped = in_folder.skipped
    listed.join_files(at_end)
    for path in listed.paths.values():
        if path.suffix.lower() == ".zip" and path.is_file() and not archives.is_archive(path):
            listed.odd.append((path.name, "", BROKEN))
    for path in of_classes.values():
        listed.add_archive(path, at_end)
    return listed


def students_in_class(path):
    """Return the students of a whole class whose files an LMS put into this archive; none for another file."""
    if path.suffix.lower() not in archives.SUFFIXES or not path.is_file():
        return []
    try:
        with archives.open_archive(path) as archive:
            paths = [parts for _, parts in named_entries(archive, [])]
    except (ValueError, OSError):
        return []
    names = sorted({match[1] for parts in paths if (match := folders.OF_A_CLASS.match("/".join(parts)))})
    return names if len(names) > 1 else []


def named_entries(archive, odd):
    """Return (entry, parts of its path) of the files and folders to unpack; add what has no good name to `odd`."""
    named = []
    for entry in archive.entries:
        name = entry.name.replace("\\", "/")
        parts = [part for part in name.split("/") if part not in ("", ".")]
        if IGNORED & {*parts} or not parts or parts[-1].startswith("._"):
            continue
        if name.startswith("/") or ".." in parts or DRIVE.match(name):
            odd.append((folders.printable(name), OUTSIDE))
        elif entry.kind == OTHER:
            odd.append((folders.printable(name), LINK))
        elif len(parts) > MAX_DEPTH:
            odd.append((folders.printable(name), NO_NAME))
        else:
            named.append((entry, [*map(safe_name, parts)]))
    outer = {parts[0] for _, parts in named}
    inner = ["/".join(parts[1:]) for _, parts in named]
    if len(outer) == 1 and not folders.OF_A_CLASS.match(*outer) and any(map(folders.OF_A_CLASS.match, inner)):
        named = [(entry, parts[1:]) for entry, parts in named if parts[1:]]  # packed again, with its folder
    moved = canvas_folders([parts[0] for entry, parts in named if len(parts) == 1 and entry.kind != FOLDER])
    order = {name: position for position, name in enumerate(moved)}
    named.sort(key=lambda pair: order.get(pair[1][0], -1) if len(pair[1]) == 1 else -1)
    is_moved = [len(parts) == 1 and parts[0] in moved and entry.kind != FOLDER for entry, parts in named]
    return [(entry, [*moved[parts[0]]] if here else parts) for (entry, parts), here in zip(named, is_moved)]


def canvas_folders(names):
    """Return where the files of students go who sent several by Canvas: {file name: (folder, name in it)}.

    The folder has the name and numbers of the first file, and the files are in the order in which they were sent.
    """
    files_of = {}
    for name in dict.fromkeys(names):
        if match := folders.CANVAS_FILE.fullmatch(name):
            files_of.setdefault((match["name"], match["number"]), []).append((int(match["file"]), name, match))
    moved = {}
    for (student, number), files in files_of.items():
        if len({file for file, *_ in files}) < 2:
            continue
        late = "LATE_" if any(match["late"] for *_, match in files) else ""
        joined = f"{student}_{late}{number}_{min(files)[0]}"
        inner = {match["inner"] for *_, match in files}
        for _, name, match in sorted(files, key=lambda file: file[:2]):
            plain = COPY_OF_MODULE.sub(".py", match["inner"])
            kept = plain if plain not in inner else match["inner"]
            moved[name] = joined, safe_name(kept.lstrip("."))
    return moved


def safe_name(part):
    """Return a name that every system can have: without letters that Windows forbids, and not too long."""
    part = "".join(letter if letter.isprintable() else "-" for letter in FORBIDDEN.sub("-", part)).rstrip(". ")
    part = f"-{part}" if DEVICE.match(part) or not part else part
    stem, suffix = os.path.splitext(part)
    stem, suffix = (part, "") if len(suffix.encode()) > 20 else (stem, suffix)
    return stem.encode()[: MAX_NAME - len(suffix.encode())].decode(errors="ignore") + suffix


def unpack(path, folder):
    """Unpack an archive into an empty folder, and return what is odd about it: (entry, reason)."""
    odd = []
    with archives.open_archive(path) as archive:
        targets = dict(make_folders(named_entries(archive, odd), folder, odd))
        left = entries.max_bytes(path)
        check_space(path, folder, min(left, sum(entry.size for entry in targets if entry.size <= entries.MAX_FILE)))
        reasons = {}
        for entry in sorted(targets, key=lambda entry: entry.size):  # so that a zip bomb takes nobody else's space
            reasons[entry] = obstacle(entry, left)
            left -= 0 if reasons[entry] else entry.size
        for entry in filter(targets.get, archive.entries):  # a tar file is read in its order
            name = targets[entry].relative_to(folder).as_posix()
            odd += [(name, reasons[entry])] if reasons[entry] else []
            write(targets[entry], partial(write_file, archive, entry, reasons[entry], name, odd), name, odd)
    return odd


def make_folders(named, folder, odd):
    """Make the folders of entries, and return (entry, path) of the files, no two of which have one path."""
    files, of_files, of_folders = [], set(), set()

    def is_taken(path):
        return key(path) in of_files or key(path) in of_folders

    for entry, parts in named:
        target = folder.joinpath(*parts)
        above = {key(path) for path in [target, *target.parents][entry.kind != FOLDER :] if path.is_relative_to(folder)}
        if above & of_files:
            odd.append(("/".join(parts), NO_NAME))
            continue
        of_folders |= above
        if entry.kind == FOLDER:
            write(target, lambda target: target.mkdir(exist_ok=True), "/".join(parts), odd)
            continue
        free = free_path(target, is_taken)
        odd += [("/".join(parts), RENAMED.format(name=free.name))] if free != target else []
        target = free
        of_files.add(key(target))
        files.append((entry, target))
    return files


def free_path(path, is_taken):
    """Return a path, with a number if it is taken."""
    free, count = path, 1
    while is_taken(free):
        count += 1
        free = path.with_name(f"{path.stem} ({count}){path.suffix}")
    return free


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
    return entry.obstacle or (TOO_LARGE if entry.size > entries.MAX_FILE else TOO_MUCH if entry.size > left else "")


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
            file.truncate(entries.MAX_FILE + 1)
        elif not reason and not archive.copy(entry, file):
            odd.append((name, DAMAGED))
    os.utime(target, (entry.time, entry.time))
