"""Where the project is, and how its pages are read."""

from pathlib import Path

from bs4 import BeautifulSoup

ROOT = Path(__file__).resolve().parents[1]


def soup(path):
    return BeautifulSoup(path.read_text(encoding="utf-8"), "html.parser")
