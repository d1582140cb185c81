"""Test what messages to and from a worker contain, and their bounds."""

import json
import re

import pytest
import torch

from assignments.sandbox import call_source, protocol
from companion.check.engine.question import all_questions
from tests.project.paths import ROOT


def test_calls_of_questions_do_not_contain_the_answer():
    for question in all_questions():
        call = call_source.portable_call(all_questions()[question])
        assert not re.search("reference|truth|Question", json.dumps(call))


def test_only_well_formed_tensors_are_parsed():
    good = {"kind": "float64", "shape": [2], "numbers": [1, 2.5]}
    assert protocol.parse_tensor(good).tolist() == [1, 2.5]
    for bad in ({"shape": [3]}, {"shape": [-1]}, {"shape": [True, 2]}, {"numbers": ["1", 2]}, {"numbers": [10**400, 1]},
                {"shape": [2**40, 0], "numbers": []}, {"shape": "2"}, {"numbers": None},
                {"numbers": [True, 1]}):  # fmt: skip
        with pytest.raises(protocol.Forged):
            protocol.parse_tensor(good | bad)
    assert torch.isnan(protocol.parse_tensor(good | {"numbers": [float("nan"), 1]})).any()


@pytest.mark.parametrize("reply, ended, counted", [
    ({"ended": "", "said": "1" * (protocol.MAX_OUTPUT + 1), "seconds": 1}, "output", (0, 0)),
    ({"ended": {}, "said": ""}, "quit", (0, 0)), ([], "quit", (0, 0)), ({"ended": "", "said": 1}, "quit", (0, 0)),
    ({"ended": "`x`" * 99, "said": "", "seconds": float("inf")}, "'x'" * 33 + "'", (0, 0)),
    ({"ended": "", "said": "", "processor": 1.5, "steps": 300}, "", (1.5, 300)),
    ({"ended": "", "said": "", "processor": "1", "steps": -300}, "", (0, 0)),
    ({"ended": "", "said": "", "processor": float("nan"), "steps": 10**9}, "", (0, 0)),
])  # fmt: skip
def test_a_workers_reply_has_bounds(reply, ended, counted):
    """Check it, since without fork the student's own process writes the reply."""
    numbers = dict(zip(("processor", "steps"), counted))
    assert protocol.parse_reply(reply, 2.0) == {"ended": ended, "said": "", "seconds": 2.0} | numbers


@pytest.mark.parametrize("text, shown", [
    (f"cannot import name 'x' from 'torch' ({torch.__file__})",
     "cannot import name 'x' from 'torch' (torch/__init__.py)"),
    (f"{ROOT}/assignments/sandbox/worker.py and {ROOT}", "assignments/sandbox/worker.py and "),
    ("x" * 280 + torch.__file__[:20], "x" * 280),
    (f"<module 'json' from '{json.__file__}'>", "<module 'json' from 'json/__init__.py'>"),
    ("3/4 of C:\\data\\a.csv, data/a.csv and /content/drive", "3/4 of C:\\data\\a.csv, data/a.csv and /content/drive"),
])  # fmt: skip
def test_texts_name_no_folder_of_this_machine(text, shown):
    assert protocol.parse_text(text, 300) == shown
