"""The zip or tar file of a class: its entries, and as much of each as can be read, within bounds."""

import tarfile
import zipfile

from assignments.read import folders
from assignments.read.archives.entries import Entry
from assignments.read.archives.tar_file import ClassTar
from assignments.read.archives.zip_file import ClassZip

__all__ = ["SUFFIXES", "Entry", "is_archive", "is_tar", "open_archive"]
SUFFIXES = {".zip", ".tar", ".tgz", ".gz"}


def is_tar(path):
    """Return whether a file begins as a tar file, compressed by gzip or not."""
    try:
        with open(path, "rb") as file:
            begin = file.read(tarfile.BLOCKSIZE)
        if begin.startswith(folders.GZIP):
            begin = folders.first_bytes_of_gzip(path, tarfile.BLOCKSIZE)
        tarfile.TarInfo.frombuf(begin, "utf-8", "surrogateescape")
    except folders.DAMAGED:
        return False
    return True


def is_archive(path):
    """Return whether a file is a zip or a tar file."""
    return zipfile.is_zipfile(path) or is_tar(path)


def open_archive(path):
    """Open a zip or a tar file; raise ValueError with its name if it is damaged or lists too many files."""
    return (ClassTar if is_tar(path) else ClassZip)(path)
