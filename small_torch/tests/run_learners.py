"""Run programs of learners and write as JSON what they print.

Usage: python run_learners.py FILE…

A file holds programs, each after a line `# %% title`. The lines before the first title belong to each program.
"""

import contextlib
import io
import json
import random
import re
import sys
import traceback
import warnings
from pathlib import Path

import numpy as np
import torch  # small_torch, if that lies under this name in a folder of PYTHONPATH

FAILED = "failed line: "


def programs(path):
    """Return title → source of all programs in a file, each with the lines before the first title."""
    head, *parts = re.split(r"^# %% (.+)\n", Path(path).read_text(encoding="utf-8"), flags=re.M)
    return {title: head + source for title, source in zip(parts[::2], parts[1::2])}


def printed(source):
    """Return what a program prints: its output, its warnings, and at the end the line that failed, with the error."""
    stream = io.StringIO()
    torch.manual_seed(0), random.seed(0), np.random.seed(0)
    with contextlib.redirect_stdout(stream), warnings.catch_warnings():
        warnings.simplefilter("always")
        warnings.simplefilter("ignore", DeprecationWarning)  # of numpy, about torch
        # torch warns once per process that its fused LSTM has no projections
        warnings.filterwarnings("ignore", message="LSTM with projections is not supported with oneDNN")
        warnings.showwarning = lambda warning, category, *place: print(f"{category.__name__}: {warning}")
        try:
            exec(compile(source, "<program>", "exec"), {"__name__": "__main__"})
        except Exception as error:  # noqa: BLE001  a program may end with any error
            frames = traceback.walk_tb(error.__traceback__)
            *_, number = (number for frame, number in frames if frame.f_code.co_filename == "<program>")
            print(f"{FAILED}{source.splitlines()[number - 1].strip()}")
            print(f"{type(error).__name__}: {error}", *getattr(error, "__notes__", ()), sep="\n")
    # torch adds to a warning the line of its own source
    return re.sub(r" \(Triggered internally at .*\)$", "", stream.getvalue(), flags=re.M)


if __name__ == "__main__":
    sources = [programs(path) for path in sys.argv[1:]]
    print(json.dumps([{title: printed(source) for title, source in file.items()} for file in sources]))
