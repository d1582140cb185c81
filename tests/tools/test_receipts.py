"""Receipts on a small project made for them: whatever a test rests on changes, it runs again, and no other does."""

import json
import os
import re
import shutil
import subprocess
import sys

import pytest
from repository import ROOT

PROJECT = {
    "pyproject.toml": '[tool.pytest.ini_options]\npythonpath = ["tests", "book"]\n',
    "requirements.txt": "torch==2.13.0\n",
    ".gitignore": "_build/\n__pycache__/\n.pytest_cache/\n",
    "conftest.py": 'pytest_plugins = ["receipts"]\n',
    "companion/__init__.py": "",
    "companion/layer.py": '"""A layer."""\n\nfrom companion import errors\n',
    "companion/errors.py": "",
    "companion/words.py": (
        "import functools, pathlib\n\n\n@functools.cache\ndef words():\n"
        "    return pathlib.Path(__file__).with_name('ja.toml').read_text()\n"
    ),
    "companion/ja.toml": "gate = 'ゲート'\n",
    "book/draw.py": "import pathlib, sys\n\nprint(pathlib.Path('weights.bin').read_bytes())\n",
    "weights.bin": "weights",
    "book/style.css": "p { color: red }\n",
    "book/lstm.md": "The LSTM.\n",
    "book/gru.md": "The GRU.\n",
    "tests/conftest.py": (
        "import pytest\n\n\n@pytest.fixture(scope='session')\ndef site():\n    import whole_site\n\n    return whole_site.built()\n\n\n"
        "@pytest.fixture(scope='session')\ndef browser():\n    import driving\n\n    return driving\n"
    ),
    "tests/driving.py": "",
    "tests/whole_site.py": (
        "import pathlib\nfrom receipts.reads import BUILT, ROOT\n\n\ndef built():\n    folder = ROOT / BUILT\n"
        "    folder.mkdir(parents=True, exist_ok=True)\n    for page in (ROOT / 'book').glob('*.md'):\n"
        "        style = (ROOT / 'book/style.css').read_text() if page.stem == 'lstm' else ''\n"
        "        (folder / page.name).write_text(page.read_text() + style)\n    return folder\n"
    ),
    "tests/test_layer.py": "import companion.layer\n\n\ndef test_layer():\n    assert companion.layer.errors\n",
    "tests/test_words.py": "from companion.words import words\n\n\ndef test_words():\n    assert words()\n",
    "tests/test_words_too.py": "def test_words_too():\n    from companion.words import words\n\n    assert words()\n",
    "tests/test_program.py": (
        "import pathlib, subprocess, sys\n\n\ndef test_program():\n    root = pathlib.Path(__file__).parents[1]\n"
        "    subprocess.run([sys.executable, 'book/draw.py'], cwd=root, check=True)\n"
    ),
    "tests/test_browser.py": "def test_browser(browser):\n    assert browser\n",
    "tests/test_pages.py": (
        "import pytest\n\n\n@pytest.mark.parametrize('name', ['lstm', 'gru'])\ndef test_page(site, name):\n"
        "    assert (site / f'{name}.md').read_text()\n"
    ),
}
ALL = {"layer", "words", "words_too", "program", "browser", "page[lstm]", "page[gru]"}
CHANGES = {  # file → what runs again when a line is added to it
    "companion/layer.py": {"layer"},
    "companion/errors.py": {"layer"},
    "companion/__init__.py": {"layer", "words", "words_too"},
    "companion/ja.toml": {"words", "words_too"},
    "weights.bin": {"program"},
    "book/draw.py": {"program"},
    "book/style.css": {"page[lstm]"},
    "book/gru.md": {"page[gru]"},
    "tests/driving.py": {"browser"},
    "tests/test_words.py": {"words"},
    "tests/conftest.py": ALL,
    "requirements.txt": ALL,
    "pyproject.toml": ALL,
    "tests/receipts/machine.py": ALL,
    "new.md": ALL,
}


@pytest.fixture(scope="module")
def project(tmp_path_factory):
    root = tmp_path_factory.mktemp("project")
    for name, text in PROJECT.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text, encoding="utf-8")
    shutil.copytree(ROOT / "tests/receipts", root / "tests/receipts", ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copy(ROOT / "book/browser.py", root / "book")  # finds the browser, on which receipts rest
    subprocess.run(["git", "init", "--quiet"], cwd=root, check=True)
    assert ran(root) == ALL
    return root


def ran(project, *options, status=0, tests=r"\S+::test_([\w\[\]]+)", **environment):
    """The tests that run."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("UNROLLED", "PYTEST", "CI", "PYTHONPATH"))}
    command = [sys.executable, "-m", "pytest", "--receipts", "-rpf", "-p", "no:cacheprovider", *options]
    kept["PYTEST_DISABLE_PLUGIN_AUTOLOAD"] = "1"  # they take longer than these tests
    done = subprocess.run(command, cwd=project, env=kept | environment, capture_output=True, text=True, encoding="utf-8")
    assert done.returncode == status, done.stdout + done.stderr
    return {*re.findall(rf"(?m)^(?:PASSED|FAILED) {tests}", done.stdout)}


@pytest.mark.heavy
def test_what_rests_on_a_change_runs_again_and_nothing_else(project):
    assert ran(project) == set()
    for name, expected in CHANGES.items():
        path = project / name
        before = path.read_bytes() if path.exists() else None
        path.write_bytes((before or b"") + b"\n")
        assert ran(project) == expected, name
        path.write_bytes(before) if before is not None else path.unlink()  # what it was has its receipt still


@pytest.mark.heavy
def test_two_processes_tell_the_same(project):
    (project / "weights.bin").write_bytes(b"others")
    assert ran(project, "-p", "xdist", "--numprocesses", "2", "--dist", "loadfile") == {"program"}
    assert ran(project, "-p", "xdist", "--numprocesses", "2", "--dist", "loadfile") == set()


@pytest.mark.heavy
def test_a_notebook_rests_on_what_its_own_kernel_reads(project, tmp_path):
    """Kernels are forked from one process, and files of tests that made it are on the stack of each."""
    root = shutil.copytree(project, tmp_path / "project")
    shutil.copy(ROOT / "tests/kernels.py", root / "tests")
    (root / "conftest.py").write_text('pytest_plugins = ["nbval.plugin", "kernels", "receipts"]\n')
    for name, line in {"layer": "import companion.layer", "words": "from companion.words import words; said = words()"}.items():
        cell = {"cell_type": "code", "id": name, "execution_count": 1, "metadata": {}, "outputs": []}
        cell["source"] = f"import sys; sys.path.insert(0, '..'); {line}"
        kernel = {"kernelspec": {"name": "python3", "display_name": "Python", "language": "python"}}
        book = {"cells": [cell], "metadata": kernel, "nbformat": 4, "nbformat_minor": 5}
        (root / f"book/{name}.ipynb").write_text(json.dumps(book))

    def run_again():
        return ran(root, "--nbval", "book/layer.ipynb", "book/words.ipynb", tests=r"book/(\w+)\.ipynb")

    assert run_again() == {"layer", "words"}
    assert run_again() == set()
    for name, expected in {"companion/layer.py": {"layer"}, "companion/ja.toml": {"words"}, "tests/kernels.py": {"layer", "words"}}.items():
        with (root / name).open("a") as file:
            file.write("\n")
        assert run_again() == expected, name


def test_what_fails_gets_no_receipt(project):
    path = project / "companion/layer.py"
    text = path.read_text()
    path.write_text(text.replace("from companion import errors", "errors = None"))
    for _ in range(2):
        assert ran(project, status=1) == {"layer"}
    path.write_text(text)


def test_another_processor_and_ci_rely_on_nothing(project):
    ran(project)
    assert ran(project, ATEN_CPU_CAPABILITY="default") == ALL
    assert ran(project, CI="true") == ALL


def test_a_part_of_a_file_gets_no_receipt_for_all_of_it(project):
    (project / "book/gru.md").write_text("Another GRU.\n")
    (project / "companion/errors.py").write_text("# others\n")
    assert ran(project, "tests/test_layer.py::test_layer") == {"layer"}
    assert ran(project) == {"layer", "page[gru]"}
