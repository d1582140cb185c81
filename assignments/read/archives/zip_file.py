"""The zip file of a class."""

import os
import stat
import struct
import unicodedata
import zipfile
import zlib
from contextlib import suppress

from assignments.read import folders
from assignments.read.archives import entries
from assignments.read.archives.entries import FILE, FOLDER, OTHER, Entry

TIME_STAMP = 0x5455  # extra field with the time in seconds
UTF8, ENCRYPTED = 0x800, 0x1  # flags of an entry
LOCKED = "is encrypted, and cannot be read"
PACKED = "is compressed in an unusual way, and cannot be read"


class ClassZip:
    """A zip file with its entries; raise ValueError if it is damaged, encrypted or lists too many files."""

    def __init__(self, path):
        with open(path, "rb") as file:
            size = directory_bytes(file)
        if size > entries.MAX_DIRECTORY_BYTES:
            raise ValueError(f"{path} lists too many files.")
        try:
            self.archive = zipfile.ZipFile(path)
        except folders.DAMAGED as error:
            raise entries.damaged(path, error) from None
        try:
            self.entries = self.list_entries(path)
        except ValueError:
            self.archive.close()
            raise

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.archive.close()

    def list_entries(self, path):
        """Return the entries."""
        listed = self.archive.infolist()
        entries.check_count(path, len(listed))
        files = [raw for raw in listed if not raw.is_dir()]
        if files and all(raw.flag_bits & ENCRYPTED for raw in files):
            raise ValueError(f"{path} is encrypted. Unpack it with its password, and give the folder.")
        return [Entry(decoded_name(raw), kind_of(raw), raw.file_size, saved_at(raw), obstacle(raw), raw)
                for raw in listed]  # fmt: skip

    def copy(self, entry, file):
        """Write what can be read of an entry to a file; return whether that is all of it, with the right checksum."""
        expected, checksum = entry.raw.CRC, 0
        del entry.raw.CRC  # or zipfile keeps back the last block of a damaged file
        try:
            source = self.archive.open(entry.raw)
        except folders.DAMAGED:
            return False
        with source:
            while True:
                try:
                    block = source.read(entries.BLOCK)
                except folders.DAMAGED:
                    return False
                if not block:
                    return checksum == expected
                checksum = zlib.crc32(block, checksum)
                file.write(block)


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


def decoded_name(raw):
    """Return the name of an entry in UTF-8, which many programs write without saying so, or in CP437."""
    name = raw.filename
    if not raw.flag_bits & UTF8:
        with suppress(UnicodeError):
            name = name.encode("cp437").decode("utf-8")
    return unicodedata.normalize("NFC", name)


def kind_of(raw):
    """Return the kind of an entry."""
    if stat.S_IFMT(raw.external_attr >> 16) not in (0, stat.S_IFREG, stat.S_IFDIR):
        return OTHER
    return FOLDER if raw.is_dir() else FILE


def obstacle(raw):
    """Return the reason for which an entry cannot be read, or ""."""
    if raw.flag_bits & ENCRYPTED:
        return LOCKED
    return "" if raw.compress_type in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED) else PACKED


def saved_at(raw):
    """Return the time at which an entry was saved, in seconds: the one with a time zone if there is one."""
    extra, at = raw.extra, 0
    while at + 4 <= len(extra):
        kind, size = struct.unpack_from("<HH", extra, at)
        if kind == TIME_STAMP and size >= 5 and at + 9 <= len(extra) and extra[at + 4] & 1:
            return float(struct.unpack_from("<L", extra, at + 5)[0])
        at += 4 + size
    try:
        return max(0.0, folders.saved_at(raw))
    except (OverflowError, ValueError):
        return 0.0
