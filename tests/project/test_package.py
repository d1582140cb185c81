"""Test the files that git checks out."""

import shutil
import subprocess

import pytest

from tests.project.paths import ROOT


def test_files_are_checked_out_alike_on_every_system(tmp_path):
    """Stored outputs are compared character by character, and packed files byte by byte."""
    if not shutil.which("git"):
        pytest.skip("there is no git, so nothing is checked out")
    subprocess.run(["git", "init", "--quiet", tmp_path], check=True)
    shutil.copy(ROOT / ".gitattributes", tmp_path)
    names = [
        "companion/layers/lstm.py",
        "book/ja/lstm.ipynb",
        "Makefile",
        "book/pictures/site.png",
        "companion/learning/writers/en.safetensors",
    ]
    process = subprocess.run(
        ["git", "check-attr", "text", "eol", "--", *names], cwd=tmp_path, capture_output=True, text=True, check=True
    )
    attributes = {}
    for line in process.stdout.splitlines():
        name, attribute, value = line.split(": ")
        attributes.setdefault(name, {})[attribute] = value
    assert attributes == {name: {"text": "unset" if name.endswith(".png") else "auto", "eol": "lf"} for name in names}
