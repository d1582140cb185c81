"""Figures that answer, on the book's pages and in notebooks: one class and one script each."""

from companion.figures.gates import Gates
from companion.figures.lookup import Lookup

__all__ = ["Gates", "Lookup"]
