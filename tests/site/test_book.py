"""The chapters as they are stored: run, complete, the same on every machine, and readable without seeing the
figures."""

import copy
import functools
import re
import subprocess
import sys

import nbformat
import pytest

from book import editions
from book.tools import execute
from tests.project.paths import ROOT

BOOK = ROOT / "book"
NOTEBOOKS = sorted(BOOK.glob("*/*.ipynb"))
ASSIGNMENTS = sorted(ROOT.glob("assignments/source/*/*.ipynb"))
PAGES = re.findall(r"- file: book/en/(\w+)", (ROOT / "_toc.yml").read_text(encoding="utf-8"))
CHAPTERS = [page for page in PAGES if page not in ("assignments", "teaching", "glossary")]
PICTURE, FIGURE = "image/svg+xml", "application/vnd.jupyter.widget-view+json"


def read(path):
    return nbformat.read(path, as_version=4)


stored = functools.cache(read)


def code(path):
    return [cell for cell in stored(path).cells if cell.cell_type == "code"]


def texts(output):
    """All that one output says, as text."""
    if output.output_type == "stream":
        return [output.text]
    data = {kind: value for kind, value in output.get("data", {}).items() if kind not in (PICTURE, FIGURE)}
    return [str(value) for value in data.values()]


def name(path):
    return f"{path.parent.name}/{path.stem}" if path in NOTEBOOKS else f"assignments/{path.parent.name}/{path.stem}"


each = pytest.mark.parametrize("path", NOTEBOOKS, ids=name)
each_stored = pytest.mark.parametrize("path", NOTEBOOKS + ASSIGNMENTS, ids=name)


def test_the_chapters_are_there():
    """Every notebook is in the table of contents, and the other way round. What is marked as a draft is there, too."""
    assert {path.stem for path in BOOK.glob("en/*.*") if path.suffix in (".ipynb", ".md")} == {*PAGES, "index"}
    for edition in editions.editions():
        assert edition.draft or all(edition.has(page) for page in edition.drafts), (
            f"{edition.language}/edition.yml: drafts"
        )
    assert {"embedding", "rnn", "lstm", "lstm_parameters", "gru", "training", "language_model"} <= set(CHAPTERS)
    assert (BOOK / "en" / "index.md").is_file()


@each_stored
def test_stored_as_run(path):
    """Every cell has run, from top to bottom, without an error; the file is in the form that execute.py writes."""
    notebook = stored(path)
    nbformat.validate(notebook)
    counts = [cell.execution_count for cell in code(path)]
    assert counts == list(range(1, len(counts) + 1)), f"run it: python -m book.tools.execute {path.relative_to(ROOT)}"
    for cell in code(path):
        for output in cell.outputs:
            assert output.output_type != "error", cell.id
            assert output.get("name") != "stderr", f"{cell.id}: {output.text}"
    assert notebook.metadata["language_info"] == {"name": "python"}
    again = copy.deepcopy(notebook)
    execute.fold_solutions(again)
    assert path.read_text(encoding="utf-8") == nbformat.writes(again) + "\n", (
        f"run it: python -m book.tools.execute {path.relative_to(ROOT)}"
    )


@each_stored
def test_compared_strictly(path):
    for cell in code(path):
        assert "NBVAL" not in cell.source.upper(), cell.id
        assert not any("nbval" in tag for tag in cell.metadata.get("tags", [])), cell.id


@each_stored
def test_outputs_are_the_same_everywhere(path):
    """No path, address, time or name of a gradient function: they differ from machine to machine or run to run."""
    unstable = re.compile(
        r"0x[0-9a-f]{6,}|/tmp/|/home/|\\Users\\|grad_fn=|<ipython|\bCPU times\b|\bWall time\b|\d ms\b"
    )
    for cell in code(path):
        for output in cell.outputs:
            for text in texts(output):
                assert not unstable.search(text), f"{cell.id}: {unstable.search(text)}"
            # pixels are not compared, lines and letters are
            assert not {"image/png", "image/jpeg"} & set(output.get("data", {})), cell.id


@each
def test_pictures_are_described(path):
    for cell in code(path):
        data = [output.get("data", {}) for output in cell.outputs]
        if any(PICTURE in one and FIGURE not in one for one in data):  # an interactive figure says itself what it shows
            alt = cell.metadata.get("mystnb", {}).get("image", {}).get("alt", "")
            assert len(alt) > 30, f"{cell.id}: the picture needs a text that says what it shows"
    for cell in stored(path).cells:
        for alt in re.findall(r"!\[(.*?)\]\(", cell.source, re.DOTALL):
            assert len(alt) > 30, cell.id


@each
def test_one_idea_a_cell(path):
    for cell in stored(path).cells:
        assert re.fullmatch(r"[a-z0-9]+(-[a-z0-9]+)*", cell.id), f"{cell.id}: name the cell by what it says"
        if cell.cell_type == "code":
            assert len(cell.source.splitlines()) <= 24, cell.id
            assert max(map(len, cell.source.splitlines())) <= 88, cell.id  # what a page shows
        else:
            assert cell.source.count("\n#") <= 1, f"{cell.id}: one heading a cell"


@each
def test_shown_source_fits(path):
    for cell in code(path):
        for output in cell.outputs:
            for text in texts(output):
                if text.startswith("```python"):
                    assert max(map(len, text.splitlines())) <= 88, cell.id


@each
def test_order_of_a_chapter(path):
    """The proof against torch, then exercises with solutions that fold open, then what the reader can do now. A draft
    need not have them yet."""
    if path.stem not in CHAPTERS:
        return
    ids = [cell.id for cell in stored(path).cells]
    solutions = [cell for cell in code(path) if cell.id.startswith("solution-")]
    if not editions.read(path.parent).is_draft(path.stem):
        assert "exercises" in ids and ids[-1] == "can-do", (
            "a cell `exercises`, and at the very end `can-do`: what the reader can do now"
        )
        assert len(solutions) >= 6, "six exercises with solutions, in cells whose ids begin with solution-"
        assert "further-reading" in ids, "a cell `further-reading`: who found it, and what to read next"
        proofs = [c.id for c in code(path) if re.search(r"\bcompar(e|ison)\b", c.source.splitlines()[-1]) and c.outputs]
        assert any(ids.index(proof) < ids.index("exercises") for proof in proofs), (
            "a cell before the exercises that ends with compare(…)"
        )
    for cell in code(path):
        for output in cell.outputs:
            assert not any("DIFFERENT" in text for text in texts(output)), cell.id


@each
def test_chapters_read_from_the_companion(path):
    lacks = path.stem not in CHAPTERS or editions.read(path.parent).is_draft(path.stem)
    assert lacks or any(re.search(r"^(?:import|from) companion\b", cell.source, re.MULTILINE) for cell in code(path)), (
        "a chapter reads from the companion: import companion"
    )


def notebook(**cells):
    """A notebook of code cells: id → source."""
    return nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(source, id=id) for id, source in cells.items()])


@pytest.mark.heavy
def test_nbval_really_compares(tmp_path):
    """A stored output that is wrong by one character fails."""
    sums = notebook(right="1 + 2", wrong="1 + 2")
    for k, (cell, output) in enumerate(zip(sums.cells, "34", strict=True), 1):
        cell.execution_count = k
        cell.outputs = [nbformat.v4.new_output("execute_result", {"text/plain": output}, execution_count=k)]
    sums.metadata["kernelspec"] = execute.KERNEL
    nbformat.write(sums, tmp_path / "sums.ipynb")
    command = [sys.executable, "-m", "pytest", "--nbval", "-p", "no:cacheprovider", "-rA", "sums.ipynb"]
    run = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True)
    assert run.returncode == 1, run.stdout
    assert re.findall("^(?:PASSED|FAILED) .*::Cell .", run.stdout, re.M) == [
        "PASSED sums.ipynb::Cell 0",
        "FAILED sums.ipynb::Cell 1",
    ]


def test_execute_stores_what_it_finds(tmp_path, monkeypatch, capsys):
    """Running a notebook twice changes nothing; one that fails is left as it was, and others are run all the same. What
    JupyterLab leaves out when it saves, comes back."""
    page, fails = tmp_path / "page.ipynb", tmp_path / "fails.ipynb"
    nbformat.write(notebook(**{"prints": "print(1)\nprint(2)", "solution-sum": "1 + 2"}), page)
    nbformat.write(notebook(prints="print(1)", fails="1 / 0"), fails)
    before = fails.read_bytes()
    monkeypatch.setattr(sys, "argv", ["execute.py", str(fails), str(page)])
    assert execute.main() == 1 and "ZeroDivisionError" in capsys.readouterr().out
    assert fails.read_bytes() == before
    once = page.read_bytes()
    assert read(page).cells[0].outputs[0].text == "1\n2\n"
    folded = {"tags": ["hide-cell"], "jupyter": {"outputs_hidden": True, "source_hidden": True}}
    assert [cell.metadata for cell in read(page).cells] == [{}, folded]
    monkeypatch.setattr(sys, "argv", ["execute.py", str(page)])
    assert execute.main() == 0 and page.read_bytes() == once
