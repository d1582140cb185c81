"""From a file to cells of Python: notebooks as people save, rename, cut and mend them.

Nothing here runs a student's code, and nothing raises an error because of what is in a file.
"""

import ast
import json
import re
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path

from assignments.read import folders
from companion.check.engine.question import all_questions

CELLS, CODE = 200_000, 32 * 2**20  # cells of a notebook, letters of their code
# Letters of a cell and of a submission that are parsed, which takes 500 times as much memory. What is beyond runs as
# well, but its names are looked for in its lines only.
LONG_CELL, LONG = 200_000, 1_000_000
MAGIC = re.compile(r"^(\s*)(?:%|!|\?|(?=\S+\?{1,2}\s*$)[\w.]+\?)")
# `files = !ls`, `t = %timeit -o f()`
MAGIC_RESULT = re.compile(r"^(\s*\w[\w.\[\]'\", ]*=\s*)[%!]")
# A cell magic below which there is Python that the notebook runs: what times or captures a cell still defines its
# names.
RUNS = re.compile(r"%%(?:time|timeit|capture|prun|memit|debug|snakeviz)\b")
WRITES = re.compile(r"\s*%%(?:write)?file\s+(-a\s+|--append\s+)?(?:\./)?(\S+)\s*\n")
RUN = re.compile(r"%run\s+(?:-\w\s+)*[\"']?(?:\./)?((?:\w+/)*\w+)(?:\.py|\.ipynb)?(?![\w./])")
BEGINS = re.compile(r"[^\s)\]}#]")  # how a line begins with which a statement does, or a part of it such as `else:`
NO_PYTHON = "raise SyntaxError("  # stands in the place of a statement that is none
MENDED = 20  # lines of a cell, each of which has all of it parsed again
DEFINES = re.compile(r"^(?:def|class)\s+\w", re.MULTILINE)
FENCE = re.compile(r"\s*```\w*\n(.*?)\n```\s*", re.DOTALL)
STUB = re.compile(r"^[^#\n]*raise\s+NotImplementedError", re.MULTILINE)
MODULE = re.compile(r"(?:\w+/)*\w+\.py")
CALL = re.compile(r"\bcheck\(\s*(?:question\s*=\s*)?['\"](\w+)['\"]\s*,\s*(?:answer\s*=\s*)?([\w.]+)")


@dataclass
class Code:
    source: str
    id: str = ""
    number: int = 0
    defined: frozenset = frozenset()  # functions and classes
    bound: frozenset = frozenset()  # other names
    long: bool = False  # it is not parsed
    checks: dict = field(default_factory=dict)  # what it has checked: {question: name}

    def unwritten(self, names):
        return bool(STUB.search(self.source)) if self.long else unwritten(self.source, frozenset(names))


@dataclass
class Notebook:
    path: Path
    cells: list = field(default_factory=list)
    text: str = ""
    remarks: list = field(default_factory=list)  # keys of the words' [remarks]
    modules: dict = field(default_factory=dict)  # files that its cells write, by path
    said: str = ""  # what its cells that check have shown, as it is stored
    time: float = 0  # when it was saved
    left: int = 0  # letters that may still be parsed


def notebooks_of(path, left, room):
    """The notebooks of a file: one, but for a zip. left: how many of their letters may be parsed; room: the bytes and
    files that may still be taken out of zips."""
    try:
        with open(path, "rb") as file:
            raw = file.read(folders.LARGEST) if file.read(2) == b"PK" and not file.seek(0) else b""
    except (OSError, MemoryError):
        raw = b""
    inside = folders.unpacked(path, raw, room) or () if raw and min(room) >= 0 else ()
    asked = [one for one in inside if one[0].suffix.lower() in folders.READ] or inside[:1]
    said = []
    for inner, raw, saved in sorted(asked, key=lambda one: one[2]):
        said.append(parsed(raw, Notebook(inner, time=saved, left=said[-1].left if said else left)))
    return said or [read(path, left)]


def read(path, left=LONG):
    """A notebook, or what can be had of it. left: how many of its letters may be parsed."""
    notebook = Notebook(path, left=left)
    try:
        size, notebook.time = path.stat().st_size, path.lstat().st_mtime
        if size == 0:
            notebook.remarks.append("empty_file")
            return notebook
        if size > folders.LARGEST:
            notebook.remarks.append("file_too_large")
            return notebook
        raw = path.read_bytes()
    except (OSError, MemoryError):
        notebook.remarks.append("unreadable")
        return notebook
    return parsed(raw, notebook)


def parsed(raw, notebook):
    path = notebook.path
    text = decoded(raw, notebook)
    if path.suffix.lower() == ".py":
        notebook.remarks.append("not_a_notebook")
        cells = [{"cell_type": "code", "source": text}]
    else:
        cells = cells_of(text, notebook)
    number, room, texts = 0, CODE, []
    if len(cells) > CELLS:
        notebook.remarks.append("too_long")
    for cell in cells[:CELLS]:
        try:
            source = cell.get("source", cell.get("input", ""))
            source = "".join(map(str, source)) if isinstance(source, list) else str(source)
            source = source.replace("\r\n", "\n").replace("\r", "\n").lstrip("\ufeff").replace("\0", "")
            kind = cell.get("cell_type")
            meta = cell.get("metadata") or {}
            nbgrader = meta.get("nbgrader") or {} if isinstance(meta, dict) else {}
            identity = nbgrader.get("grade_id") if isinstance(nbgrader, dict) else ""
            identity = str(identity or cell.get("id") or "")
            if kind != "code":
                if identity not in all_questions() or not DEFINES.search(source):
                    texts.append(source)
                    continue
                # one key too many made a text of an answer's cell
                source = fenced[1] if (fenced := FENCE.fullmatch(source)) else source
            number += 1
            room -= len(source)
            if room < 0:
                notebook.remarks += [] if "too_long" in notebook.remarks else ["too_long"]
                continue
            if (written := WRITES.match(source)) and MODULE.fullmatch(written[2]):
                above = notebook.modules.get(written[2], "") if written[1] else ""
                notebook.modules[written[2]] = (
                    f"{above}\n{source[written.end() :]}" if above else source[written.end() :]
                )
            notebook.left -= len(source)
            long = len(source) > LONG_CELL or notebook.left < 0
            plain = without_magic(source, long)
            defined, bound = names_seen(plain) if long else names_in(plain)
            if NO_PYTHON in plain:
                defined |= names_seen(source)[0]
            checks = dict(reversed(CALL.findall(plain))) if "check(" in plain else {}  # its first check of each
            notebook.cells.append(Code(plain, identity, number, defined, bound, long, checks))
            if "check" in source:
                notebook.said += shown_by(cell)
        except (AttributeError, TypeError):
            if "cut_off" not in notebook.remarks:
                notebook.remarks.append("cut_off")
    notebook.text = "\n".join(texts)
    if not notebook.cells and not notebook.remarks:
        notebook.remarks.append("no_code")
    return notebook


def shown_by(cell):
    """The beginning of what a cell has shown as text, as it is stored."""
    outputs, texts = cell.get("outputs"), []
    for one in outputs[:20] if isinstance(outputs, list) else ():
        data = one.get("data", one) if isinstance(one, dict) else None
        text = data.get("text/plain", data.get("text")) if isinstance(data, dict) else None
        texts.append("".join(map(str, text[:100])) if isinstance(text, list) else str(text or ""))
    return "".join(f"{text[:5000]}\n" for text in texts)


def decoded(raw, notebook):
    if raw[:2] in (b"\xff\xfe", b"\xfe\xff"):
        return raw.decode("utf-16", "replace")
    try:
        return raw.decode("utf-8-sig")
    except UnicodeDecodeError:
        notebook.remarks.append("encoding")
        return raw.decode("utf-8-sig", "replace")


def cells_of(text, notebook):
    try:
        said = json.loads(text, strict=False)
        cells = said["worksheets"][0]["cells"] if "worksheets" in said else said["cells"]
        if not isinstance(cells, list):
            raise TypeError
        return cells
    except (ValueError, KeyError, TypeError, IndexError, RecursionError, MemoryError):
        pass
    # cut off, or mended by hand: cell by cell, as far as it goes
    start = re.search(r'"cells"\s*:\s*\[', text)
    if start is None:
        notebook.remarks[:] = ["not_a_notebook"]
        written = re.findall(r"^```[^\n]*\n(.*?)^```", text, re.MULTILINE | re.DOTALL) or [text]
        return [{"cell_type": "code", "source": one} for one in written] if DEFINES.search(text) else []
    notebook.remarks.append("cut_off")
    cells, at, decoder = [], start.end(), json.JSONDecoder(strict=False)
    while True:
        at = re.compile(r"[\s,]*").match(text, at).end()
        try:
            cell, at = decoder.raw_decode(text, at)
        except (ValueError, RecursionError, MemoryError):
            return cells
        if not isinstance(cell, dict):
            return cells
        cells.append(cell)


def without_magic(source, long=False):
    """Commands to the notebook are no Python: `pass` stands for them, so that lines keep their numbers."""
    if indent := re.match(r"\n*([ \t]+)", source):  # a notebook takes that away from all lines that have it
        source = "\n".join(line.removeprefix(indent[1]) for line in source.split("\n"))
    if source.lstrip().startswith("%%") and not RUNS.match(source.lstrip()):
        return "pass"
    lines = source.split("\n")
    for _ in range(0 if long else min(MENDED, 1 + LONG_CELL // (1 + len(source)))):
        try:
            ast.parse("\n".join(lines))
            return "\n".join(lines)
        except SyntaxError as error:
            place = min(error.lineno or 1, len(lines)) - 1
            if not without_command(lines, place):
                without_statement(lines, place, error.msg)
        except (ValueError, RecursionError, MemoryError):
            break
    for place in range(len(lines)):
        without_command(lines, place)
    return "\n".join(lines)


def without_command(lines, place):
    """Takes a command to the notebook out of a line, and what goes on below it. Returns whether there was one."""
    magic = MAGIC.match(lines[place]) or MAGIC_RESULT.match(lines[place])
    if magic is None:
        return False
    end = place
    while lines[end].rstrip().endswith("\\") and end + 1 < len(lines):
        end += 1
    plain = [line.rstrip().rstrip("\\") for line in lines[place : end + 1]]
    if run := RUN.match(plain[0]):
        plain[0] = f"from {run[1].replace('/', '.')} import *"
    else:
        plain[0] = magic.re.sub(r"\1pass  # " if magic.re is MAGIC else r"\1get_ipython()  # ", plain[0])
    lines[place : end + 1] = [plain[0], *(f"# {line}" for line in plain[1:])]
    return True


def without_statement(lines, place, why):
    """Takes out the statement that a line belongs to, since it is no Python: all others of the cell may still run.

    What is left of it, such as a decorator, is no Python either, and goes in the next round.
    """
    start, end = place, place + 1
    while start and (not BEGINS.match(lines[start]) or lines[start].startswith(NO_PYTHON)):
        start -= 1
    while end < len(lines) and not BEGINS.match(lines[end]):
        end += 1
    said = f"{why} (line {place + 1})"
    lines[start:end] = [f"{NO_PYTHON}{said!r})  # {lines[start]}", *(f"# {line}" for line in lines[start + 1 : end])]


def names_seen(source):
    """Of what is no Python, or too much of it to be parsed."""
    return frozenset(re.findall(r"^(?:def|class)\s+(\w+)", source, re.MULTILINE)), frozenset()


def names_in(source):
    try:
        tree = ast.parse(source)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return names_seen(source)
    defined, bound = set(), set()
    for node in tree.body:
        for inner in ast.walk(node) if isinstance(node, ast.If | ast.Try | ast.With) else (node,):
            if isinstance(inner, ast.FunctionDef | ast.ClassDef):
                defined.add(inner.name)
            elif isinstance(inner, ast.Assign | ast.AnnAssign) and inner.value:
                targets = inner.targets if isinstance(inner, ast.Assign) else [inner.target]
                names = [one for target in targets for one in ast.walk(target) if isinstance(one, ast.Name)]
                bound |= {one.id for one in names if isinstance(one.ctx, ast.Store)}
            elif isinstance(inner, ast.ImportFrom | ast.Import):
                bound |= {(alias.asname or alias.name).split(".")[0] for alias in inner.names}
    return frozenset(defined), frozenset(bound)


@lru_cache(maxsize=256)
def unwritten(source, names=frozenset()):
    """Whether the functions and classes of these names, or all, still are what was handed out."""
    try:
        body = ast.parse(source).body
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return bool(STUB.search(source))
    asked = [node for node in body if getattr(node, "name", None) in names] or body
    functions = [one for node in asked for one in ast.walk(node) if isinstance(one, ast.FunctionDef)]
    return any(map(raises_only, [asked, *(function.body for function in functions)]))


def raises_only(body):
    """Whether statements come to `raise NotImplementedError` before they return anything."""
    for statement in body:
        if isinstance(statement, ast.Raise):
            raised = statement.exc.func if isinstance(statement.exc, ast.Call) else statement.exc
            return isinstance(raised, ast.Name) and raised.id == "NotImplementedError"
        if any(isinstance(one, ast.Return | ast.Yield) for one in ast.walk(statement)):
            return False
    return False
