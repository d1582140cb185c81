"""Faults, planted one at a time in a copy of the repository, and who catches them: a proof of the proof.

    python tests/faults.py                      plant all of tests/faults.toml; hours, most of them of `prove`
    python tests/faults.py --area search        those of one area
    python tests/faults.py --name gru-z-turned  one of them
    python tests/faults.py --only 20:40         those at these places of the list: several runs can share the work
    python tests/faults.py --command test       ask the quick tests only
    python tests/faults.py --output found.jsonl keep each result as it comes; what is there already is not asked again
    python tests/faults.py --list               what would be planted
    python tests/faults.py --check              whether each fault can still be planted; nothing is run

A fault is a table [[fault]] of faults.toml: its name, area and path, and one of

    old, new       a text that stands once in the file, and what is put in its place
    cell, old, new the same in one cell of a notebook: in its source, or where `of` says "outputs" or "metadata", there
    flip           the place of a byte, of which every bit is turned
    delete = true  the file goes
    add            a file with this text comes

`prove` contains `test`, so it is asked only about what `test` has let through. The test of the list is not run: it
would catch everything.
"""

import argparse
import glob
import hashlib
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import tomllib
from contextlib import contextmanager
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
LIST = Path(__file__).with_suffix(".toml")

# What is run in the copy, in this order, until one fails. Patterns of files are filled in there.
PYTEST = [sys.executable, "-m", "pytest", "--nbval", "--receipts", "-x", "-q", "-n", "2", "--dist", "loadfile", "--no-loadscope-reorder"]
PYTEST += ["tests", "--ignore=tests/tools/test_faults.py"]
COMMANDS = {
    "test": [[*PYTEST, "book/en/*.ipynb", "assignments/source/en/*.ipynb"]],
    "prove": [[*PYTEST, "--prove", "book/*/*.ipynb", "assignments/source/*/*.ipynb"]],
}
SECONDS = {"test": 1800, "prove": 4 * 3600}  # a fault may be that something never ends
RECEIPTS = "_build/receipts"  # what need not be run again; copied along, if it is there

AREAS = ("companion", "chapters", "translations", "figures", "theme", "search", "live", "checker", "grader", "build")
KINDS = {"replace": {"old", "new"}, "flip": {"flip"}, "delete": {"delete"}, "add": {"add"}}
OPTIONAL = {"replace": {"cell", "of"}, "flip": set(), "delete": set(), "add": set()}


# The list


def faults():
    """All faults of the list, in its order."""
    return tomllib.loads(LIST.read_text(encoding="utf-8"))["fault"]


def kind(fault):
    """How a fault is planted, a key of KINDS. ValueError for one that says too much or too little."""
    given = fault.keys() - {"name", "area", "path"}
    for one, keys in KINDS.items():
        if keys <= given <= keys | OPTIONAL[one]:
            return one
    raise ValueError(f"a fault cannot be planted by {', '.join(sorted(given)) or 'nothing'}")


def changed(fault, data):
    """The bytes of the fault's file with the fault in it. data: without it. ValueError if it does not fit."""
    how = kind(fault)
    if how == "flip":
        if not 0 <= fault["flip"] < len(data):
            raise ValueError(f"the file has {len(data)} bytes")
        return data[: fault["flip"]] + bytes([data[fault["flip"]] ^ 255]) + data[fault["flip"] + 1 :]
    text = data.decode("utf-8")
    old, new = fault["old"], fault["new"]
    if old == new:
        raise ValueError("old and new are the same")
    if "cell" not in fault:
        if text.count(old) != 1:
            raise ValueError(f"old stands {text.count(old)} times in the file")
        return text.replace(old, new).encode("utf-8")
    notebook = json.loads(text)
    cells = [cell for cell in notebook["cells"] if cell["id"] == fault["cell"]]
    if len(cells) != 1:
        raise ValueError(f"there are {len(cells)} cells of this id")
    part = fault.get("of", "source")
    if stored(notebook) != text:
        raise ValueError("the notebook is in another form than execute.py's")
    count = 0

    def walk(thing):
        nonlocal count
        if isinstance(thing, dict):
            return {key: walk(value) for key, value in thing.items()}
        if isinstance(thing, list) and part == "metadata":  # a list of tags, for example, is no text
            return [walk(one) for one in thing]
        if isinstance(thing, list) and all(isinstance(one, str) for one in thing):  # lines of one text
            return walk("".join(thing)).splitlines(keepends=True)
        if isinstance(thing, list):
            return [walk(one) for one in thing]
        if isinstance(thing, str):
            count += thing.count(old)
            return thing.replace(old, new)
        return thing

    (cell,) = cells
    cell[part] = walk(cell[part])
    if count != 1:
        raise ValueError(f"old stands {count} times in the cell")
    return stored(notebook).encode("utf-8")


def stored(notebook):
    """A notebook as nbformat writes it, which takes a tenth of a second to be imported."""
    return json.dumps(notebook, ensure_ascii=False, indent=1, sort_keys=True) + "\n"


def complaint(fault, root=ROOT):
    """Why a fault cannot be planted, or None."""
    path = root / fault["path"]
    try:
        if kind(fault) == "add":
            return "the file is there already" if path.exists() else None
        if not path.is_file():
            return "there is no such file"
        if kind(fault) != "delete":
            changed(fault, path.read_bytes())
    except ValueError as error:
        return str(error)
    return None


# The copy


def tracked(root=ROOT):
    """All files of the working tree but those that git ignores: what a commit of all there is would have."""
    command = ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
    said = subprocess.run(command, cwd=root, check=True, capture_output=True).stdout.decode("utf-8")
    return sorted(name for name in {*said.split("\0")} - {""} if (root / name).is_file())


@contextmanager
def copied():
    """A copy of the working tree, in a folder that is gone afterwards."""
    with tempfile.TemporaryDirectory(prefix="faults-") as folder:
        tree = Path(folder).resolve() / "unrolled"
        for name in tracked():
            (tree / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(ROOT / name, tree / name)
        if (ROOT / RECEIPTS).is_dir():
            shutil.copytree(ROOT / RECEIPTS, tree / RECEIPTS)
        yield tree


def digests(tree, names):
    """Name → digest of each file, None where it is gone."""
    paths = {name: tree / name for name in names}
    return {name: hashlib.sha256(path.read_bytes()).digest() if path.is_file() else None for name, path in paths.items()}


@contextmanager
def planted(fault, tree):
    """The copy with a fault in it, and without it afterwards."""
    path = tree / fault["path"]
    data, times = (None, None) if kind(fault) == "add" else (path.read_bytes(), path.stat())
    try:
        if kind(fault) == "delete":
            path.unlink()
        else:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(fault["add"].encode("utf-8") if data is None else changed(fault, data))
            # a time of its own: Python takes its compiled file for another source's by size and second
            os.utime(path, (stamp := next(STAMPS), stamp))
        yield
    finally:
        if data is None:
            path.unlink(missing_ok=True)
        else:
            path.write_bytes(data)
            os.chmod(path, times.st_mode)
            os.utime(path, ns=(times.st_atime_ns, times.st_mtime_ns))


def later():
    second = int(time.time()) + 60
    while True:
        yield (second := second + 1)


STAMPS = later()


# The commands


def run(which, tree):
    """What a command says of the tree: {"found", "by", "seconds"}.

    found: "caught", with the first test that failed; "passed"; "hung"; or "broken", if pytest could not run.
    """
    begin = time.monotonic()
    for command in COMMANDS[which]:
        command = [name for one in command for name in (sorted(glob.glob(one, root_dir=tree)) if "*" in one else [one])]
        left = SECONDS[which] - (time.monotonic() - begin)
        status, said = execute(command, tree, left)
        found, by = judged(status, said)
        if found != "passed":
            break
    return {"found": found, "by": by, "seconds": round(time.monotonic() - begin, 1)}


def execute(command, tree, seconds):
    """Status and output of a command in the tree; no status if it took too long. All that it started is ended."""
    environment = os.environ | {"PYTHONPATH": str(tree)}
    with tempfile.TemporaryFile() as output:  # a pipe would be kept open by what a test has left behind
        process = subprocess.Popen(
            command, cwd=tree, env=environment, stdin=subprocess.DEVNULL, stdout=output, stderr=subprocess.STDOUT, start_new_session=True
        )
        try:
            status = process.wait(max(1, seconds))
        except subprocess.TimeoutExpired:
            status = None
        finally:
            try:
                os.killpg(process.pid, signal.SIGKILL)
            except ProcessLookupError:
                pass
            process.wait()
        output.seek(0)
        return status, output.read().decode("utf-8", "replace")


def judged(status, said):
    """(found, by): see `run`. pytest's status is 1 where tests failed; stopped early by xdist it is 2, as for no reason."""
    lines = said.strip().splitlines() or [""]
    summary = said.rpartition("short test summary info")[2].splitlines()  # what a test has printed may look like it
    first = next((line for line in summary if re.match(r"(FAILED|ERROR) \S", line)), None)
    if status is None:
        return "hung", lines[-1][:200]
    if status in (0, 5):  # 5: no test was left to run
        return "passed", None
    if status in (1, 2) and first:
        return "caught", first.split(" - ")[0].partition(" ")[2][:200]
    if status == 4 and "while loading conftest" in said:  # an import that fails, and no wrong command
        return "caught", "conftest.py"
    return "broken", f"status {status}: {lines[-1][:200]}"


def ask(fault, tree, commands):
    """What each command says of the tree with a fault in it. Later ones are asked about what earlier ones let through."""
    result = {"name": fault["name"], "area": fault["area"]}
    with planted(fault, tree):
        for which in commands:
            result[which] = run(which, tree)
            if result[which]["found"] != "passed":
                break
    return result


def row(result, widths=(52, 13, 60, 60)):
    """A line of the table."""
    cells = [result["name"], result["area"]]
    for which in COMMANDS:
        one = result.get(which)
        if one is None:
            cells.append("–" if all(result.get(other, {}).get("found") != "caught" for other in COMMANDS) else "yes, in test")
        else:
            cells.append({"caught": one["by"], "passed": "NO"}.get(one["found"]) or f"{one['found'].upper()}: {one['by']}")
    seconds = sum(result[which]["seconds"] for which in COMMANDS if which in result)
    return "  ".join(cell.ljust(width) for cell, width in zip(cells, widths)) + f"  {seconds:7.0f} s"


# The command line


def chosen(arguments):
    """The faults that the command line asks for."""
    start, _, stop = arguments.only.partition(":")
    found = [one for one in faults() if arguments.name in (None, one["name"]) and arguments.area in (None, one["area"])]
    return found[int(start or 0) : int(stop) if stop else None]


def kept_in(path, names):
    """The results in a file of an earlier run that are about faults of these names."""
    if path is None or not path.is_file():
        return []
    return [one for line in path.read_text(encoding="utf-8").splitlines() if (one := json.loads(line))["name"] in names]


def main():
    """Run the command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--name", help="plant this fault")
    parser.add_argument("--area", help="plant those of this area")
    parser.add_argument("--only", default=":", metavar="N:M", help="plant those at these places, counted from 0")
    parser.add_argument("--output", type=Path, help="append results to this file, and leave out what is in it")
    parser.add_argument("--command", choices=[*COMMANDS, "both"], default="both")
    parser.add_argument("--unproved", action="store_true", help="do not first see that the copy passes without a fault")
    parser.add_argument("--list", action="store_true", help="say what would be planted")
    parser.add_argument("--check", action="store_true", help="say which faults can be planted no more")
    arguments = parser.parse_args()
    wanted = chosen(arguments)
    if not wanted:
        parser.error("there is no such fault")
    if arguments.list:
        for fault in wanted:
            print(f"{fault['area']:13} {fault['name']:52} {fault['path']}")
        return 0
    if arguments.check:
        found = [f"{fault['name']}: {why}" for fault in wanted if (why := complaint(fault))]
        print("\n".join(found) or f"All {len(wanted)} can be planted.")
        return bool(found)

    signal.signal(signal.SIGTERM, lambda *_: sys.exit("faults.py: ended"))  # not without ending what runs in the copy
    commands = [*COMMANDS] if arguments.command == "both" else [arguments.command]
    results = kept_in(arguments.output, {fault["name"] for fault in wanted})
    there = {one["name"] for one in results}
    with copied() as tree:
        names = tracked()
        before = digests(tree, names)
        todo = [fault for fault in wanted if fault["name"] not in there]
        if todo and not arguments.unproved:
            # what fails without a fault says nothing; and what passes leaves receipts
            for which in commands:
                found = run(which, tree)
                print(f"without a fault: {which} {found['found']} {found['by'] or ''} {found['seconds']:.0f} s", flush=True)
                if found["found"] != "passed":
                    return f"faults.py: {which} fails without a fault"
        for number, fault in enumerate(todo, start=1):
            result = ask(fault, tree, commands)
            after = digests(tree, names)
            if differ := [name for name in names if after[name] != before[name]]:
                return f"faults.py: after {fault['name']} the copy is another: {', '.join(differ)}"
            if arguments.output:
                with open(arguments.output, "a", encoding="utf-8") as file:
                    file.write(json.dumps(result, ensure_ascii=False) + "\n")
            results.append(result)
            print(f"[{number}/{len(todo)}] {row(result)}", flush=True)
    print("\n" + "\n".join(map(row, results)))
    escaped = [one for one in results if "caught" not in [one[which]["found"] for which in COMMANDS if which in one]]
    print(f"\n{len(results)} faults, {len(results) - len(escaped)} caught.")
    return bool(escaped)


if __name__ == "__main__":
    sys.exit(main())
