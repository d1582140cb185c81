"""Stand-in for pooch on pages, which download nothing."""

from logging import getLogger as get_logger  # noqa: F401


def os_cache(project):
    return f"/tmp/{project}"


def retrieve(url, known_hash, **unused):
    raise OSError(f"a page does not load {url}: nothing leaves the book's own site")
