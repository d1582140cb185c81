"""Test the structure of the repository: imports between its rooms (packages), and the size of files and folders."""

import ast
import sys
from collections import Counter
from functools import cache
from pathlib import PurePath

import pytest

from tests.project.paths import ROOT, files

# Each room → the other rooms that it may import.
ROOMS = {
    "companion.layers": set(),
    "companion.proof": {"companion.layers", "companion.words"},
    "companion.extra": set(),
    "companion.words": set(),
    "companion.page": {"companion.extra"},
    "companion.learning": {"companion.layers", "companion.extra", "companion.words"},
    "companion.bench": {"companion.layers", "companion.learning", "companion.proof"},
    "companion.export": {"companion.layers"},
    "companion.check": {"companion.layers"},
    "companion.figures": {"companion.layers", "companion.learning", "companion.extra"},
    "companion": {"companion.layers", "companion.proof", "companion.export"},
    "small_torch": set(),
    "assignments.words": {"companion.check"},
    "assignments.read": {"companion.check"},
    "assignments.sandbox": {"companion.check"},
    "assignments.grade": {
        "companion.check",
        "assignments.words",
        "assignments.own",
        "assignments.read",
        "assignments.sandbox",
    },
    "book": set(),
    "book.npm": set(),
    "book.styles": set(),
    "book.editions": set(),
    "book.moved": {"book.editions"},
    "book.chapter_headings": {"book.editions"},
    "book.output_words": {"book.editions", "companion.words"},
}
ROOMS["assignments.report"] = ROOMS["assignments.grade"] | {"assignments.grade"}
ROOMS["assignments.lms"] = ROOMS["assignments.report"] | {"assignments.report"}
ROOMS["assignments.own"] = ROOMS["assignments.grade"] | {"assignments.grade", "assignments"}
ROOMS["assignments"] = ROOMS["assignments.lms"] | {"assignments.lms"}
ROOMS["book.questions"] = {
    "book.editions",
    "book.chapter_headings",
    "companion",
    "companion.layers",
    "companion.learning",
    "companion.check",
    "assignments",
    "assignments.report",
    "assignments.words",
}
ROOMS["book.live"] = {"book.editions", "book.npm", "book.styles", "companion.figures"}
ROOMS["book.site"] = ROOMS["book.live"] | {"book.live", "book.moved", "companion.learning", "assignments"}
ROOMS["book.site"] |= {"companion", "companion.layers", "book.questions"}  # the reference is made from docstrings
ROOMS["book.site.browser"] = ROOMS["book.site.extension.mathematics"] = set()
ROOMS["book.sheets"] = {"book.editions", "book.chapter_headings", "book.styles", "companion.learning"}
ROOMS["book.sheets"] |= {"book.site.browser", "book.site.extension.mathematics"}
ROOMS["book.site"] |= {"book.site.browser", "book.site.extension.mathematics", "book.sheets"}
ROOMS["book.exam"] = {"book.editions", "book.questions", "book.site", "book.site.browser"}
ROOMS["book.tools"] = {
    "book.output_words",
    "companion.words",
    "book.site.browser",
    "book.editions",
    "book.chapter_headings",
    "book.moved",
    "book.npm",
    "book.site",
    "companion.check",
    "companion.figures",
}
ROOMS["book.slides"] = {
    "book.editions",
    "book.npm",
    "book.questions",
    "book.site",
    "book.site.browser",
    "book.styles",
    "book.tools",
    "companion.figures",
}
# The packages from outside that a room may import, besides the standard library. Rooms not listed may import any.
OUTSIDE = {
    "companion.layers": {"torch"},
    "companion.proof": {"torch"},
    "companion.extra": set(),
    "companion.words": set(),
    "companion.bench": {"torch"},
    "companion.export": {"torch", "onnx"},
    "companion.check": {"torch"},
    "companion.learning": {"torch", "regex", "pooch", "tqdm", "safetensors", "IPython"},
    "small_torch": {"numpy"},
}
LINES, FILES = 400, 12
# Folders with more files, because each holds one question, layer, figure or the like.
LARGE = ("companion/check/questions", "companion/layers", "companion/learning", "companion/figures", "benchmarks")
LARGE += ("book/questions/numbers", "small_torch/src", "small_torch/tests", "tests")


@cache
def modules():
    """Return module → path of all modules in the rooms."""
    paths = {}
    for path in files():
        parts = path.parts[2:] if path.parts[:2] == ("small_torch", "src") else path.parts
        if path.suffix == ".py" and parts[0] in {room.split(".")[0] for room in ROOMS} and "tests" not in parts:
            if path.is_relative_to("book/live/python"):  # stand-ins for packages on pages
                continue
            paths[".".join(parts).removesuffix(".py").removesuffix(".__init__")] = path
    return paths


def imports(module):
    """Return the modules that a module imports, anywhere in it, by their full names."""
    path, imported = modules()[module], set()
    package = module.split(".") if path.name == "__init__.py" else module.split(".")[:-1]
    for node in ast.walk(ast.parse((ROOT / path).read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            imported |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            parents = package[: len(package) - node.level + 1] if node.level else []
            base = ".".join(filter(None, [*parents, node.module]))
            names = {f"{base}.{alias.name}" for alias in node.names}
            imported |= (names & modules().keys()) | ({base} if names - modules().keys() else set())
    return imported - {module}


def room_of(module):
    """Return the room of a module: `companion.check` for `companion.check.engine.question`."""
    return max((room for room in ROOMS if f"{module}.".startswith(f"{room}.")), key=len)


@pytest.mark.parametrize("module", sorted(modules()))
def test_imports_stay_within_the_allowed_rooms(module):
    room = room_of(module)
    for name in imports(module):
        first = name.split(".")[0]
        if name in modules():
            assert room_of(name) in ROOMS[room] | {room}, f"{room} must not import {name}"
        elif first not in sys.stdlib_module_names:
            assert first in OUTSIDE.get(room, {first}), f"{room} must not need {name}"


def test_imports_have_no_cycle():
    left = {module: imports(module) & modules().keys() for module in modules()}
    while free := [module for module, needed in left.items() if not needed]:
        for module in free:
            del left[module]
        left = {module: needed - {*free} for module, needed in left.items()}
    assert not left, f"these modules are part of a cycle of imports, or import one that is: {', '.join(sorted(left))}"


def test_no_file_has_too_many_lines():
    lines = {path.as_posix(): len((ROOT / path).read_text(encoding="utf-8").splitlines()) for path in files()}
    assert {name: count for name, count in lines.items() if count > LINES} == {}


def test_no_folder_has_too_many_files():
    folders = Counter(path.parent.as_posix() for path in files())
    assert {name: count for name, count in folders.items() if count > FILES and not name.startswith(LARGE)} == {}


def test_the_folder_tests_has_only_conftest():
    assert [path.name for path in files() if path.parent == PurePath("tests")] == ["conftest.py"]
