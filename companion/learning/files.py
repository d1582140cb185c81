"""Reading of a reader's own text files in UTF-8, with errors that say which file, where, and what to do."""

from pathlib import Path


def is_there(path: str | Path) -> bool:
    """Return True if the path exists; False also for a string that cannot be a path, such as a long text."""
    try:
        return Path(path).exists()
    except (OSError, ValueError):
        return False


def read_text(path: str | Path) -> str:
    """Return the content of a text file, without a byte-order mark.

    FileNotFoundError if there is no such file, ValueError if it is a folder, is empty or is not UTF-8.
    """
    if not is_there(path):
        raise FileNotFoundError(f"there is no file {str(path)[:80]!r}")
    if not Path(path).is_file():
        raise ValueError(f"{str(path)!r} is a folder; give the path of one text file in it")
    raw = Path(path).read_bytes()
    try:
        text = raw.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = raw[: error.start].count(b"\n") + 1
        raise ValueError(
            f"{str(path)!r} is not a text in UTF-8 (line {line}, byte {error.start} cannot be read). If it is text in"
            " another encoding, read it with Path(...).read_text(encoding=...) and write it back as UTF-8"
        ) from None
    if not text.strip():
        raise ValueError(f"{str(path)!r} is empty")
    return text
