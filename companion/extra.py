"""Name the command that installs what only notebooks need, where an import fails without it."""

from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def notebook_extra() -> Iterator[None]:
    """Add the command to the ModuleNotFoundError of imports from packages of the extra `notebook`."""
    try:
        yield
    except ModuleNotFoundError as error:
        message = f'{error.name} is not installed. Notebooks and downloads need it: pip install "unrolled[notebook]"'
        raise ModuleNotFoundError(message, name=error.name) from error
