"""The house: which room knows of which, and that what is said of places is so."""

import ast
import re
import sys
from pathlib import Path

import nbformat
import pytest

from book import editions
from tests.project.paths import ROOT

COMPANION = ROOT / "companion"
# Each room of the companion, and which others it may know of. Nothing below imports what stands above.
ROOMS = {
    "layers": set(),
    "proof": set(),
    "page": set(),
    "learning": {"layers"},
    "check": {"layers"},
    "figures": {"layers", "learning"},
    "__init__": {"layers", "proof"},
}
# What else from outside a room may import, beside Python's own: whoever reads it needs to know no more than this.
OUTSIDE = {"layers": {"torch"}, "proof": {"torch"}, "check": {"torch"}}
OUTSIDE["learning"] = {"torch", "regex", "pooch", "tqdm", "safetensors", "IPython"}
LONGEST = 350  # lines of a file that is to be read in one sitting


def room_of(path):
    part = path.relative_to(COMPANION).parts[0]
    return part.removesuffix(".py")


def imported(path):
    """The modules that a file imports, anywhere in it."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path}: imports are written in full"
            if node.module == "companion":
                yield from (f"companion.{alias.name}" for alias in node.names)
            else:
                yield node.module


@pytest.mark.parametrize(
    "path", sorted(COMPANION.rglob("*.py")), ids=lambda path: path.relative_to(COMPANION).as_posix()
)
def test_nothing_knows_what_stands_above_it(path):
    room = room_of(path)
    for name in imported(path):
        first, _, rest = name.partition(".")
        if first == "companion":
            other = rest.partition(".")[0]
            assert other == room or other in ROOMS[room], f"{room} is not to know of {name}"
        elif first not in sys.stdlib_module_names:
            assert first in OUTSIDE.get(room, {first}), f"{room} is not to need {name}"


@pytest.mark.parametrize(
    "path", sorted([*COMPANION.glob("layers/*.py"), *COMPANION.glob("learning/*.py")]), ids=lambda path: path.stem
)
def test_is_read_in_one_sitting(path):
    assert len(path.read_text(encoding="utf-8").splitlines()) <= LONGEST


def test_the_tests_of_a_room_have_its_name():
    """Beside the rooms of the companion, those of the book, the assignments and the tools of this project."""
    rooms = {path.parent.name for path in (ROOT / "tests").glob("*/test_*.py")}
    assert rooms <= {path.name for path in COMPANION.iterdir()} | {"book", "live", "assignments", "tools"}


def test_no_test_hides_another():
    """Of two with one name Python keeps the later, and the earlier is never run."""
    for path in (ROOT / "tests").rglob("test_*.py"):
        nodes = ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        bodies = [node.body for node in nodes if isinstance(node, (ast.Module, ast.ClassDef))]
        for body in bodies:
            names = [node.name for node in body if isinstance(node, ast.FunctionDef) and node.name.startswith("test_")]
            assert len(names) == len(set(names)), f"{path}: {max(names, key=names.count)}"


# ---- What is said of places ----

# Where a path is said from: the project, or a folder that the text is about.
FROM = ROOT, COMPANION / "figures", ROOT / "assignments/source", ROOT / "assignments/source/en"
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
