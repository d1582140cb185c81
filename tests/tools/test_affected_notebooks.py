"""Test which notebooks `make check` runs for a change."""

import json
import subprocess

import pytest

from book.tools import affected_notebooks
from book.tools.affected_notebooks import Modules, changed_files
from tests.project.paths import ROOT

FILES = {
    "companion/__init__.py": "from companion.layers.cell import Cell\nfrom companion.layers.gate import Gate\n",
    "companion/layers/__init__.py": "",
    "companion/layers/cell.py": "from companion.layers import gate\nclass Cell: pass\n",
    "companion/layers/gate.py": "class Gate: pass\n",
    "companion/learning/__init__.py": "",
    "companion/learning/text.py": 'FOLDER = "texts"\n',
    "companion/learning/search.py": "def late():\n    import companion.learning.text\n",
    "companion/learning/texts/en.txt": "once",
    "companion/figures/__init__.py": "from companion.figures.attention import Attention\n",
    "companion/figures/attention.py": "class Attention: pass\n",
}
NOTEBOOKS = {
    "book/en/cell.ipynb": ["import companion\n", "%time\n", "companion.Cell()\n"],
    "book/en/gate.ipynb": ["from companion import Gate\n"],
    "book/en/text.ipynb": ["from companion.learning.search import late\n"],
    "book/en/figure.ipynb": ["from companion.figures import Attention\n"],
    "assignments/source/en/rnn.ipynb": ["from companion.layers import cell\n"],
    "book/ja/cell.ipynb": ["import companion\n", "companion.Cell()\n"],
}


@pytest.fixture
def repository(tmp_path):
    for name, text in FILES.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text)
    for name, sources in NOTEBOOKS.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        cells = [{"cell_type": "code", "source": source.splitlines(keepends=True)} for source in sources]
        (tmp_path / name).write_text(json.dumps({"cells": cells}))
    return tmp_path


@pytest.mark.parametrize(
    ("changed", "affected"),
    [
        ("companion/layers/cell.py", {"book/en/cell.ipynb", "assignments/source/en/rnn.ipynb"}),
        ("companion/layers/gate.py", {"book/en/cell.ipynb", "book/en/gate.ipynb", "assignments/source/en/rnn.ipynb"}),
        ("companion/learning/text.py", {"book/en/text.ipynb"}),
        ("companion/learning/texts/en.txt", {"book/en/text.ipynb"}),
        ("companion/figures/attention.py", {"book/en/figure.ipynb"}),
        ("companion/layers/README.md", set()),
        ("tests/layers/test_proof.py", set()),
    ],
)
def test_notebooks_that_import_a_change_are_affected(repository, changed, affected):
    assert set(affected_notebooks.affected_notebooks({changed}, repository)) == affected


def test_the_forecasts_are_affected_by_the_module_that_computes_them():
    assert affected_notebooks.affected_notebooks({"companion/learning/series.py"}) == [
        f"book/en/{name}.ipynb" for name in ("daily_forecast", "forecasts", "in_use", "series")
    ]  # fmt: skip


def test_notebooks_that_take_long_together_are_named_with_the_command(monkeypatch, capsys):
    """Check also that changed notebooks of every language run in any case, and deleted ones do not."""
    changed = {"companion/learning/series.py", "book/ja/rnn.ipynb", "book/ja/deleted.ipynb", "outside/rnn.ipynb"}
    monkeypatch.setattr(affected_notebooks, "changed_files", lambda: changed)
    affected_notebooks.main()
    english = [f"book/en/{name}.ipynb" for name in ("daily_forecast", "forecasts", "in_use", "series")]
    assert capsys.readouterr() == (" ".join(["book/ja/rnn.ipynb", *english]) + "\n", "")
    monkeypatch.setattr(affected_notebooks, "LIMIT", 3)
    affected_notebooks.main()
    out, err = capsys.readouterr()
    assert out == "book/ja/rnn.ipynb\n" and err.startswith("Not run: 4 English")
    assert f"--dist loadfile {' '.join(english)}\n" in err


def test_changed_files_are_those_that_differ_from_the_last_commit(tmp_path):
    def git(*arguments):
        names = ["-c", "user.name=a", "-c", "user.email=a@b"]
        subprocess.run(["git", *names, *arguments], cwd=tmp_path, check=True, capture_output=True)

    git("init")
    for name in "staged", "edited", "same", "deleted":
        (tmp_path / name).write_text("a")
    git("add", ".")
    git("commit", "-m", "begin")
    for name in "staged", "edited", "new":
        (tmp_path / name).write_text("b")
    (tmp_path / "deleted").unlink()
    git("add", "staged")
    assert changed_files(tmp_path) == {"staged", "edited", "deleted", "new"}
    assert changed_files(tmp_path / "missing") == set()


def test_the_table_of_seconds_names_notebooks():
    assert affected_notebooks.SECONDS and all((ROOT / f"{name}.ipynb").is_file() for name in affected_notebooks.SECONDS)


def test_no_module_uses_the_whole_package():
    """Check that modules import names from their places: the list of a package would make every notebook affected."""
    modules = Modules(ROOT)
    assert all("companion" not in modules.imported(tree) for tree in modules.trees.values())
