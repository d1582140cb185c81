"""Choose the cases that `make test` and `.ci/run` run. `make prove` runs the others, too."""

import functools
import os
import subprocess
import zlib

import pytest

from tests.project.paths import ROOT

PROVING = "PROVE" in os.environ
# Time limit in seconds for the search for several mistakes in tests that expect none. One test allows 30.
UNKNOWN = 0.15


def sample(cases, every=8, mark=pytest.mark.heavy):
    """Return cases for `parametrize`: the first of each `every` as it is, the others with a mark."""
    rows = [case if isinstance(case, tuple) else (case,) for case in cases]
    return [pytest.param(*row, marks=[mark] * bool(n % every)) for n, row in enumerate(rows)]


def chosen(cases, *quick, mark=pytest.mark.heavy):
    """Return cases for `parametrize`: those in `quick` as they are, the others with a mark."""
    assert all(case in cases for case in quick)
    return [pytest.param(case, marks=[mark] * (case not in quick)) for case in cases]


@functools.cache
def tree():
    """Return the hash of the committed files, or an empty string without git."""
    try:
        process = subprocess.run(["git", "rev-parse", "HEAD:"], cwd=ROOT, capture_output=True, text=True)
    except OSError:
        return ""
    return process.stdout.strip()


def in_quarter(name, tree):
    """Return whether a deep test runs in `.ci/run` for this tree: each runs for a quarter of all trees."""
    return zlib.crc32(f"{tree} {name}".encode()) % 4 == 0
