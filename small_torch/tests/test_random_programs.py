"""Run some random programs on both torches, as `make fuzz` runs thousands; and check that a planted fault is found."""

import json
import shutil
import subprocess
import sys
from pathlib import Path

FUZZ = Path(__file__).parent / "fuzz"
PACKAGE = Path(__file__).parents[1] / "src/small_torch"


def run(*options):
    command = [sys.executable, FUZZ, "--processes", "1", *map(str, options)]
    return subprocess.run(command, capture_output=True, text=True)


def test_random_programs():
    done = run("--programs", 40, "--seed", 1000)
    assert done.returncode == 0, done.stdout


def test_planted_fault_is_found(tmp_path):
    package = shutil.copytree(PACKAGE, tmp_path / "package")
    with open(package / "__init__.py", "a", encoding="utf-8") as file:
        file.write("\nTensor.__mul__ = lambda self, other: add(self, other)\n")
    done = run("--programs", 40, "--package", package, "--json", tmp_path / "found.json", "--classes", "none")
    assert done.returncode == 1
    results = json.loads((tmp_path / "found.json").read_text())["results"]
    found = [difference for result in results for difference in result["differences"]]
    assert any(d["class"] == "silent" and d["what"] == "value" and " * " in d["row"] for d in found)
