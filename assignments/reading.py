"""From what was sent to the cells with the answers: notebooks as people save, rename, cut and mend them.

Nothing here runs a student's code, and nothing raises an error because of what is in a file.
"""

import ast
import io
import itertools
import json
import os
import re
import stat
import struct
import time
import unicodedata
import zipfile
import zlib
from collections import Counter
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path

from identity import declared

from companion.check import saying
from companion.check.question import all_questions

LARGEST = 128 * 2**20  # bytes of the files that are read of a submission: their cells take many times as much memory
FILES, CELLS, CODE = 1000, 200_000, 32 * 2**20  # files of a submission, cells of a notebook, letters of their code
READ = {".ipynb", ".py", ".json", ".txt", ""}  # what a name of a file that may have answers ends in
# Letters of a cell and of a submission that are parsed, which takes 500 times as much memory. What is beyond runs as well,
# but its names are looked for in its lines only.
LONG_CELL, LONG = 200_000, 1_000_000
SKIPPED = {".ipynb_checkpoints", "__MACOSX", "__pycache__", ".git", ".virtual_documents"}
MAGIC = re.compile(r"^(\s*)(?:%|!|\?|(?=\S+\?{1,2}\s*$)[\w.]+\?)")
# `files = !ls`, `t = %timeit -o f()`
MAGIC_RESULT = re.compile(r"^(\s*\w[\w.\[\]'\", ]*=\s*)[%!]")
# A cell magic below which there is Python that the notebook runs: what times or captures a cell still defines its names.
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
MODULES = 2**20  # bytes of the modules that are handed on
TOGETHER = 2  # seconds: files whose times are not further apart have one time, as after unzipping
LISTED = 2**20  # bytes of a zip's list of its files
CALL = re.compile(r"\bcheck\(\s*(?:question\s*=\s*)?['\"](\w+)['\"]\s*,\s*(?:answer\s*=\s*)?([\w.]+)")
SPEAKS = re.compile(r"\bcheck\([^()\n]{0,200}\blang\s*=\s*['\"](\w+)['\"]")


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


@dataclass
class Answer:
    """To one question. cells: number and source, in order. names: what it may be called."""

    cells: list
    names: list
    written: bool
    file: str = ""
    cell: int = 0  # the number of the one with the answer
    other: object = None  # an Answer below it, by the same name
    modules: dict = field(default_factory=dict)  # the student's own, by path


@dataclass
class Submission:
    student: str
    files: list
    notebooks: list
    answers: dict
    assignments: list
    language: str
    remarks: list  # (key, file)
    name: str = ""  # of the student, as the notebook says it


# Files


def students(folder):
    """What there is to grade: {student: path}, a folder or a file each. Links are not followed."""
    found = {}
    for entry in sorted(os.scandir(folder), key=lambda one: one.name):
        if entry.name.startswith(".") or entry.name in SKIPPED or entry.is_symlink():
            continue
        name = entry.name if entry.is_dir(follow_symlinks=False) else Path(entry.name).stem
        name = printable(name if name not in found else entry.name)
        while name in found:
            name += "'"
        found[name] = Path(entry.path)
    return found


def passed_over(folder):
    """Entries that might be someone's, and are no student: links, and folders and notebooks that are hidden."""
    there = [one for one in os.scandir(folder) if one.name not in SKIPPED]
    hidden = [one for one in there if one.name.startswith(".") and (one.is_dir() or one.name.endswith(".ipynb"))]
    return sorted({printable(one.name) for one in [*hidden, *(one for one in there if one.is_symlink())]})


def printable(name):
    """A name that fits into a line, a table and a database, whatever bytes it is made of."""
    return "".join(one if one.isprintable() else ascii(one)[1:-1] for one in name)


def files(path):
    """The plain files of a submission, the oldest first, and the folders that nobody lets us read."""
    found, closed = [], []
    try:
        if not stat.S_ISDIR(path.lstat().st_mode):
            found = [path]
    except OSError:
        return [], [path]
    walk = os.walk(path, onerror=lambda error: closed.append(Path(error.filename)))
    for folder, inner, names in itertools.islice(walk, FILES):
        inner[:] = sorted(one for one in inner if one not in SKIPPED)
        found += [Path(folder, name) for name in names if not name.startswith(".")]
        if len(found) > FILES:
            break
    plain = []
    for one in found[: FILES + 1]:
        try:
            state = one.lstat()
        except OSError:  # it was taken away meanwhile
            continue
        if stat.S_ISREG(state.st_mode):  # what else there is may never end
            plain.append((state.st_mtime, one.name, one))
    return [one for *_, one in sorted(plain)], [one for one in closed if one.is_dir()]


def looked_at(found):
    """The files of which more is read than the name, and of these the ones for which there is room, the latest first."""
    notebooks = [one for one in found if one.suffix.lower() in READ | {".zip"} or len(found) == 1]
    room, left = set(), LARGEST
    for one in reversed(notebooks):
        try:
            size = one.stat().st_size
        except OSError:
            size = 0
        if size <= left:
            left -= size
            room.add(one)
    return set(notebooks), room


def unpacked(path, raw, left, deep=0):
    """The files of a zip, and of zips in it, as (path, bytes, time), or None if it is no zip that can be read.

    Nothing is written. left: a list of the numbers of bytes and of files that may still be taken out: the same file may
    be listed many times, at every depth.
    """
    end = raw.rfind(b"PK\5\6")
    listed = struct.unpack_from("<L", raw, end + 12)[0] if 0 <= end <= len(raw) - 22 else LISTED + 1
    if listed > LISTED or raw[max(0, end - 20) :][:4] == b"PK\6\7":  # a list of any length
        return None
    found = []
    try:
        with zipfile.ZipFile(io.BytesIO(raw)) as archive:
            for one in archive.infolist():
                left[1] -= 1
                if left[1] < 0:  # what was read until here counts
                    break
                inner = path / printable(one.filename).lstrip("/")
                parts = inner.relative_to(path).parts
                plain = one.compress_type in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED) and not one.flag_bits & 1
                if one.is_dir() or not plain or not parts or parts[-1].startswith(".") or SKIPPED & {*parts}:
                    continue
                with archive.open(one) as file:
                    said = file.read(left[0] + 1)
                left[0] -= len(said)
                if left[0] < 0:
                    return None
                more = unpacked(inner, said, left, deep + 1) if deep < 3 and said[:2] == b"PK" else None
                found += [(inner, said, time.mktime((*one.date_time, 0, 0, -1)))] if more is None else more
    except (zipfile.BadZipFile, zlib.error, struct.error, OSError, ValueError, OverflowError, EOFError,
            NotImplementedError, RuntimeError, MemoryError):  # fmt: skip
        return None
    return found


def notebooks_of(path, left, room):
    """The notebooks of a file: one, but for a zip. left: how many of their letters may be parsed; room: the bytes and
    files that may still be taken out of zips."""
    try:
        with open(path, "rb") as file:
            raw = file.read(LARGEST) if file.read(2) == b"PK" and not file.seek(0) else b""
    except (OSError, MemoryError):
        raw = b""
    inside = unpacked(path, raw, room) or () if raw and min(room) >= 0 else ()
    asked = [one for one in inside if one[0].suffix.lower() in READ] or inside[:1]
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
        if size > LARGEST:
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
                notebook.modules[written[2]] = f"{above}\n{source[written.end() :]}" if above else source[written.end() :]
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


# Answers


def name_of(question):
    return all_questions()[question].asks_for


def answers(notebook, questions):
    """The answers of a notebook to these questions, {question: Answer}."""
    found = {}
    for question in questions:
        place, names = anchor(notebook, question, questions)
        if place is not None:
            found[question] = made(notebook, place, names)
            below = one_below(notebook.cells, place, question, names, questions)
            if below is not None:
                found[question].other = made(notebook, below, names)
    return found


def made(notebook, place, names):
    cell = notebook.cells[place]
    written = not cell.unwritten(names)
    return Answer(plan(notebook.cells, place), names, written, notebook.path.name, cell.number)


def one_below(cells, place, question, names, questions):
    """The last written definition below an answer, which may be a better copy of it, or something tried out."""
    if sum(name_of(one) == name_of(question) for one in questions) > 1:
        return None
    mine = cells[place].defined & set(names)
    below = [
        number for number in range(place + 1, len(cells))
        if cells[number].defined & mine and cells[number].id not in questions
        and cells[number].source != cells[place].source and not cells[number].unwritten(names)
    ]  # fmt: skip
    return below[-1] if below else None


def anchor(notebook, question, questions):
    """The place of the cell with the answer, and the names that the answer may have."""
    cells, wanted = notebook.cells, name_of(question)
    checked = [(number, cell.checks[question]) for number, cell in enumerate(cells) if question in cell.checks]
    names = [*dict.fromkeys([name for _, name in reversed(checked) if "." not in name] + [wanted])]

    def best(places):
        """The last one that is written; if none is, the last."""
        written = [place for place in places if not cells[place].unwritten(names)]
        return (written or places or [None])[-1]

    def defining(name, places):
        return [place for place in places if name in cells[place].defined | cells[place].bound]

    everywhere = range(len(cells))
    by_id = [place for place in everywhere if cells[place].id == question]
    if by_id:
        place = best([one for one in by_id if cells[one].defined | cells[one].bound] or by_id)
        mine = cells[place].defined
        elsewhere = [one for one in defining(wanted, everywhere) if not cells[one].unwritten(names)]
        if elsewhere and cells[place].unwritten(names):  # it was left as it was, and answered in a new cell
            mine_too = [one for one in elsewhere if wanted in cells[one].defined and cells[one].id not in questions]
            if mine_too or sum(name_of(one) == wanted for one in questions) == 1:
                return (mine_too or elsewhere)[-1], names
        if not mine & set(names) and len(mine) == 1 and not elsewhere:
            names = [*mine, *names]
        if mine & set(names) or cells[place].bound & set(names) or not defining(wanted, everywhere):
            return place, names
    if checked:
        end = checked[-1][0]
        for name in names:
            places = defining(name, range(end + 1))
            if places:
                return best(places), names
    sharing = [one for one in questions if name_of(one) == wanted]
    places = defining(wanted, everywhere)
    if len(sharing) > 1 and places:
        # several questions ask for this name: theirs are the cells in their order
        others = {anchor_by_sign(cells, one) for one in sharing if one != question} - {None}
        places = [place for place in places if place not in others] or []
        rank = sharing.index(question)
        if len(places) > 1 and len(places) == len(sharing):
            return places[rank], [wanted]
        if len(places) > 1 or rank == 0:
            return best(places), [wanted]
        return None, [wanted]
    return best(places), names


def anchor_by_sign(cells, question):
    """A cell that says itself that it answers this question."""
    return next((place for place, cell in enumerate(cells) if cell.id == question), None)


def plan(cells, place):
    """Cells to run for the answer at this place: all but later ones that define again what was defined until here.

    What is tried out below an answer may take its name, as `rnn = nn.RNN(3, 4)` does.
    """
    before = frozenset().union(*(cell.defined for cell in cells[: place + 1]))
    run = [cell for number, cell in enumerate(cells) if number <= place or not (cell.defined | cell.bound) & before]
    return [[cell.number, cell.source] for cell in run]


def assignments_of(notebook):
    """The assignments that a notebook is about, and those of which it has something.

    By its cells' names, its checks and what it defines it is about one, and about each other of whose questions it has
    the most.
    """
    votes, there = {}, {}
    for question, asked in all_questions().items():
        for cell in notebook.cells:
            sure = 3 * (cell.id == question) + 2 * (question in cell.checks)
            points = sure + (name_of(question) in cell.defined)
            votes[asked.assignment] = votes.get(asked.assignment, 0) + points
            if sure:
                there.setdefault(asked.assignment, set()).add(question)
    best = max(votes, key=votes.get, default=None)
    if not best or not votes[best]:
        return [], []
    asked = Counter(one.assignment for one in all_questions().values())
    about = [one for one in votes if one == best or 2 * len(there.get(one, ())) > asked[one]]
    return about, [one for one in there if one not in about]


def language_of(notebooks):
    """The language that a notebook's checks are told to speak; without it that of its text, by its letters."""
    told = Counter(name for one in notebooks for cell in one.cells for name in SPEAKS.findall(cell.source))
    if spoken := [name for name in saying.languages() if name in told]:
        return max(spoken, key=told.get)
    text = "".join(one.text for one in notebooks) or "".join(cell.source for one in notebooks for cell in one.cells)
    counts = {"ko": 0, "ja": 0, "zh": 0, "en": 0}
    for letter in text[:200_000]:
        if letter.isascii():
            counts["en"] += letter.isalpha()
            continue
        name = unicodedata.name(letter, "")
        if name.startswith("HANGUL"):
            counts["ko"] += 1
        elif name.startswith(("HIRAGANA", "KATAKANA")):
            counts["ja"] += 1
        elif name.startswith("CJK"):
            counts["zh"] += 1
    east = counts["ko"] + counts["ja"] + counts["zh"]
    if east * 10 < counts["en"]:
        return "en"
    if counts["ja"] * 10 > east:
        return "ja"
    return "ko" if counts["ko"] * 2 > east else "zh" if east else "en"


def submission(student, path, wanted=()):
    """All that a student sent. wanted: the assignments that were asked for; none for any."""
    found_files, closed = files(path)
    remarks = [("unreadable", one.name) for one in closed]
    if len(found_files) > FILES:
        remarks.append(("too_many_files", ""))
    notebooks, unpacking = [], [LARGEST, FILES]
    looked, room = looked_at(found_files)
    for file in found_files:
        if file in looked:
            left = notebooks[-1].left if notebooks else LONG
            notebooks += notebooks_of(file, left, unpacking) if file in room else [Notebook(file, remarks=["file_too_large"], left=left)]
        else:
            remarks.append(("other_file", file.name))
    if unpacking[1] < 0 and ("too_many_files", "") not in remarks:
        remarks.append(("too_many_files", ""))
    used = {Path(path).name for one in notebooks for path in modules_for(one, notebooks)}
    for one in notebooks:
        remarks += [(key, one.path.name) for key in one.remarks if key != "not_a_notebook" or one.path.name not in used]
    if not found_files and not closed:
        remarks.append(("nothing_sent", ""))
    about = [(*assignments_of(one), one) for one in notebooks]
    assignments = [*dict.fromkeys(one for ones, _, _ in about for one in ones if not wanted or one in wanted)]
    # a cell of another assignment, kept as a help, must not take the place of that assignment
    touched = [(one, notebook.path.name) for _, ones, notebook in about for one in ones if one not in assignments]
    remarks += [("not_graded_too", f"{name}: {one}") for one, name in touched if not wanted]
    given = {}
    for assignment in wanted or assignments:
        questions = [name for name, asked in all_questions().items() if asked.assignment == assignment]
        answering = [one for ones, more, one in about
                     if one.cells and (assignment in ones or assignment in wanted and assignment in more)]  # fmt: skip
        found = {id(one): answers(one, questions) for one in answering}
        for notebook in ordered(answering, found):
            for question, answer in found[id(notebook)].items():
                answer.modules = modules_for(notebook, notebooks)
                # the later file counts, if the question is answered there
                if question not in given or answer.written:
                    given[question] = answer
        if len(answering) > 1:
            counting = {one.path.name: [] for one in answering}
            for name in questions:
                if name in given:
                    counting[given[name].file].append(name)
            said = "; ".join(f"{file}: {', '.join(names) or '–'}" for file, names in counting.items())
            remarks.append(("several_files", said))
    remarks = [(key, printable(file)) for key, file in remarks]
    name = declared(cell.source for one in notebooks for cell in one.cells)
    return Submission(student, found_files, notebooks, given, assignments, language_of(notebooks), remarks, name)


def ordered(notebooks, found):
    """Notebooks, the one that counts most last: the latest; of one time that of the highest number, as `rnn (1).ipynb`;
    of one number that with the most answers."""

    group, last, keys = 0, None, {}
    for one in sorted(notebooks, key=lambda one: one.time):
        group += last is not None and one.time - last > TOGETHER
        last = one.time
        number = re.search(r"(?:\(|copy ?|[-_ ]v)(\d{1,9})\)?$", one.path.stem, re.IGNORECASE)
        written = sum(answer.written for answer in found[id(one)].values())
        keys[id(one)] = group, int(number[1]) if number else 0, written, one.path.name
    return sorted(notebooks, key=lambda one: keys[id(one)])


def modules_for(notebook, notebooks):
    """The student's own modules that the cells of a notebook speak of, by their path beside it."""
    sources, size = dict(notebook.modules), 0
    for one in notebooks:
        if one is not notebook and one.path.suffix == ".py":
            here = one.path.is_relative_to(notebook.path.parent)
            path = one.path.relative_to(notebook.path.parent).as_posix() if here else one.path.name
            sources.setdefault(path, "\n".join(cell.source for cell in one.cells))
    spoken = {word for cell in notebook.cells for word in re.findall(r"\w+", cell.source)} if sources else ()
    found = {}
    for path, source in sources.items():
        size += len(source)
        if MODULE.fullmatch(path) and Path(path.split("/")[0]).stem in spoken and size <= MODULES:
            found[path] = source
    return found
