"""The grader's words in each language, one file each."""

from functools import cache
from pathlib import Path

from companion.check.engine import messages

FOLDER = Path(__file__).parent


@cache
def words(language):
    """Return all words of a language by table, and those that it lacks in English."""
    found = messages.words(language, FOLDER)
    return found | {"cell_error": found["page"]["cell_error"]}
