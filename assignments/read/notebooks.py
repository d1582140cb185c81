"""Read notebooks as students save, rename, edit and damage them, and return their code cells.

No function here runs a student's code or raises an error because of a file's content.
"""

import ast
import json
import re
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path

from assignments.read import folders
from assignments.read.check_calls import RENAMED, checked_names
from assignments.read.exports import HTML, MARKDOWN, cells_of_export
from companion.check.engine.question import all_questions

MAX_DATA = 2**20  # characters of a file that a notebook may read
MAX_CELLS, MAX_CODE = 200_000, 32 * 2**20  # cells of a notebook, characters of their code
# Characters that are parsed of a cell and of a submission: parsing takes 500 times as much memory. Code beyond still
# runs, but its names are found by line patterns only.
LONG_CELL, MAX_PARSED = 200_000, 1_000_000
MAGIC = re.compile(r"^(\s*)(?:%|!|\?|(?=\S+\?{1,2}\s*$)[\w.]+\?)")
# `files = !ls`, `t = %timeit -o f()`
MAGIC_RESULT = re.compile(r"^(\s*\w[\w.\[\]'\", ]*=\s*)[%!]")
# Cell magics that run the Python below them, whose definitions then count.
PYTHON_MAGIC = re.compile(r"%%(?:time|timeit|capture|prun|memit|debug|snakeviz)\b")
LINE_MAGIC = re.compile(r"(\s*)%(?:time|prun|memit)\s+(?:-\w+\s+)*(?=\S)")  # runs the statement behind it
WRITE_MAGIC = re.compile(r"\s*%%(?:write)?file\s+(-a\s+|--append\s+)?(?:\./)?(\S+)\s*\n")
RUN_MAGIC = re.compile(r"%run\s+(?:-\w\s+)*[\"']?(?:\./)?((?:\w+/)*\w+)(?:\.py|\.ipynb)?(?![\w./])")
STATEMENT_START = re.compile(r"[^\s)\]}#]")  # first character of a line with a statement, or its part such as `else:`
SYNTAX_ERROR = "raise SyntaxError("  # replaces a statement that does not parse
# Statements that hold others, or expressions that bind names
BLOCKS = ast.If | ast.Try | ast.TryStar | ast.With | ast.For | ast.While | ast.Match | ast.Expr
MAX_REPAIRS = 20  # statements replaced in a cell; each time the whole cell is parsed again
DEFINES = re.compile(r"^(?:def|class)\s+\w", re.MULTILINE)
FENCE = re.compile(r"\s*```\w*\n(.*?)\n```\s*", re.DOTALL)
STUB = re.compile(r"^[^#\n]*raise\s+NotImplementedError", re.MULTILINE)
MODULE = re.compile(r"(?:\w+/)*\w+\.py")
DATA = re.compile(r"(?:[\w-]+/)*[\w-]+\.(?:csv|tsv|json|txt)", re.IGNORECASE)


@dataclass
class CodeCell:
    """Code cell of a notebook, as Python without magics."""

    source: str
    id: str = ""
    number: int = 0
    defined: frozenset = frozenset()  # functions and classes
    bound: frozenset = frozenset()  # other names
    long: bool = False  # too long to parse
    checks: dict = field(default_factory=dict)  # {question: what is checked}, as check_calls.py defines it

    def unwritten(self, names):
        return bool(STUB.search(self.source)) if self.long else is_unwritten(self.source, frozenset(names))


@dataclass
class Notebook:
    """Cells of one file, and remarks about the file."""

    path: Path
    cells: list = field(default_factory=list)
    text: str = ""
    remarks: list = field(default_factory=list)  # keys of the table [remarks] in the grader's words
    modules: dict = field(default_factory=dict)  # files that its cells write, by path
    check_output: str = ""  # stored output of its cells that call the checker
    time: float = 0  # when it was saved
    left: int = 0  # characters that may still be parsed
    data: str = ""  # text of a file that another notebook may read

    @property
    def is_export(self):
        """Return whether the file is HTML or Markdown that was made from a notebook."""
        return self.path.suffix.lower() in HTML | MARKDOWN


def read_file(path, left, unpack_left):
    """Return the notebooks of a file: one, or those in an archive.

    left: characters that may be parsed. unpack_left: what may be taken out of archives, see `folders.unpack`.
    """
    try:
        with open(path, "rb") as file:
            is_archive = file.read(2) in folders.ARCHIVE_BEGINS or path.suffix.lower() == ".tar"
            raw = file.read(folders.MAX_BYTES) if is_archive and not file.seek(0) else b""
    except (OSError, MemoryError):
        raw = b""
    entries = folders.unpack(path, raw, unpack_left) or () if raw and min(unpack_left) >= 0 else ()
    notebooks = []
    for inner, content, saved in sorted(entries, key=lambda entry: entry[2]):
        notebook = Notebook(inner, time=saved, left=notebooks[-1].left if notebooks else left)
        notebooks.append(parse_notebook(content, notebook))
    return notebooks or [read_notebook(path, left)]


def read_notebook(path, left=MAX_PARSED):
    """Return a notebook with what can be read of it. left: characters that may be parsed."""
    notebook = Notebook(path, left=left)
    try:
        size, notebook.time = path.stat().st_size, path.lstat().st_mtime
        if size == 0:
            notebook.remarks.append("empty_file")
            return notebook
        if size > folders.MAX_BYTES:
            notebook.remarks.append("file_too_large")
            return notebook
        raw = path.read_bytes()
    except (OSError, MemoryError):
        notebook.remarks.append("unreadable")
        return notebook
    return parse_notebook(raw, notebook)


def parse_notebook(raw, notebook):
    """Fill in a notebook from a file's bytes."""
    path = notebook.path
    text = decode(raw, notebook)
    if path.suffix.lower() in folders.DATA_SUFFIXES and len(text) <= MAX_DATA:
        notebook.data = text
    if path.suffix.lower() == ".py":
        notebook.remarks.append("not_a_notebook")
        cells = [{"cell_type": "code", "source": text}]
    elif notebook.is_export and (cells := cells_of_export(text, path.suffix)):
        notebook.remarks.append("exported")
    else:
        cells = parse_cells(text, notebook)
    number, code_left, texts, checkers = 0, MAX_CODE, [], {"check"}
    if len(cells) > MAX_CELLS:
        notebook.remarks.append("too_long")
    for cell in cells[:MAX_CELLS]:
        try:
            source = cell.get("source", cell.get("input", ""))
            source = "".join(map(str, source)) if isinstance(source, list) else str(source)
            source = source.replace("\r\n", "\n").replace("\r", "\n").lstrip("\ufeff").replace("\0", "")
            kind = cell.get("cell_type")
            meta = cell.get("metadata") or {}
            nbgrader = meta.get("nbgrader") or {} if isinstance(meta, dict) else {}
            cell_id = nbgrader.get("grade_id") if isinstance(nbgrader, dict) else ""
            cell_id = str(cell_id or cell.get("id") or "")
            if kind != "code":
                if cell_id not in all_questions() or not DEFINES.search(source):
                    texts.append(source)
                    continue
                # a wrong key turned the answer's cell into text
                source = fenced[1] if (fenced := FENCE.fullmatch(source)) else source
            number += 1
            code_left -= len(source)
            if code_left < 0:
                notebook.remarks += [] if "too_long" in notebook.remarks else ["too_long"]
                continue
            if (magic := WRITE_MAGIC.match(source)) and MODULE.fullmatch(magic[2]):
                above = notebook.modules.get(magic[2], "") if magic[1] else ""
                notebook.modules[magic[2]] = f"{above}\n{source[magic.end() :]}" if above else source[magic.end() :]
            notebook.left -= len(source)
            long = len(source) > LONG_CELL or notebook.left < 0
            plain = without_magic(source, long)
            defined, bound = names_by_pattern(plain) if long else names_in(plain)
            if SYNTAX_ERROR in plain:
                defined |= names_by_pattern(source)[0]
            checkers |= set(RENAMED.findall(plain))
            checks = checked_names(plain, checkers, parse=not long)
            notebook.cells.append(CodeCell(plain, cell_id, number, defined, bound, long, checks))
            if "check" in source:
                notebook.check_output += stored_output(cell)
        except (AttributeError, TypeError):
            if "cut_off" not in notebook.remarks:
                notebook.remarks.append("cut_off")
    notebook.text = "\n".join(texts)
    if not notebook.cells and not notebook.remarks:
        notebook.remarks.append("no_code")
    return notebook


def stored_output(cell):
    """Return the beginning of a cell's stored output, as text."""
    outputs, texts = cell.get("outputs"), []
    for output in outputs[:20] if isinstance(outputs, list) else ():
        data = output.get("data", output) if isinstance(output, dict) else None
        text = data.get("text/plain", data.get("text")) if isinstance(data, dict) else None
        texts.append("".join(map(str, text[:100])) if isinstance(text, list) else str(text or ""))
    return "".join(f"{text[:5000]}\n" for text in texts)


def decode(raw, notebook):
    if raw[:2] in (b"\xff\xfe", b"\xfe\xff"):
        return raw.decode("utf-16", "replace")
    try:
        return raw.decode("utf-8-sig")
    except UnicodeDecodeError:
        notebook.remarks.append("encoding")
        return raw.decode("utf-8-sig", "replace")


def parse_cells(text, notebook):
    """Return a file's cells as dictionaries, with a remark if it is damaged or no notebook."""
    try:
        content = json.loads(text, strict=False)
        if isinstance(content, str):  # the notebook's text was stored as a string
            content = json.loads(content, strict=False)
        cells = content["worksheets"][0]["cells"] if "worksheets" in content else content["cells"]
        if not isinstance(cells, list):
            raise TypeError
        return cells
    except (ValueError, KeyError, TypeError, IndexError, RecursionError, MemoryError):
        pass
    # cut off or edited by hand: decode cell by cell, up to the first error
    start = re.search(r'"cells"\s*:\s*\[', text)
    if start is None:
        notebook.remarks[:] = ["not_a_notebook"]
        blocks = re.findall(r"^```[^\n]*\n(.*?)^```", text, re.MULTILINE | re.DOTALL) or [text]
        return [{"cell_type": "code", "source": block} for block in blocks] if DEFINES.search(text) else []
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
    """Replace magics by `pass` and statements that do not parse by errors; lines keep their numbers."""
    if indent := re.match(r"\n*([ \t]+)", source):  # IPython removes it from all lines that have it
        source = "\n".join(line.removeprefix(indent[1]) for line in source.split("\n"))
    if source.lstrip().startswith("%%") and not PYTHON_MAGIC.match(source.lstrip()):
        return "pass"
    lines = source.split("\n")
    for _ in range(0 if long else min(MAX_REPAIRS, 1 + LONG_CELL // (1 + len(source)))):
        try:
            ast.parse("\n".join(lines))
            return "\n".join(lines)
        except SyntaxError as error:
            place = min(error.lineno or 1, len(lines)) - 1
            if not replace_magic(lines, place):
                replace_statement(lines, place, error.msg)
        except (ValueError, RecursionError, MemoryError):
            break
    for place in range(len(lines)):
        replace_magic(lines, place)
    return "\n".join(lines)


def replace_magic(lines, place):
    """Replace a line's magic, with its continuation lines, by Python; return whether there was one."""
    magic = MAGIC.match(lines[place]) or MAGIC_RESULT.match(lines[place])
    if magic is None:
        return False
    end = place
    while lines[end].rstrip().endswith("\\") and end + 1 < len(lines):
        end += 1
    plain = [line.rstrip().rstrip("\\") for line in lines[place : end + 1]]
    if run := RUN_MAGIC.match(plain[0]):
        plain[0] = f"from {run[1].replace('/', '.')} import *"
    elif is_python(statement := LINE_MAGIC.sub(r"\1", plain[0])):
        plain[0] = statement
    else:
        plain[0] = magic.re.sub(r"\1pass  # " if magic.re is MAGIC else r"\1get_ipython()  # ", plain[0])
    lines[place : end + 1] = [plain[0], *(f"# {line}" for line in plain[1:])]
    return True


def is_python(line):
    try:
        return bool(ast.parse(line.strip()))
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return False


def replace_statement(lines, place, message):
    """Replace the statement around a line by its error, so that the cell's other statements can run.

    What remains of it, such as a decorator, does not parse either and is replaced in the next round.
    """
    start, end = place, place + 1
    while start and (not STATEMENT_START.match(lines[start]) or lines[start].startswith(SYNTAX_ERROR)):
        start -= 1
    while end < len(lines) and not STATEMENT_START.match(lines[end]):
        end += 1
    text = f"{message} (line {place + 1})"
    lines[start:end] = [f"{SYNTAX_ERROR}{text!r})  # {lines[start]}", *(f"# {line}" for line in lines[start + 1 : end])]


def names_by_pattern(source):
    """Return the defined names, and no bound ones, of code that does not parse or is too long to parse."""
    return frozenset(re.findall(r"^(?:def|class)\s+(\w+)", source, re.MULTILINE)), frozenset()


def names_in(source):
    """Return the functions and classes that code defines, and the other names that it binds."""
    try:
        tree = ast.parse(source)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return names_by_pattern(source)
    defined, bound = set(), set()
    for node in tree.body:
        for inner in ast.walk(node) if isinstance(node, BLOCKS) else (node,):
            if isinstance(inner, ast.FunctionDef | ast.ClassDef):
                defined.add(inner.name)
            elif isinstance(inner, ast.Assign | ast.AnnAssign) and inner.value:
                targets = inner.targets if isinstance(inner, ast.Assign) else [inner.target]
                names = [part for target in targets for part in ast.walk(target) if isinstance(part, ast.Name)]
                bound |= {name.id for name in names if isinstance(name.ctx, ast.Store)}
            elif isinstance(inner, ast.NamedExpr | ast.For):
                bound |= {part.id for part in ast.walk(inner.target) if isinstance(part, ast.Name)}
            elif isinstance(inner, ast.ImportFrom | ast.Import):
                bound |= {(alias.asname or alias.name).split(".")[0] for alias in inner.names}
    return frozenset(defined), frozenset(bound)


@lru_cache(maxsize=256)
def is_unwritten(source, names=frozenset()):
    """Return whether a function or class of these names, or any if none is there, is still the stub handed out."""
    try:
        body = ast.parse(source).body
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return bool(STUB.search(source))
    nodes = [node for node in body if getattr(node, "name", None) in names] or body
    functions = [part for node in nodes for part in ast.walk(node) if isinstance(part, ast.FunctionDef)]
    return any(map(only_raises, [nodes, *(function.body for function in functions)]))


def only_raises(body):
    """Return whether statements reach `raise NotImplementedError` before any `return` or `yield`."""
    for statement in body:
        if isinstance(statement, ast.Raise):
            raised = statement.exc.func if isinstance(statement.exc, ast.Call) else statement.exc
            return isinstance(raised, ast.Name) and raised.id == "NotImplementedError"
        if any(isinstance(part, ast.Return | ast.Yield) for part in ast.walk(statement)):
            return False
    return False
