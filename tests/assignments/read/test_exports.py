"""Test that notebooks exported as HTML or Markdown, or stored as text, are read as the notebooks are."""

import json

import nbconvert
import nbformat
import pytest

from assignments.read import answers
from companion.check.engine.question import all_questions
from tests.assignments.grading import put, sent, zipped
from tests.assignments.read.right_notebook import Book


def converted(book, exporter=nbconvert.HTMLExporter, **options):
    """Return the text of a notebook that nbconvert exported."""
    return exporter(**options).from_notebook_node(nbformat.reads(book.text(), as_version=4))[0]


def jupytext(book, fence):
    """Return a notebook as Markdown with its code in fences."""
    parts = ["---\njupytext:\n  formats: md:myst\n---\n"]
    for cell in book.cells:
        options = ":tags: [hide-input]\n\n" if "{" in fence else ""
        parts.append(f"{fence}\n{options}{cell['source']}\n```" if cell["cell_type"] == "code" else cell["source"])
    return "\n\n".join(parts)


FORMS = {
    "lab.html": converted,
    "classic.htm": lambda book: converted(book, template_name="classic"),
    "nbconvert.md": lambda book: converted(book, nbconvert.MarkdownExporter),
    "myst.md": lambda book: jupytext(book, "```{code-cell} ipython3"),
    "fenced.md": lambda book: jupytext(book, "```python"),
    "string.ipynb": lambda book: json.dumps(book.text()),
}


@pytest.mark.parametrize("language", ["en", pytest.param("ja", marks=pytest.mark.heavy)])
@pytest.mark.parametrize("name", FORMS)
def test_an_export_is_read_as_its_notebook(tmp_path, name, language):
    book = Book("rnn", language)
    for cell in book.code():
        if "check(" in cell["source"]:
            cell["outputs"] = [nbformat.v4.new_output("stream", text="**Right.** & so on\n")]
    put(tmp_path, "plain", "rnn.ipynb", book.text())
    put(tmp_path, "exported", name, FORMS[name](book))
    plain, exported = sent(tmp_path, "plain"), sent(tmp_path, "exported")
    questions = {question.name for question in all_questions().values() if question.assignment == "rnn"}
    assert set(exported.answers) == set(plain.answers) == questions
    for question in questions:
        sources = [[source.strip() for _, source in sent.answers[question].cells] for sent in (plain, exported)]
        assert sources[0] == sources[1] and exported.answers[question].written
    assert exported.language == language
    assert [key for key, _ in exported.remarks] == ([] if name == "string.ipynb" else ["exported"])
    if "html" in name or name == "string.ipynb":
        assert "**Right.** & so on" in exported.notebooks[0].check_output


def test_a_notebook_counts_more_than_its_export(tmp_path):
    book = Book("rnn")
    export = converted(book)
    book.swap("rnn_step", "def rnn_step", "# mine\ndef rnn_step")
    files = [("rnn.ipynb", book.text()), ("rnn.html", export), ("README.md", "Run `rnn.ipynb`.\n```bash\njupyter\n```")]
    put(tmp_path, "ada", "rnn.zip", zipped(files))
    submission = sent(tmp_path, "ada")
    assert {answer.file for answer in submission.answers.values()} == {"rnn.ipynb"}
    assert "several_files" not in dict(submission.remarks)


@pytest.mark.parametrize(
    "text", ["<div>" * 10**5, "<pre>" * 10**4, "<div class='hl-ipython3'><pre>x", "<![x", "```\n" * 10**5]
)
@pytest.mark.parametrize("name", ["a.html", "a.md"])
def test_damaged_exports_raise_nothing(tmp_path, text, name):
    put(tmp_path, "ada", name, text)
    assert answers.read_submission("ada", tmp_path / "ada").answers == {}
