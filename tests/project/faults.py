"""Plant faults in a copy of the repository, one at a time, and report which test catches each.

    python tests/project/faults.py                         plant all faults of tests/project/faults.toml, for some hours
    python tests/project/faults.py --area search           plant those of one area
    python tests/project/faults.py --name gru-z-turned     plant one
    python tests/project/faults.py --output results.jsonl  append each result to a file, and skip faults that have one
                                                           there
    python tests/project/faults.py --check                 run nothing; report the faults that cannot be planted

A fault is a table [[fault]] with `name`, `promise`, `area`, `path`, and one of:

    old, new        replace a text that occurs once in the file
    cell, old, new  replace it in one cell of a notebook: in its source, or where `of` says "outputs" or "metadata"
    flip            invert the byte at this offset
    delete = true   delete the file
    add             create the file with this text

The tests of the fault's area run first: the quick ones, then the heavy ones. Only if they let the fault pass, all run.
"""

import argparse
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
import tomllib
from contextlib import contextmanager
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
NOTEBOOKS = ["book/*/*.ipynb", "assignments/source/*/*.ipynb"]
# Area → the tests that should catch its faults.
AREAS = {
    "companion": ["tests/layers", "tests/learning", "tests/page", "tests/project/test_rooms.py"],
    "texts": ["tests/learning"],
    "chapters": ["tests/site", *NOTEBOOKS],
    "translations": ["tests/tools", "tests/site", "tests/assignments/test_assignments.py", *NOTEBOOKS],
    "readme": ["tests/site/test_readme.py", "tests/project/test_named_paths.py"],
    "figures": ["tests/figures", "tests/tools/test_translations.py"],
    "theme": ["tests/site"],
    "search": ["tests/site"],
    "build": ["tests/site", "tests/project"],
    "live": ["tests/live", "small_torch/tests"],
    "checker": ["tests/check"],
    "grader": ["tests/assignments"],
    "own": ["tests/assignments/own"],
    "lms": ["tests/assignments/lms"],
    "slides": ["tests/slides/test_cells.py", "tests/slides/test_marks.py"],  # the others build the site
    "sheets": ["tests/sheets"],
}
PYTEST = ["-m", "pytest", "--nbval", "-x", "-q", "--numprocesses", "2", "--dist", "loadfile", "--no-loadscope-reorder"]
TIMEOUT = 4 * 3600  # seconds; a fault may make a test run for ever


def change(fault, data):
    """Return the bytes of the fault's file with the fault in it. Raise ValueError if it cannot be planted."""
    if "flip" in fault:
        offset = fault["flip"]
        return data[:offset] + bytes([data[offset] ^ 255]) + data[offset + 1 :]
    text, old, new = data.decode("utf-8"), fault["old"], fault["new"]
    if "cell" not in fault:
        return replace_once(text, old, new).encode("utf-8")
    notebook = json.loads(text)
    (cell,) = [cell for cell in notebook["cells"] if cell["id"] == fault["cell"]]
    part = fault.get("of", "source")
    cell[part], count = replace_all(cell[part], old, new)
    if count != 1:
        raise ValueError(f"{old!r} occurs {count} times in the cell")
    return (json.dumps(notebook, ensure_ascii=False, indent=1, sort_keys=True) + "\n").encode("utf-8")


def replace_all(value, old, new):
    """Return a part of a notebook with a text replaced, and how often. Notebooks store a text as a list of lines."""
    if isinstance(value, str):
        return value.replace(old, new), value.count(old)
    if (
        isinstance(value, list)
        and all(isinstance(line, str) for line in value)
        and all(line.endswith("\n") for line in value[:-1])
    ):
        text, count = replace_all("".join(value), old, new)
        return text.splitlines(keepends=True), count
    if isinstance(value, list | dict):
        parts = value if isinstance(value, dict) else dict(enumerate(value))
        edited = {key: replace_all(part, old, new) for key, part in parts.items()}
        texts, count = {key: text for key, (text, _) in edited.items()}, sum(count for _, count in edited.values())
        return (texts if isinstance(value, dict) else list(texts.values())), count
    return value, 0


def replace_once(text, old, new):
    if text.count(old) != 1 or old == new:
        raise ValueError(f"{old!r} occurs {text.count(old)} times")
    return text.replace(old, new)


def find_obstacle(fault):
    """Return why a fault cannot be planted, or None."""
    path = ROOT / fault["path"]
    if fault["area"] not in AREAS:
        return f"there is no area {fault['area']}"
    if path.is_file() is ("add" in fault):
        return "the file exists" if "add" in fault else "the file does not exist"
    try:
        if not fault.keys() & {"add", "delete"}:
            change(fault, path.read_bytes())
    except (ValueError, IndexError) as error:
        return str(error)
    return None


@contextmanager
def copy_repository():
    """Copy all files that git does not ignore into a folder, which is deleted afterwards."""
    command = ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
    names = subprocess.run(command, cwd=ROOT, check=True, capture_output=True, text=True).stdout.split("\0")
    with tempfile.TemporaryDirectory(prefix="faults-") as folder:
        tree = Path(folder).resolve() / "unrolled"
        for name in filter(None, names):
            if (ROOT / name).is_file():
                (tree / name).parent.mkdir(parents=True, exist_ok=True)
                shutil.copy2(ROOT / name, tree / name)
        yield tree


@contextmanager
def plant(fault, tree):
    """Put a fault into the copy, and remove it afterwards."""
    path = tree / fault["path"]
    data = path.read_bytes() if path.exists() else None
    try:
        if "delete" in fault:
            path.unlink()
        else:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(fault["add"].encode("utf-8") if "add" in fault else change(fault, data))
            os.utime(path, (time.time() + 60,) * 2)  # Python compares compiled files by size and second
        yield
    finally:
        path.unlink(missing_ok=True)
        if data is not None:
            path.write_bytes(data)
            os.utime(path, (time.time() + 120,) * 2)


def run(tree, patterns, *options):
    """Run tests in the copy. Return the first that fails, or None if all pass."""
    paths = [
        name
        for pattern in patterns
        for name in (sorted(map(str, tree.glob(pattern))) if "*" in pattern else [str(tree / pattern)])
    ]
    command = [sys.executable, *PYTEST, *options, *paths]
    environment = {key: value for key, value in os.environ.items() if key != "CI"} | {
        "PYTHONPATH": os.pathsep.join([str(tree), str(tree / "small_torch" / "src")])
    }
    try:
        process = subprocess.run(command, cwd=tree, env=environment, capture_output=True, text=True, timeout=TIMEOUT)
    except subprocess.TimeoutExpired:
        return "timeout"
    if process.returncode in (0, 5):  # 5: no test was collected
        return None
    summary = process.stdout.rpartition("short test summary info")[2]
    failed = re.search(r"^(?:FAILED|ERROR) (\S.*?)(?: - |$)", summary, re.MULTILINE)
    return (
        failed[1] if failed else f"pytest ended with {process.returncode}: {(process.stdout + process.stderr)[-300:]}"
    )


def find_catcher(fault, tree):
    """Return a dictionary with the first test that catches a fault, and the stage in which it runs."""
    area = AREAS[fault["area"]]
    quick = [pattern.replace("/*/", "/en/") if pattern in NOTEBOOKS else pattern for pattern in area]
    result = {"name": fault["name"], "area": fault["area"], "stage": None, "test": None}
    with plant(fault, tree):
        for stage, patterns, options in (
            ("quick tests of the area", quick, []),
            ("all tests of the area", area, ["--prove"]),
            ("all tests", ["tests", "small_torch/tests", *NOTEBOOKS], ["--prove"]),
        ):
            if test := run(tree, patterns, *options):
                return result | {"stage": stage, "test": test}
    return result


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--area", choices=AREAS)
    parser.add_argument("--name")
    parser.add_argument("--output", type=Path)
    parser.add_argument("--list", type=Path, default=Path(__file__).with_suffix(".toml"), help="another list of faults")
    parser.add_argument("--check", action="store_true")
    arguments = parser.parse_args()
    faults = tomllib.loads(arguments.list.read_text(encoding="utf-8"))["fault"]
    faults = [
        fault for fault in faults if arguments.area in (None, fault["area"]) and arguments.name in (None, fault["name"])
    ]
    obstacles = {fault["name"]: obstacle for fault in faults if (obstacle := find_obstacle(fault))}
    for name, obstacle in obstacles.items():
        print(f"{name}: {obstacle}")
    if arguments.check:
        return bool(obstacles)
    done = {}
    if arguments.output and arguments.output.exists():
        lines = arguments.output.read_text(encoding="utf-8").splitlines()
        done = {result["name"]: result for result in map(json.loads, lines)}
    missed = 0
    with copy_repository() as tree:
        for fault in faults:
            if fault["name"] in obstacles:
                continue
            result = done.get(fault["name"]) or find_catcher(fault, tree)
            missed += result["test"] is None
            print(f"{result['name']:60} {result['stage'] or 'NOT CAUGHT':24} {result['test'] or ''}", flush=True)
            if arguments.output and fault["name"] not in done:
                with arguments.output.open("a", encoding="utf-8") as file:
                    print(json.dumps(result), file=file)
    return bool(missed or obstacles)


if __name__ == "__main__":
    sys.exit(main())
