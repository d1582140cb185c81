"""Check that the programs of `edits.py` give exactly the same with small_torch as with torch."""

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests.live import on_small_torch

PROGRAMS_FILE = Path(__file__).with_name("edits.py")
NAMES_AND_SOURCES = re.split(r"(?m)^# %% (.*)\n", PROGRAMS_FILE.read_text(encoding="utf-8"))[1:]
PROGRAMS_BY_NAME = dict(zip(NAMES_AND_SOURCES[::2], NAMES_AND_SOURCES[1::2], strict=True))
# Runs all programs in a separate process, each as the only cell of a notebook.
RUN_PROGRAMS = """
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

def run(source):
    printed = io.StringIO()
    torch.manual_seed(0)
    with contextlib.redirect_stdout(printed):
        try:
            exec(IMPORTS + source, {})
        except Exception as error:
            print(f"{type(error).__name__}: {error}")
    return printed.getvalue()

with open(sys.argv[1], encoding="utf-8") as file:
    programs = json.load(file)
print(json.dumps([torch.__version__, {name: run(source) for name, source in programs.items()}]))
"""


@pytest.fixture(scope="module")
def printed(tmp_path_factory):
    """Return what each program prints with torch, and with small_torch; both run at the same time."""
    folder = tmp_path_factory.mktemp("pages")
    on_small_torch.copy_code(folder)
    file = tmp_path_factory.mktemp("programs") / "programs.json"
    file.write_text(json.dumps(PROGRAMS_BY_NAME), encoding="utf-8")
    processes = []
    for path in (on_small_torch.ROOT, folder):  # `companion` is in both folders, small_torch's `torch` in the second
        environment = os.environ | {"PYTHONPATH": str(path), "MPLBACKEND": "agg"}
        command = [sys.executable, "-W", "ignore::ResourceWarning", "-c", RUN_PROGRAMS, str(file)]
        processes.append(subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=environment, cwd=path))
    results = [process.communicate()[0] for process in processes]
    assert [process.returncode for process in processes] == [0, 0]
    (torch_version, by_torch), (small_version, by_small) = map(json.loads, results)
    assert small_version.endswith("+small") and not torch_version.endswith("+small")
    return by_torch, by_small


@pytest.mark.parametrize("name", PROGRAMS_BY_NAME)
def test_program_prints_what_it_prints_with_torch(printed, name):
    by_torch, by_small = printed
    assert by_torch[name].strip()
    assert by_small[name] == by_torch[name]
