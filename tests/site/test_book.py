"""Test the stored notebooks: run, complete, the same on every machine, with descriptions of all pictures."""

import copy
import functools
import re
import subprocess
import sys
from types import SimpleNamespace

import nbformat
import pytest
from markdown_it import MarkdownIt

from book import editions
from book.tools import execute, install_cell
from companion.learning.text import Vocabulary, load_text
from tests.project.paths import ROOT

BOOK = ROOT / "book"
NOTEBOOKS = sorted(BOOK.glob("*/*.ipynb"))
ASSIGNMENTS = sorted(ROOT.glob("assignments/source/*/*.ipynb"))
PAGES = re.findall(r"- file: book/en/(\w+)", (ROOT / "_toc.yml").read_text(encoding="utf-8"))
OTHERS = "why assignments asked teaching project grading own_question glossary about".split()
CHAPTERS = [page for page in PAGES if page not in (*OTHERS, editions.REFERENCE)]
# Chapters that build what torch has, or train a layer of the companion, and prove it equal to torch's.
PROVED = set(
    "attention before_you_begin changing_the_cell chunks embedding embedding_parameters first_network gru"
    " language_model lstm lstm_parameters rnn sequences through_time transformer without_waiting".split()
)
PICTURE, FIGURE = "image/svg+xml", "application/vnd.jupyter.widget-view+json"


def read(path):
    return nbformat.read(path, as_version=4)


stored = functools.cache(read)


def code(path):
    return [cell for cell in stored(path).cells if cell.cell_type == "code"]


def texts(output):
    """Return all texts of an output."""
    if output.output_type == "stream":
        return [output.text]
    data = {kind: value for kind, value in output.get("data", {}).items() if kind not in (PICTURE, FIGURE)}
    return [str(value) for value in data.values()]


def name(path):
    return f"{path.parent.name}/{path.stem}" if path in NOTEBOOKS else f"assignments/{path.parent.name}/{path.stem}"


each = pytest.mark.parametrize("path", NOTEBOOKS, ids=name)
each_stored = pytest.mark.parametrize("path", NOTEBOOKS + ASSIGNMENTS, ids=name)


def test_table_of_contents_and_drafts_name_the_existing_pages():
    assert {path.stem for path in BOOK.glob("en/*.*") if path.suffix in (".ipynb", ".md")} == {
        *PAGES, "index",
    } - {editions.REFERENCE}  # fmt: skip
    for edition in editions.editions():
        assert edition.draft or all(edition.has(page) for page in edition.drafts), (
            f"{edition.language}/edition.yml: drafts"
        )
    assert {"embedding", "rnn", "lstm", "lstm_parameters", "gru", "training", "language_model"} <= set(CHAPTERS)
    assert (BOOK / "en" / "index.md").is_file()


@each_stored
def test_notebook_is_stored_as_execute_writes_it(path):
    """Check that all cells have run in order without an error, and that the file has the form of execute.py."""
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
    if path in NOTEBOOKS:
        install_cell.add_install_cell(again, path.parent.name)
    assert path.read_text(encoding="utf-8") == nbformat.writes(again) + "\n", (
        f"run it: python -m book.tools.execute {path.relative_to(ROOT)}"
    )


@each_stored
def test_no_cell_is_excluded_from_nbval(path):
    for cell in code(path):
        assert "NBVAL" not in cell.source.upper(), cell.id
        assert not any("nbval" in tag for tag in cell.metadata.get("tags", [])), cell.id


@each_stored
def test_outputs_are_the_same_everywhere(path):
    """Check for paths, addresses, times and names of gradient functions, which differ between machines or runs."""
    unstable = re.compile(
        r"0x[0-9a-f]{6,}|/tmp/|/home/|\\Users\\|grad_fn=|<ipython|\bCPU times\b|\bWall time\b|\d ms\b"
    )
    for cell in code(path):
        for output in cell.outputs:
            for text in texts(output):
                assert not unstable.search(text), f"{cell.id}: {unstable.search(text)}"
            # comparing pixels would be unreliable; SVG is text
            assert not {"image/png", "image/jpeg"} & set(output.get("data", {})), cell.id


@each
def test_pictures_are_described(path):
    for cell in code(path):
        data = [output.get("data", {}) for output in cell.outputs]
        if any(PICTURE in kinds and FIGURE not in kinds for kinds in data):  # an interactive figure describes itself
            alt = cell.metadata.get("mystnb", {}).get("image", {}).get("alt", "")
            assert len(alt) > 30, f"{cell.id}: the picture needs a text that says what it shows"
    for cell in stored(path).cells:
        for alt in re.findall(r"!\[(.*?)\]\(", cell.source, re.DOTALL):
            assert len(alt) > 30, cell.id


@each
def test_cells_are_short_and_have_names(path):
    for cell in stored(path).cells:
        assert re.fullmatch(r"[a-z0-9]+(-[a-z0-9]+)*", cell.id), f"{cell.id}: name the cell by what it says"
        if cell.cell_type == "code":
            assert len(cell.source.splitlines()) <= 24, cell.id
            wide = max(map(len, cell.source.splitlines())) > 88  # the width of a page
            assert not wide or cell.id == install_cell.CELL, cell.id
        else:
            assert cell.source.count("\n#") <= 1, f"{cell.id}: one heading a cell"


MARKDOWN = MarkdownIt("commonmark").enable("table").disable("text_join")  # keeps escaped characters apart
CODE_OR_FORMULA = re.compile(r"(?s)(`+).+?\1|\$\$.+?\$\$|\$[^$]+\$")
# A mark that is shown. Beside a letter and a full-width bracket or full stop, ** does not begin or end bold text.
SHOWN_MARK = re.compile(r"\*\*|\w\*|\*\w|`|\$")


def shown_marks(markdown):
    """Return the parts of a text in which a mark of emphasis, code or a formula is shown instead of rendered."""
    plain = CODE_OR_FORMULA.sub(lambda match: match[0] if match[1] else "~", markdown)
    parts = [part for block in MARKDOWN.parse(plain) for part in block.children or []]
    return [part.content for part in parts if part.type == "text" and SHOWN_MARK.search(part.content)]


def test_shown_marks_are_found():
    assert shown_marks("形状は**（時間、変数）**です。") and shown_marks("増やして、**減らす。**たくさん")
    assert shown_marks("*「間」*は") and shown_marks("one `code") and shown_marks("a $5")
    assert not shown_marks("形状は（**時間、変数**）です。*間*は`a*b`、$a*b$、2 \\* 3、(*, V)")


TEXTS = [*NOTEBOOKS, *ASSIGNMENTS, *BOOK.glob("*/*.md"), *ROOT.glob("README*.md")]


@pytest.mark.parametrize("path", TEXTS, ids=lambda path: str(path.relative_to(ROOT)))
def test_marks_are_rendered(path):
    texts = [path.read_text(encoding="utf-8")]
    if path.suffix == ".ipynb":
        texts = [cell.source for cell in stored(path).cells if cell.cell_type == "markdown"]
    assert [part for text in texts for part in shown_marks(text)] == []


@each
def test_shown_source_fits(path):
    for cell in code(path):
        for output in cell.outputs:
            for text in texts(output):
                if text.startswith("```python"):
                    assert max(map(len, text.splitlines())) <= 88, cell.id


@pytest.mark.parametrize("path", [path for path in NOTEBOOKS if path.parent.name == "ko"], ids=name)
def test_korean_units_follow_their_number(path):
    apart = re.compile(r"\d (?:개|가지|문자|스텝|유닛|비트|바이트|자\b|일\b|번\b|배\b).*")
    lines = [line for cell in code(path) for output in cell.outputs for line in apart.findall("".join(texts(output)))]
    assert lines == []


@each
def test_chapter_has_proof_exercises_and_summary_in_order(path):
    """Check for the proof against torch, then exercises with solutions, then what the reader can do; not in drafts."""
    if path.stem not in CHAPTERS:
        return
    ids = [cell.id for cell in stored(path).cells]
    solutions = [cell for cell in code(path) if cell.id.startswith("solution-")]
    if not editions.read(path.parent).is_draft(path.stem):
        assert "exercises" in ids and ids[-1] == "can-do", (
            "a cell `exercises`, and at the very end `can-do`: what the reader can do now"
        )
        assert solutions, "an exercise with its solution, in a cell whose id begins with solution-"
        assert "further-reading" in ids, "a cell `further-reading`: who found it, and what to read next"
        before = code(path)[: [cell.id for cell in code(path)].index(solutions[0].id)]
        assert path.stem not in PROVED or any(re.search(r"\bcompare\(", cell.source) for cell in before), (
            "a cell before the exercises that calls compare(…)"
        )
    for cell in code(path):
        for output in cell.outputs:
            assert not any("DIFFERENT" in text for text in texts(output)), cell.id


def test_the_book_has_many_exercises():
    found = [
        cell.id for page in CHAPTERS for cell in code(BOOK / f"en/{page}.ipynb") if cell.id.startswith("solution-")
    ]
    assert len(found) >= 75 and {*CHAPTERS} >= PROVED


@each
def test_chapters_import_the_companion(path):
    exempt = path.stem not in CHAPTERS or editions.read(path.parent).is_draft(path.stem)
    assert exempt or any(
        re.search(r"^(?:import|from) companion\b", cell.source, re.MULTILINE) for cell in code(path)
    ), "a chapter reads from the companion: import companion"


@pytest.mark.parametrize("missing", [False, True])
def test_the_install_cell_acts_only_where_the_package_is_missing(missing, monkeypatch):
    commands, cell = [], install_cell.install_cell("ja")
    if missing:
        monkeypatch.setitem(sys.modules, "companion", None)
    shell = SimpleNamespace(run_line_magic=lambda name, line: commands.append((name, line)))
    exec(cell.source, {"get_ipython": lambda: shell})
    assert commands == ([("pip", 'install -qq --retries=0 "unrolled[notebook]"')] if missing else [])
    assert "# Kaggleでは、先にSettingsで" in cell.source


def notebook(**cells):
    """Return a notebook of code cells: id → source."""
    return nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(source, id=id) for id, source in cells.items()])


@pytest.mark.heavy
def test_nbval_fails_for_an_output_that_differs_by_one_character(tmp_path):
    sums = notebook(right="1 + 2", wrong="1 + 2")
    for k, (cell, output) in enumerate(zip(sums.cells, "34", strict=True), 1):
        cell.execution_count = k
        cell.outputs = [nbformat.v4.new_output("execute_result", {"text/plain": output}, execution_count=k)]
    sums.metadata["kernelspec"] = execute.KERNEL
    nbformat.write(sums, tmp_path / "sums.ipynb")
    command = [sys.executable, "-m", "pytest", "--nbval", "-p", "no:cacheprovider", "-rA", "sums.ipynb"]
    process = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True)
    assert process.returncode == 1, process.stdout
    assert re.findall("^(?:PASSED|FAILED) .*::Cell .", process.stdout, re.M) == [
        "PASSED sums.ipynb::Cell 0",
        "FAILED sums.ipynb::Cell 1",
    ]


def test_execute_is_repeatable_and_leaves_failing_notebooks_alone(tmp_path, monkeypatch, capsys):
    """Check also that other notebooks are run, and that metadata which JupyterLab drops is restored."""
    page, fails = tmp_path / "page.ipynb", tmp_path / "fails.ipynb"
    nbformat.write(notebook(**{"prints": "print(1)\nprint(2)", "solution-sum": "1 + 2"}), page)
    broken = notebook(prints="print(1)", fails="1 / 0")
    broken.cells[0].outputs = [nbformat.v4.new_output("stream", text="1\n")]
    nbformat.write(broken, fails)
    before = fails.read_bytes()
    monkeypatch.setattr(sys, "argv", ["execute.py", str(fails), str(page)])
    assert execute.main() == 1 and "ZeroDivisionError" in capsys.readouterr().out
    assert fails.read_bytes() == before
    after = page.read_bytes()
    assert read(page).cells[0].outputs[0].text == "1\n2\n"
    folded = {"tags": ["hide-cell"], "jupyter": {"outputs_hidden": True, "source_hidden": True}}
    assert [cell.metadata for cell in read(page).cells] == [{}, folded]
    monkeypatch.setattr(sys, "argv", ["execute.py", str(page)])
    assert execute.main() == 0 and page.read_bytes() == after


def test_drawing_of_the_first_network_has_the_indices_of_its_text():
    drawing = (BOOK / "pictures/next_character.svg").read_text(encoding="utf-8")
    indices = [int(number) for number in re.findall(r'y="307">(\d+)<', drawing)]
    assert indices == Vocabulary(load_text("en")).encode("sea ").tolist()
