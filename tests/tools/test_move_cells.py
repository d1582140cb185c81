"""Test the command that moves cells between pages, on a small book of an edition, a translation and a draft."""

import copy

import nbformat
import pytest
import yaml
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook, new_output

from book import moved
from book.tools import move_cells, store, translations
from book.tools.execute import STATE, VIEW, name_widgets
from book.tools.move_cells import MoveError
from book.tools.place_links import Moves

FIGURE = new_code_cell("figure", id="figure", outputs=[new_output("display_data", {VIEW: {"model_id": "model-1"}})])
FIVE = new_code_cell("5", id="five", outputs=[new_output("execute_result", {"text/plain": "5"}, execution_count=1)])
CELLS = {
    "tall": [
        new_markdown_cell(
            "# Tall\n\nSee [below](#loop), [there](wide.ipynb) and [gates](tall.ipynb#gates).", id="title"
        ),
        new_code_cell("import torch", id="imports"),
        new_markdown_cell("## Gates\n\nFirst [the title](#title), then [the loop](#loop).", id="gates"),
        FIGURE,
        new_markdown_cell("### Loop", id="loop"),
        new_code_cell("x = torch.ones(2)", id="ones"),
        new_markdown_cell("## Proof\n\nMore.\n\n## Rest", id="proof"),
        new_code_cell("x", id="rest"),
    ],
    "wide": [
        new_markdown_cell("# Wide\n\n[Loop](tall.ipynb#loop).", id="title"),
        FIVE,
        new_markdown_cell("End", id="end"),
    ],
}
# Files that name places, with what they are when the section `gates` has moved to `wide`.
FILES = {
    "book/terms.yml": "- {en: gate, where: tall#gates, free: [tall#title, install#gates, tall#gates-2]}\n",
    "companion/check/questions/step.py": 'place = "tall#loop", "tall#proof"\n',
    "tests/site/queries/sections.yml": "en:\n  tall#gates loop proof:\n  - gate\n"
    "  tall#proof loop:\n  - loop\ntall:\n- x\n",
    "README.md": "<https://example.org/tall.html#loop> [loop](book/en/tall.ipynb#loop) [2](tall.html#loop--2)\n",
}
MOVED_FILES = {
    "book/terms.yml": "- {en: gate, where: wide#gates, free: [tall#title, install#gates, tall#gates-2]}\n",
    "companion/check/questions/step.py": 'place = "wide#loop", "tall#proof"\n',
    "tests/site/queries/sections.yml": "en:\n  wide#gates loop:\n  - gate\n  tall#proof:\n  - loop\ntall:\n- x\n",
    "README.md": "<https://example.org/tall.html#loop> [loop](book/en/wide.ipynb#loop) [2](wide.html#loop--2)\n",
}


@pytest.fixture
def book(tmp_path):
    """Write the book: English, Japanese, and a Korean draft that lacks the page `wide` and a cell."""
    for language, drafts in (("en", "drafts: []"), ("ja", ""), ("ko", "drafts: all")):
        folder = tmp_path / "book" / language
        folder.mkdir(parents=True)
        (folder / "edition.yml").write_text(f"name: x\nsphinx: x\nhtml: x\nabout: x\n{drafts}\n")
    for name, text in FILES.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text)
    (tmp_path / "_toc.yml").write_text("chapters:\n  - file: book/en/tall\n  - file: book/en/wide\n")
    states = {
        STATE: {
            "version_major": 2,
            "state": {"model-1": {"state": {"layout": "IPY_MODEL_model-2"}}, "model-2": {"state": {}}},
        }
    }
    for page, cells in CELLS.items():
        notebook = new_notebook(cells=copy.deepcopy(cells), metadata={"widgets": states} if page == "tall" else {})
        name_widgets(notebook)
        move_cells.renumber(notebook)
        store(notebook, tmp_path / f"book/en/{page}.ipynb")
    for language, page in (("ja", "tall"), ("ja", "wide"), ("ko", "tall")):
        translations.draft(language, page, tmp_path)
    translations.renew("ja", "tall", ["title", "imports", "gates", "loop", "ones", "figure"], tmp_path)
    translations.renew("ja", "wide", [], tmp_path)
    notebook = read(tmp_path, "ja", "tall")
    notebook.cells[0].metadata[translations.KEY] = "stale"
    store(notebook, tmp_path / "book/ja/tall.ipynb")
    notebook = read(tmp_path, "ko", "tall")
    notebook.cells = [cell for cell in notebook.cells if cell.id != "gates"]
    store(notebook, tmp_path / "book/ko/tall.ipynb")
    return tmp_path


def read(book, language, page):
    return nbformat.read(book / f"book/{language}/{page}.ipynb", as_version=4)


def ids(book, language, page):
    return [cell.id for cell in read(book, language, page).cells]


def sources(book, language, page):
    return {cell.id: cell.source for cell in read(book, language, page).cells}


def findings(book):
    return {(finding.page, finding.cell, finding.what) for finding in translations.findings("ja", book)}


def test_a_section_moves_with_all_links(book):
    before = findings(book)
    moves = move_cells.plan(book, "tall", "wide", sections=["gates"], after="five")
    counts = move_cells.move(book, moves, after="five")
    for language in ("en", "ja"):
        assert ids(book, language, "tall") == ["title", "imports", "proof", "rest"]
        assert ids(book, language, "wide") == ["title", "five", "gates", "figure", "loop", "ones", "end"]
        tall, wide = sources(book, language, "tall"), sources(book, language, "wide")
        assert "[below](wide.ipynb#loop), [there](wide.ipynb) and [gates](wide.ipynb#gates)" in tall["title"]
        assert "[the title](tall.ipynb#title), then [the loop](#loop)" in wide["gates"]
        assert "[Loop](wide.ipynb#loop)" in wide["title"]
        widgets = read(book, language, "wide").metadata["widgets"][STATE]["state"]
        (figure,) = [cell for cell in read(book, language, "wide").cells if cell.id == "figure"]
        assert figure.outputs[0].data[VIEW]["model_id"] in widgets and len(widgets) == 2
        assert "widgets" not in read(book, language, "tall").metadata
        for page, expected in (("wide", [1, 2, 3]), ("tall", [1, 2])):
            code = [cell for cell in read(book, language, page).cells if cell.cell_type == "code"]
            assert [cell.execution_count for cell in code] == expected
    assert ids(book, "ko", "tall") == ["title", "imports", "proof", "rest"]
    assert ids(book, "ko", "wide") == ["title", "figure", "loop", "ones"]
    assert {name: (book / name).read_text() for name in FILES} == MOVED_FILES
    assert counts == {
        "README.md": 2, "book/en/tall.ipynb": 1, "book/en/wide.ipynb": 1, "book/ja/tall.ipynb": 1,
        "book/ja/wide.ipynb": 1, "book/ko/tall.ipynb": 1, "book/terms.yml": 1, "companion/check/questions/step.py": 1,
        "tests/site/queries/sections.yml": 1, "links within the two pages": 5,
    }  # fmt: skip
    # what was up to date remains so, and what was not does not become so
    assert findings(book) == before and {cell for _, cell, _ in before} == {"title", "proof", "rest"}
    assert moved.read(book / "book/moved.yml") == {
        f"tall#{name}": f"wide#{name}" for name in ("gates", "figure", "loop", "ones")
    }
    assert list(move_cells.hints(book, moves)) == [
        "the code of wide needs names that only the other page defines: torch",
        "the code of tall needs names that only the other page defines: x",
    ]
    move_cells.move(book, move_cells.plan(book, "wide", "tall", ["ones"]))
    assert "tall#ones" not in moved.read(book / "book/moved.yml")  # it is back


def test_a_page_that_is_missing_begins_as_a_draft(book):
    before = findings(book)
    moves = move_cells.plan(book, "tall", "new", ["ones", "rest"], renamed={"ones": "two-ones"})
    move_cells.move(book, moves, {"en": "New", "ja": "新"})
    assert ids(book, "en", "new") == ids(book, "ja", "new") == ids(book, "ko", "new") == ["title", "two-ones", "rest"]
    assert [sources(book, language, "new")["title"] for language in ("en", "ja", "ko")] == ["# New", "# 新", "# New"]
    assert read(book, "ko", "new").cells[0].metadata == {translations.KEY: ""}
    assert findings(book) - before == {("new", "rest", translations.UNTRANSLATED)}
    assert (
        book / "_toc.yml"
    ).read_text().split() == "chapters: - file: book/en/tall - file: book/en/new - file: book/en/wide".split()
    drafts = [
        yaml.safe_load((book / f"book/{language}/edition.yml").read_text())["drafts"] for language in ("en", "ja", "ko")
    ]
    assert drafts == [["new"], ["new"], "all"]
    assert moved.read(book / "book/moved.yml") == {"tall#ones": "new#two-ones", "tall#rest": "new#rest"}


def test_a_page_is_renamed(book):
    before = {(page.replace("tall", "long"), *rest) for page, *rest in findings(book)}
    move_cells.move(book, move_cells.plan(book, "tall", "long", whole=True))
    assert not list(book.glob("book/*/tall.ipynb")) and ids(book, "en", "long") == [cell.id for cell in CELLS["tall"]]
    assert findings(book) == before
    assert "[gates](long.ipynb#gates)" in sources(book, "ja", "long")["title"]
    assert (book / "_toc.yml").read_text() == "chapters:\n  - file: book/en/long\n  - file: book/en/wide\n"
    assert moved.read(book / "book/moved.yml") == {"tall": "long"}
    queries = book / "tests/site/queries/sections.yml"
    assert queries.read_text() == FILES["tests/site/queries/sections.yml"].replace("tall", "long")
    moves = Moves("tall", "long", {"loop": "loop"}, whole=True)
    assert (
        moves.rewrite("[a](tall.ipynb) [b](tall.html#title) tall.py")[0]
        == "[a](long.ipynb) [b](long.html#title) tall.py"
    )


def test_cells_are_removed_and_their_addresses_lead_elsewhere(book):
    before = findings(book)
    move_cells.remove(book, "tall", ["loop", "ones"], "tall#gates")
    move_cells.remove(book, "tall", ["rest"], "wide#five")
    for language in ("en", "ja"):
        assert ids(book, language, "tall") == ["title", "imports", "gates", "figure", "proof"]
        assert "See [below](#gates), [there](wide.ipynb)" in sources(book, language, "tall")["title"]
        assert "[Loop](tall.ipynb#gates)" in sources(book, language, "wide")["title"]
    assert 'place = "tall#gates", "tall#proof"' in (book / "companion/check/questions/step.py").read_text()
    assert findings(book) == {finding for finding in before if finding[1] != "rest"}
    assert moved.read(book / "book/moved.yml") == {
        "tall#loop": "tall#gates", "tall#ones": "tall#gates", "tall#rest": "wide#five",
    }  # fmt: skip
    for names, place, message in (
        (["lop"], "wide#five", "tall has no cell lop"),
        (["gates"], "tall#gates", "no cell tall#gates would be left"),
        (["gates"], "wide#four", "no cell wide#four would be left"),
    ):
        with pytest.raises(MoveError, match=message):
            move_cells.remove(book, "tall", names, place)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"source": "small"}, "there is no page book/en/small.ipynb"),
        ({"target": "Wide"}, "Wide is not the name of a notebook"),
        ({"target": "tall"}, "the cells are on tall already"),
        ({"names": ["lop"]}, "tall has no cell lop"),
        ({"after": "loop"}, "wide has no cell loop"),
        ({"names": ["title"]}, "wide would have two cells title: --rename title=another-id"),
        ({"names": [cell.id for cell in CELLS["tall"]]}, "no cell would be left on tall: use --all"),
        ({"names": []}, "name the cells to move"),
        ({"sections": ["ones"]}, "the cell ones does not begin with a heading"),
        ({"sections": ["proof"]}, "the next section begins in the middle of the cell proof"),
        ({"sections": ["loop"]}, None),
    ],
    ids=str,
)  # fmt: skip
def test_what_cannot_be_moved_is_named(book, options, message):
    options = {"source": "tall", "target": "wide", "names": ["loop"], **options}
    if message is None:
        assert [*move_cells.plan(book, **options).ids] == ["loop", "ones"]
        return
    with pytest.raises(MoveError, match=message):
        move_cells.plan(book, **options)
