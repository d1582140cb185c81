"""Programs that learners write print on small_torch what they print on torch, or small_torch refuses them in words.

The programs are in `learners/`. Two processes run them all, one with torch and one with small_torch.
"""

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from run_learners import FAILED, programs
from small_torch.absent import EXPLANATION

HERE = Path(__file__).parent
FILES = sorted((HERE / "learners").glob("*.py"))
CASES = [(path.stem, title) for path in FILES for title in programs(path)]
NUMBER = re.compile(r"-?\d+\.\d*(?:e[+-]\d+)?")


@pytest.fixture(scope="module")
def printed(tmp_path_factory):
    """Return (file, title) → texts that a program prints on torch and on small_torch."""
    folder = tmp_path_factory.mktemp("torch")
    (folder / "torch").symlink_to(HERE.parent / "src" / "small_torch")
    command = [sys.executable, str(HERE / "run_learners.py"), *map(str, FILES)]
    processes = [
        subprocess.Popen(command, stdout=subprocess.PIPE, env=os.environ | {"PYTHONPATH": path}, cwd=folder.parent)
        for path in ("", str(folder))
    ]
    outputs = [json.loads(process.communicate()[0]) for process in processes]
    texts = [[text for file in output for text in file.values()] for output in outputs]
    return dict(zip(CASES, zip(*texts, strict=True), strict=True))


def assert_same_text(theirs, ours):
    """Assert that two texts are the same, except for names of gradient functions and a number's last digit."""
    theirs, ours = (re.sub(r"grad_fn=<\w+>", "grad_fn=<…>", text) for text in (theirs, ours))
    if NUMBER.sub("…", theirs) == NUMBER.sub("…", ours):
        for a, b in zip(NUMBER.findall(theirs), NUMBER.findall(ours)):
            if not last_digit_differs(a, b):
                assert ours == theirs
    else:
        assert ours == theirs


def last_digit_differs(a, b):
    """Return whether two printed numbers with as many digits differ by at most one unit of the last digit."""
    mantissas, exponents = zip(*((mantissa, exponent) for mantissa, _, exponent in (n.partition("e") for n in (a, b))))
    units = [int(mantissa.replace(".", "")) for mantissa in mantissas]
    same_form = exponents[0] == exponents[1] and len({len(mantissa.partition(".")[2]) for mantissa in mantissas}) == 1
    return same_form and abs(units[0] - units[1]) <= 1


@pytest.mark.parametrize(("file", "title"), [case for case in CASES if case[0] != "refused"])
def test_program_prints_the_same(printed, file, title):
    assert_same_text(*printed[file, title])


@pytest.mark.parametrize("title", [title for file, title in CASES if file == "refused"])
def test_program_is_refused_in_words(printed, title):
    theirs, ours = printed["refused", title]
    before, _, error = ours.rpartition(FAILED)
    assert EXPLANATION in error
    assert theirs.startswith(before)


def test_programs_have_different_titles():
    assert len(CASES) >= 100
    assert len({title for _, title in CASES}) == len(CASES)
