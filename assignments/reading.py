"""From what was sent to the cells with the answers: notebooks as people save, rename, cut and mend them.

Nothing here runs a student's code, and nothing raises an error because of what is in a file.
"""

import ast
import json
import os
import re
import stat
import unicodedata
from collections import Counter
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path

from companion.check import saying
from companion.check.question import all_questions

LARGEST = 128 * 2**20  # bytes of a file that is read: its cells take many times as much memory
# Letters of a cell and of a submission that are parsed, which takes 500 times as much memory. What is beyond runs as well,
# but its names are looked for in its lines only.
LONG_CELL, LONG = 200_000, 1_000_000
SKIPPED = {".ipynb_checkpoints", "__MACOSX", "__pycache__", ".git", ".virtual_documents"}
MAGIC = re.compile(r"^(\s*)(?:%|!|\?|(?=\S+\?{1,2}\s*$)[\w.]+\?)")
# `files = !ls`, `t = %timeit -o f()`
MAGIC_RESULT = re.compile(r"^(\s*\w[\w.\[\]'\", ]*=\s*)[%!]")
STUB = re.compile(r"^[^#\n]*raise\s+NotImplementedError", re.MULTILINE)
MODULE = re.compile(r"(?:\w+/)*\w+\.py")
MODULES = 2**20  # bytes of the modules that are handed on
TOGETHER = 2  # seconds: files whose times are not further apart have one time, as after unzipping
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
    for folder, inner, names in os.walk(path, onerror=lambda error: closed.append(Path(error.filename))):
        inner[:] = sorted(one for one in inner if one not in SKIPPED)
        found += [Path(folder, name) for name in names if not name.startswith(".")]
        if len(found) > 1000:
            break
    plain = []
    for one in found:
        try:
            state = one.lstat()
        except OSError:  # it was taken away meanwhile
            continue
        if stat.S_ISREG(state.st_mode):  # what else there is may never end
            plain.append((state.st_mtime, one.name, one))
    return [one for *_, one in sorted(plain)], [one for one in closed if one.is_dir()]


def read(path, left=LONG):
    """A notebook, or what can be had of it. left: how many of its letters may be parsed."""
    notebook = Notebook(path, left=left)
    try:
        size = path.stat().st_size
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
    text = decoded(raw, notebook)
    if path.suffix == ".py":
        notebook.remarks.append("not_a_notebook")
        cells = [{"cell_type": "code", "source": text}]
    else:
        cells = cells_of(text, notebook)
    number, texts = 0, []
    for cell in cells:
        try:
            source = cell.get("source", cell.get("input", ""))
            source = "".join(map(str, source)) if isinstance(source, list) else str(source)
            source = source.replace("\r\n", "\n").replace("\r", "\n").lstrip("\ufeff").replace("\0", "")
            kind = cell.get("cell_type")
            if kind != "code":
                texts.append(source)
                continue
            number += 1
            meta = cell.get("metadata") or {}
            nbgrader = meta.get("nbgrader") or {} if isinstance(meta, dict) else {}
            identity = nbgrader.get("grade_id") if isinstance(nbgrader, dict) else ""
            if (written := re.match(r"\s*%%writefile\s+(?:\./)?(\S+)\s*\n", source)) and MODULE.fullmatch(written[1]):
                notebook.modules[written[1]] = source[written.end() :]
            notebook.left -= len(source)
            long = len(source) > LONG_CELL or notebook.left < 0
            plain = without_magic(source, long)
            defined, bound = names_seen(plain) if long else names_in(plain)
            checks = dict(reversed(CALL.findall(plain))) if "check(" in plain else {}  # its first check of each
            notebook.cells.append(Code(plain, str(identity or cell.get("id") or ""), number, defined, bound, long, checks))
        except (AttributeError, TypeError):
            if "cut_off" not in notebook.remarks:
                notebook.remarks.append("cut_off")
    notebook.text = "\n".join(texts)
    if not notebook.cells and not notebook.remarks:
        notebook.remarks.append("no_code")
    return notebook


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
        return []
    notebook.remarks.append("cut_off")
    cells, at, decoder = [], start.end(), json.JSONDecoder(strict=False)
    while True:
        at = re.compile(r"[\s,]*").match(text, at).end()
        try:
            cell, at = decoder.raw_decode(text, at)
        except (ValueError, RecursionError):
            return cells
        if not isinstance(cell, dict):
            return cells
        cells.append(cell)


def without_magic(source, long=False):
    """Commands to the notebook are no Python: `pass` stands for them, so that lines keep their numbers."""
    if indent := re.match(r"\n*([ \t]+)", source):  # a notebook takes that away from all lines that have it
        source = "\n".join(line.removeprefix(indent[1]) for line in source.split("\n"))
    if source.lstrip().startswith("%%"):
        first, _, rest = source.lstrip().partition("\n")
        # what times or captures a cell still defines its names
        return f"pass\n{rest}" if re.match(r"%%(time|timeit|capture|prun)\b", first) else "pass"
    try:
        if not long:
            ast.parse(source)
            return source
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        pass
    lines, goes_on = [], False
    for line in source.split("\n"):
        magic = MAGIC.match(line) or MAGIC_RESULT.match(line)
        begun, goes_on = goes_on, bool(goes_on or magic) and line.rstrip().endswith("\\")
        plain = line.rstrip().rstrip("\\") if begun or magic else line
        if begun:
            plain = f"# {plain}"
        elif magic:
            plain = magic.re.sub(r"\1pass  # " if magic.re is MAGIC else r"\1get_ipython()  # ", plain)
        lines.append(plain)
    return "\n".join(lines)


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
            elif isinstance(inner, ast.Assign):
                bound |= {one.id for one in inner.targets if isinstance(one, ast.Name)}
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
    notebooks = []
    for file in found_files:
        if file.suffix.lower() in (".ipynb", ".py", ".json", ".txt", "") or len(found_files) == 1:
            notebook = read(file, notebooks[-1].left if notebooks else LONG)
            notebooks.append(notebook)
        else:
            remarks.append(("other_file", file.name))
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
    return Submission(student, found_files, notebooks, given, assignments, language_of(notebooks), remarks)


def ordered(notebooks, found):
    """Notebooks, the one that counts most last: the latest; of one time that of the highest number, as `rnn (1).ipynb`;
    of one number that with the most answers."""

    def time(notebook):
        try:
            return notebook.path.lstat().st_mtime
        except OSError:
            return 0

    group, last, keys = 0, None, {}
    for one in sorted(notebooks, key=time):
        group += last is not None and time(one) - last > TOGETHER
        last = time(one)
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
