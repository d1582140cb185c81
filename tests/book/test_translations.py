"""The editions say what the English one says: nothing missing, stale or different. And whatever drifts is named."""

import shutil

import nbformat
import pytest
import translations
from notebooks import store
from translations import ROOT, Finding, findings

EDITIONS = translations.editions()
COPIED = ("index", "embedding", "rnn", "lstm", "assignments/embedding", "assignments/rnn")


@pytest.mark.parametrize("edition", EDITIONS)
def test_nothing_to_do(edition):
    assert [str(finding) for finding in findings(edition)] == []


@pytest.fixture
def book(tmp_path):
    """A copy of a few pages of all editions, in which one can be changed."""
    for edition in ["en", *EDITIONS]:
        existing = translations.pages(edition)
        for path in (existing[page] for page in COPIED if page in existing):
            copy = tmp_path / path.relative_to(ROOT)
            copy.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(path, copy)
    return tmp_path


def change(book, edition, page, cell, edit):
    """Edit one cell of a notebook in place."""
    path = translations.pages(edition, book)[page]
    notebook = nbformat.read(path, as_version=4)
    (found,) = [c for c in notebook.cells if c.id == cell]
    edit(found)
    store(notebook, path)


def replaced(old, new):
    def edit(cell):
        assert old in cell.source
        cell.source = cell.source.replace(old, new, 1)

    return edit


def everything(book):
    return [finding for edition in EDITIONS for finding in findings(edition, book)]


def test_a_changed_paragraph_makes_its_translations_stale(book):
    change(book, "en", "lstm", "two-states", replaced("two jobs", "two different jobs"))
    stale = "stale: the English cell has changed"
    assert everything(book) == [Finding(edition, "lstm", "two-states", stale) for edition in EDITIONS]
    for edition in EDITIONS:
        translations.renew(edition, "lstm", ["two-states"], book)
    assert everything(book) == []


def test_a_changed_description_of_a_picture_too(book):
    def edit(cell):
        cell.metadata["mystnb"]["image"]["alt"] += " More."

    change(book, "en", "lstm", "gradient-picture", edit)
    assert {finding.cell for finding in everything(book)} == {"gradient-picture"}


def test_a_changed_page_in_markdown_too(book):
    path = book / "book" / "en" / "index.md"
    path.write_text(path.read_text(encoding="utf-8") + "\nOne more sentence.\n", encoding="utf-8")
    assert [finding.page for finding in everything(book)] == ["index"] * len(EDITIONS)
    translations.renew(EDITIONS[0], "index", [], book)
    assert [finding.edition for finding in everything(book)] == EDITIONS[1:]


def drop_output(cell):
    cell.outputs = []


def drop_tags(cell):
    cell.metadata.pop("tags")


DRIFTS = {
    "code": ("lstm", "keep", replaced("0.99", "0.98"), "the code differs"),
    "output": ("lstm", "keep", drop_output, "the outputs differ"),
    "tags": ("lstm", "solution-count", drop_tags, "the tags differ"),
    "formula": ("lstm", "cell-state", replaced("\\odot", "\\cdot"), "lacks formula"),
    "inline formula": ("lstm", "two-states", replaced("$c_t$", "$h_t$"), "lacks inline formula $c_t$"),
    "inline code": ("lstm", "state-order", replaced("`(h_n, c_n)`", "`(c_n, h_n)`"), "lacks code `(h_n, c_n)`"),
    "link": ("lstm", "the-step-said", replaced("lstm_parameters.ipynb", "rnn.ipynb"), "lacks link"),
    "heading": ("lstm", "two-biases", replaced("## ", ""), "lacks heading"),
}


@pytest.mark.parametrize("kind", DRIFTS)
def test_what_drifts_in_one_edition_is_named(book, kind):
    page, cell, edit, what = DRIFTS[kind]
    edition = EDITIONS[0]
    change(book, edition, page, cell, edit)
    (finding,) = [f for f in everything(book) if not f.what.startswith("has, unlike")]
    assert finding[:3] == (edition, page, cell)
    assert finding.what.startswith(what)


def test_a_number_in_a_table_is_named():
    english = nbformat.v4.new_markdown_cell("| units | weights |\n|:--|:--|\n| 64 | 1,024 |", id="table")
    translated = nbformat.v4.new_markdown_cell("| 数 | 重み |\n|:--|:--|\n| 64 | 1,042 |", id="table")
    translated.metadata[translations.KEY] = translations.digest(english)
    found = list(translations.page_findings("page", [english], [translated]))
    assert ("table", "lacks number in a table 1,024") in found
    assert ("table", "has, unlike the English cell, number in a table 1,042") in found


def test_comments_may_be_translated_and_not_dropped():
    english = nbformat.v4.new_code_cell('def f():\n    """One."""\n    return 1  # two', id="f")
    for source, expected in (
        ('def f():\n    """一つ。"""\n    return 1  # 二つ', []),
        ("def f():\n    return 1  # 二つ", ["it has another number of comments"]),
        ('def f():\n    """一つ。"""\n    return 2  # 二つ', ["the code differs"]),
    ):
        translated = nbformat.v4.new_code_cell(source, id="f")
        assert list(translations.differences("page", english, translated)) == expected


def test_missing_and_extra(book):
    edition = EDITIONS[0]
    folder = book / "book" / edition
    (folder / "rnn.ipynb").unlink()
    shutil.copy(folder / "lstm.ipynb", folder / "transformer.ipynb")
    path = folder / "embedding.ipynb"
    notebook = nbformat.read(path, as_version=4)
    gone, moved = notebook.cells.pop(5), notebook.cells.pop(7)
    notebook.cells.insert(0, moved)
    notebook.cells.append(nbformat.v4.new_markdown_cell("More.", id="more"))
    store(notebook, path)
    assert {finding[1:] for finding in findings(edition, book)} == {
        ("rnn", "", "the page is missing"),
        ("transformer", "", "there is no such English page"),
        ("embedding", gone.id, "the cell is missing"),
        ("embedding", "", "the cells stand in another order"),
        ("embedding", "more", "there is no such English cell"),
    }


def test_a_draft_is_untranslated_until_it_is_renewed(book):
    edition = EDITIONS[0]
    for page in ("lstm", "index"):
        translations.pages(edition, book)[page].unlink()
        translations.draft(edition, page, book)
        found = findings(edition, book)
        assert found and all(f.page == page and f.what.startswith("untranslated") for f in found)
        translations.renew(edition, page, [], book)
        assert findings(edition, book) == []


@pytest.fixture
def assignment(book):
    """A translation of an assignment, begun and renewed, whose checks speak its language."""
    edition, page = EDITIONS[0], "assignments/rnn"
    shutil.rmtree(book / "assignments" / "source" / edition, ignore_errors=True)
    translations.draft(edition, page, book)
    path = translations.pages(edition, book)[page]
    notebook = nbformat.read(path, as_version=4)
    for cell in notebook.cells:
        if cell.source.startswith("check("):
            cell.source = cell.source.replace(")", f', lang="{edition}")')
            cell.outputs[0].data["text/plain"] = "正しい。"
    store(notebook, path)
    return path


def todo(book):
    """What is to be done on the page of that fixture."""
    return {finding[2:] for finding in findings(EDITIONS[0], book) if finding.page == "assignments/rnn"}


def test_assignments_are_pages_too(book, assignment):
    cells = nbformat.read(assignment, as_version=4).cells
    untranslated = "untranslated: its digest is empty until it is renewed"
    assert todo(book) == {(cell.id, untranslated) for cell in cells}
    translations.renew(EDITIONS[0], "assignments/rnn", [], book)
    assert todo(book) == set()
    missing = {finding.page for finding in findings(EDITIONS[0], book) if finding.what == "the page is missing"}
    assert missing == {"assignments/embedding"}
    change(book, "en", "assignments/rnn", "task-rnn-step", replaced("for a batch", "for one batch"))
    assert todo(book) == {("task-rnn-step", "stale: the English cell has changed")}


ASSIGNMENT_DRIFTS = {
    "answer": ("rnn_step", replaced("bias_ih + h", "bias_ih - h"), "the code differs"),
    "question": ("rnn-step-check", replaced('"rnn_step"', '"rnn_cell"'), "the code differs"),
    "option": ("rnn-step-check", replaced("lang=", "seed="), "the code differs"),
    "verdict": ("rnn-step-check", drop_output, "the outputs differ"),
    "example": ("step-example", drop_output, "the outputs differ"),
}


@pytest.mark.parametrize("kind", ASSIGNMENT_DRIFTS)
def test_what_drifts_in_an_assignment_is_named(book, assignment, kind):
    cell, edit, what = ASSIGNMENT_DRIFTS[kind]
    translations.renew(EDITIONS[0], "assignments/rnn", [], book)
    change(book, EDITIONS[0], "assignments/rnn", cell, edit)
    assert todo(book) == {(cell, what)}


def test_the_cells_that_may_differ_exist():
    for own in (translations.OWN_OUTPUTS, translations.OWN_CODE):
        for page, cells in own.items():
            assert cells <= {cell.id for cell in translations.read(translations.pages("en")[page])}
