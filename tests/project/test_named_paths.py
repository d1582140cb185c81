"""Test that every path which a text of the project names exists."""

import re
from pathlib import Path

import nbformat
import pytest

from book import editions
from tests.project.paths import ROOT

# Folders to which paths are relative: the repository, or a folder that the text is about.
BASES = ROOT, ROOT / "companion/figures", ROOT / "assignments/source", ROOT / "assignments/source/en"
GENERATED = {"_build", ".venv", "grades", "sheets"}  # need not exist; book/sheets writes the pages of sheets/
PATH = re.compile(r"`((?:[\w.-]+|<\w+>)?(?:/(?:[\w.*-]+|<\w+>(?:\.\w+)?))+/?)`|\]\((?!https?:|#)([^)#]+)[^)]*\)")

CODE = re.compile(r"(?ms)^```[^\n]*\n(.*?)^```|`([^`\n]+)`")  # a block, or a span in a line
FILE = re.compile(
    r"(?<![\w./-])(?:assignments|benchmarks|book|companion|tests)(?:/(?:[\w.*-]+|<\w+>))+\.(?:py|ipynb)\b"
)
MODULE = re.compile(r"-m (companion[\w.]*)")
EXAMPLE = "book/es/"  # the example of a new edition in CONTRIBUTING


def pages():
    """Return the texts of the repository, its rooms and all languages, in Markdown and notebooks."""
    rooms = [ROOT / room for room in ("assignments", "book", "companion", "small_torch", "tests")]
    folders = [
        folder / edition.language
        for edition in editions.editions()
        for folder in (editions.BOOK, ROOT / "assignments/source")
    ]
    return [
        path
        for folder in [ROOT, *rooms, *folders]
        for path in sorted(folder.glob("*"))
        if path.suffix in (".md", ".ipynb")
    ]


def markdown(path):
    text = path.read_text(encoding="utf-8")
    if path.suffix == ".ipynb":
        return "\n".join(cell.source for cell in nbformat.reads(text, 4).cells if cell.cell_type == "markdown")
    return text


def prose(path):
    return re.sub(r"(?ms)^```.*?^```|\$\$.*?\$\$|`!\[[^`]*`", "", markdown(path))


def files_in_commands(text):
    """Yield the Python files, notebooks and modules of the project in code such as `python -m companion.check`."""
    for code in map("".join, CODE.findall(text)):
        yield from (name for name in FILE.findall(code) if not name.startswith(EXAMPLE))
        for module in MODULE.findall(code):
            file = f"{module.replace('.', '/')}.py"
            yield file if (ROOT / file).is_file() else file.replace(".py", "/__main__.py")


def english_folder(path):
    """Return the folder of the English texts in a list if the text belongs to a draft, else an empty list."""
    language = path.parent.name
    return (
        [path.parent.with_name(editions.ORIGINAL)]
        if any(edition.draft and edition.language == language for edition in editions.editions())
        else []
    )


@pytest.mark.parametrize("path", pages(), ids=lambda path: path.relative_to(ROOT).as_posix())
def test_named_paths_exist(path):
    for named, link in PATH.findall(prose(path)):
        # pages of a draft name English files that it lacks
        places = (
            [folder / link for folder in (path.parent, *english_folder(path))]
            if link
            else [base / named for base in (*BASES, path.parent)]
        )
        if (named or link).split("/")[0] in GENERATED:
            continue
        # `book/<language>/` stands for any language
        patterns = [re.sub(r"<\w+>", "*", str(place)) for place in places]
        assert any(
            Path(pattern).exists() or [*ROOT.glob(str(Path(pattern).relative_to(ROOT)))] for pattern in patterns
        ), named or link
    for name in files_in_commands(markdown(path)):
        assert [*ROOT.glob(re.sub(r"<\w+>", "*", name))], name
