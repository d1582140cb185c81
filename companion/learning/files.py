"""Reading of a reader's own text files, with errors that say which file, where, and what to do."""

import codecs
from pathlib import Path

# how a file begins → its encoding; UTF-32 before UTF-16, whose mark is a part of its own
BYTE_ORDER_MARKS = {
    codecs.BOM_UTF8: "utf-8-sig",
    codecs.BOM_UTF32_LE: "utf-32",
    codecs.BOM_UTF32_BE: "utf-32",
    codecs.BOM_UTF16_LE: "utf-16",
    codecs.BOM_UTF16_BE: "utf-16",
}
# how a file begins → what it is, and what to do
OTHER_FORMATS = {
    b"\x1f\x8b": "compressed by gzip. Unpack it first (`gunzip`)",
    b"BZh": "compressed by bzip2. Unpack it first (`bunzip2`)",
    b"\xfd7zXZ": "compressed by xz. Unpack it first (`unxz`)",
    b"PK\x03\x04": "a zip archive or an Excel workbook. Unpack it, or save the sheet as CSV or text",
    b"\xd0\xcf\x11\xe0": "an old Excel workbook. Save the sheet as CSV or text",
    b"%PDF": "a PDF. Save its text or table as text",
    b"\x93NUMPY": "an array of numpy. Write it as text",
    b"PAR1": "a Parquet file. Write it as CSV",
}


def is_there(path: str | Path) -> bool:
    """Return True if the path exists; False also for a string that cannot be a path, such as a long text."""
    try:
        return Path(path).exists()
    except (OSError, ValueError):
        return False


def read_text(path: str | Path, encoding: str = "utf-8") -> str:
    """Return the content of a text file, without a byte-order mark.

    encoding: that of a file without a byte-order mark, by Python's name; a mark (UTF-8, UTF-16, UTF-32) decides.

    FileNotFoundError if there is no such file. ValueError if it is a folder, empty, compressed, of another format, not
    in this encoding, or contains NUL characters, as UTF-16 without a mark does; and for an unknown encoding.
    """
    if not is_there(path):
        raise FileNotFoundError(f"there is no file {str(path)[:80]!r}")
    if not Path(path).is_file():
        raise ValueError(f"{str(path)!r} is a folder; give the path of one text file in it")
    raw = Path(path).read_bytes()
    for start, name in OTHER_FORMATS.items():
        if raw.startswith(start):
            raise ValueError(f"{str(path)!r} is {name}")
    encoding = next((name for mark, name in BYTE_ORDER_MARKS.items() if raw.startswith(mark)), encoding)
    try:
        text = raw.decode(encoding)
    except UnicodeDecodeError as error:
        line = raw[: error.start].count(b"\n") + 1
        raise ValueError(
            f"{str(path)!r} is not a text in {encoding.removesuffix('-sig').upper()} (line {line}, byte {error.start}"
            " cannot be read). If it is text in another encoding, read it with encoding='cp1252' or the like"
        ) from None
    except LookupError:
        raise ValueError(f"encoding={encoding!r} is unknown; known are 'utf-8', 'cp1252', 'utf-16-le'…") from None
    if (place := text.find("\0")) >= 0:
        raise ValueError(
            f"{str(path)!r}, line {text.count(chr(10), 0, place) + 1} contains NUL characters: it is UTF-16 without a"
            " byte-order mark, or not a text. Read UTF-16 with encoding='utf-16-le' (or 'utf-16-be')"
        )
    if not text.strip():
        raise ValueError(f"{str(path)!r} is empty")
    return text
