"""Whose numbers these are."""

__version__ = "2.13.0+small"
cuda = None
