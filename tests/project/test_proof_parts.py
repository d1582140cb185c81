"""Test that each test belongs to exactly one part of `make prove`, and that the quarter of deep tests is one."""

import re
import shlex
import subprocess

import pytest

from tests.project import sampling
from tests.project.paths import ROOT

PARTS = "models", "checker", "grader", "pages"


def paths(*arguments):
    """Return the paths that `make` with these arguments would give to pytest."""
    process = subprocess.run(
        ["make", "--dry-run", "--silent", *arguments], cwd=ROOT, capture_output=True, text=True, check=True
    )
    (command,) = [line for line in process.stdout.splitlines() if "-m pytest" in line]
    words = shlex.split(command)
    return [word for word in words[words.index("--no-loadscope-reorder") + 1 :] if not word.startswith("--")]


def test_every_test_and_notebook_belongs_to_one_part():
    listed = [path for part in PARTS for path in paths("prove", f"PART={part}")]
    assert len(listed) == len(set(listed))
    assert sorted(paths("prove")) == sorted(paths("prove", "PART=rest")) == sorted(listed)
    files = [
        *ROOT.glob("tests/**/test_*.py"),
        *ROOT.glob("small_torch/tests/test_*.py"),
        *ROOT.glob("book/*/*.ipynb"),
        *ROOT.glob("assignments/source/*/*.ipynb"),
    ]
    for file in files:
        assert sum(file == ROOT / path or ROOT / path in file.parents for path in listed) == 1, file


def test_an_unknown_part_is_refused():
    process = subprocess.run(["make", "--dry-run", "prove", "PART=model"], cwd=ROOT, capture_output=True, text=True)
    assert process.returncode and "PART is one of: models checker grader pages rest" in process.stderr


@pytest.mark.parametrize("part", PARTS)
def test_the_workflow_runs_every_part(part):
    workflow = (ROOT / ".github/workflows/book.yml").read_text(encoding="utf-8")
    (parts,) = re.findall(r"part: \[(.*)\]", workflow)
    assert part in parts.split(", ")


def test_a_deep_test_runs_for_a_quarter_of_all_trees():
    """Check that each tree runs a quarter of the deep tests, and each test runs for a quarter of the trees."""
    trees, names = [f"tree {n}" for n in range(400)], [f"test_{n}" for n in range(400)]
    assert 60 < sum(sampling.in_quarter("test_1", tree) for tree in trees) < 140
    assert 60 < sum(sampling.in_quarter(name, "tree 1") for name in names) < 140


def test_tree_is_a_hash_if_there_is_git():
    assert bool(re.fullmatch("[0-9a-f]{40,}", sampling.tree())) == (ROOT / ".git").exists()
