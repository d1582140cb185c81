"""The words of messages about a reader's own series, in the languages of the book (`words/`)."""

import tomllib
from functools import cache
from importlib.resources import files
from typing import Any, NamedTuple

from companion.words import language_of

HERE = files("companion.learning.own_series") / "words"


@cache
def words(language: str) -> dict[str, Any]:
    """Return the words of a language, with English where some are missing."""
    path = HERE / f"{language}.toml"
    own = tomllib.loads(path.read_text(encoding="utf-8")) if path.is_file() else {}
    if language == "en":
        return own
    return {part: english | own.get(part, {}) for part, english in words("en").items()}


# kind of times → its units and their sizes
UNITS = {
    "seconds": (("second", 1.0), ("minute", 60.0), ("hour", 3600.0), ("day", 86400.0), ("week", 604800.0)),
    "months": (("month", 1.0), ("year", 12.0)),
    "number": (("unit", 1.0),),
}


class Step(NamedTuple):
    """A length of time. kind: what `size` counts: "seconds", "months" or, in the unit of a column, "number"."""

    size: float
    kind: str

    def text(self, language: str) -> str:
        """Return it in words, such as "1 h", in the largest unit of which it is a whole number."""
        units = UNITS[self.kind]
        whole = [(name, unit) for name, unit in units if self.size >= unit and is_whole(self.size / unit)]
        name, unit = whole[-1] if whole else units[0]
        number, steps = f"{self.size / unit:.4g}", words(language)["steps"]
        return steps[f"{name}_1" if number == "1" and f"{name}_1" in steps else name].format(n=number)


def is_whole(number: float) -> bool:
    """Return whether a number is nearly a whole one."""
    return abs(number - round(number)) < 0.01


class Note(NamedTuple):
    """A sentence of the words: its part, its key, and the values that are filled in."""

    part: str
    key: str
    values: dict[str, Any]

    def text(self, language: str | None = None) -> str:
        """Return the sentence in a language."""
        language = language_of(language)
        values = {
            name: value.text(language) if isinstance(value, Step | Note) else value
            for name, value in self.values.items()
        }
        return words(language)[self.part][self.key].format(**values)


def note(key: str, **values: Any) -> Note:
    """Return a sentence about what was done with a file."""
    return Note("notes", key, values)


class FileProblem(ValueError):
    """A file that cannot be used: the message says why, where, and what to do.

    columns: the names of the file's columns, if they are known. `text` gives the message in other languages.
    """

    def __init__(self, key: str, columns: list[str] | None = None, **values: Any) -> None:
        self.note, self.columns = Note("problems", key, values), columns or []
        super().__init__(self.note.text("en"))

    def text(self, language: str | None = None) -> str:
        """Return the message in a language."""
        return self.note.text(language)
