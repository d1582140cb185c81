"""Run the grader, from anywhere.

In the repository: `python -m assignments SUBMISSIONS`; elsewhere: `python path/to/assignments SUBMISSIONS`.
"""

import os
import sys
from pathlib import Path

if not __package__:  # run by path: sys.path begins with this folder, not with the repository
    sys.path[0] = str(Path(__file__).resolve().parents[1])

from assignments import cli  # noqa: E402

if __name__ == "__main__":
    # Grading processes must not import from the current folder, which may hold students' files.
    os.environ["PYTHONSAFEPATH"] = "1"
    cli.main()
