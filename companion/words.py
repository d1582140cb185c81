"""Names that outputs show, such as methods and settings, in the languages of the book, and text of a given width.

Cells of the Japanese edition print `ja(name, 15)` where the English cell prints `{name:15}`; `ko` and `zh` likewise.
"""

import os
import re
import tomllib
import unicodedata
from collections.abc import Iterable, Sequence
from functools import cache, partial
from importlib.resources import files


def language_of(language: str | None) -> str:
    """Return `language`, or the language of the environment."""
    return language or os.environ.get("UNROLLED_LANGUAGE", "en")


@cache
def names(language: str) -> dict[str, str]:
    """Return English name → name in a language."""
    return tomllib.loads((files("companion") / "words.toml").read_text(encoding="utf-8"))[language]


@cache
def pattern(language: str) -> re.Pattern[str]:
    """Return a pattern that finds the names of a language in an English text, the longest first."""
    longest = sorted(names(language), key=len, reverse=True)
    begins = {name: "" if name.startswith(",") else "(?<![A-Za-z_])" for name in longest}
    return re.compile("|".join(f"{begins[name]}{re.escape(name)}(?![A-Za-z_])" for name in longest))


def width(text: str) -> int:
    """Return the number of columns of a text in a fixed-width font, where Chinese characters take two."""
    return len(text) + sum(unicodedata.east_asian_width(character) in "WF" for character in text)


def fit(text: str, columns: int, align: str = "<") -> str:
    """Return a text with blanks after it, or with `align` ">" before it, that together take so many columns."""
    blanks = " " * (columns - width(text))
    return blanks + text if align == ">" else text + blanks


def align(rows: Iterable[Sequence[str]]) -> list[str]:
    """Return the lines of a table whose columns are as wide as their longest text."""
    rows = list(rows)
    widths = [max(map(width, column)) for column in zip(*rows, strict=True)]
    lines = ("  ".join(map(fit, row, widths)) for row in rows)
    return [line.rstrip() for line in lines]


def translate(text: object, columns: int | str = 0, *, language: str) -> str:
    """Return a text, or another value as text, with its English names replaced by those of a language.

    columns: its width; ">12" also moves it to the right.
    """
    own = pattern(language).sub(lambda match: names(language)[match[0]], str(text))
    format_spec = str(columns)
    return fit(own, int(format_spec.removeprefix(">")), ">" if format_spec.startswith(">") else "<")


ja, ko, zh = (partial(translate, language=language) for language in ("ja", "ko", "zh"))
