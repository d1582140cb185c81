"""Test that translations are complete and up to date, and that differences from the English edition are reported."""

import copy
import shutil

import nbformat
import pytest
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook, new_output

from book import editions
from book.tools import store, translated_cells, translations
from book.tools.translations import Finding, findings

EDITIONS = translations.editions()
STALE = "stale: the English cell has changed"


@pytest.mark.parametrize("edition", EDITIONS)
def test_nothing_to_do(edition):
    """Check that there are no findings except in drafts; `make status` lists those."""
    todo = "\n".join(str(finding) for finding in findings(edition) if finding.held)
    assert not todo, (
        "translate; or, having read both, renew what says the same; or leave it to a maintainer (CONTRIBUTING.md, Mend"
        f" a sentence):\n{todo}"
    )


# ---- Differences are reported: tests with a small finished book, independent of the real one ----

PICTURE = {"mystnb": {"image": {"alt": "A line that falls."}}}
OTHERS = ["ja", "ko"]
SENTENCES = "Say it in `code` and $x_t$. Read [more](other.ipynb)."
CELLS = [
    new_markdown_cell("# Chapter\n\nTwo jobs, said before `(h_n, c_n)`.", id="title"),
    new_markdown_cell(f"## Kept\n\n{SENTENCES}\n\n$$c = f \\odot c$$", id="said"),
    new_code_cell(
        "0.99 + 1",
        id="keep",
        execution_count=1,
        outputs=[new_output("execute_result", {"text/plain": "1.99"}, execution_count=1)],
    ),
    new_code_cell("draw()", id="picture", metadata=PICTURE),
    new_code_cell("1", id="solution-count", metadata={"tags": ["hide-cell"]}),
]
ASSIGNMENT = [
    new_markdown_cell("# First\n\nWrite it for a batch.", id="task-step"),
    new_code_cell("def step(x):\n    return x + bias", id="step"),
    new_code_cell(
        'check("step", step)', id="step-check", outputs=[new_output("display_data", {"text/plain": "Right."})]
    ),
    new_code_cell('student("")  # who', id="student", outputs=[new_output("display_data", {"text/plain": "Nobody."})]),
    new_code_cell("print(1)", id="example", outputs=[new_output("stream", text="1\n")]),
]


@pytest.fixture(scope="module")
def finished(tmp_path_factory):
    """Return a book of three editions with a page, two chapters and an assignment."""
    tmp_path = tmp_path_factory.mktemp("finished")
    for language in ["en", *OTHERS]:
        folder = tmp_path / "book" / language
        folder.mkdir(parents=True)
        (folder / "edition.yml").write_text(f"name: {language}\nsphinx: {language}\nhtml: {language}\nabout: Nets.\n")
    (tmp_path / "book/en/index.md").write_text("# Book\n\nOne sentence.\n")
    for name, cells in (
        ("book/en/chapter", CELLS),
        ("book/en/other", CELLS),
        ("assignments/source/en/first", ASSIGNMENT),
    ):
        path = tmp_path / f"{name}.ipynb"
        path.parent.mkdir(parents=True, exist_ok=True)
        store(new_notebook(cells=copy.deepcopy(cells)), path)
    for language in OTHERS:
        for page in ("index", "chapter", "other", "assignments/first"):
            translations.draft(language, page, tmp_path)
            translations.renew(language, page, [], tmp_path)
    assert all_findings(tmp_path) == []
    return tmp_path


@pytest.fixture
def book(finished, tmp_path):
    """Return a copy that a test may change."""
    return shutil.copytree(finished, tmp_path / "book")


def change(book, edition, page, cell, edit):
    """Edit one cell of a notebook in place."""
    path = translations.pages(edition, book)[page]
    notebook = nbformat.read(path, as_version=4)
    (target,) = [candidate for candidate in notebook.cells if candidate.id == cell]
    edit(target)
    store(notebook, path)


def replace(old, new):
    """Return a function that replaces a text in a cell once."""

    def edit(cell):
        assert old in cell.source
        cell.source = cell.source.replace(old, new, 1)

    return edit


def all_findings(book):
    return [finding for edition in OTHERS for finding in findings(edition, book)]


def test_a_changed_paragraph_makes_its_translations_stale(book):
    change(book, "en", "chapter", "title", replace("Two jobs", "Two different jobs"))
    assert all_findings(book) == [Finding(edition, "chapter", "title", STALE) for edition in OTHERS]
    for edition in OTHERS:
        translations.renew(edition, "chapter", ["title"], book)
    assert all_findings(book) == []


def test_a_changed_description_makes_its_translations_stale(book):
    def edit(cell):
        cell.metadata["mystnb"]["image"]["alt"] += " More."

    change(book, "en", "chapter", "picture", edit)
    assert {finding.cell for finding in all_findings(book)} == {"picture"}


def test_a_changed_markdown_page_makes_its_translations_stale(book):
    path = book / "book" / "en" / "index.md"
    path.write_text(path.read_text(encoding="utf-8") + "\nOne more sentence.\n", encoding="utf-8")
    assert [finding.page for finding in all_findings(book)] == ["index"] * 2
    translations.renew("ja", "index", [], book)
    assert [finding.edition for finding in all_findings(book)] == ["ko"]


def drop_output(cell):
    cell.outputs = []


def drop_tags(cell):
    cell.metadata.pop("tags")


DRIFTS = {
    "code": ("keep", replace("0.99", "0.98"), "the code differs"),
    "output": ("keep", drop_output, "the outputs differ"),
    "tags": ("solution-count", drop_tags, "the tags differ"),
    "formula": ("said", replace("\\odot", "\\cdot"), "lacks formula"),
    "inline formula": ("said", replace("$x_t$", "$h_t$"), "lacks inline formula $x_t$"),
    "inline code": ("title", replace("`(h_n, c_n)`", "`(c_n, h_n)`"), "lacks code `(h_n, c_n)`"),
    "link": ("said", replace("other.ipynb", "index.md"), "lacks link"),
    "heading": ("said", replace("## ", ""), "lacks heading"),
}


@pytest.mark.parametrize("kind", DRIFTS)
def test_differences_of_one_edition_are_reported(book, kind):
    cell, edit, what = DRIFTS[kind]
    change(book, "ja", "chapter", cell, edit)
    (finding,) = [f for f in all_findings(book) if not f.what.startswith("has, unlike")]
    assert finding[:3] == ("ja", "chapter", cell) and finding.held
    assert finding.what.startswith(what)


def printing(source, text):
    return new_code_cell(source, id="said", outputs=[new_output("stream", text=text)])


@pytest.mark.parametrize(
    "source, text, what",
    [
        ('print(f"損失 {x:.1f}", same)', "損失 1.5 True\n", []),
        ('print(f"損失 {x:.1f}", same)', "損失 1.6 True\n", ["the outputs differ"]),
        ('print(f"損失 {x:.1f}", same)', "損失 1.5 False\n", ["the outputs differ"]),
        ('print(f"loss {x:.1f}", same)', "loss: 1.5 True\n", ["the outputs differ"]),
        ('print(f"損失 {x:.2f}", same)', "損失 1.5 True\n", ["the code differs"]),
        ('print(f"損失 {x:.1f}", "same")', "損失 1.5 True\n", ["the code differs"]),
        ('print(f"損失 {x:.1f}", same)\nprint(x)', "損失 1.5 True\n1.5\n", ["the code differs"]),
        ('print(f"{x} {x} 損失 {y}", "same")', "1 1 損失 1 same\n", ["the code differs"]),
    ],
)
def test_printed_labels_may_be_translated(source, text, what):
    """Check that words in a print may be translated, while numbers and truth values must be the English ones."""
    english = printing('print(f"loss {x:.1f}", same)', "loss 1.5 True\n")
    assert list(translated_cells.differences("page", english, printing(source, text), "ja")) == what


@pytest.mark.parametrize(
    "source, what",
    [
        ('prose(f"温度{x}：{written}")', []),
        ('prose(f"温度{y}：{written}")', ["the code differs"]),
        ('title(f"温度{x}：{written}")', ["the code differs"]),
    ],
)
def test_labels_of_prose_may_be_translated(source, what):
    english, other = printing('prose(f"temperature {x}: {written}")', ""), printing(source, "")
    assert list(translated_cells.differences("page", english, other, "ja")) == what


@pytest.mark.parametrize(
    "row, loop, what",
    [
        ('("全部", 3)', "print(name, n)", []),
        ('("全部", 4)', "print(name, n)", ["the code differs"]),
        ('("全部", 3)', "print(name, sizes[name], n)", ["the code differs"]),
        ('("全部", 3)', "print(n)", ["the code differs"]),
    ],
)
def test_labels_in_a_list_that_is_printed_may_be_translated(row, loop, what):
    rows = {'("all", 3)': "all 3\nhalf 1\n", row: "全部 3\nhalf 1\n"}
    english, other = (
        printing(f"for name, n in ({first}, ('half', 1)):\n    {loop}", text) for first, text in rows.items()
    )
    assert list(translated_cells.differences("page", english, other, "ja")) == what


def test_an_edition_may_add_further_reading():
    english, more = (
        new_markdown_cell(f"## More\n\n- [a](a.html)\n{rest}", id="further-reading") for rest in ("", "- [b](b.html)\n")
    )
    assert not list(translated_cells.differences("page", english, more, "ja"))
    assert list(translated_cells.differences("page", more, english, "ja")) == ["lacks item, link (b.html)"]


def test_a_changed_number_in_a_table_is_reported():
    english = new_markdown_cell("| units | weights |\n|:--|:--|\n| 64 | 1,024 |", id="table")
    translated = new_markdown_cell("| 数 | 重み |\n|:--|:--|\n| 64 | 1,042 |", id="table")
    translated.metadata[translations.KEY] = translations.digest(english)
    page_findings = list(translations.page_findings("page", [english], [translated], "ja"))
    assert ("table", "lacks number in a table 1,024") in page_findings
    assert ("table", "has, unlike the English cell, number in a table 1,042") in page_findings


def test_a_command_may_name_the_language_of_its_edition():
    english = new_markdown_cell("Run `make exam TOPICS=lstm`, or with `LANGUAGE=ja`.", id="exam")
    for source, expected in (
        ("`make exam TOPICS=lstm LANGUAGE=ko`、`LANGUAGE=ko`", []),
        ("`make exam TOPICS=gru LANGUAGE=ko`、`LANGUAGE=ko`", ["lacks code `make exam TOPICS=lstm`"]),
    ):
        translated = new_markdown_cell(source, id="exam")
        assert list(translated_cells.differences("page", english, translated, "ko"))[:1] == expected


def test_comments_may_be_translated_but_not_dropped():
    english = new_code_cell('def f():\n    """One."""\n    return 1  # two', id="f")
    for source, expected in (
        ('def f():\n    """一つ。"""\n    return 1  # 二つ', []),
        ("def f():\n    return 1  # 二つ", ["it has another number of comments"]),
        ('def f():\n    """一つ。"""\n    return 2  # 二つ', ["the code differs"]),
    ):
        translated = new_code_cell(source, id="f")
        assert list(translated_cells.differences("page", english, translated, "ja")) == expected


FILE = """```python
r\"\"\"# {title}
$$ h' = a h $$
`h`: {says}
\"\"\"
LANGUAGE = "{language}"
MISTAKES = {{"lost": {{"change": {{"a * h": "{change}"}}, "says": "{says}"}}}}
```

```text
{said}
lost: found by probe {probe}
```
"""


def test_texts_for_students_in_blocks_may_be_translated():
    english = {"title": "A leak", "says": "It is lost.", "said": "It is lost.", "language": "en"}
    english |= {"change": "a", "probe": 1}
    texts = {"title": "漏れ", "says": "なくなりました。", "said": "なくなりました。", "language": "ja"}
    for changed, count in (({}, 0), ({"change": "h"}, 1), ({"probe": 2}, 1), ({"title": "`漏れ`"}, 1)):
        cells = [
            new_markdown_cell(FILE.format_map(values), id="page") for values in (english, english | texts | changed)
        ]
        reported = list(translated_cells.differences("own_question", *cells, "ja"))
        assert sum(sentence.count("block") for sentence in reported) == 2 * count, reported
        assert list(translated_cells.differences("another", *cells, "ja")) != []


def test_missing_and_extra_pages_and_cells_are_reported(book):
    folder = book / "book" / "ja"
    shutil.copy(folder / "other.ipynb", folder / "transformer.ipynb")
    (folder / "other.ipynb").unlink()
    path = folder / "chapter.ipynb"
    notebook = nbformat.read(path, as_version=4)
    removed, moved = notebook.cells.pop(1), notebook.cells.pop(2)
    notebook.cells.insert(0, moved)
    notebook.cells.append(new_markdown_cell("More.", id="more"))
    store(notebook, path)
    assert {finding[1:4] for finding in findings("ja", book)} == {
        ("other", "", "the page is missing"),
        ("transformer", "", "there is no such English page"),
        ("chapter", removed.id, "the cell is missing"),
        ("chapter", "", "the cells stand in another order"),
        ("chapter", "more", "there is no such English cell"),
    }


def test_a_draft_is_untranslated_until_it_is_renewed(book):
    for page in ("chapter", "index"):
        translations.pages("ja", book)[page].unlink()
        translations.draft("ja", page, book)
        drafted = findings("ja", book)
        assert drafted and all(f.page == page and f.what == translations.UNTRANSLATED for f in drafted)
        renewed, in_english = translations.renew("ja", page, [], book)
        assert findings("ja", book) == []
        assert in_english and {*in_english} <= {*renewed}


def test_draft_adds_missing_cells_to_a_begun_translation(book):
    """Check that they are added in order and untranslated, and that other cells stay the same."""
    path = translations.pages("ja", book)["assignments/first"]
    notebook = nbformat.read(path, as_version=4)
    notebook.cells[0].source = "# 最初\n\nバッチで書きます。"
    del notebook.cells[1:4]
    store(notebook, path)
    before = [cell.source for cell in notebook.cells]
    translations.draft("ja", "assignments/first", book)
    cells = nbformat.read(path, as_version=4).cells
    assert [cell.id for cell in cells] == [cell.id for cell in ASSIGNMENT] and [
        cells[0].source,
        cells[4].source,
    ] == before
    assert [cell.source for cell in cells[2:4]] == ['check("step", step, lang="ja")', 'student("", lang="ja")  # who']
    added = "step", "step-check", "student"
    assert {finding[2:4] for finding in findings("ja", book)} == {(name, translations.UNTRANSLATED) for name in added}


def mark(book, language, drafts):
    with (book / "book" / language / "edition.yml").open("a") as file:
        file.write(f"drafts: {drafts}\n")
    editions.read.cache_clear()


@pytest.mark.parametrize(("marked", "drafts"), [("ja", "all"), ("ja", "[chapter]"), ("en", "[chapter]")])
def test_missing_parts_of_a_draft_do_not_fail_tests(book, marked, drafts):
    """Check that missing or untranslated cells are only listed, while differences and other pages still fail tests."""
    mark(book, marked, drafts)
    change(book, "ja", "chapter", "keep", replace("0.99", "0.98"))
    change(book, "en", "chapter", "title", replace("Two jobs", "Two different jobs"))
    path = translations.pages("ja", book)["chapter"]
    notebook = nbformat.read(path, as_version=4)
    notebook.cells[1].metadata[translations.KEY] = ""
    notebook.cells.pop()
    store(notebook, path)
    listed = {finding[2:] for finding in findings("ja", book)}
    assert listed == {
        ("title", STALE, True), ("said", translations.UNTRANSLATED, False),
        ("keep", "the code differs", True), ("solution-count", translations.NO_CELL, False),
    }  # fmt: skip
    path.unlink()
    assert findings("ja", book) == [Finding("ja", "chapter", "", translations.MISSING, False)]
    translations.pages("ja", book)["other"].unlink()
    assert findings("ja", book)[-1] == Finding("ja", "other", "", translations.MISSING, drafts != "all")


ASSIGNMENT_DRIFTS = {
    "answer": ("step", replace("x + bias", "x - bias"), "the code differs"),
    "question": ("step-check", replace('"step"', '"cell"'), "the code differs"),
    "option": ("step-check", replace("lang=", "seed="), "the code differs"),
    "verdict": ("step-check", drop_output, "the outputs differ"),
    "example": ("example", drop_output, "the outputs differ"),
}


@pytest.mark.parametrize("kind", ASSIGNMENT_DRIFTS)
def test_differences_of_an_assignment_are_reported(book, kind):
    """Check that only the language and the outputs of the checker may differ."""

    def translate_verdict(cell):
        assert cell.source == 'check("step", step, lang="ja")'
        cell.outputs[0].data["text/plain"] = "正しい。"

    change(book, "ja", "assignments/first", "step-check", translate_verdict)
    assert all_findings(book) == []
    cell, edit, what = ASSIGNMENT_DRIFTS[kind]
    change(book, "ja", "assignments/first", cell, edit)
    assert [finding[:4] for finding in all_findings(book)] == [("ja", "assignments/first", cell, what)]


def test_cells_that_may_differ_exist():
    places = {
        f"{page}#{cell.id}" for page, path in translations.pages("en").items() for cell in translations.read(path)
    }
    assert places >= translated_cells.OWN_OUTPUTS | translated_cells.OWN_CODE | translated_cells.OWN_BLOCKS
