"""Every path that a text of the project names exists."""

import re
from pathlib import Path

import nbformat
import pytest

from book import editions
from tests.project.paths import ROOT

# Where a path is said from: the project, or a folder that the text is about.
FROM = ROOT, ROOT / "companion/figures", ROOT / "assignments/source", ROOT / "assignments/source/en"
MADE = {"_build", ".venv", "grades"}  # is not there before it is built
PATH = re.compile(r"`((?:[\w.-]+|<\w+>)?(?:/(?:[\w.*-]+|<\w+>(?:\.\w+)?))+/?)`|\]\((?!https?:|#)([^)#]+)[^)]*\)")

CODE = re.compile(r"(?ms)^```[^\n]*\n(.*?)^```|`([^`\n]+)`")  # a block, or a span in a line
FILE = re.compile(
    r"(?<![\w./-])(?:assignments|benchmarks|book|companion|tests)(?:/(?:[\w.*-]+|<\w+>))+\.(?:py|ipynb)\b"
)
MODULE = re.compile(r"-m (companion[\w.]*)")
EXAMPLE = "book/es/"  # the edition that CONTRIBUTING begins


def pages():
    """Every text of the project that names its files: one for each language, and those for who works on it."""
    folders = [
        folder / edition.language
        for edition in editions.editions()
        for folder in (editions.BOOK, ROOT / "assignments/source")
    ]
    return [
        path for folder in [ROOT, *folders] for path in sorted(folder.glob("*")) if path.suffix in (".md", ".ipynb")
    ]


def markdown(path):
    text = path.read_text(encoding="utf-8")
    if path.suffix == ".ipynb":
        return "\n".join(cell.source for cell in nbformat.reads(text, 4).cells if cell.cell_type == "markdown")
    return text


def prose(path):
    return re.sub(r"(?ms)^```.*?^```|\$\$.*?\$\$|`!\[[^`]*`", "", markdown(path))


def files_in_commands(text):
    """Yield every Python file, notebook and module of the project that stands in code: `python -m book.tools.draw
    gates` names one."""
    for code in map("".join, CODE.findall(text)):
        yield from (name for name in FILE.findall(code) if not name.startswith(EXAMPLE))
        for module in MODULE.findall(code):
            file = f"{module.replace('.', '/')}.py"
            yield file if (ROOT / file).is_file() else file.replace(".py", "/__main__.py")


def lacking(path):
    language = path.parent.name
    return (
        [path.parent.with_name(editions.ORIGINAL)]
        if any(one.draft and one.language == language for one in editions.editions())
        else []
    )


@pytest.mark.parametrize("path", pages(), ids=lambda path: path.relative_to(ROOT).as_posix())
def test_every_path_that_is_named_is_there(path):
    for said, link in PATH.findall(prose(path)):
        # what an edition has not got yet, its pages lead to in English
        places = (
            [folder / link for folder in (path.parent, *lacking(path))] if link else [start / said for start in FROM]
        )
        if said.split("/")[0] in MADE:
            continue
        # `book/<language>/` stands for each of them
        patterns = [re.sub(r"<\w+>", "*", str(place)) for place in places]
        assert any(
            Path(pattern).exists() or [*ROOT.glob(str(Path(pattern).relative_to(ROOT)))] for pattern in patterns
        ), said or link
    for name in files_in_commands(markdown(path)):
        assert [*ROOT.glob(re.sub(r"<\w+>", "*", name))], name
