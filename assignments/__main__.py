"""Run the grader: `python -m assignments SUBMISSIONS` in the repository, `python path/to/assignments SUBMISSIONS`
anywhere."""

import os
import sys
from pathlib import Path

if not __package__:  # run by its path: sys.path begins with this folder instead of the repository
    sys.path[0] = str(Path(__file__).resolve().parents[1])

from assignments import cli  # noqa: E402

if __name__ == "__main__":
    # The processes that grade do not import from the current folder, where students' files may lie.
    os.environ["PYTHONSAFEPATH"] = "1"
    cli.main()
