"""An entry of a class's archive, and the bounds of what is listed and unpacked."""

from dataclasses import dataclass

from assignments.read import folders

MAX_ENTRIES = 100_000  # of an archive
MAX_DIRECTORY_BYTES = 64 * 2**20  # of a zip file's central directory, or of all headers of a tar file
MAX_FILE = folders.MAX_BYTES  # the grader reads no larger file
MAX_TOTAL = 32 * 2**30  # of all files of an archive
MAX_RATIO = 100  # times the size of an archive, from FREE_BYTES on
FREE_BYTES = 2**30
BLOCK = 2**14  # bytes read at a time: what precedes a damage is kept
FILE, FOLDER, OTHER = "file", "folder", "other"  # other: links and devices


@dataclass(eq=False)
class Entry:
    """An entry of an archive.

    kind: FILE, FOLDER or OTHER. time: in seconds. obstacle: the reason for which it cannot be read, or "". raw: the
    entry as its archive has it.
    """

    name: str
    kind: str
    size: int
    time: float
    obstacle: str
    raw: object


def max_bytes(path):
    """Return how many bytes the files of an archive may have together."""
    return min(MAX_TOTAL, max(FREE_BYTES, MAX_RATIO * path.stat().st_size))


def damaged(path, error):
    """Return the error about an archive that cannot be read."""
    return ValueError(f"{path} is no zip or tar file, or is damaged or cut off. Download it again. ({error})")


def check_count(path, count):
    """Raise ValueError if an archive lists too many files."""
    if count > MAX_ENTRIES:
        raise ValueError(f"{path} lists more than {MAX_ENTRIES} files.")
