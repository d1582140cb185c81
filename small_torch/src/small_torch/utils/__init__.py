"""What is of use around learning: data in batches."""

from . import data  # noqa: F401
