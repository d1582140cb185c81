"""Found by every Python that a test starts, through PYTHONPATH: says which files of the project it reads."""

import importlib.util
from pathlib import Path

# by its path: no name of ours may stand in the way of one that the program itself imports
spec = importlib.util.spec_from_file_location("_unrolled_reads", Path(__file__).resolve().parents[1] / "reads.py")
reads = importlib.util.module_from_spec(spec)
spec.loader.exec_module(reads)
reads.watch_as_child()
