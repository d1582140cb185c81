"""Edits of the chapters' cells, those of `edits.py`: with the small torch they say what they say with torch, to the
letter."""

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests.live import on_small_torch

PROGRAMS = Path(__file__).with_name("edits.py")
PARTS = re.split(r"(?m)^# %% (.*)\n", PROGRAMS.read_text(encoding="utf-8"))[1:]
EDITS = dict(zip(PARTS[::2], PARTS[1::2], strict=True))
# In a process of its own: all edits, one after the other, each as the only cell of a notebook.
RUN = """
import contextlib, io, json, sys, warnings
warnings.simplefilter("ignore")
import torch
torch.set_num_threads(1)
IMPORTS = '''
import math
import torch
from torch import nn
from torch.func import functional_call
from torch.nn import functional as F
import companion
from companion import compare
from companion.layers.gru import GRUStep
from companion.layers.lstm import LSTMStep
from companion.layers.recurrent import RNNBase
from companion.layers.step import Step
float64 = {"dtype": torch.float64}
'''

def shown(source):
    said = io.StringIO()
    torch.manual_seed(0)
    with contextlib.redirect_stdout(said):
        try:
            exec(IMPORTS + source, {})
        except Exception as error:
            print(f"{type(error).__name__}: {error}")
    return said.getvalue()

with open(sys.argv[1], encoding="utf-8") as file:
    edits = json.load(file)
print(json.dumps([torch.__version__, {name: shown(source) for name, source in edits.items()}]))
"""


@pytest.fixture(scope="module")
def said(tmp_path_factory):
    """What each edit says: with torch, and with the small one. Both run at the same time."""
    folder = tmp_path_factory.mktemp("pages")
    on_small_torch.lay_out(folder)
    programs = tmp_path_factory.mktemp("edits") / "edits.json"
    programs.write_text(json.dumps(EDITS), encoding="utf-8")
    running = []
    for path in (on_small_torch.ROOT, folder):  # from here `companion` comes, and from the second `torch`
        environment = os.environ | {"PYTHONPATH": str(path), "MPLBACKEND": "agg"}
        command = [sys.executable, "-W", "ignore::ResourceWarning", "-c", RUN, str(programs)]
        running.append(subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=environment, cwd=path))
    answers = [process.communicate()[0] for process in running]
    assert [process.returncode for process in running] == [0, 0]
    (real, by_torch), (small, by_small) = map(json.loads, answers)
    assert small.endswith("+small") and not real.endswith("+small")
    return by_torch, by_small


@pytest.mark.parametrize("name", EDITS)
def test_an_edit_gives_what_torch_gives(said, name):
    by_torch, by_small = said
    assert by_torch[name].strip()
    assert by_small[name] == by_torch[name]
