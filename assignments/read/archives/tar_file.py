"""The tar file of a class, compressed by gzip or not.

It is read twice from begin to end, first its headers and then its files, so that no entry can lead back or keep the
reader busy. Headers and files have bounds.
"""

import gzip
import tarfile
import unicodedata

from assignments.read import folders
from assignments.read.archives import entries
from assignments.read.archives.entries import FILE, FOLDER, OTHER, Entry

MAX_TIME = 2.0**33  # seconds; a header may state any time


class ForwardReader:
    """A file that is read forward only.

    limit: bytes that it may have. budget: bytes that may be read and not passed over. Beyond them, and if it is to go
    back, it raises ValueError.
    """

    def __init__(self, path, limit, budget):
        self.under = open(path, "rb")  # noqa: SIM115
        is_compressed = self.under.read(2) == folders.GZIP
        self.under.seek(0)
        self.file = gzip.GzipFile(fileobj=self.under) if is_compressed else self.under
        self.limit, self.budget, self.last = limit, budget, b""

    def read(self, size):
        """Return the next bytes."""
        if not 0 <= size <= self.budget:
            raise ValueError("its headers are too long")
        self.check(self.tell() + size)
        self.budget -= size
        self.last = self.file.read(size)
        return self.last

    def seek(self, position):
        """Pass over the bytes before a position."""
        if position < self.tell():
            raise ValueError("an entry leads back to an earlier one")
        self.check(position)
        return self.file.seek(position)

    def check(self, position):
        """Raise ValueError if a position is beyond the limit."""
        if position > self.limit + tarfile.RECORDSIZE:
            raise ValueError("it has far more bytes than an archive of its size may have")

    def tell(self):
        """Return the position of the next byte."""
        return self.file.tell()

    def read_rest(self):
        """Read the file up to its end, where gzip has a checksum."""
        while block := self.file.read(entries.BLOCK):
            self.check(self.tell() + len(block))

    def close(self):
        """Close the file."""
        self.file.close()
        self.under.close()


class ClassTar:
    """A tar file with its entries; raise ValueError if it is damaged, too large or lists too many files."""

    def __init__(self, path):
        self.limit = entries.max_bytes(path) + entries.MAX_DIRECTORY_BYTES
        reader = ForwardReader(path, self.limit, entries.MAX_DIRECTORY_BYTES)
        try:
            self.archive = tarfile.open(fileobj=reader, mode="r:", encoding="utf-8")  # noqa: SIM115
            self.entries = self.list_entries()
            is_whole = reader.last == bytes(tarfile.BLOCKSIZE)  # what marks the end
            if len(self.entries) <= entries.MAX_ENTRIES:
                reader.read_rest()
                if not is_whole:
                    raise ValueError("its end is missing")
        except folders.DAMAGED as error:
            raise entries.damaged(path, error) from None
        finally:
            reader.close()
        entries.check_count(path, len(self.entries))
        self.archive.fileobj = ForwardReader(path, self.limit, self.limit)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.archive.fileobj.close()

    def list_entries(self):
        """Return the entries, one more than allowed at most, in the order in which their files stand in the archive."""
        listed = []
        for raw in self.archive:
            raw.pax_headers = {}  # what a header says of all later entries would be kept with each of them
            self.archive.pax_headers.clear()
            time = float(raw.mtime) if 0 <= raw.mtime < MAX_TIME else 0.0
            name = unicodedata.normalize("NFC", raw.name)
            listed.append(Entry(name, kind_of(raw), max(0, raw.size), time, "", raw))
            if len(listed) > entries.MAX_ENTRIES:
                break
        return listed

    def copy(self, entry, file):
        """Write what can be read of an entry to a file; return whether that is all of it."""
        left, source = entry.size, self.archive.extractfile(entry.raw)
        while left:
            try:
                block = source.read(min(entries.BLOCK, left))
            except folders.DAMAGED:
                return False
            if not block:
                return False
            file.write(block)
            left -= len(block)
        return True


def kind_of(raw):
    """Return the kind of an entry."""
    return FILE if raw.isreg() else FOLDER if raw.isdir() else OTHER
