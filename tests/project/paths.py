"""The root of the repository, and functions that parse built pages."""

import re
from pathlib import Path

from bs4 import BeautifulSoup

ROOT = Path(__file__).resolve().parents[2]


def soup(path):
    return BeautifulSoup(path.read_text(encoding="utf-8"), "html.parser")


def light_soup(path):
    """Parse a page without formulas, code, drawings and styles, in a third of the time of `soup`."""
    text = re.sub(r"(?s)<(math|pre|svg|style|script)\b.*?</\1>", "", path.read_text(encoding="utf-8"))
    return BeautifulSoup(text, "html.parser")
